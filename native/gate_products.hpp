// Products of a matrix of vectors with four columns at once, so that every number of the matrix is loaded once for the four.
#pragma once
#include "gate_lanes.hpp"

namespace partita {

constexpr int kTogether = 4;  // rows of the table that are multiplied at once

template <int C, class V>
PARTITA_INLINE void numbers_tile(const V* M, int P, int p, const int32_t* q, int n, const double* const* x, V* y) {
  V s[kTogether][C];
  for (int r = 0; r < kTogether; ++r)
    for (int c = 0; c < C; ++c) s[r][c] = V{};
  for (int e = 0; e < n; ++e) {
    const V* row = M + q[e] * P + p;
    for (int r = 0; r < kTogether; ++r)
      for (int c = 0; c < C; ++c) s[r][c] += x[r][q[e]] * row[c];
  }
  for (int r = 0; r < kTogether; ++r)
    for (int c = 0; c < C; ++c) y[r * P + p + c] = s[r][c];
}

// y_r = M x_r of the P x P symmetric M and four rows of numbers, of which the n cells q are not zero
template <class V>
PARTITA_INLINE void times_numbers(const V* M, int P, const int32_t* q, int n, const double* const* x, V* y) {
  int p = 0;
  for (; p + 4 <= P; p += 4) numbers_tile<4>(M, P, p, q, n, x, y);
  if (p + 2 <= P) {
    numbers_tile<2>(M, P, p, q, n, x, y);
    p += 2;
  }
  if (p < P) numbers_tile<1>(M, P, p, q, n, x, y);
}

template <int R, int C, class V>
PARTITA_INLINE void vectors_tile(const V* M, int P, const int32_t* p, const int32_t* q, int n, const V* x, int step_x, V* y,
                                 int step_y) {
  V s[R][C];
  for (int r = 0; r < R; ++r)
    for (int c = 0; c < C; ++c) s[r][c] = V{};
  for (int e = 0; e < n; ++e) {
    const V* row = M + q[e] * P;
    for (int c = 0; c < C; ++c) {
      const V m = row[p[c]];
      for (int r = 0; r < R; ++r) s[r][c] += m * x[r * step_x + e];
    }
  }
  for (int r = 0; r < R; ++r)
    for (int c = 0; c < C; ++c) y[r * step_y + c] = s[r][c];
}

// y_r = M_pq x_r: the block of rows p (n_p) and columns q (n_q) of the P x P symmetric M, times R columns of vectors
template <int R, class V>
PARTITA_INLINE void times_vectors(const V* M, int P, const int32_t* p, int n_p, const int32_t* q, int n_q, const V* x, int step_x,
                                  V* y, int step_y) {
  int a = 0;
  for (; a + 4 <= n_p; a += 4) vectors_tile<R, 4>(M, P, p + a, q, n_q, x, step_x, y + a, step_y);
  for (; a < n_p; ++a) vectors_tile<R, 1>(M, P, p + a, q, n_q, x, step_x, y + a, step_y);
}

}  // namespace partita
