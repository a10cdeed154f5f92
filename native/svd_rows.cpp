// Rows of factors drawn whole: weighted Gram of each row; Cholesky factors and draws of as many rows side by side as a vector
// has lanes.
#include "svd_gram.hpp"

namespace partita {

namespace {

constexpr double kLeastPivot = 1e-14;  // share of its diagonal below which a pivot is rounding only

// Upper triangles of rows side by side: entry (a, b), b >= a, of all of them is at[start(a) + b].
PARTITA_INLINE int64_t start(int64_t a, int64_t n) { return a * n - a * (a + 1) / 2; }

// to[c] = A[a, b + c] - sum over k < a of U[k, a] U[k, b + c], c < N
template <class V, int N>
PARTITA_INLINE void reduce_lanes(const V* u, int n, int a, int b, V* to) {
  V x[N];
  PARTITA_UNROLL
  for (int c = 0; c < N; ++c) x[c] = to[c];
  const V* row = u;
  for (int k = 0; k < a; ++k, row += n - k) {  // start(k + 1) - start(k) = n - (k + 1)
    const V by = row[a];
    PARTITA_UNROLL
    for (int c = 0; c < N; ++c) x[c] -= by * row[b + c];
  }
  PARTITA_UNROLL
  for (int c = 0; c < N; ++c) to[c] = x[c];
}

// U with U'U = A in the place of A, its diagonal inverted.
template <class V>
PARTITA_INLINE void factorise_lanes(V* u, int n) {
  for (int a = 0; a < n; ++a) {
    V* row = u + start(a, n);
    const V least = kLeastPivot * row[a];
    int b = a;
    for (; b + 8 <= n; b += 8) reduce_lanes<V, 8>(u, n, a, b, row + b);
    for (; b + 4 <= n; b += 4) reduce_lanes<V, 4>(u, n, a, b, row + b);
    for (; b < n; ++b) reduce_lanes<V, 1>(u, n, a, b, row + b);
    const V inverse = 1.0 / square_root<V>(row[a] > least ? row[a] : least);
    for (b = a + 1; b < n; ++b) row[b] *= inverse;
    row[a] = inverse;
  }
}

// x of U'z = r, U x = z + noise, in the place of r; gives back z'z - noise'noise
template <class V>
PARTITA_INLINE V solve_lanes(const V* u, int n, const V* noise, V* r) {
  V gain{};
  for (int a = 0; a < n; ++a) {
    const V* row = u + start(a, n);
    const V z = r[a] * row[a];
    r[a] = z;
    gain += (z - noise[a]) * (z + noise[a]);
    for (int b = a + 1; b < n; ++b) r[b] -= z * row[b];
  }
  for (int a = n - 1; a >= 0; --a) {
    const V* row = u + start(a, n);
    V sum[2] = {r[a] + noise[a], V{}};
    int b = a + 1;
    for (; b + 2 <= n; b += 2) {
      sum[0] -= row[b] * r[b];
      sum[1] -= row[b + 1] * r[b + 1];
    }
    if (b < n) sum[0] -= row[b] * r[b];
    r[a] = (sum[0] + sum[1]) * row[a];
  }
  return gain;
}

// Sum over the cells of row i of root_j^2 (y - shift_j - x'[u_i, b_i])^2 without looking at them: with the precision
// P = L + c A (L that of the prior, c A of the cells) and the right-hand side h = L m + c q it is square - 2 x'q + x'A x, where
// x'P x - 2 x'h = noise'noise - z'z.
PARTITA_INLINE double squares_of_row(const RowDraw& d, int64_t i, double square, double gain) {
  if (d.cells.first[i] == d.cells.first[i + 1]) return 0.0;  // not what rounding leaves
  const double *x = d.out + i * d.n, *m = d.prior + i * d.n;
  for (int a = 0; a < d.n; ++a) gain += d.precision[a] * x[a] * (x[a] - 2.0 * m[a]);
  const double rest = square - gain / (d.alpha * d.weight[i]);
  return rest > 0.0 ? rest : 0.0;
}

// Precision and right-hand side of row i into lane h of P and r.
template <int L>
PARTITA_INLINE void assemble(const RowDraw& d, int64_t i, const RowSums& s, int h, double* P, double* r) {
  const double by = d.alpha * d.weight[i], *prior = d.prior + i * d.n;
  for (int a = 0; a < d.K; ++a) {
    double* to = P + start(a, d.n) * L + h;
    const double *g = s.G + int64_t(a) * d.W, ga = by * d.gain[a];
    for (int b = a; b < d.K; ++b) to[int64_t(b) * L] = ga * d.gain[b] * g[b];
    if (d.n > d.K) to[int64_t(d.K) * L] = ga * s.z1[a];
    to[int64_t(a) * L] += d.precision[a];
    r[a * L + h] = d.precision[a] * prior[a] + ga * s.zy[a];
  }
  if (d.n > d.K) {
    P[(start(d.K, d.n) + d.K) * L + h] = by * s.ones + d.precision[d.K];
    r[d.K * L + h] = d.precision[d.K] * prior[d.K] + by * s.linear;
  }
}

// Sums over rows of w w', w y and y^2, w = u_i * v_j, offsets taken off y.
PARTITA_INLINE void add_products(const RowDraw& d, int64_t i, const RowSums& s) {
  const double *x = d.out + i * d.n, by = d.weight[i], b = d.n > d.K ? x[d.K] : 0.0;
  for (int a = 0; a < d.K; ++a) {
    const double *g = s.G + int64_t(a) * d.W, xa = by * x[a];
    double* to = d.gram + int64_t(a) * d.K;
    for (int c = a; c < d.K; ++c) to[c] += xa * x[c] * g[c];
    d.linear[a] += xa * (s.zy[a] - b * s.z1[a]);
  }
  *d.square += by * (s.square - 2.0 * b * s.linear + b * b * s.ones);
}

template <class V, class T>
PARTITA_INLINE void draw_of(int64_t begin, int64_t end, const RowDraw& d, const T* Z) {
  Call call;
  constexpr int L = kLanes<V>;
  const int n = d.n, kept = d.gram ? L : 1;  // sums are needed after the draw only for their products
  const int64_t each = int64_t(d.K + 8) * d.W + 2 * d.W;
  Room<T> packed(int64_t(rows_at_once<T>(d.W)) * d.W);
  Room<double> sums_room(kept * each);
  Room<V> precision(n * (n + 1) / 2 + 8), right(n), noise(n);
  double *P = reinterpret_cast<double*>(static_cast<V*>(precision)), *r = reinterpret_cast<double*>(static_cast<V*>(right)),
         *e = reinterpret_cast<double*>(static_cast<V*>(noise)), square[L];
  RowSums sums[L];
  for (int h = 0; h < kept; ++h) {
    double* at = sums_room + h * each;
    sums[h] = {at, at + each - 2 * d.W, at + each - d.W, 0.0, 0.0, 0.0};
  }
  for (int64_t i = begin; i < end; i += L) {
    const int lanes = int(end - i < L ? end - i : L);
    for (int h = 0; h < L; ++h) {
      // lanes without a row repeat the last one: numbers that are finite, and are not looked at
      const int64_t at = i + (h < lanes ? h : lanes - 1);
      RowSums& s = sums[kept > 1 ? h : 0];
      if (h < lanes || kept > 1)
        sum_cells<V, T>(d.cells, d.cells.first[at], d.cells.first[at + 1], Z, d.root, d.shift, d.K, d.W, packed, s);
      assemble<L>(d, at, s, h, P, r);
      square[h] = s.square;
      for (int a = 0; a < n; ++a) e[a * L + h] = d.noise[at * n + a];
    }
    factorise_lanes<V>(precision, n);
    const V gain = solve_lanes<V>(precision, n, noise, right);
    for (int h = 0; h < lanes; ++h) {
      for (int a = 0; a < n; ++a) d.out[(i + h) * n + a] = r[a * L + h];
      if (d.residual) d.residual[i + h] = squares_of_row(d, i + h, square[h], gain[h]);
      if (d.gram) add_products(d, i + h, sums[h]);
    }
  }
}

template <class V>
PARTITA_INLINE void draw_double_of(int64_t begin, int64_t end, const RowDraw& d) {
  draw_of<V, double>(begin, end, d, d.Z);
}
template <class V>
PARTITA_INLINE void draw_single_of(int64_t begin, int64_t end, const RowDraw& d) {
  draw_of<V, float>(begin, end, d, d.Z_single);
}

// only calls from within this file find the widest version
PARTITA_WIDTHS(draw_double, (int64_t begin, int64_t end, const RowDraw& d), (begin, end, d))
PARTITA_WIDTHS(draw_single, (int64_t begin, int64_t end, const RowDraw& d), (begin, end, d))

}  // namespace

void svd_draw_rows(int64_t begin, int64_t end, const RowDraw& d) {
  if (d.Z_single)
    draw_single(begin, end, d);
  else
    draw_double(begin, end, d);
}

}  // namespace partita
