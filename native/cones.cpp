// The cone of a class label: E_u prod_j Phi((s u + gap_j) / s_j) by Gauss-Hermite quadrature around the mode of its integrand.
//
// Nearly all time goes into log Phi and its slope. Both come from a table of log Phi with its first two derivatives, sixty-four
// points a unit, joined by polynomials of fifth degree: exact to 1e-14 and 1e-12. Far in the left tail there are closed forms; far
// in the right one log Phi is zero to the last digit.
#include "cones.hpp"

#include <cmath>
#include <vector>

#include "svd_probit.hpp"

namespace partita {

namespace {

struct Below {  // log Phi and phi / Phi
  double log_p, slope;
};

class Table {
 public:
  Table() {
    constexpr int n = (kHigh - kLow) * kPerUnit + 1;
    at_.reserve(3 * size_t(n));
    for (int k = 0; k < n; ++k) {
      const double x = kLow + double(k) / kPerUnit;
      const Probit here(x);
      at_.push_back(here.log_success);
      at_.push_back(here.success_slope / kPerUnit);
      at_.push_back(-here.success_curvature / (kPerUnit * kPerUnit));
    }
  }
  Below at(double x) const {
    const double place = (x - kLow) * kPerUnit;
    if (!(place >= 0.0)) return far_left(x);
    if (x >= kHigh) return {0.0, 0.0};
    const int k = int(place);
    const double t = place - k;
    const double *a = at_.data() + 3 * size_t(k), *b = a + 3;
    // c3 t^3 + c4 t^4 + c5 t^5 makes up for what is left at the other end of Taylor's first three terms
    const double d0 = b[0] - (a[0] + a[1] + 0.5 * a[2]), d1 = b[1] - (a[1] + a[2]), d2 = b[2] - a[2];
    const double c3 = 10.0 * d0 - 4.0 * d1 + 0.5 * d2, c4 = -15.0 * d0 + 7.0 * d1 - d2, c5 = 6.0 * d0 - 3.0 * d1 + 0.5 * d2;
    const double log_p = a[0] + t * (a[1] + t * (0.5 * a[2] + t * (c3 + t * (c4 + t * c5))));
    const double slope = a[1] + t * (a[2] + t * (3.0 * c3 + t * (4.0 * c4 + t * 5.0 * c5)));
    return {log_p, slope * kPerUnit};
  }

 private:
  static constexpr int kLow = -12, kHigh = 9, kPerUnit = 64;
  static Below far_left(double x) {
    if (std::isnan(x)) return {x, x};
    const double slope = far_excess(-x) - x;
    return {-0.5 * x * x - kLogRootTwoPi - std::log(slope), slope};
  }
  std::vector<double> at_;
};

const Table& table() {
  static const Table made;
  return made;
}

// One class against the others: (s u + gap_j) / s_j, j = 0 .. m - 1; `scale` holds 1 / s_j.
struct Against {
  const double *gap, *scale;
  double own;
  int m;

  // mode and spread of phi(u) prod_j Phi(..) by Newton's steps; the logarithm is concave
  void mode(double& u, double& spread) const {
    double second = 1.0;
    u = 0.0;
    for (int step = 0; step < 8; ++step) {
      double first = -u;
      second = 1.0;
      for (int j = 0; j < m; ++j) {
        const double a = (own * u + gap[j]) * scale[j], slope = own * scale[j], ratio = table().at(a).slope;
        first += slope * ratio;
        second += slope * slope * ratio * (ratio + a);
      }
      const double move = std::fmin(std::fmax(first / second, -3.0), 3.0);
      u += move;
      if (std::fabs(move) < 1e-9) break;
    }
    spread = 1.0 / std::sqrt(second);
  }
};

double log_sum(const std::vector<double>& terms, double& top) {
  top = terms[0];
  for (double term : terms) top = std::fmax(top, term);
  double sum = 0.0;
  for (double term : terms) sum += std::exp(term - top);
  return top + std::log(sum);
}

}  // namespace

void cone(const double* mean, const int64_t* label, int64_t n, int K, const double* nodes, const double* log_weights, int n_nodes,
          double* log_p, double* expected) {
  std::vector<double> gap(K - 1), ones(K - 1, 1.0), terms(n_nodes), slopes(size_t(n_nodes) * (K - 1));
  for (int64_t i = 0; i < n; ++i) {
    const double* m = mean + i * K;
    double* out = expected + i * K;
    const int own = int(label[i]);
    for (int j = 0, k = 0; k < K; ++k)
      if (k != own) gap[j++] = m[own] - m[k];
    double centre, spread;
    const Against others{gap.data(), ones.data(), 1.0, K - 1};
    others.mode(centre, spread);
    for (int q = 0; q < n_nodes; ++q) {
      const double u = centre + spread * nodes[q];
      double* slope = slopes.data() + size_t(q) * (K - 1);
      double sum = -0.5 * u * u - kLogRootTwoPi + std::log(spread) + log_weights[q];
      for (int j = 0; j < K - 1; ++j) {
        const Below below = table().at(u + gap[j]);
        sum += below.log_p;
        slope[j] = below.slope;
      }
      terms[q] = sum;
    }
    double top;
    log_p[i] = log_sum(terms, top);
    for (int k = 0; k < K; ++k) out[k] = m[k];
    for (int q = 0; q < n_nodes; ++q) {
      const double share = std::exp(terms[q] - log_p[i]);
      const double* slope = slopes.data() + size_t(q) * (K - 1);
      for (int j = 0, k = 0; k < K; ++k)
        if (k != own) {
          const double drop = share * slope[j++];  // m_k - E[t_k] of the others
          out[k] -= drop;
          out[own] += drop;
        }
    }
  }
}

void cone_probabilities(const double* mean, const double* sd, int64_t n, int K, const double* nodes, const double* log_weights,
                        int n_nodes, double* log_p) {
  std::vector<double> gap(K - 1), scale(K - 1), terms(n_nodes), all(K);
  for (int64_t i = 0; i < n; ++i) {
    const double *m = mean + i * K, *s = sd + i * K;
    for (int c = 0; c < K; ++c) {
      for (int j = 0, k = 0; k < K; ++k)
        if (k != c) gap[j] = m[c] - m[k], scale[j++] = 1.0 / s[k];
      double centre, spread, top;
      Against{gap.data(), scale.data(), s[c], K - 1}.mode(centre, spread);
      for (int q = 0; q < n_nodes; ++q) {
        const double u = centre + spread * nodes[q];
        double sum = -0.5 * u * u - kLogRootTwoPi + std::log(spread) + log_weights[q];
        for (int j = 0; j < K - 1; ++j) sum += table().at((s[c] * u + gap[j]) * scale[j]).log_p;
        terms[q] = sum;
      }
      all[c] = log_sum(terms, top);
    }
    double top;
    const double total = log_sum(all, top);
    for (int c = 0; c < K; ++c) log_p[i * K + c] = all[c] - total;
  }
}

}  // namespace partita
