// Which view a column belongs to: its marginal likelihood under each view's partition, times the seats of the other columns.
#include <algorithm>

#include "kernels.hpp"

namespace partita {

namespace {

// Every view's partition as one list of group numbers, classes one after the other.
struct Partitions {
  int n_views;
  std::vector<std::vector<int32_t>> group;  // [view][row]
  std::vector<int> n_groups;
  Partitions(const Chain& chain) : n_views(FIRST_RESTAURANT + chain.n_restaurants), group(n_views), n_groups(n_views) {
    const int C = chain.n_classes;
    for (int v = 0; v < n_views; ++v) {
      const int r = v - FIRST_RESTAURANT;
      std::vector<int> first(C + 1, 0);
      for (int c = 0; c < C; ++c)
        first[c + 1] = first[c] + (v == BACKGROUND ? 0 : v == CLASS_ONLY ? 1 : chain.used[r * C + c]);
      n_groups[v] = v == BACKGROUND ? 1 : first[C];
      group[v].resize(chain.n_rows);
      for (int64_t i = 0; i < chain.n_rows; ++i) {
        const int c = chain.label[i];
        group[v][i] = v == BACKGROUND ? 0 : v == CLASS_ONLY ? c : first[c] + chain.z[r * chain.n_rows + i];
      }
    }
  }
};

// The observed cells of one column, and its log marginal likelihood under any partition.
struct Column {
  const Layout& layout;
  const int d, L;
  const double* h;
  std::vector<int64_t> row;
  std::vector<int32_t> code, counts;
  std::vector<double> value, n, sum, squares;
  std::vector<std::vector<double>> rise;  // per level: log Gamma(a + k) - log Gamma(a), k = 0, 1, ..; last: of the total

  Column(const Layout& layout_, const Rows& rows, const Chain& chain, int column)
      : layout(layout_), d(column), L(layout_.kind[column] == BINARY ? 2 : layout_.levels[column]), h(chain.hyper + 4 * column) {
    const int source = layout.source[d];
    if (discrete()) {
      std::vector<int64_t> most(L + 1, 0);
      for (int64_t i = 0; i < rows.n; ++i) {
        const int32_t c = rows.codes[i * rows.n_codes + source];
        if (c < 0) continue;
        row.push_back(i);
        code.push_back(c);
        ++most[c];
        ++most[L];
      }
      for (int l = 0; l <= L; ++l) rise.push_back(tabulate(start(l), most[l]));
    } else {
      for (int64_t i = 0; i < rows.n; ++i) {
        const double x = rows.reals[i * rows.n_reals + source];
        if (!(x == x)) continue;
        row.push_back(i);
        value.push_back(x);
      }
    }
  }

  bool discrete() const { return layout.kind[d] == BINARY || layout.kind[d] == CATEGORICAL; }

  double start(int level) const {  // the pseudo-count of a level (of the total: level L)
    if (layout.kind[d] == BINARY) return level == 2 ? h[0] + h[1] : level == 1 ? h[0] : h[1];
    return level == L ? h[0] : h[0] * layout.base[layout.base_first[d] + level];
  }

  static std::vector<double> tabulate(double a, int64_t most) {
    std::vector<double> table(most + 1);
    for (int64_t k = 0; k < most; ++k) table[k + 1] = a + double(k);
    log_in_place(table.data() + 1, int(most));
    for (int64_t k = 0; k < most; ++k) table[k + 1] += table[k];
    return table;
  }

