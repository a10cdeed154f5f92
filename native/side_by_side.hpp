// The groups of several classes in one restaurant of binary columns, side by side: one pass over a row's cells scores them all.
#pragma once
#include "mixture.hpp"

namespace partita {

inline bool only_binary(const Columns& columns) { return columns.binary.size() == columns.all.size() && !columns.empty(); }

struct SideBySide {
  int wide = 0;
  std::vector<int32_t> first{0};  // where the groups of each class begin
  std::vector<double> table;      // [entry of the columns in turn: one, zero][wide]
  std::vector<int32_t> place;     // of an entry of the layout: where its row of the table begins, in units of `wide`
  SideBySide(const Layout& layout, const Columns& columns, const std::vector<int32_t>& n_groups)
      : place(layout.n_table, 0) {
    for (int32_t n : n_groups) first.push_back(first.back() + n);
    wide = padded(first.back());
    table.assign(2 * columns.binary.size() * size_t(wide), 0.0);
    for (size_t m = 0; m < columns.binary.size(); ++m)
      for (int k = 0; k < 2; ++k) place[columns.binary[m].entry + k] = int32_t(2 * m + k);
  }
  int classes() const { return int(first.size()) - 1; }
  void put(const Groups& groups, const Columns& columns, int c) {  // the groups of the c-th of the classes
    const int at = first[c], n = first[c + 1] - at;
    for (size_t m = 0; m < 2 * columns.binary.size(); ++m) {
      const double* from = groups.table + (columns.binary[m / 2].entry + int64_t(m % 2)) * groups.capacity;
      std::copy_n(from, n, table.data() + m * wide + at);
    }
  }
  // acc[k] = log p(cells | group) for all groups of all classes; entries are overwritten
  void score(int32_t* entries, int n_entries, double* acc) const {
    for (int m = 0; m < n_entries; ++m) entries[m] = place[entries[m]];
    accumulate(table.data(), wide, entries, n_entries, wide, acc);
  }
};

}  // namespace partita
