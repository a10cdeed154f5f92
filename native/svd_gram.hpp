// Gram matrices of gathered rows, in tiles that stay in registers. Rows are of single or double precision (T), their width is a
// multiple of eight; a vector of the processor holds L numbers. Sums over a block of rows are added up in T, sums of blocks in
// double.
#pragma once
#include "gate_lanes.hpp"
#include "svd.hpp"

namespace partita {

typedef float Floats4 __attribute__((vector_size(16)));
typedef float Floats8 __attribute__((vector_size(32)));
typedef float Floats16 __attribute__((vector_size(64)));

// the vector of T as wide as V, a vector of doubles
template <class V, class T>
struct Wide {
  typedef V type;
};
template <>
struct Wide<Two, float> {
  typedef Floats4 type;
};
template <>
struct Wide<Four, float> {
  typedef Floats8 type;
};
template <>
struct Wide<Eight, float> {
  typedef Floats16 type;
};

template <class F, class T>
PARTITA_INLINE F load_wide(const T* p) {
  F v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <class F, class T>
PARTITA_INLINE void store_wide(T* p, const F& v) {
  std::memcpy(p, &v, sizeof v);
}

constexpr int kMostRows = 256;

// rows that are gathered at once: they and the tile they meet fit into the first cache
template <class T>
PARTITA_INLINE int rows_at_once(int W) {
  const int n = int(24576 / sizeof(T)) / W & ~7;
  return n < 8 ? 8 : n > kMostRows ? kMostRows : n;
}

// to[...] += the numbers of a vector. By halves in registers: a vector that is stored to be converted would live in memory.
template <class V>
PARTITA_INLINE void add_doubles(V sum, double* to) {
  store<V>(to, load<V>(to) + sum);
}
PARTITA_INLINE void add_up(Two sum, double* to) { add_doubles<Two>(sum, to); }
PARTITA_INLINE void add_up(Four sum, double* to) { add_doubles<Four>(sum, to); }
PARTITA_INLINE void add_up(Eight sum, double* to) { add_doubles<Eight>(sum, to); }
PARTITA_INLINE void add_up(Floats4 s, double* to) {
  add_doubles<Two>(__builtin_convertvector(__builtin_shufflevector(s, s, 0, 1), Two), to);
  add_doubles<Two>(__builtin_convertvector(__builtin_shufflevector(s, s, 2, 3), Two), to + 2);
}
PARTITA_INLINE void add_up(Floats8 s, double* to) {
  add_doubles<Four>(__builtin_convertvector(__builtin_shufflevector(s, s, 0, 1, 2, 3), Four), to);
  add_doubles<Four>(__builtin_convertvector(__builtin_shufflevector(s, s, 4, 5, 6, 7), Four), to + 4);
}
PARTITA_INLINE void add_up(Floats16 s, double* to) {
  add_doubles<Eight>(__builtin_convertvector(__builtin_shufflevector(s, s, 0, 1, 2, 3, 4, 5, 6, 7), Eight), to);
  add_doubles<Eight>(__builtin_convertvector(__builtin_shufflevector(s, s, 8, 9, 10, 11, 12, 13, 14, 15), Eight), to + 8);
}

// G[a + r, b ...] += sum over n packed rows z of z[a + r] z[b ...]: R rows by N vectors
template <class V, class T, int R, int N>
PARTITA_INLINE void gram_tile(const T* z, int n, int W, int a, int b, double* G) {
  typedef typename Wide<V, T>::type F;
  constexpr int L = int(sizeof(F) / sizeof(T));
  F sum[R][N];
  PARTITA_UNROLL
  for (int r = 0; r < R; ++r)
    PARTITA_UNROLL
    for (int c = 0; c < N; ++c) sum[r][c] = F{};
  const T *down = z + a, *right = z + b;  // two pointers with fixed distances, else every row of the tile takes one
  for (int p = 0; p < n; ++p, down += W, right += W) {
    F x[N];
    PARTITA_UNROLL
    for (int c = 0; c < N; ++c) x[c] = load_wide<F>(right + c * L);
    PARTITA_UNROLL
    for (int r = 0; r < R; ++r)
      PARTITA_UNROLL
      for (int c = 0; c < N; ++c) sum[r][c] += down[r] * x[c];
  }
  PARTITA_UNROLL
  for (int r = 0; r < R; ++r)
    PARTITA_UNROLL
    for (int c = 0; c < N; ++c) add_up(sum[r][c], G + int64_t(a + r) * W + b + c * L);
}

// Half a vector: what is left of a width that is a multiple of eight numbers only.
template <class V>
struct Halved {
  typedef V type;
};
template <>
struct Halved<Eight> {
  typedef Four type;
};

// columns beyond the last multiple of eight, where they are few
PARTITA_INLINE int tail_of(int K) { return K > 8 && K % 8 <= 4 ? K % 8 : 0; }

// R rows from row a on, columns b to end - 1
template <class V, class T, int R>
PARTITA_INLINE void gram_rows(const T* z, int n, int W, int a, int b, int end, double* G) {
  constexpr int L = int(sizeof(typename Wide<V, T>::type) / sizeof(T)), N = sizeof(V) == 16 ? 2 : 3;
  for (; b + N * L <= end; b += N * L) gram_tile<V, T, R, N>(z, n, W, a, b, G);
  if constexpr (N == 3)
    if (b + 2 * L <= end) {
      gram_tile<V, T, R, 2>(z, n, W, a, b, G);
      b += 2 * L;
    }
  for (; b + L <= end; b += L) gram_tile<V, T, R, 1>(z, n, W, a, b, G);
  if constexpr (L == 16)
    if (b < end) gram_tile<typename Halved<V>::type, T, R, 1>(z, n, W, a, b, G);
}

// G += Z'Z, n packed rows of width W: the upper triangle of the first K rows (and what tiles cover beside it). A few columns
// beyond the last multiple of eight would cost every row of tiles a vector: their rows are taken instead, which is the same.
template <class V, class T>
PARTITA_INLINE void add_gram(const T* z, int n, int K, int W, double* G) {
  constexpr int L = int(sizeof(typename Wide<V, T>::type) / sizeof(T)), R = sizeof(V) == 64 ? 8 : 4;
  constexpr int from = L < 8 ? L : 8;  // tiles begin at multiples of it: no number twice, and no vector beyond the width
  const int tail = tail_of(K), end = tail ? K - tail : W;
  for (int a = 0; a < K - tail; a += R) gram_rows<V, T, R>(z, n, W, a, a / from * from, end, G);
  if (tail > 2)
    gram_rows<V, T, 4>(z, n, W, K - tail, 0, W, G);
  else if (tail)
    gram_rows<V, T, 2>(z, n, W, K - tail, 0, W, G);
}

// What a row's cells add up to, r = y - shift: G = sum z z', zy = sum z root r, z1 = sum z root, and sums of root^2 times 1, r, r^2.
struct RowSums {
  double *G, *zy, *z1;
  double ones, linear, square;
};

template <class V, class T, int N>
PARTITA_INLINE void pack_chunk(const T* const* rows, const T* root, const T* t, int n, int W, int at, T* z,
                               const RowSums& sums) {
  typedef typename Wide<V, T>::type F;
  constexpr int L = int(sizeof(F) / sizeof(T));
  F zy[N], z1[N];
  PARTITA_UNROLL
  for (int c = 0; c < N; ++c) zy[c] = z1[c] = F{};
  for (int p = 0; p < n; ++p) {
    PARTITA_UNROLL
    for (int c = 0; c < N; ++c) {
      const F x = load_wide<F>(rows[p] + at + c * L);
      store_wide<F>(z + int64_t(p) * W + at + c * L, x);
      zy[c] += t[p] * x;
      z1[c] += root[p] * x;
    }
  }
  PARTITA_UNROLL
  for (int c = 0; c < N; ++c) {
    add_up(zy[c], sums.zy + at + c * L);
    add_up(z1[c], sums.z1 + at + c * L);
  }
}

// Gathers n rows side by side, adding to zy and z1 on the way.
template <class V, class T>
PARTITA_INLINE void pack_rows(const T* const* rows, const T* root, const T* t, int n, int W, T* z, const RowSums& sums) {
  typedef typename Wide<V, T>::type F;
  constexpr int L = int(sizeof(F) / sizeof(T));
  int at = 0;
  for (; at + 4 * L <= W; at += 4 * L) pack_chunk<V, T, 4>(rows, root, t, n, W, at, z, sums);
  if (at + 2 * L <= W) {
    pack_chunk<V, T, 2>(rows, root, t, n, W, at, z, sums);
    at += 2 * L;
  }
  if (at + L <= W) {
    pack_chunk<V, T, 1>(rows, root, t, n, W, at, z, sums);
    at += L;
  }
  if constexpr (L == 16)
    if (at < W) pack_chunk<typename Halved<V>::type, T, 1>(rows, root, t, n, W, at, z, sums);
}

// The sums of the cells first .. last - 1; `packed` has room for rows_at_once rows.
template <class V, class T>
PARTITA_INLINE void sum_cells(const SideCells& cells, int64_t first, int64_t last, const T* Z, const double* root,
                              const double* shift, int K, int W, T* packed, RowSums& sums) {
  const T* rows[kMostRows];
  T roots[kMostRows], t[kMostRows];
  std::memset(sums.G, 0, sizeof(double) * size_t(K) * W);
  std::memset(sums.zy, 0, sizeof(double) * W);
  std::memset(sums.z1, 0, sizeof(double) * W);
  sums.ones = sums.linear = sums.square = 0.0;
  const int most = rows_at_once<T>(W);
  for (int64_t p = first; p < last; p += most) {
    const int n = int(last - p < most ? last - p : most);
    for (int q = 0; q < n; ++q) {
      const int64_t j = cells.other[p + q];
      const double rt = root[j], ry = rt * (cells.y[p + q] - shift[j]);
      rows[q] = Z + j * W;
      roots[q] = T(rt);
      t[q] = T(ry);
      sums.ones += rt * rt;
      sums.linear += rt * ry;
      sums.square += ry * ry;
    }
    pack_rows<V, T>(rows, roots, t, n, W, packed, sums);
    add_gram<V, T>(packed, n, K, W, sums.G);
  }
  for (int b = K - tail_of(K); b < K; ++b)
    for (int a = 0; a < b; ++a) sums.G[int64_t(a) * W + b] = sums.G[int64_t(b) * W + a];
}

}  // namespace partita
