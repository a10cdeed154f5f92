// Symmetric matrices of vectors: packed lower triangles, row after row, taken four columns at a time so that a number that was
// loaded serves several multiplications.
#pragma once
#include "gate_lanes.hpp"

namespace partita {

PARTITA_INLINE int row_of(int a) { return a * (a + 1) / 2; }  // where row a of a packed triangle begins

// the triangle of the block of `cells` of a P x P matrix
template <class V>
PARTITA_INLINE void take_block(const V* matrix, int P, const int32_t* cells, int k, V* a) {
  for (int i = 0; i < k; ++i) {
    const V* row = matrix + int64_t(cells[i]) * P;
    for (int j = 0; j <= i; ++j) *a++ = row[cells[j]];
  }
}

// R rows from row i on, columns low .. high: A_ib -= sum_j u_ij L_bj, the W numbers L_b. standing at left + step(b)
template <int W, int R, class V>
PARTITA_INLINE void downdate(V* a, int i, int low, int high, const V (&u)[R][W], const V* left, int stride) {
  for (int b = low; b < high; ++b) {
    const V* l = stride ? left + b * stride : left + row_of(b);
    V s[R];
    for (int r = 0; r < R; ++r) s[r] = a[row_of(i + r) + b];
    for (int j = 0; j < W; ++j)
      for (int r = 0; r < R; ++r) s[r] -= u[r][j] * l[j];
    for (int r = 0; r < R; ++r) a[row_of(i + r) + b] = s[r];
  }
}

// Columns J .. J + W of rows i .. i + R: L in their place, the columns after them downdated up to the diagonal.
template <int W, int R, class V>
PARTITA_INLINE void eliminate_rows(V* a, int J, int i, const V (&l)[W][W], const V (&inverse)[W]) {
  V c[R][W];  // L D
  for (int r = 0; r < R; ++r) {
    V* row = a + row_of(i + r) + J;
    for (int j = 0; j < W; ++j) {
      V s = row[j];
      for (int e = 0; e < j; ++e) s -= c[r][e] * l[j][e];
      c[r][j] = s;
      row[j] = s * inverse[j];
    }
  }
  downdate<W, R>(a, i, J + W, i + 1, c, a + J, 0);
  for (int r = 1; r < R; ++r)  // the corner beyond the diagonal of row i
    for (int b = i + 1; b <= i + r; ++b) {
      V s = a[row_of(i + r) + b];
      for (int j = 0; j < W; ++j) s -= c[r][j] * a[row_of(b) + J + j];
      a[row_of(i + r) + b] = s;
    }
}

template <int W, class V>
PARTITA_INLINE void factor_panel(V* a, int J, int n, V* pivots) {
  V l[W][W], inverse[W];
  for (int i = 0; i < W; ++i) {
    V* row = a + row_of(J + i) + J;
    V c[W], d = row[i];
    for (int j = 0; j < i; ++j) {
      V s = row[j];
      for (int e = 0; e < j; ++e) s -= c[e] * l[j][e];
      c[j] = s;
      row[j] = l[i][j] = s * inverse[j];
      d -= s * l[i][j];
    }
    pivots[J + i] = d;
    inverse[i] = 1.0 / d;
  }
  int i = J + W;
  for (; i + 2 <= n; i += 2) eliminate_rows<W, 2>(a, J, i, l, inverse);
  if (i < n) eliminate_rows<W, 1>(a, J, i, l, inverse);
}

// A = LDL' of the first k of n rows, L (unit diagonal, not kept) in the place of A, D in `pivots`. The rows b' after them become
// D^-1 L^-1 b, and in their corner -b'A^-1 c is added for every two.
template <class V>
PARTITA_INLINE void factorise(V* a, int k, int n, V* pivots) {
  int J = 0;
  for (; J + 4 <= k; J += 4) factor_panel<4>(a, J, n, pivots);
  if (k - J == 3) factor_panel<3>(a, J, n, pivots);
  if (k - J == 2) factor_panel<2>(a, J, n, pivots);
  if (k - J == 1) factor_panel<1>(a, J, n, pivots);
}

template <int W, int R, class V>
PARTITA_INLINE void solve_panel(const V* a, int J, int k, V* b, int stride) {
  V s[R][W];
  for (int r = 0; r < R; ++r)
    for (int j = 0; j < W; ++j) s[r][j] = b[r * stride + J + j];
  for (int i = J + W; i < k; ++i) {
    const V* row = a + row_of(i) + J;
    for (int r = 0; r < R; ++r)
      for (int j = 0; j < W; ++j) s[r][j] -= row[j] * b[r * stride + i];
  }
  for (int j = W - 1; j >= 0; --j)
    for (int r = 0; r < R; ++r) {
      b[r * stride + J + j] = s[r][j];
      for (int e = 0; e < j; ++e) s[r][e] -= a[row_of(J + j) + J + e] * s[r][j];
    }
}

// b of L'b = given in its place, R of them `stride` apart
template <int R, class V>
PARTITA_INLINE void solve_up(const V* a, int k, V* b, int stride) {
  int J = k & ~3;
  if (k - J == 3) solve_panel<3, R>(a, J, k, b, stride);
  if (k - J == 2) solve_panel<2, R>(a, J, k, b, stride);
  if (k - J == 1) solve_panel<1, R>(a, J, k, b, stride);
  for (J -= 4; J >= 0; J -= 4) solve_panel<4, R>(a, J, k, b, stride);
}

// R rows of one sweep: the numbers w_i. of the panel times its inverse, and A_ib -= that times w_b., but for the panel itself.
template <int W, int R, class V>
PARTITA_INLINE void sweep_rows(V* a, int J, int i, const V (&inverse)[W][W], const V* w) {
  V u[R][W];
  for (int r = 0; r < R; ++r)
    for (int j = 0; j < W; ++j) {
      V s = w[(i + r) * W] * inverse[0][j];
      for (int e = 1; e < W; ++e) s += w[(i + r) * W + e] * inverse[e][j];
      u[r][j] = s;
      (i < J ? a[row_of(J + j) + i + r] : a[row_of(i + r) + J + j]) = s;
    }
  if (i < J) {
    downdate<W, R>(a, i, 0, i + 1, u, w, W);
  } else {
    downdate<W, R>(a, i, 0, J, u, w, W);
    downdate<W, R>(a, i, J + W, i + 1, u, w, W);
  }
  for (int r = 1; r < R; ++r)
    for (int b = i + 1; b <= i + r; ++b)
      for (int j = 0; j < W; ++j) a[row_of(i + r) + b] -= u[r][j] * w[b * W + j];
}

// W pivots at once: -B, A_.J B and A - A_.J B A_J. with B the inverse of the block of the pivots
template <int W, class V>
PARTITA_INLINE void sweep_panel(V* a, int J, int k, V* w, V* pivots) {
  V b[W][W];
  for (int i = 0; i < W; ++i)
    for (int j = 0; j <= i; ++j) b[i][j] = b[j][i] = a[row_of(J + i) + J + j];
  for (int p = 0; p < W; ++p) {
    pivots[J + p] = b[p][p];
    const V inverse = 1.0 / b[p][p];
    V c[W];
    for (int i = 0; i < W; ++i) c[i] = b[i][p];
    for (int i = 0; i < W; ++i)
      for (int j = 0; j <= i; ++j)
        if (i != p && j != p) b[i][j] = b[j][i] = b[i][j] - c[i] * inverse * c[j];
    for (int i = 0; i < W; ++i) b[i][p] = b[p][i] = c[i] * inverse;
    b[p][p] = -inverse;
  }
  for (int i = 0; i < W; ++i)
    for (int j = 0; j < W; ++j) {
      if (j <= i) a[row_of(J + i) + J + j] = b[i][j];
      b[i][j] = -b[i][j];
    }
  for (int i = 0; i < J; ++i)
    for (int j = 0; j < W; ++j) w[i * W + j] = a[row_of(J + j) + i];
  for (int i = J + W; i < k; ++i)
    for (int j = 0; j < W; ++j) w[i * W + j] = a[row_of(i) + J + j];
  for (int part = 0; part < 2; ++part) {
    int i = part ? J + W : 0;
    const int end = part ? k : J;
    for (; i + 2 <= end; i += 2) sweep_rows<W, 2>(a, J, i, b, w);
    if (i < end) sweep_rows<W, 1>(a, J, i, b, w);
  }
}

// -A^-1 in the place of A; the pivots, whose product is |A|; w is room for 4 k vectors
template <class V>
PARTITA_INLINE void invert_negative(V* a, int k, V* w, V* pivots) {
  int J = 0;
  for (; J + 4 <= k; J += 4) sweep_panel<4>(a, J, k, w, pivots);
  if (k - J == 3) sweep_panel<3>(a, J, k, w, pivots);
  if (k - J == 2) sweep_panel<2>(a, J, k, w, pivots);
  if (k - J == 1) sweep_panel<1>(a, J, k, w, pivots);
}

}  // namespace partita
