// Sums over rows, class by class: statistics of columns, counts of pairs of columns.
#include "counting.hpp"

#include <algorithm>
#include <vector>

namespace partita {

void class_statistics(const int32_t* codes, int64_t n, int n_codes, const double* reals, int n_reals, const int32_t* label,
                      const double* weight, int n_classes, const int64_t* first, double* counts, double* sums) {
  for (int64_t i = 0; i < n; ++i) {
    const int32_t y = label[i];
    if (y < 0) continue;
    const double w = weight[i];
    const int32_t* code = codes + i * n_codes;
    for (int j = 0; j < n_codes; ++j)
      if (code[j] >= 0) counts[first[j] + int64_t(code[j]) * n_classes + y] += w;
    const double* x = reals + i * n_reals;
    for (int j = 0; j < n_reals; ++j) {
      if (!(x[j] == x[j])) continue;
      double* to = sums + (int64_t(y) * n_reals + j) * 3;
      to[0] += w;
      to[1] += w * x[j];
      to[2] += w * x[j] * x[j];
    }
  }
}

void pair_counts(const int32_t* codes, int64_t n, int n_columns, const int32_t* levels, const int32_t* label,
                 const double* weight, int n_classes, const int32_t* pairs, int64_t n_pairs, const int64_t* first,
                 double* counts) {
  constexpr int64_t kRows = 1024;  // of a column, turned, stay in the first-level cache
  std::vector<int32_t> turned(size_t(n_columns) * kRows);
  for (int64_t start = 0; start < n; start += kRows) {
    const int64_t rows = std::min(kRows, n - start);
    for (int64_t i = 0; i < rows; ++i)
      for (int d = 0; d < n_columns; ++d) turned[d * kRows + i] = codes[(start + i) * n_columns + d];
    for (int64_t m = 0; m < n_pairs; ++m) {
      const int32_t *a = turned.data() + pairs[2 * m] * kRows, *b = turned.data() + pairs[2 * m + 1] * kRows;
      const int64_t wide = levels[pairs[2 * m + 1]];
      double* to = counts + first[m];
      for (int64_t i = 0; i < rows; ++i) {
        const int32_t y = label[start + i];
        if ((a[i] | b[i] | y) < 0) continue;
        to[(a[i] * wide + b[i]) * n_classes + y] += weight[start + i];
      }
    }
  }
}

}  // namespace partita
