// What each kind of column does with a cell: score, count, predict.
#include <algorithm>

#include "mixture.hpp"

namespace partita {

namespace {

// Student-t predictive of a normal-inverse-chi-squared column: constant, centre, 1 / (nu scale), (nu + 1) / 2
struct Student {
  double constant, centre, inverse, power;
  PARTITA_INLINE Student(const double* h, double n, double s1, double s2) {
    double kappa = h[0] + n, nu = h[1] + n, least = h[1] * h[2];
    centre = (h[0] * h[3] + s1) / kappa;
    double ss = least + h[0] * h[3] * h[3] + s2 - kappa * centre * centre;
    if (!(ss > least)) ss = least;  // rounding may take the sum of squares below what the prior alone gives
    double spread = ss * (1.0 + 1.0 / kappa);  // nu times the squared scale
    inverse = 1.0 / spread;
    power = 0.5 * (nu + 1.0);
    constant = lgamma_half_step(0.5 * nu) - 0.5 * fast_log(3.14159265358979323846 * spread);
  }
  PARTITA_INLINE double log_density(double x) const {
    double u = x - centre;
    return constant - power * fast_log(1.0 + u * u * inverse);
  }
};

PARTITA_INLINE void refresh_count(const double* h, const double* s, double* row, int64_t stride) {
  double r = h[0] + s[1], rate = h[1] + s[0], log_rate = fast_log(rate);
  // huge counts have tiny rates: log(1 + rate) by its series, where adding one would lose the rate
  double log_next = rate < 1e-4 ? rate * (1.0 - rate * (0.5 - rate / 3.0)) : fast_log(rate + 1.0);
  row[0] = r;
  row[stride] = r * (log_rate - log_next) - fast_lgamma(r);
  row[2 * stride] = -log_next;
}

PARTITA_INLINE void refresh_real(const double* h, const double* s, double* row, int64_t stride) {
  Student t(h, s[0], s[1], s[2]);
  row[0] = t.constant;
  row[stride] = t.centre;
  row[2 * stride] = t.inverse;
  row[3 * stride] = t.power;
}

double log_marginal_real(const double* h, const double* s) {
  double n = s[0], kappa = h[0] + n, nu = h[1] + n, least = h[1] * h[2], centre = (h[0] * h[3] + s[1]) / kappa;
  double ss = least + h[0] * h[3] * h[3] + s[2] - kappa * centre * centre;
  if (!(ss > least)) ss = least;
  return fast_lgamma(0.5 * nu) - fast_lgamma(0.5 * h[1]) + 0.5 * fast_log(h[0] / kappa) + 0.5 * h[1] * fast_log(least) -
         0.5 * nu * fast_log(ss) - 0.5 * n * 1.14472988584940017414;
}

}  // namespace

void refresh(const Groups& groups, int d, int g) {
  const Layout& layout = *groups.layout;
  const double *h = groups.hyper + 4 * d, *s = groups.at(d, g);
  double* row = groups.row(d, 0) + g;
  const int64_t stride = groups.capacity;
  switch (layout.kind[d]) {
    case BINARY: {
      double total = fast_log(h[0] + h[1] + s[0] + s[1]);
      row[0] = fast_log(h[0] + s[0]) - total;
      row[stride] = fast_log(h[1] + s[1]) - total;
      break;
    }
    case CATEGORICAL: {
      const double* base = layout.base + layout.base_first[d];
      row[0] = -fast_log(h[0] + s[0]);
      for (int l = 0; l < layout.levels[d]; ++l) row[(1 + l) * stride] = fast_log(h[0] * base[l] + s[1 + l]);
      break;
    }
    case COUNT:
      refresh_count(h, s, row, stride);
      break;
    case REAL:
      refresh_real(h, s, row, stride);
      break;
    default:
      factor_block(layout.levels[d], h, groups.at(d, g));
  }
}

void refresh_all(const Groups& groups, int d, int n) {
  if (groups.layout->kind[d] != BINARY) {
    for (int g = 0; g < n; ++g) refresh(groups, d, g);
    return;
  }
  constexpr int kBlock = 64;  // groups at a time: their three logarithms vectorise
  double buffer[3 * kBlock];
  const double* h = groups.hyper + 4 * d;
  double *one = groups.row(d, 0), *nil = groups.row(d, 1);
  for (int first = 0; first < n; first += kBlock) {
    const int m = n - first < kBlock ? n - first : kBlock;
    for (int g = 0; g < m; ++g) {
      const double* s = groups.at(d, first + g);
      buffer[g] = h[0] + s[0];
      buffer[m + g] = h[1] + s[1];
      buffer[2 * m + g] = buffer[g] + buffer[m + g];
    }
    log_in_place(buffer, 3 * m);
    for (int g = 0; g < m; ++g) {
      one[first + g] = buffer[g] - buffer[2 * m + g];
      nil[first + g] = buffer[m + g] - buffer[2 * m + g];
    }
  }
}

double log_marginal(const Layout& layout, int d, const double* h, const double* s) {
  switch (layout.kind[d]) {
    case BINARY:
      if (s[0] + s[1] <= 0) return 0.0;
      return fast_lgamma(h[0] + s[0]) + fast_lgamma(h[1] + s[1]) - fast_lgamma(h[0] + h[1] + s[0] + s[1]) -
             fast_lgamma(h[0]) - fast_lgamma(h[1]) + fast_lgamma(h[0] + h[1]);
    case CATEGORICAL: {
      if (s[0] <= 0) return 0.0;
      const double* base = layout.base + layout.base_first[d];
      double r = fast_lgamma(h[0]) - fast_lgamma(h[0] + s[0]);
      for (int l = 0; l < layout.levels[d]; ++l)
        if (s[1 + l] > 0) r += fast_lgamma(h[0] * base[l] + s[1 + l]) - fast_lgamma(h[0] * base[l]);
      return r;
    }
    case COUNT:  // without the factorials of the counts: they do not depend on groups or hyper-parameters
      if (s[0] <= 0) return 0.0;
      return fast_lgamma(h[0] + s[1]) - fast_lgamma(h[0]) + h[0] * fast_log(h[1]) -
             (h[0] + s[1]) * fast_log(h[1] + s[0]);
    case REAL:
      return s[0] <= 0 ? 0.0 : log_marginal_real(h, s);
    default:
      return log_marginal_block(layout.levels[d], h, s);
  }
}

void score(const Groups& groups, const Cells& cells, int n, double* acc) {
  const int wide = padded(n);
  accumulate(groups.table, groups.capacity, cells.entries.data(), cells.n_entries, wide, acc);
  for (int m = 0; m < cells.n_count; ++m)
    accumulate_negative_binomial(groups.row(cells.count[m], 0), groups.capacity, cells.counts[m], wide, acc);
  for (int m = 0; m < cells.n_real; ++m)
    accumulate_student(groups.row(cells.real[m], 0), groups.capacity, cells.reals[m], wide, acc);
  if (const int d = cells.block.column; cells.block.n_seen)
    score_block(cells.block, groups.hyper + 4 * d, groups.at(d, 0), groups.layout->n_stats, std::min(n, int(groups.capacity)), acc);
}

double score_without(const Groups& groups, const Cells& cells, int g) {
  const Layout& layout = *groups.layout;
  const double* stats = groups.stats + g * int64_t(layout.n_stats);
  double result = groups.left ? log_product(groups.left + g * int64_t(layout.n_table), cells.entries.data(), cells.n_binary)
                              : log_ratios_without(stats, groups.hyper, layout.stat_first, cells.binary.data(),
                                                   cells.codes.data(), cells.n_binary);
  for (int m = 0; m < cells.n_categorical; ++m) {
    int d = cells.categorical[m], l = cells.levels[m];
    const double *h = groups.hyper + 4 * d, *s = groups.at(d, g);
    result += fast_log((h[0] * layout.base[layout.base_first[d] + l] + s[1 + l] - 1.0) / (h[0] + s[0] - 1.0));
  }
  for (int m = 0; m < cells.n_count; ++m) {
    const double *h = groups.hyper + 4 * cells.count[m], *s = groups.at(cells.count[m], g);
    double x = cells.counts[m], left[2] = {s[0] - 1.0, s[1] - x}, row[3];
    refresh_count(h, left, row, 1);
    result += fast_lgamma(row[0] + x) + row[1] + x * row[2] - fast_lgamma(x + 1.0);
  }
  for (int m = 0; m < cells.n_real; ++m) {
    const double *h = groups.hyper + 4 * cells.real[m], *s = groups.at(cells.real[m], g);
    double x = cells.reals[m];
    result += Student(h, s[0] - 1.0, s[1] - x, s[2] - x * x).log_density(x);
  }
  if (const int d = cells.block.column; cells.block.n_seen)
    result += score_block_without(cells.block, groups.hyper + 4 * d, groups.at(d, g));
  return result;
}

void update(const Groups& groups, Cells& cells, int g, double by) {
  const Layout& layout = *groups.layout;
  const int n = cells.n_binary;
  double *ones = cells.scratch.data(), *zeros = ones + n, *totals = zeros + n;
  for (int m = 0; m < n; ++m) {
    int d = cells.binary[m];
    double* s = groups.at(d, g);
    const double* h = groups.hyper + 4 * d;
    s[cells.codes[m] != 1] += by;
    ones[m] = h[0] + s[0];
    zeros[m] = h[1] + s[1];
    totals[m] = ones[m] + zeros[m];
  }
  if (groups.left) {
    double* left = groups.left + g * int64_t(layout.n_table);
    for (int m = 0; m < n; ++m) {
      const double share = 1.0 / (totals[m] - 1.0);
      double* two = left + layout.table_first[cells.binary[m]];
      two[0] = (ones[m] - 1.0) * share;
      two[1] = (zeros[m] - 1.0) * share;
    }
  }
  log_in_place(ones, 3 * n);
  for (int m = 0; m < n; ++m) {
    double* row = groups.row(cells.binary[m], 0) + g;
    row[0] = ones[m] - totals[m];
    row[groups.capacity] = zeros[m] - totals[m];
  }
  for (int m = 0; m < cells.n_categorical; ++m) {
    int d = cells.categorical[m], l = cells.levels[m];
    const double* h = groups.hyper + 4 * d;
    double *s = groups.at(d, g), *row = groups.row(d, 0) + g;
    s[0] += by;
    s[1 + l] += by;
    row[0] = -fast_log(h[0] + s[0]);
    row[(1 + l) * groups.capacity] = fast_log(h[0] * layout.base[layout.base_first[d] + l] + s[1 + l]);
  }
  for (int m = 0; m < cells.n_count; ++m) {
    int d = cells.count[m];
    double* s = groups.at(d, g);
    s[0] += by;
    s[1] += by * cells.counts[m];
    refresh_count(groups.hyper + 4 * d, s, groups.row(d, 0) + g, groups.capacity);
  }
  for (int m = 0; m < cells.n_real; ++m) {
    int d = cells.real[m];
    double *s = groups.at(d, g), x = cells.reals[m];
    s[0] += by;
    s[1] += by * x;
    s[2] += by * x * x;
    refresh_real(groups.hyper + 4 * d, s, groups.row(d, 0) + g, groups.capacity);
  }
  if (const int d = cells.block.column; cells.block.n_seen)
    update_block(cells.block, groups.hyper + 4 * d, groups.at(d, g), by);
}

}  // namespace partita
