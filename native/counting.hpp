// Sums over rows, class by class. Plain twins: kernels/reference/counting.py.
#pragma once
#include <cstdint>

namespace partita {

// Statistics of every column in every class, added to what is there: counts[first[j] + code * n_classes + y], the weight of the
// rows of class y with that code in column j; sums[y, j] = weight, sum and sum of squares of the observed numbers. A row without
// a label adds nothing, a missing cell (code < 0, NaN) neither.
void class_statistics(const int32_t* codes, int64_t n, int n_codes, const double* reals, int n_reals, const int32_t* label,
                      const double* weight, int n_classes, const int64_t* first, double* counts, double* sums);

// counts[first[m] + (a * levels[j] + b) * n_classes + y] += weight of row i, for each pair m = (i, j) of columns, a and b the
// codes of the row there and y its label; a row with a negative code in the pair or a negative label adds nothing.
void pair_counts(const int32_t* codes, int64_t n, int n_columns, const int32_t* levels, const int32_t* label,
                 const double* weight, int n_classes, const int32_t* pairs, int64_t n_pairs, const int64_t* first,
                 double* counts);

}  // namespace partita
