// Gram matrices of gathered rows, in tiles that stay in registers.
#pragma once
#include "gate_lanes.hpp"
#include "svd.hpp"

namespace partita {

// rows that are gathered at once: they and the tile they meet fit into the first cache
PARTITA_INLINE int rows_at_once(int W) {
  const int n = 3072 / W & ~7;
  return n < 8 ? 8 : n > 256 ? 256 : n;
}

// G[a + r, b ...] += sum over n packed rows z of z[a + r] z[b ...]: R rows by N vectors
template <class V, int R, int N>
PARTITA_INLINE void gram_tile(const double* z, int n, int W, int a, int b, double* G) {
  V sum[R][N];
  PARTITA_UNROLL
  for (int r = 0; r < R; ++r)
    PARTITA_UNROLL
    for (int c = 0; c < N; ++c) sum[r][c] = V{};
  for (int p = 0; p < n; ++p, z += W) {
    V x[N];
    PARTITA_UNROLL
    for (int c = 0; c < N; ++c) x[c] = load<V>(z + b + c * kLanes<V>);
    PARTITA_UNROLL
    for (int r = 0; r < R; ++r)
      PARTITA_UNROLL
      for (int c = 0; c < N; ++c) sum[r][c] += z[a + r] * x[c];
  }
  PARTITA_UNROLL
  for (int r = 0; r < R; ++r)
    PARTITA_UNROLL
    for (int c = 0; c < N; ++c) {
      double* g = G + int64_t(a + r) * W + b + c * kLanes<V>;
      store<V>(g, load<V>(g) + sum[r][c]);
    }
}

// The upper triangle (and what tiles cover beside it) of G += Z'Z, n packed rows of width W, a multiple of eight.
template <class V>
PARTITA_INLINE void add_gram(const double* z, int n, int W, double* G) {
  constexpr int L = kLanes<V>, R = L < 4 ? 4 : L, N = L == 8 ? 3 : L == 4 ? 3 : 2;
  for (int a = 0; a < W; a += R) {
    int b = a;
    for (; b + N * L <= W; b += N * L) gram_tile<V, R, N>(z, n, W, a, b, G);
    if constexpr (N == 3)
      if (b + 2 * L <= W) {
        gram_tile<V, R, 2>(z, n, W, a, b, G);
        b += 2 * L;
      }
    for (; b < W; b += L) gram_tile<V, R, 1>(z, n, W, a, b, G);
  }
}

// What a row's cells add up to, r = y - shift: G = sum z z', zy = sum z root r, z1 = sum z root, and sums of root^2 times 1, r, r^2.
struct RowSums {
  double *G, *zy, *z1;
  double ones, linear, square;
};

template <class V, int N>
PARTITA_INLINE void pack_chunk(const double* const* rows, const double* root, const double* t, int n, int W, int at, double* z,
                               const RowSums& sums) {
  constexpr int L = kLanes<V>;
  V zy[N], z1[N];
  PARTITA_UNROLL
  for (int c = 0; c < N; ++c) zy[c] = load<V>(sums.zy + at + c * L), z1[c] = load<V>(sums.z1 + at + c * L);
  for (int p = 0; p < n; ++p) {
    PARTITA_UNROLL
    for (int c = 0; c < N; ++c) {
      const V x = load<V>(rows[p] + at + c * L);
      store<V>(z + int64_t(p) * W + at + c * L, x);
      zy[c] += t[p] * x;
      z1[c] += root[p] * x;
    }
  }
  PARTITA_UNROLL
  for (int c = 0; c < N; ++c) store<V>(sums.zy + at + c * L, zy[c]), store<V>(sums.z1 + at + c * L, z1[c]);
}

// Gathers n rows side by side, adding to zy and z1 on the way.
template <class V>
PARTITA_INLINE void pack_rows(const double* const* rows, const double* root, const double* t, int n, int W, double* z,
                              const RowSums& sums) {
  constexpr int L = kLanes<V>;
  int at = 0;
  for (; at + 4 * L <= W; at += 4 * L) pack_chunk<V, 4>(rows, root, t, n, W, at, z, sums);
  for (; at < W; at += L) pack_chunk<V, 1>(rows, root, t, n, W, at, z, sums);
}

// Room of one call for rows of width W.
template <class V>
struct GramDesk {
  static constexpr int L = kLanes<V>;
  explicit GramDesk(int W) : packed(int64_t(rows_at_once(W)) * W / L), G(int64_t(W) * W / L), zy(W / L), z1(W / L) {}
  Room<V> packed, G, zy, z1;
  RowSums sums() {
    return {reinterpret_cast<double*>(static_cast<V*>(G)), reinterpret_cast<double*>(static_cast<V*>(zy)),
            reinterpret_cast<double*>(static_cast<V*>(z1)), 0.0, 0.0, 0.0};
  }
};

// The sums of the cells first .. last - 1.
template <class V>
PARTITA_INLINE void sum_cells(const SideCells& cells, int64_t first, int64_t last, const double* Z, const double* root,
                              const double* shift, int W, double* packed, RowSums& sums) {
  const double* rows[256];
  double roots[256], t[256];
  std::memset(sums.G, 0, sizeof(double) * size_t(W) * W);
  std::memset(sums.zy, 0, sizeof(double) * W);
  std::memset(sums.z1, 0, sizeof(double) * W);
  sums.ones = sums.linear = sums.square = 0.0;
  const int most = rows_at_once(W);
  for (int64_t p = first; p < last; p += most) {
    const int n = int(last - p < most ? last - p : most);
    for (int q = 0; q < n; ++q) {
      const int64_t j = cells.other[p + q];
      rows[q] = Z + j * W;
      roots[q] = root[j];
      t[q] = roots[q] * (cells.y[p + q] - shift[j]);
    }
    for (int q = 0; q < n; ++q) {
      sums.ones += roots[q] * roots[q];
      sums.linear += roots[q] * t[q];
      sums.square += t[q] * t[q];
    }
    pack_rows<V>(rows, roots, t, n, W, packed, sums);
    add_gram<V>(packed, n, W, sums.G);
  }
}

}  // namespace partita
