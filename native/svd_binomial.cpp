// Binomial entries through a probit: trials are never expanded. Rows move by a Metropolis step whose proposal is one step of
// weighted least squares from where the row is: D. Gamerman (1997), Statistics and Computing 7, 57-68. The weights are observed
// curvatures, not expected ones as there, which vanish where a fit is far off, and the proposal is a Student t: its tails are heavier
// than those of any posterior here, so a row that is far off finds back.
#include <vector>

#include "svd_links.hpp"
#include "svd_probit.hpp"

namespace partita {

void svd_binomial_sums(const double* fitted, double shift, const double* successes, const double* trials, int64_t n, double* out) {
  double log_likelihood = 0.0, slope = 0.0, curvature = 0.0;
  for (int64_t p = 0; p < n; ++p) {
    const Probit at(fitted[p] + shift);
    const double failures = trials[p] - successes[p];
    log_likelihood += successes[p] * at.log_success + failures * at.log_failure;
    slope += successes[p] * at.success_slope - failures * at.failure_slope;
    curvature += trials[p] * at.success_slope * at.failure_slope;
  }
  out[0] += log_likelihood;
  out[1] += slope;
  out[2] += curvature;
}

void svd_binomial_working(const double* fitted, const double* successes, const double* trials, int64_t n, double* weight,
                          double* score) {
  for (int64_t p = 0; p < n; ++p) {
    const Probit at(fitted[p]);
    weight[p] = trials[p] * at.success_slope * at.failure_slope;
    score[p] = successes[p] * at.success_slope - (trials[p] - successes[p]) * at.failure_slope;
  }
}

namespace {

// One row's normal approximation around a point: precision (lower triangle, then its Cholesky factor) and mean.
class Scoring {
 public:
  explicit Scoring(int width) : width_(width), factor_(size_t(width) * width), mean_(width) {}

  // log posterior at x, up to a constant; afterwards factor and mean are those of the approximation around x
  double look(const Lines& lines, const BinomialRows& rows, int64_t i, const double* x) {
    std::fill(factor_.begin(), factor_.end(), 0.0);
    const double* centre = rows.centre + i * width_;
    double log_posterior = 0.0;
    for (int a = 0; a < width_; ++a) {
      const double away = x[a] - centre[a];
      factor_[size_t(a) * width_ + a] = rows.precision[a];
      mean_[a] = rows.precision[a] * centre[a];
      log_posterior -= 0.5 * rows.precision[a] * away * away;
    }
    for (int64_t p = lines.first[i]; p < lines.first[i + 1]; ++p) log_posterior += add(lines, rows, p, x);
    solve();
    return log_posterior;
  }

  // to = mean + stretch factor^-T noise; returns the log density of what it drew, up to a constant
  double draw(const double* noise, double stretch, double df, double* to) const {
    double log_root = 0.0, distance = 0.0;
    for (int a = width_ - 1; a >= 0; --a) {
      double sum = stretch * noise[a];
      distance += sum * sum;
      for (int b = a + 1; b < width_; ++b) sum -= factor(b, a) * (to[b] - mean_[b]);
      to[a] = sum / factor(a, a) + mean_[a];
      log_root += std::log(factor(a, a));
    }
    return log_root - 0.5 * (df + width_) * std::log1p(distance / df);
  }

  double log_density(const double* x, double df) const {
    double log_root = 0.0, distance = 0.0;
    for (int a = 0; a < width_; ++a) {
      double white = 0.0;
      for (int b = a; b < width_; ++b) white += factor(b, a) * (x[b] - mean_[b]);
      log_root += std::log(factor(a, a));
      distance += white * white;
    }
    return log_root - 0.5 * (df + width_) * std::log1p(distance / df);
  }

 private:
  double factor(int a, int b) const { return factor_[size_t(a) * width_ + b]; }

  double add(const Lines& lines, const BinomialRows& rows, int64_t p, const double* x) {
    const double* design = rows.design + int64_t(lines.other[p]) * width_;
    const int64_t at = lines.at(p);
    double own = 0.0;
    for (int a = 0; a < width_; ++a) own += design[a] * x[a];
    const Probit here(rows.base[lines.other[p]] + own);
    const double successes = rows.successes[at], failures = rows.trials[at] - successes;
    const double weight = successes * here.success_curvature + failures * here.failure_curvature;
    const double response = weight * own + successes * here.success_slope - failures * here.failure_slope;
    for (int a = 0; a < width_; ++a) {
      const double weighted = weight * design[a];
      mean_[a] += response * design[a];
      double* to = factor_.data() + size_t(a) * width_;
      for (int b = 0; b <= a; ++b) to[b] += weighted * design[b];
    }
    return successes * here.log_success + failures * here.log_failure;
  }

  // Cholesky factor in place, then the mean from the right-hand side
  void solve() {
    for (int a = 0; a < width_; ++a) {
      double* row = factor_.data() + size_t(a) * width_;
      for (int b = 0; b <= a; ++b) {
        double sum = row[b];
        for (int c = 0; c < b; ++c) sum -= row[c] * factor(b, c);
        row[b] = a == b ? std::sqrt(std::max(sum, 1e-300)) : sum / factor(b, b);
      }
      for (int b = 0; b < a; ++b) mean_[a] -= row[b] * mean_[b];
      mean_[a] /= row[a];
    }
    for (int a = width_ - 1; a >= 0; --a) {
      for (int b = a + 1; b < width_; ++b) mean_[a] -= factor(b, a) * mean_[b];
      mean_[a] /= factor(a, a);
    }
  }

  int width_;
  std::vector<double> factor_, mean_;
};

}  // namespace

void svd_binomial_rows(const Lines& lines, const BinomialRows& rows, int64_t begin, int64_t end) {
  Scoring here(rows.width), there(rows.width);
  std::vector<double> proposal(rows.width);
  for (int64_t i = begin; i < end; ++i) {
    double* own = rows.own + i * rows.width;
    double log_ratio = -here.look(lines, rows, i, own);
    log_ratio -= here.draw(rows.noise + i * rows.width, rows.stretch[i], rows.df, proposal.data());
    log_ratio += there.look(lines, rows, i, proposal.data()) + there.log_density(own, rows.df);
    rows.accepted[i] = std::log(rows.uniform[i]) < log_ratio;
    if (rows.accepted[i]) std::copy(proposal.begin(), proposal.end(), own);
  }
}

}  // namespace partita
