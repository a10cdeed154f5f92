// Upper triangles U with U'U = A, kept in P x P matrices row by row, so that every inner loop runs along a row.
#pragma once
#include <cmath>
#include <cstdint>

#include "arithmetic.hpp"

namespace partita {

// U in the place of A, no pivot below `least`
PARTITA_INLINE void factorise(double* a, int P, double least) {
  for (int j = 0; j < P; ++j) {
    double* row = a + int64_t(j) * P;
    const double pivot = std::sqrt(row[j] > least ? row[j] : least), inverse = 1.0 / pivot;
    row[j] = pivot;
    for (int k = j + 1; k < P; ++k) row[k] *= inverse;
    for (int i = j + 1; i < P; ++i) {
      double* below = a + int64_t(i) * P;
      const double by = row[i];
      for (int k = i; k < P; ++k) below[k] -= by * row[k];
    }
  }
}

// An order of cells may be null: as they stand.
PARTITA_INLINE int cell(const int32_t* order, int a) { return order ? order[a] : a; }

// z of U'z = r in the place of r for the n cells of `order`, ascending; returns |z|^2. What is left in the cells after them is
// minus their regression on these.
PARTITA_INLINE double whiten(const double* u, int P, const int32_t* order, int n, double* r) {
  double sum = 0.0;
  for (int a = 0; a < n; ++a) {
    const int j = cell(order, a);
    const double* row = u + int64_t(j) * P;
    const double z = r[j] / row[j];
    r[j] = z;
    sum += z * z;
    for (int k = j + 1; k < P; ++k) r[k] -= row[k] * z;
  }
  return sum;
}

// Takes cell f out of A: its row of U is rotated into those of the n cells of `order` after it. What then stands in the row and
// column of f, and of cells taken out before, is of no use any more.
PARTITA_INLINE void strike(double* u, int P, const int32_t* order, int n, int f) {
  double* lost = u + int64_t(f) * P;
  for (int a = 0; a < n; ++a) {
    const int j = order[a];
    if (j < f) continue;
    double* row = u + int64_t(j) * P;
    const double r = std::sqrt(row[j] * row[j] + lost[j] * lost[j]), c = row[j] / r, s = lost[j] / r;
    for (int k = j; k < P; ++k) {
      const double kept = row[k], gone = lost[k];
      row[k] = c * kept + s * gone;
      lost[k] = c * gone - s * kept;
    }
  }
}

// sum of log U[j][j] over the n cells of `order`, eight to a logarithm
PARTITA_INLINE double log_diagonal(const double* u, int P, const int32_t* order, int n) {
  double product = 1.0, sum = 0.0;
  for (int a = 0; a < n; ++a) {
    product *= u[cell(order, a) * int64_t(P + 1)];
    if ((a & 7) == 7) {
      sum += fast_log(product);
      product = 1.0;
    }
  }
  return sum + fast_log(product);
}

}  // namespace partita
