// Products of a symmetric P x P matrix of vectors with several columns at once, so that every number of the matrix is loaded
// once for all of them.
#pragma once
#include "gate_lanes.hpp"

namespace partita {

constexpr int kTogether = 4;  // rows of the table that are multiplied at once

// A block of rows p and columns q of a symmetric matrix with rows of P vectors.
template <class V>
struct Part {
  const V* matrix;
  int P;
  const int32_t *p, *q;
  int n_p, n_q;
};

template <int R, int C, class V>
PARTITA_INLINE void numbers_tile(const Part<V>& m, int a, const double* const* x, V* y, int to) {
  V s[R][C];
  PARTITA_UNROLL
  for (int r = 0; r < R; ++r)
    PARTITA_UNROLL
    for (int c = 0; c < C; ++c) s[r][c] = V{};
  const V* column[C];
  PARTITA_UNROLL
  for (int c = 0; c < C; ++c) column[c] = m.matrix + m.p[a + c];
  for (int e = 0; e < m.n_q; ++e) {
    const int64_t q = m.q[e], row = q * m.P;
    PARTITA_UNROLL
    for (int c = 0; c < C; ++c)
      PARTITA_UNROLL
      for (int r = 0; r < R; ++r) s[r][c] += x[r][q] * column[c][row];
  }
  PARTITA_UNROLL
  for (int r = 0; r < R; ++r)
    PARTITA_UNROLL
    for (int c = 0; c < C; ++c) y[r * to + a + c] = s[r][c];
}

// y_r = M_pq x_r for n (1 or four) rows x_r of numbers, the results `to` apart
template <class V>
PARTITA_INLINE void times_numbers_of(const Part<V>& m, int n, const double* const* x, V* y, int to) {
  int a = 0;
  if (n == 1)
    for (; a + 8 <= m.n_p; a += 8) numbers_tile<1, 8>(m, a, x, y, to);
  else
    for (; a + 4 <= m.n_p; a += 4) numbers_tile<kTogether, 4>(m, a, x, y, to);
  for (; a < m.n_p; ++a)
    for (int r = 0; r < n; ++r) numbers_tile<1, 1>(m, a, x + r, y + r * to, to);
}

PARTITA_APART(times_numbers, (const Part<V>& m, int n, const double* const* x, V* y, int to), (m, n, x, y, to))

template <int C, class V>
PARTITA_INLINE void triangle_tile(const V* U, int P, int p, const int32_t* q, int n_q, const double* const* x, V* y) {
  V s[kTogether][C];
  PARTITA_UNROLL
  for (int r = 0; r < kTogether; ++r)
    PARTITA_UNROLL
    for (int c = 0; c < C; ++c) s[r][c] = V{};
  for (int e = 0; e < n_q && q[e] < p + C; ++e) {
    const V* row = U + int64_t(q[e]) * P + p;
    PARTITA_UNROLL
    for (int c = 0; c < C; ++c)
      PARTITA_UNROLL
      for (int r = 0; r < kTogether; ++r) s[r][c] += x[r][q[e]] * row[c];
  }
  PARTITA_UNROLL
  for (int r = 0; r < kTogether; ++r)
    PARTITA_UNROLL
    for (int c = 0; c < C; ++c) y[r * P + p + c] = s[r][c];
}

// y_r = U'x_r for four rows of numbers, zero but for the ascending cells q; U is upper triangular, with zeros below
template <class V>
PARTITA_INLINE void times_triangle_of(const V* U, int P, const int32_t* q, int n_q, const double* const* x, V* y) {
  int p = 0;
  for (; p + 4 <= P; p += 4) triangle_tile<4>(U, P, p, q, n_q, x, y);
  for (; p < P; ++p) triangle_tile<1>(U, P, p, q, n_q, x, y);
}

PARTITA_APART(times_triangle, (const V* U, int P, const int32_t* q, int n_q, const double* const* x, V* y), (U, P, q, n_q, x, y))

// sum of row_q x_q over n numbers
template <class V>
PARTITA_INLINE V inner_numbers(const V* row, const double* x, int n) {
  V s[4] = {};
  int q = 0;
  for (; q + 4 <= n; q += 4)
    PARTITA_UNROLL
    for (int e = 0; e < 4; ++e) s[e] += x[q + e] * row[q + e];
  for (; q < n; ++q) s[0] += x[q] * row[q];
  return (s[0] + s[1]) + (s[2] + s[3]);
}

template <int R, int C, class V>
PARTITA_INLINE void vectors_tile(const Part<V>& m, int a, const V* x, int step, V* y, int to) {
  V s[R][C];
  PARTITA_UNROLL
  for (int r = 0; r < R; ++r)
    PARTITA_UNROLL
    for (int c = 0; c < C; ++c) s[r][c] = V{};
  const V* column[C];
  PARTITA_UNROLL
  for (int c = 0; c < C; ++c) column[c] = m.matrix + m.p[a + c];
  for (int e = 0; e < m.n_q; ++e) {
    const int64_t row = int64_t(m.q[e]) * m.P;
    PARTITA_UNROLL
    for (int c = 0; c < C; ++c)
      PARTITA_UNROLL
      for (int r = 0; r < R; ++r) s[r][c] += column[c][row] * x[r * step + e];
  }
  PARTITA_UNROLL
  for (int r = 0; r < R; ++r)
    PARTITA_UNROLL
    for (int c = 0; c < C; ++c) y[r * to + a + c] = s[r][c];
}

template <int R, class V>
PARTITA_INLINE void vectors_rows(const Part<V>& m, const V* x, int step, V* y, int to) {
  int a = 0;
  if (R == 1)
    for (; a + 8 <= m.n_p; a += 8) vectors_tile<R, 8>(m, a, x, step, y, to);
  for (; a + 4 <= m.n_p; a += 4) vectors_tile<R, 4>(m, a, x, step, y, to);
  for (; a < m.n_p; ++a) vectors_tile<R, 1>(m, a, x, step, y, to);
}

// y_r = M_pq x_r for n columns of vectors `step` apart
template <class V>
PARTITA_INLINE void times_vectors_of(const Part<V>& m, int n, const V* x, int step, V* y, int to) {
  int r = 0;
  for (; r + 4 <= n; r += 4) vectors_rows<4, V>(m, x + r * step, step, y + r * to, to);
  for (; r < n; ++r) vectors_rows<1, V>(m, x + r * step, step, y + r * to, to);
}

PARTITA_APART(times_vectors, (const Part<V>& m, int n, const V* x, int step, V* y, int to), (m, n, x, step, y, to))

template <class V>
PARTITA_INLINE V inner(const V* x, const V* y, int n) {
  V even = {}, odd = {};
  int e = 0;
  for (; e + 2 <= n; e += 2) {
    even += x[e] * y[e];
    odd += x[e + 1] * y[e + 1];
  }
  return e < n ? even + odd + x[e] * y[e] : even + odd;
}

}  // namespace partita
