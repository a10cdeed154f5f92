// Groups that open, empty and move: their statistics and tables.
#include "mixture.hpp"

namespace partita {

void clean(const Groups& groups, const Columns& columns, int g) {
  const Layout& layout = *groups.layout;
  for (int d : columns.all) {
    int next = d + 1 < layout.n_columns ? layout.stat_first[d + 1] : layout.n_stats;
    double* s = groups.at(d, g);
    for (int k = 0; k < next - layout.stat_first[d]; ++k) s[k] = 0.0;
    if (layout.kind[d] != BINARY) refresh(groups, d, g);
  }
  const int n = int(columns.binary.size());
  std::vector<double> logs(3 * size_t(n));  // of a, b and a + b, all at once
  for (int m = 0; m < n; ++m) {
    const double* h = groups.hyper + 4 * columns.binary[m].column;
    logs[m] = h[0];
    logs[n + m] = h[1];
    logs[2 * n + m] = h[0] + h[1];
  }
  log_in_place(logs.data(), 3 * n);
  for (int m = 0; m < n; ++m) {
    double* row = groups.table + columns.binary[m].entry * groups.capacity + g;
    row[0] = logs[m] - logs[2 * n + m];
    row[groups.capacity] = logs[n + m] - logs[2 * n + m];
  }
}

void fill_left(const Groups& groups, const Columns& columns, int g) {
  double* left = groups.left + g * int64_t(groups.layout->n_table);
  for (const auto& one : columns.binary) {
    const double *h = groups.hyper + 4 * one.column, *s = groups.at(one.column, g);
    const double ones = h[0] + s[0] - 1.0, zeros = h[1] + s[1];
    const double share = 1.0 / (ones + zeros);
    left[one.entry] = ones * share;
    left[one.entry + 1] = (zeros - 1.0) * share;
  }
}

void clean_sums(const Groups& groups, const Columns& columns, int g) {
  for (const auto* kind : {&columns.count, &columns.real})
    for (const auto& one : *kind) {
      double* s = groups.at(one.column, g);
      s[0] = s[1] = 0.0;
      if (kind == &columns.real) s[2] = 0.0;
      refresh(groups, one.column, g);
    }
}

void copy_group(const Groups& groups, const Columns& columns, int from, int to) {
  const Layout& layout = *groups.layout;
  for (int d : columns.all) {
    int next = d + 1 < layout.n_columns ? layout.stat_first[d + 1] : layout.n_stats;
    int last = d + 1 < layout.n_columns ? layout.table_first[d + 1] : layout.n_table;
    double *a = groups.at(d, from), *b = groups.at(d, to), *row = groups.row(d, 0);
    for (int k = 0; k < next - layout.stat_first[d]; ++k) b[k] = a[k];
    for (int k = 0; k < last - layout.table_first[d]; ++k) row[k * groups.capacity + to] = row[k * groups.capacity + from];
  }
}

void count_cell(const Layout& layout, int d, double* s, const Rows& rows, int64_t i, double by) {
  if (layout.kind[d] == BINARY || layout.kind[d] == CATEGORICAL) {
    int32_t code = rows.codes[i * rows.n_codes + layout.source[d]];
    if (code < 0) return;
    if (layout.kind[d] == BINARY) {
      s[code != 1] += by;
    } else {
      s[0] += by;
      s[1 + code] += by;
    }
  } else if (layout.kind[d] == COUNT || layout.kind[d] == REAL) {
    double x = rows.reals[i * rows.n_reals + layout.source[d]];
    if (!(x == x)) return;
    s[0] += by;
    s[1] += by * x;
    if (layout.kind[d] == REAL) s[2] += by * x * x;
  }
}

}  // namespace partita
