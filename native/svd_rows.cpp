// Rows of factors drawn whole: weighted Gram, Cholesky, draw.
#include "svd_gram.hpp"

namespace partita {

namespace {

constexpr double kLeastPivot = 1e-14;  // share of its diagonal below which a pivot is rounding only

// row[b ...] -= sum over k < a of U[k, a] U[k, b ...], N vectors
template <class V, int N>
PARTITA_INLINE void reduce_chunk(const double* u, int ld, int a, int b, double* row) {
  constexpr int L = kLanes<V>;
  V x[N];
  PARTITA_UNROLL
  for (int c = 0; c < N; ++c) x[c] = load<V>(row + b + c * L);
  for (int k = 0; k < a; ++k) {
    const double* above = u + int64_t(k) * ld;
    PARTITA_UNROLL
    for (int c = 0; c < N; ++c) x[c] -= above[a] * load<V>(above + b + c * L);
  }
  PARTITA_UNROLL
  for (int c = 0; c < N; ++c) store<V>(row + b + c * L, x[c]);
}

// Upper triangle U with U'U = A in the place of A (n x n, rows ld apart, ld a multiple of eight and zero beyond n); the diagonal of
// U is inverted.
template <class V>
PARTITA_INLINE void factorise_rows(double* A, int n, int ld) {
  constexpr int L = kLanes<V>;
  for (int a = 0; a < n; ++a) {
    double* row = A + int64_t(a) * ld;
    const double least = kLeastPivot * row[a];
    int b = a / L * L;
    for (; b + 4 * L <= ld; b += 4 * L) reduce_chunk<V, 4>(A, ld, a, b, row);
    if (b + 2 * L <= ld) {
      reduce_chunk<V, 2>(A, ld, a, b, row);
      b += 2 * L;
    }
    if (b < ld) reduce_chunk<V, 1>(A, ld, a, b, row);
    const double inverse = 1.0 / __builtin_sqrt(row[a] > least ? row[a] : least);
    for (int k = a / L * L; k < ld; k += L) store<V>(row + k, load<V>(row + k) * inverse);
    row[a] = inverse;
    // what stands before the diagonal in its vector is never read as part of U, but must stay finite
    for (int k = a / L * L; k < a; ++k) row[k] = 0.0;
  }
}

// x of U'z = r, U x = z + noise
template <class V>
PARTITA_INLINE void solve_with_noise(const double* U, int n, int ld, const double* noise, double* r) {
  constexpr int L = kLanes<V>;
  for (int a = 0; a < n; ++a) {
    const double* row = U + int64_t(a) * ld;
    const double z = r[a] * row[a];
    for (int k = a / L * L; k < ld; k += L) store<V>(r + k, load<V>(r + k) - z * load<V>(row + k));
    r[a] = z;  // the vector's cells before a lose nothing: the row is zero there
  }
  for (int a = 0; a < n; ++a) r[a] += noise[a];
  for (int a = n; a < ld; ++a) r[a] = 0.0;
  for (int a = n - 1; a >= 0; --a) {
    const double* row = U + int64_t(a) * ld;
    const double own = r[a];
    r[a] = 0.0;
    V sum = {};
    for (int k = a / L * L; k < ld; k += L) sum += load<V>(row + k) * load<V>(r + k);
    double dot = 0.0;
    for (int h = 0; h < L; ++h) dot += sum[h];
    // cells before a in the first vector meet zeros of the row
    r[a] = (own - dot) * row[a];
  }
}

// Precision and right-hand side of row i.
PARTITA_INLINE void assemble(const RowDraw& d, int64_t i, const RowSums& s, double* P, int ld, double* r) {
  const double by = d.alpha * d.weight[i], *prior = d.prior + i * d.n;
  for (int a = 0; a < d.K; ++a) {
    double* row = P + int64_t(a) * ld;
    const double *g = s.G + int64_t(a) * d.W, ga = by * d.gain[a];
    for (int b = a & ~7; b < d.K; ++b) row[b] = ga * d.gain[b] * g[b];
    for (int b = d.K; b < ld; ++b) row[b] = 0.0;
    if (d.n > d.K) row[d.K] = ga * s.z1[a];
    row[a] += d.precision[a];
    r[a] = d.precision[a] * prior[a] + ga * s.zy[a];
  }
  if (d.n > d.K) {
    double* row = P + int64_t(d.K) * ld;
    for (int b = d.K & ~7; b < ld; ++b) row[b] = 0.0;
    row[d.K] = by * s.ones + d.precision[d.K];
    r[d.K] = d.precision[d.K] * prior[d.K] + by * s.linear;
  }
  for (int a = d.n; a < ld; ++a) r[a] = 0.0;
}

// Sums over rows of w w', w y and y^2, w = u_i * v_j, offsets taken off y.
PARTITA_INLINE void add_products(const RowDraw& d, int64_t i, const RowSums& s, const double* x) {
  const double by = d.weight[i], b = d.n > d.K ? x[d.K] : 0.0;
  for (int a = 0; a < d.K; ++a) {
    const double *g = s.G + int64_t(a) * d.W, xa = by * x[a];
    double* to = d.gram + int64_t(a) * d.K;
    for (int c = a; c < d.K; ++c) to[c] += xa * x[c] * g[c];
    d.linear[a] += xa * (s.zy[a] - b * s.z1[a]);
  }
  *d.square += by * (s.square - 2.0 * b * s.linear + b * b * s.ones);
}

template <class V>
PARTITA_INLINE void svd_draw_rows_of(int64_t begin, int64_t end, const RowDraw& d) {
  Call call;
  const int ld = (d.n + 7) & ~7;
  GramDesk<V> desk(d.W);
  Room<V> precision(int64_t(ld) * ld / kLanes<V>), right(ld / kLanes<V>);
  RowSums sums = desk.sums();
  double* packed = reinterpret_cast<double*>(static_cast<V*>(desk.packed));
  double* P = reinterpret_cast<double*>(static_cast<V*>(precision));
  double* r = reinterpret_cast<double*>(static_cast<V*>(right));
  for (int64_t i = begin; i < end; ++i) {
    sum_cells<V>(d.cells, d.cells.first[i], d.cells.first[i + 1], d.Z, d.root, d.shift, d.W, packed, sums);
    assemble(d, i, sums, P, ld, r);
    factorise_rows<V>(P, d.n, ld);
    solve_with_noise<V>(P, d.n, ld, d.noise + i * d.n, r);
    std::memcpy(d.out + i * d.n, r, sizeof(double) * d.n);
    if (d.gram) add_products(d, i, sums, r);
  }
}

}  // namespace

PARTITA_WIDTHS(svd_draw_rows, (int64_t begin, int64_t end, const RowDraw& d), (begin, end, d))

}  // namespace partita
