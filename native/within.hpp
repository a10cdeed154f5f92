// Rows of binary columns as one view sees them: their table entries in its columns.
#pragma once
#include "mixture.hpp"

namespace partita {

struct Within {
  Rows rows;  // as they were where their entries are not known or the view holds all columns
  Within(const Layout& layout, const Rows& whole, const int32_t* view, int which) : rows(whole) {
    if (!rows.entries) return;
    std::vector<uint8_t> mine(layout.n_table);  // column d has the entries 2 d and 2 d + 1
    bool all = true;
    for (int d = 0; d < layout.n_columns; ++d) {
      mine[2 * d] = mine[2 * d + 1] = view[d] == which;
      all = all && mine[2 * d];
    }
    if (all) return;
    first.resize(whole.n + 1);
    entries.resize(whole.entry_first[whole.n] + 1);
    int64_t k = 0;
    for (int64_t i = 0; i < whole.n; ++i) {
      first[i] = k;
      for (int64_t e = whole.entry_first[i]; e < whole.entry_first[i + 1]; ++e) {
        entries[k] = whole.entries[e];  // without a branch: which columns are here is as good as random
        k += mine[entries[k]];
      }
    }
    first[whole.n] = k;
    rows.entry_first = first.data();
    rows.entries = entries.data();
  }
  Within(const Within&) = delete;

  // gathers the cells of row i
  void gather(const Layout& layout, const Columns& columns, int64_t i, Cells& cells) const {
    if (rows.entries) cells.enter(rows.entries + rows.entry_first[i], int(rows.entry_first[i + 1] - rows.entry_first[i]));
    else cells.gather(layout, columns, rows, i);
  }

 private:
  std::vector<int64_t> first;
  std::vector<int32_t> entries;
};

}  // namespace partita
