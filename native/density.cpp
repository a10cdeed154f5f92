// What a state says of a new row: log p(x | class), group by group.
#include <algorithm>
#include <cmath>

#include "kernels.hpp"
#include "side_by_side.hpp"

namespace partita {

namespace {

Groups groups_of(const Layout& layout, const Predictive& state, int c) {
  // a predictive state is read only; Groups serves both
  return {&layout, state.hyper, const_cast<double*>(state.stats) + int64_t(c) * state.capacity * layout.n_stats,
          const_cast<double*>(state.table) + int64_t(c) * state.capacity * layout.n_table, state.capacity};
}

// The groups of some classes, side by side, in a restaurant of binary columns only, for rows with few holes: the score of a row
// of zeros once, and what a one or a hole changes. That is half the additions of a complete row.
struct FromZeros {
  int wide;
  std::vector<int32_t> first{0};     // where the groups of each class begin
  std::vector<double> base, change;  // base holds the log weights too; change: [2 * column] a one, [2 * column + 1] a hole
  FromZeros(const Layout& layout, const Predictive& state, const Columns& columns, int restaurant, int from, int classes) {
    const int C = state.n_classes;
    for (int c = from; c < from + classes; ++c) first.push_back(first.back() + state.used[restaurant * C + c]);
    wide = padded(first.back());
    base.assign(wide, kNever);
    change.assign(2 * columns.binary.size() * size_t(wide), 0.0);
    for (int c = from; c < from + classes; ++c) {
      const int at = first[c - from], n = first[c - from + 1] - at;
      const double* log_weight = state.log_weight + (int64_t(restaurant) * C + c) * state.capacity;
      fill(groups_of(layout, state, c), columns, log_weight, at, n);
    }
  }
  void fill(const Groups& groups, const Columns& columns, const double* log_weight, int at, int n) {
    // a weight of zero has a finite stand-in: what is added to it stays below all else
    for (int g = 0; g < n; ++g) base[at + g] = log_weight[g] > kNever ? log_weight[g] : kNever;
    for (size_t m = 0; m < columns.binary.size(); ++m) {
      const double *one = groups.table + columns.binary[m].entry * groups.capacity, *zero = one + groups.capacity;
      double *if_one = change.data() + 2 * m * wide + at, *if_hole = if_one + wide;
      for (int g = 0; g < n; ++g) {
        base[at + g] += zero[g];
        if_one[g] = one[g] - zero[g];
        if_hole[g] = -zero[g];
      }
    }
  }
  void add_log_density(const int32_t* entries, int n_entries, double* acc, double* out) const {
    accumulate(change.data(), wide, entries, n_entries, wide, acc);
    log_sum_exp_parts(acc, base.data(), wide, first.data(), int(first.size()) - 1, out);
  }
};

// Entries of a row in FromZeros::change; -1 when scoring its observed cells one by one is less work.
int changes_of_row(const Columns& columns, const Rows& rows, int64_t i, int32_t* entries) {
  const int32_t* code_row = rows.codes + i * rows.n_codes;
  int k = 0, seen = 0;
  for (size_t m = 0; m < columns.binary.size(); ++m) {
    const int32_t code = code_row[columns.binary[m].source];
    entries[k] = int32_t(2 * m) + (code != 1);
    k += code != 0;
    seen += code >= 0;
  }
  return k <= seen ? k : -1;
}

}  // namespace

void log_density(const Layout& layout, const Rows& rows, const Predictive& state, double* out) {
  const Views views(layout, state.view, state.n_restaurants);
  Cells cells(layout.n_columns);
  const int C = state.n_classes;
  std::vector<double> acc(padded(state.capacity) * std::min(C, kMostParts));
  std::vector<std::vector<FromZeros>> from_zeros(state.n_restaurants);  // some classes at a time
  std::vector<int32_t> entries(layout.n_columns + 1);
  for (int r = 0; r < state.n_restaurants; ++r)
    for (int c = 0; c < C && only_binary(views.restaurants[r]); c += kMostParts)
      from_zeros[r].emplace_back(layout, state, views.restaurants[r], r, c, std::min(C - c, kMostParts));
  for (int64_t i = 0; i < rows.n; ++i) {
    double* to = out + i * C;
    double background = 0.0;
    if (!views.background.empty()) {
      cells.gather(layout, views.background, rows, i);
      score(groups_of(layout, state, 0), cells, 1, acc.data());
      background = acc[0];
    }
    for (int c = 0; c < C; ++c) to[c] = background;
    if (!views.class_only.empty()) {
      cells.gather(layout, views.class_only, rows, i);
      for (int c = 0; c < C; ++c) {
        score(groups_of(layout, state, c), cells, 1, acc.data());
        to[c] += acc[0];
      }
    }
    for (int r = 0; r < state.n_restaurants; ++r) {
      if (views.restaurants[r].empty()) continue;
      const int n_entries = from_zeros[r].empty() ? -1 : changes_of_row(views.restaurants[r], rows, i, entries.data());
      if (n_entries >= 0) {
        for (size_t k = 0; k < from_zeros[r].size(); ++k)
          from_zeros[r][k].add_log_density(entries.data(), n_entries, acc.data(), to + k * kMostParts);
        continue;
      }
      cells.gather(layout, views.restaurants[r], rows, i);
      for (int c = 0; c < C; ++c) {
        const int n = state.used[r * C + c];
        const double* w = state.log_weight + (int64_t(r) * C + c) * state.capacity;
        score(groups_of(layout, state, c), cells, n, acc.data());
        for (int g = 0; g < n; ++g) acc[g] += w[g];
        for (int g = n; g < padded(n); ++g) acc[g] = kNever;
        to[c] += log_sum_exp(acc.data(), padded(n));
      }
    }
  }
}

void seat_weights(const Chain& chain, int room, double* out) {
  for (int q = 0; q < chain.n_restaurants * chain.n_classes; ++q, out += room) {
    const int n = chain.used[q];
    const double *size = chain.size + int64_t(q) * chain.capacity, less = chain.discount[q];
    double total = n < chain.cap ? chain.alpha[q] + less * n : 0.0;
    std::fill_n(out, room, 0.0);
    out[n] = total;
    for (int g = 0; g < n; ++g) total += out[g] = size[g] - less;
    for (int g = 0; g < room; ++g) out[g] = std::log(out[g] / total);
  }
}

void group_scores(const Layout& layout, const Rows& rows, const Predictive& state, int restaurant, int c, double* out) {
  const Views views(layout, state.view, state.n_restaurants);
  Cells cells(layout.n_columns);
  std::vector<double> acc(padded(state.capacity));
  const int n = state.used[restaurant * state.n_classes + c];
  const double* w = state.log_weight + (int64_t(restaurant) * state.n_classes + c) * state.capacity;
  for (int64_t i = 0; i < rows.n; ++i) {
    cells.gather(layout, views.restaurants[restaurant], rows, i);
    score(groups_of(layout, state, c), cells, n, acc.data());
    for (int g = 0; g < n; ++g) out[i * n + g] = acc[g] + w[g];
  }
}

}  // namespace partita
