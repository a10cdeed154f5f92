// Linear algebra on eight components side by side: every number is a vector of eight, triangles are packed row by row.
#pragma once
#include <cstdlib>
#include <memory>
#include <new>

#include "arithmetic.hpp"

#pragma GCC diagnostic ignored "-Wpsabi"  // vectors are handed to inlined functions only

namespace partita {

// eight components; unaligned, since the caller's arrays may start anywhere
typedef double Eight __attribute__((vector_size(64), aligned(8), may_alias));

PARTITA_INLINE Eight& eight(double* p) { return *reinterpret_cast<Eight*>(p); }
PARTITA_INLINE const Eight& eight(const double* p) { return *reinterpret_cast<const Eight*>(p); }
PARTITA_INLINE int row_of(int a) { return a * (a + 1) / 2; }  // where row a of a packed lower triangle begins

// A run of vectors on whole cache lines.
class Lanes {
 public:
  explicit Lanes(int64_t n) : data_(static_cast<double*>(std::aligned_alloc(64, size_t(64 * (n > 0 ? n : 1))))) {
    if (!data_) throw std::bad_alloc();
  }
  operator Eight*() const { return reinterpret_cast<Eight*>(data_.get()); }

 private:
  struct Free {
    void operator()(double* p) const { std::free(p); }
  };
  std::unique_ptr<double, Free> data_;
};

// n numbers of the components h .. h + 8 out of arrays of H components
PARTITA_INLINE void pack(const double* from, int64_t n, int H, Eight* to) {
  for (int64_t e = 0; e < n; ++e) to[e] = eight(from + e * H);
}

// the lower triangle of the block of `cells` of a P x P matrix
PARTITA_INLINE void take_block(const Eight* matrix, int P, const int32_t* cells, int k, Eight* a) {
  for (int i = 0; i < k; ++i) {
    const Eight* row = matrix + int64_t(cells[i]) * P;
    for (int j = 0; j <= i; ++j) *a++ = row[cells[j]];
  }
}

// A = LDL', L with a unit diagonal below which it takes the place of A; 1/D on the diagonal. `column` is room for k vectors.
PARTITA_INLINE void factorise(Eight* a, int k, Eight* column) {
  for (int j = 0; j < k; ++j) {
    Eight& pivot = a[row_of(j) + j];
    pivot = 1.0 / pivot;
    for (int i = j + 1; i < k; ++i) {
      Eight* row = a + row_of(i);
      column[i] = row[j];
      const Eight l = row[j] * pivot;
      for (int b = j + 1; b <= i; ++b) row[b] -= l * column[b];
      row[j] = l;
    }
  }
}

// log|A| of a factor
PARTITA_INLINE Eight log_determinant(const Eight* a, int k) {
  double sum[8] = {0}, product[8];
  for (int h = 0; h < 8; ++h) product[h] = 1.0;
  for (int j = 0; j < k; ++j) {
    const double* pivot = reinterpret_cast<const double*>(a + row_of(j) + j);
    for (int h = 0; h < 8; ++h) product[h] *= pivot[h];
    if ((j & 3) == 3 || j + 1 == k)  // four pivots to a logarithm: far from under- and overflow
      for (int h = 0; h < 8; ++h) {
        sum[h] -= fast_log(product[h]);
        product[h] = 1.0;
      }
  }
  return eight(sum);
}

// b of Lb = given in its place; returns b'D^-1 b = given'A^-1 given
PARTITA_INLINE Eight solve_down(const Eight* a, int k, Eight* b) {
  Eight sum = {};
  for (int i = 0; i < k; ++i) {
    const Eight* row = a + row_of(i);
    Eight s = b[i];
    for (int j = 0; j < i; ++j) s -= row[j] * b[j];
    b[i] = s;
    sum += s * s * row[i];
  }
  return sum;
}

// after solve_down: A^-1 given in the place of b
PARTITA_INLINE void solve_up(const Eight* a, int k, Eight* b) {
  for (int i = 0; i < k; ++i) b[i] *= a[row_of(i) + i];
  for (int i = k - 1; i > 0; --i) {
    const Eight* row = a + row_of(i);
    const Eight by = b[i];
    for (int j = 0; j < i; ++j) b[j] -= row[j] * by;
  }
}

// A^-1 in the place of A, a packed lower triangle, by sweeping every pivot. `column` is room for k vectors.
PARTITA_INLINE void invert(Eight* a, int k, Eight* column) {
  for (int j = 0; j < k; ++j) {
    const Eight pivot = 1.0 / a[row_of(j) + j];
    for (int i = 0; i < k; ++i) column[i] = i < j ? a[row_of(j) + i] : a[row_of(i) + j];
    for (int i = 0; i < k; ++i) {
      Eight* row = a + row_of(i);
      const Eight l = column[i] * pivot;
      for (int b = 0; b <= i; ++b) row[b] -= l * column[b];
    }
    for (int i = 0; i < k; ++i) (i < j ? a[row_of(j) + i] : a[row_of(i) + j]) = column[i] * pivot;
    a[row_of(j) + j] = -pivot;
  }
  for (int e = 0; e < row_of(k); ++e) a[e] = -a[e];
}

}  // namespace partita