  double evidence(const std::vector<int32_t>& group, int n_groups) {
    double result = 0.0;
    if (discrete()) {
      counts.assign(size_t(n_groups) * L, 0);
      for (size_t k = 0; k < row.size(); ++k) ++counts[size_t(group[row[k]]) * L + code[k]];
      for (int g = 0; g < n_groups; ++g) {
        int total = 0;
        for (int l = 0; l < L; ++l) {
          const int c = counts[size_t(g) * L + l];
          result += rise[l][c];
          total += c;
        }
        result -= rise[L][total];
      }
      return result;
    }
    n.assign(n_groups, 0.0);
    sum.assign(n_groups, 0.0);
    squares.assign(n_groups, 0.0);
    for (size_t k = 0; k < row.size(); ++k) {
      const int g = group[row[k]];
      n[g] += 1.0;
      sum[g] += value[k];
      squares[g] += value[k] * value[k];
    }
    if (layout.kind[d] == COUNT) return count_evidence(n.data(), sum.data(), n_groups, h);
    return real_evidence(n.data(), sum.data(), squares.data(), n_groups, h);
  }
};

// A column's statistics from the assignments, in three steps: nothing, row after row, and the table that follows.
void clear_column(const Layout& layout, Chain& chain, int d) {
  const int width = (d + 1 < layout.n_columns ? layout.stat_first[d + 1] : layout.n_stats) - layout.stat_first[d];
  for (int c = 0; c < chain.n_classes; ++c) {
    Groups groups = groups_of(layout, chain, c);
    for (int g = 0; g < chain.capacity; ++g) std::fill_n(groups.at(d, g), width, 0.0);
  }
}

void count_row(const Layout& layout, const Rows& rows, Chain& chain, int d, int64_t i) {
  const int view = chain.view[d], P = layout.levels[d];
  const int c = view == BACKGROUND ? 0 : chain.label[i];
  const int g = view < FIRST_RESTAURANT ? 0 : chain.z[int64_t(view - FIRST_RESTAURANT) * chain.n_rows + i];
  const bool block = layout.kind[d] == CORRELATED;
  if (block) fill_block(P, rows.reals + i * rows.n_reals + layout.source[d], chain.hyper[4 * d + 3], chain.filled + i * P);
  if (c < 0 || g < 0) return;
  double* stats = groups_of(layout, chain, c).at(d, g);
  if (block) count_block(P, stats, chain.filled + i * P, 1.0);
  else count_cell(layout, d, stats, rows, i, 1.0);
}

void fill_table(const Layout& layout, Chain& chain, int d) {
  const int view = chain.view[d];
  for (int c = 0; c < chain.n_classes; ++c) {
    const int top = view < FIRST_RESTAURANT ? 0 : chain.used[(view - FIRST_RESTAURANT) * chain.n_classes + c];
    refresh_all(groups_of(layout, chain, c), d, std::min(top + 1, chain.capacity));
  }
}

}  // namespace

void fill_column(const Layout& layout, const Rows& rows, Chain& chain, int d) {
  clear_column(layout, chain, d);
  for (int64_t i = 0; i < chain.n_rows; ++i) count_row(layout, rows, chain, d, i);
  fill_table(layout, chain, d);
}

// all columns; rows outermost, since the statistics of a group lie together
void rebuild(const Layout& layout, const Rows& rows, Chain& chain) {
  Columns codes;  // those whose observed cells are listed
  std::vector<int> others;
  std::fill_n(chain.stats, int64_t(chain.n_classes) * chain.capacity * layout.n_stats, 0.0);
  for (int d = 0; d < layout.n_columns; ++d) {
    if (rows.first && (layout.kind[d] == BINARY || layout.kind[d] == CATEGORICAL)) codes.add(layout, d);
    else others.push_back(d);
  }
  const int known = int(codes.by_source.size()), views = FIRST_RESTAURANT + chain.n_restaurants;
  std::vector<double*> group(views);  // the statistics of the row's group in each view; null where it sits in none
  for (int64_t i = 0; i < chain.n_rows; ++i) {
    for (int d : others) count_row(layout, rows, chain, d, i);
    if (!known) continue;
    for (int v = 0; v < views; ++v) {
      const int c = v == BACKGROUND ? 0 : chain.label[i];
      const int g = v < FIRST_RESTAURANT ? 0 : chain.z[int64_t(v - FIRST_RESTAURANT) * chain.n_rows + i];
      group[v] = c < 0 || g < 0 ? nullptr : groups_of(layout, chain, c).stats + g * int64_t(layout.n_stats);
    }
    for (int64_t at = rows.first[i]; at < rows.first[i + 1]; ++at) {
      if (rows.cells[at] >= known) continue;
      const auto& one = codes.by_source[rows.cells[at]];
      double* stats = group[chain.view[one.column]];
      if (!stats || !(one.binary || one.categorical)) continue;
      stats += layout.stat_first[one.column];
      if (one.binary) {
        stats[rows.listed[at] != 1] += 1.0;
      } else {
        stats[0] += 1.0;
        stats[1 + rows.listed[at]] += 1.0;
      }
    }
  }
  for (int d = 0; d < layout.n_columns; ++d) fill_table(layout, chain, d);
}

void move_views(const Layout& layout, const Rows& rows, Chain& chain, const double* uniforms, int first, int last) {
  const Partitions partitions(chain);
  const int V = chain.n_restaurants, all = partitions.n_views;
  std::vector<double> seats(all, 0.0), logp(all), weight(all);
  for (int d = 0; d < layout.n_columns; ++d) seats[chain.view[d]] += 1.0;
  for (int d = first; d < last; ++d) {
    if (layout.kind[d] == CORRELATED) continue;
    Column column(layout, rows, chain, d);
    seats[chain.view[d]] -= 1.0;
    for (int v = 0; v < all; ++v)
      logp[v] = column.evidence(partitions.group[v], partitions.n_groups[v]) +
                fast_log(seats[v] + (v < FIRST_RESTAURANT ? 1.0 : 1.0 / V));
    double top, total = exponentiate(logp.data(), all, weight.data(), &top);
    const int v = pick(weight.data(), all, total, uniforms[d]);
    seats[v] += 1.0;
    if (v == chain.view[d]) continue;
    chain.view[d] = v;
    fill_column(layout, rows, chain, d);
  }
}

}  // namespace partita
