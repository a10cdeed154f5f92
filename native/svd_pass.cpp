// One pass over the cells: fitted values, residual sums by row and by column, sums of gathered rows.
#include "gate_lanes.hpp"
#include "svd.hpp"

namespace partita {

namespace {

// u'v, width W a multiple of eight
template <class V>
PARTITA_INLINE double dot(const double* u, const double* v, int W) {
  constexpr int L = kLanes<V>;
  V sum = load<V>(u) * load<V>(v);
  for (int k = L; k < W; k += L) sum += load<V>(u + k) * load<V>(v + k);
  if constexpr (L == 8) {
    const Four low = __builtin_shufflevector(sum, sum, 0, 1, 2, 3) + __builtin_shufflevector(sum, sum, 4, 5, 6, 7);
    return (low[0] + low[2]) + (low[1] + low[3]);
  } else if constexpr (L == 4) {
    return (sum[0] + sum[2]) + (sum[1] + sum[3]);
  } else {
    return sum[0] + sum[1];
  }
}

template <class V>
PARTITA_INLINE void squares_pass_of(int64_t begin, int64_t end, const ResidualPass& t, const double* column_noise,
                                   double* squares, double* row_sum) {
  for (int64_t i = begin; i < end; ++i) {
    const double *u = t.U + i * t.W, b = t.row_offset[i];
    double sum = 0.0;
    for (int64_t p = t.cells.first[i]; p < t.cells.first[i + 1]; ++p) {
      const int64_t j = t.cells.other[p];
      const double e = t.cells.y[p] - t.shift[j] - b - dot<V>(u, t.V + j * t.W, t.W);
      squares[p] = e * e;
      sum += column_noise[j] * squares[p];
    }
    row_sum[i] = sum;
  }
}

template <class V>
PARTITA_INLINE void fitted_pass_of(int64_t begin, int64_t end, const ResidualPass& t, double* out) {
  for (int64_t i = begin; i < end; ++i)
    for (int64_t p = t.cells.first[i]; p < t.cells.first[i + 1]; ++p) {
      const int64_t j = t.cells.other[p];
      out[p] = dot<V>(t.U + i * t.W, t.V + j * t.W, t.W) + t.row_offset[i] + t.shift[j];
    }
}

template <class V, int N>
PARTITA_INLINE void gather_chunk(const int32_t* other, int64_t n, const double* X, int W, double* out) {
  constexpr int L = kLanes<V>;
  V sum[N];
  PARTITA_UNROLL
  for (int c = 0; c < N; ++c) sum[c] = V{};
  for (int64_t p = 0; p < n; ++p) {
    const double* x = X + int64_t(other[p]) * W;
    PARTITA_UNROLL
    for (int c = 0; c < N; ++c) sum[c] += load<V>(x + c * L);
  }
  PARTITA_UNROLL
  for (int c = 0; c < N; ++c) store<V>(out + c * L, sum[c]);
}

template <class V>
PARTITA_INLINE void gather_pass_of(int64_t begin, int64_t end, const SideCells& cells, const double* X, int W, double* out) {
  constexpr int L = kLanes<V>;
  for (int64_t i = begin; i < end; ++i) {
    const int32_t* other = cells.other + cells.first[i];
    const int64_t n = cells.first[i + 1] - cells.first[i];
    int at = 0;
    for (; at + 4 * L <= W; at += 4 * L) gather_chunk<V, 4>(other, n, X + at, W, out + i * W + at);
    for (; at < W; at += L) gather_chunk<V, 1>(other, n, X + at, W, out + i * W + at);
  }
}

// only calls from within this file find the widest version
PARTITA_WIDTHS(squares_pass,
               (int64_t begin, int64_t end, const ResidualPass& t, const double* column_noise, double* squares, double* row_sum),
               (begin, end, t, column_noise, squares, row_sum))
PARTITA_WIDTHS(fitted_pass, (int64_t begin, int64_t end, const ResidualPass& t, double* out), (begin, end, t, out))
PARTITA_WIDTHS(gather_pass, (int64_t begin, int64_t end, const SideCells& cells, const double* X, int W, double* out),
               (begin, end, cells, X, W, out))

}  // namespace

void svd_squares(int64_t begin, int64_t end, const ResidualPass& t, const double* column_noise, double* squares,
                 double* row_sum) {
  squares_pass(begin, end, t, column_noise, squares, row_sum);
}

void svd_fitted(int64_t begin, int64_t end, const ResidualPass& t, double* out) { fitted_pass(begin, end, t, out); }

void svd_gather_sums(int64_t begin, int64_t end, const SideCells& cells, const double* X, int W, double* out) {
  gather_pass(begin, end, cells, X, W, out);
}

void svd_column_sums(int64_t begin, int64_t end, const SideCells& cells, const double* row_noise, const double* squares,
                     double* column_sum) {
  for (int64_t i = begin; i < end; ++i)
    for (int64_t p = cells.first[i]; p < cells.first[i + 1]; ++p) column_sum[cells.other[p]] += row_noise[i] * squares[p];
}

}  // namespace partita
