// The observed cells of one row, side by side for the kernels that score it.
#include "mixture.hpp"

namespace partita {

// Without a branch on the value: half of the cells may be missing at random.
void Cells::gather_codes(const Columns& columns, const Rows& rows, int64_t i) {
  const int32_t* code_row = rows.codes + i * rows.n_codes;
  int e = 0, k = 0;
  for (const auto& one : columns.binary) {
    const int32_t code = code_row[one.source];
    entries[k] = one.entry + (code != 1);
    binary[k] = one.column;
    codes[k] = code;
    k += code >= 0;
  }
  n_binary = e = k;
  k = 0;
  for (const auto& one : columns.categorical) {
    const int32_t code = code_row[one.source];
    entries[e] = one.entry;
    entries[e + 1] = one.entry + 1 + code;
    categorical[k] = one.column;
    levels[k] = code;
    e += 2 * (code >= 0);
    k += code >= 0;
  }
  n_categorical = k;
  n_entries = e;
}

void Cells::gather_listed_codes(const Columns& columns, const Rows& rows, int64_t i) {
  int b = 0, k = 0;
  const int32_t known = int32_t(columns.by_source.size());
  for (int64_t at = rows.first[i]; at < rows.first[i + 1]; ++at) {
    if (rows.cells[at] >= known) continue;  // a column beyond those of this view
    const auto& one = columns.by_source[rows.cells[at]];
    const int32_t code = rows.listed[at];
    entries[b] = one.entry + (code != 1);
    binary[b] = categorical[k] = one.column;
    codes[b] = levels[k] = code;
    b += one.binary;
    k += one.categorical;
  }
  n_binary = b;
  n_categorical = k;
  n_entries = b + 2 * k;
  for (int m = 0; m < k; ++m) {
    entries[b++] = entry_of[categorical[m]];
    entries[b++] = entry_of[categorical[m]] + 1 + levels[m];
  }
}

void Cells::gather(const Layout& layout, const Columns& columns, const Rows& rows, int64_t i) {
  entry_of = layout.table_first;
  if (rows.first) gather_listed_codes(columns, rows, i);
  else gather_codes(columns, rows, i);
  const double* real_row = rows.reals + i * rows.n_reals;
  int k = 0;
  for (const auto& one : columns.count) {
    count[k] = one.column;
    counts[k] = real_row[one.source];
    k += counts[k] == counts[k];
  }
  n_count = k;
  k = 0;
  for (const auto& one : columns.real) {
    real[k] = one.column;
    reals[k] = real_row[one.source];
    k += reals[k] == reals[k];
  }
  n_real = k;
  block.n_seen = 0;
  for (const auto& one : columns.correlated) block.gather(one.column, layout.levels[one.column], real_row + one.source, i);
}

// Column d of a layout of binary columns has the entries 2 d (a one) and 2 d + 1 (a zero).
void Cells::enter(const int32_t* of_row, int n) {
  for (int m = 0; m < n; ++m) {
    entries[m] = of_row[m];
    binary[m] = of_row[m] >> 1;
    codes[m] = ~of_row[m] & 1;
  }
  n_entries = n_binary = n;
  n_categorical = n_count = n_real = block.n_seen = 0;
}

}  // namespace partita
