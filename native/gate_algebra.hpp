// Factors and inverses of symmetric matrices of vectors, four rows by four columns at a time, so that a number that was loaded
// serves several multiplications. Matrices stand row after row, rows `step` apart.
#pragma once
#include <type_traits>

#include "gate_lanes.hpp"

namespace partita {

// Where A_ij is read: row[i][cell[j]]. Rows after the k of the matrix are right-hand sides b'.
template <class V>
struct Source {
  const V* const* row;
  const int32_t* cell;
};

// The factor A = LL' with 1/L_ii in `root` instead of the diagonal, and the pivots L_ii^2 in D, whose product is |A|; right-hand
// sides become L^-1 b.
template <class V>
struct Factor {
  V *L, *D, *root;
  int step;
};

// f(width, first row) of every panel of k rows: fours, and what is left
template <class F>
PARTITA_INLINE void each_panel(int k, const F& f) {
  int J = 0;
  for (; J + 4 <= k; J += 4) f(std::integral_constant<int, 4>(), J);
  if (k - J == 3) f(std::integral_constant<int, 3>(), J);
  if (k - J == 2) f(std::integral_constant<int, 2>(), J);
  if (k - J == 1) f(std::integral_constant<int, 1>(), J);
}

// R rows from i on of the columns J .. J + W: A_ij less what the columns before J explain
template <int R, int W, class V>
PARTITA_INLINE void remainder_tile(const Source<V>& a, const Factor<V>& f, int i, int J, V (&s)[R][W]) {
  const V *left[R], *right[W];
  PARTITA_UNROLL
  for (int r = 0; r < R; ++r) left[r] = f.L + (i + r) * f.step;
  PARTITA_UNROLL
  for (int j = 0; j < W; ++j) right[j] = f.L + (J + j) * f.step;
  PARTITA_UNROLL
  for (int r = 0; r < R; ++r)
    PARTITA_UNROLL
    for (int j = 0; j < W; ++j) s[r][j] = a.row[i + r][a.cell[J + j]];
  for (int e = 0; e < J; ++e)
    PARTITA_UNROLL
    for (int r = 0; r < R; ++r)
      PARTITA_UNROLL
      for (int j = 0; j < W; ++j) s[r][j] -= left[r][e] * right[j][e];
}

// the same rows of L, l being the unit triangle of the diagonal block
template <int R, int W, class V>
PARTITA_INLINE void factor_rows(const Source<V>& a, const Factor<V>& f, int i, int J, const V (&l)[W][W], const V (&root)[W]) {
  V c[R][W];
  remainder_tile<R, W>(a, f, i, J, c);
  PARTITA_UNROLL
  for (int r = 0; r < R; ++r)
    PARTITA_UNROLL
    for (int j = 0; j < W; ++j) {
      PARTITA_UNROLL
      for (int e = 0; e < j; ++e) c[r][j] -= c[r][e] * l[j][e];
      f.L[(i + r) * f.step + J + j] = c[r][j] * root[j];
    }
}

// the columns J .. J + W of all n rows
template <int W, class V>
PARTITA_INLINE void factor_panel(const Source<V>& a, const Factor<V>& f, int J, int n) {
  V c[W][W], l[W][W], inverse[W], root[W];
  remainder_tile<W, W>(a, f, J, J, c);
  PARTITA_UNROLL
  for (int i = 0; i < W; ++i) {  // without roots, which would make every pivot wait for the one before
    PARTITA_UNROLL
    for (int j = 0; j < i; ++j) {
      PARTITA_UNROLL
      for (int e = 0; e < j; ++e) c[i][j] -= c[i][e] * l[j][e];
      l[i][j] = c[i][j] * inverse[j];
      c[i][i] -= c[i][j] * l[i][j];
    }
    inverse[i] = 1.0 / c[i][i];
  }
  PARTITA_UNROLL
  for (int i = 0; i < W; ++i) {
    f.D[J + i] = c[i][i];
    f.root[J + i] = root[i] = square_root(inverse[i]);
    PARTITA_UNROLL
    for (int j = 0; j < i; ++j) f.L[(J + i) * f.step + J + j] = c[i][j] * root[j];
  }
  int i = J + W;
  for (; i + 4 <= n; i += 4) factor_rows<4, W>(a, f, i, J, l, root);
  if (i + 2 <= n) {
    factor_rows<2, W>(a, f, i, J, l, root);
    i += 2;
  }
  if (i < n) factor_rows<1, W>(a, f, i, J, l, root);
}

// the factor of the first k of n rows
template <class V>
PARTITA_INLINE void factorise_of(const Source<V>& a, const Factor<V>& f, int k, int n) {
  each_panel(k, [&](auto width, int J) __attribute__((always_inline)) { factor_panel<decltype(width)::value>(a, f, J, n); });
}

PARTITA_APART(factorise, (const Source<V>& a, const Factor<V>& f, int k, int n), (a, f, k, n))

template <int R, int W, class V>
PARTITA_INLINE void solve_panel(const Factor<V>& f, int J, int k, V* b) {
  V s[R][W];
  PARTITA_UNROLL
  for (int r = 0; r < R; ++r)
    PARTITA_UNROLL
    for (int j = 0; j < W; ++j) s[r][j] = b[r * f.step + J + j];
  const V* row = f.L + (J + W) * f.step + J;
  for (int i = J + W; i < k; ++i, row += f.step)
    PARTITA_UNROLL
    for (int r = 0; r < R; ++r)
      PARTITA_UNROLL
      for (int j = 0; j < W; ++j) s[r][j] -= row[j] * b[r * f.step + i];
  PARTITA_UNROLL
  for (int j = W - 1; j >= 0; --j)
    PARTITA_UNROLL
    for (int r = 0; r < R; ++r) {
      s[r][j] *= f.root[J + j];
      b[r * f.step + J + j] = s[r][j];
      PARTITA_UNROLL
      for (int e = 0; e < j; ++e) s[r][e] -= f.L[(J + j) * f.step + J + e] * s[r][j];
    }
}

template <int R, class V>
PARTITA_INLINE void solve_some(const Factor<V>& f, int k, V* b) {
  int J = k & ~3;
  if (k - J == 3) solve_panel<R, 3>(f, J, k, b);
  if (k - J == 2) solve_panel<R, 2>(f, J, k, b);
  if (k - J == 1) solve_panel<R, 1>(f, J, k, b);
  for (J -= 4; J >= 0; J -= 4) solve_panel<R, 4>(f, J, k, b);
}

// A^-1 b in the place of L^-1 b, for the n right-hand sides after the k rows
template <class V>
PARTITA_INLINE void solve_up_of(const Factor<V>& f, int k, int n) {
  V* b = f.L + k * f.step;
  int r = 0;
  for (; r + 2 <= n; r += 2) solve_some<2, V>(f, k, b + r * f.step);
  if (r < n) solve_some<1, V>(f, k, b + r * f.step);
}

PARTITA_APART(solve_up, (const Factor<V>& f, int k, int n), (f, k, n))

// rows I .. I + W and columns J .. J + 4 of Y = L^-1, J + 4 <= I
template <int W, class V>
PARTITA_INLINE void invert_tile(const Factor<V>& f, int I, int J, V* Y) {
  const int step = f.step;
  V y[W][4];
  const V *l[W], *row = Y + J * step + J;
  PARTITA_UNROLL
  for (int r = 0; r < W; ++r) {
    l[r] = f.L + (I + r) * step;
    PARTITA_UNROLL
    for (int c = 0; c < 4; ++c) y[r][c] = V{};
  }
  PARTITA_UNROLL
  for (int e = 0; e < 4; ++e, row += step)  // the triangle on the diagonal
    PARTITA_UNROLL
    for (int r = 0; r < W; ++r)
      PARTITA_UNROLL
      for (int c = 0; c <= e; ++c) y[r][c] -= l[r][J + e] * row[c];
  for (int e = J + 4; e < I; ++e, row += step)
    PARTITA_UNROLL
    for (int r = 0; r < W; ++r)
      PARTITA_UNROLL
      for (int c = 0; c < 4; ++c) y[r][c] -= l[r][e] * row[c];
  PARTITA_UNROLL
  for (int r = 0; r < W; ++r)
    PARTITA_UNROLL
    for (int c = 0; c < 4; ++c) {
      PARTITA_UNROLL
      for (int e = 0; e < r; ++e) y[r][c] -= l[r][I + e] * y[e][c];
      Y[(I + r) * step + J + c] = y[r][c] *= f.root[I + r];
    }
}

// the tile on the diagonal, its lower triangle
template <int W, class V>
PARTITA_INLINE void invert_corner(const Factor<V>& f, int I, V* Y) {
  V y[W][W];
  PARTITA_UNROLL
  for (int r = 0; r < W; ++r)
    PARTITA_UNROLL
    for (int c = 0; c <= r; ++c) {
      y[r][c] = V{} + (r == c ? 1.0 : 0.0);
      PARTITA_UNROLL
      for (int e = c; e < r; ++e) y[r][c] -= f.L[(I + r) * f.step + I + e] * y[e][c];
      Y[(I + r) * f.step + I + c] = y[r][c] *= f.root[I + r];
    }
}

// Where to add the lower triangle of a matrix times a weight: row i, column j to to[cell[i] * step + cell[j]].
template <class V>
struct Target {
  V* to;
  const int32_t* cell;
  int step;
  V weight;
};

// A sum of n products of two vectors of numbers each, to be added to an inverse: left_e right_e', rows `step` apart.
template <class V>
struct Outer {
  const V *left, *right;
  int n, step;
};

// rows I .. I + W and columns J .. J + C of Y'Y and `more`; of a corner, on the diagonal, the lower triangle
template <int W, int C, bool corner, class V>
PARTITA_INLINE void product_tile(const V* Y, int step, int I, int J, int k, const Outer<V>& more, const Target<V>& target) {
  V s[W][C];
  PARTITA_UNROLL
  for (int r = 0; r < W; ++r)
    PARTITA_UNROLL
    for (int c = 0; c < C; ++c) s[r][c] = V{};
  const V *left = Y + I * step + I, *right = Y + I * step + J;
  PARTITA_UNROLL
  for (int e = 0; e < W; ++e, left += step, right += step)  // the triangle of Y on the diagonal
    PARTITA_UNROLL
    for (int r = 0; r <= e; ++r)
      PARTITA_UNROLL
      for (int c = 0; c < C; ++c)
        if (!corner || c <= r) s[r][c] += left[r] * right[c];
  for (int e = I + W; e < k; ++e, left += step, right += step)
    PARTITA_UNROLL
    for (int r = 0; r < W; ++r)
      PARTITA_UNROLL
      for (int c = 0; c < C; ++c) s[r][c] += left[r] * right[c];
  for (int e = 0; e < more.n; ++e)
    PARTITA_UNROLL
    for (int r = 0; r < W; ++r)
      PARTITA_UNROLL
      for (int c = 0; c < C; ++c) s[r][c] += more.left[e * more.step + I + r] * more.right[e * more.step + J + c];
  PARTITA_UNROLL
  for (int r = 0; r < W; ++r)
    PARTITA_UNROLL
    for (int c = 0; c < C; ++c)
      if (!corner || c <= r) target.to[target.cell[I + r] * target.step + target.cell[J + c]] += target.weight * s[r][c];
}

// adds A^-1 + more, A^-1 = Y'Y; Y is room for a matrix like L
template <class V>
PARTITA_INLINE void add_inverse_of(const Factor<V>& f, int k, V* Y, const Outer<V>& more, const Target<V>& target) {
  each_panel(k, [&](auto width, int I) __attribute__((always_inline)) {
    constexpr int W = decltype(width)::value;
    for (int J = 0; J < I; J += 4) invert_tile<W>(f, I, J, Y);
    invert_corner<W>(f, I, Y);
  });
  each_panel(k, [&](auto width, int I) __attribute__((always_inline)) {
    constexpr int W = decltype(width)::value;
    for (int J = 0; J < I; J += 4) product_tile<W, 4, false>(Y, f.step, I, J, k, more, target);
    product_tile<W, W, true>(Y, f.step, I, I, k, more, target);
  });
}

PARTITA_APART(add_inverse, (const Factor<V>& f, int k, V* Y, const Outer<V>& more, const Target<V>& target),
              (f, k, Y, more, target))

}  // namespace partita
