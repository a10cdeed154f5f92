// Weighted sums of products over rows, of some components side by side.
#pragma once
#include "gate_algebra.hpp"
#include "gate_products.hpp"
#include "gates.hpp"

namespace partita {

constexpr int kRows = 8;  // rows whose products are added at once: they fit into the first cache
constexpr int kTile = 4;

// The second moments of (x, 1, extras): row P holds the sums of x, the rows after it the sums of its products with the extras.
template <class V>
struct Sums {
  const int P, E, wide;   // wide: P + 1 + E, up to a multiple of the tile
  Room<V> moments;        // wide x wide, lower tiles
  Room<V> scaled;         // kRows rows of sqrt(weight) (x, 1, extras)
  Room<V> outer, half;    // P x P: the sum T of the weighted S_oo^-1 of patterns taken through their observed cells, and a product
  Room<V> Y;
  V through;              // the weight of those patterns
  bool any_through = false;
  int n_scaled = 0;

  PARTITA_INLINE Sums(int P, int E)
      : P(P), E(E), wide((P + E + kTile) / kTile * kTile), moments(wide * wide), scaled(kRows * wide), outer(P * P), half(P * P),
        Y(P * (P + 1)) {}
};

template <class V>
PARTITA_INLINE void begin_sums(Sums<V>& s) {
  clear<V>(s.moments, int64_t(s.wide) * s.wide);
  clear<V>(s.scaled, int64_t(kRows) * s.wide);
  clear<V>(s.outer, int64_t(s.P) * s.P);
  s.through = V{};
  s.any_through = false;
  s.n_scaled = 0;
}

// the weights of a row, the negligible ones zero; returns whether there is any other
template <class V>
PARTITA_INLINE bool take_weights(const double* rho, V& weight) {
  const V given = load<V>(rho);
  weight = given >= kNegligible ? given : V{};
  double sum = 0.0;
  for (int h = 0; h < kLanes<V>; ++h) sum += weight[h];
  return sum > 0.0;
}

// moments += the products of every two of the `wide` numbers of n rows, lower tiles
template <class V>
PARTITA_INLINE void add_rows_of(const V* rows, int n, int wide, V* moments) {
  for (int p = 0; p < wide; p += kTile)
    for (int q = 0; q <= p; q += kTile) {
      V s[kTile][kTile];
      V* sum = moments + p * wide + q;
      PARTITA_UNROLL
      for (int a = 0; a < kTile; ++a)
        PARTITA_UNROLL
        for (int b = 0; b < kTile; ++b) s[a][b] = sum[a * wide + b];
      const V* x = rows;
      for (int i = 0; i < n; ++i, x += wide)
        PARTITA_UNROLL
        for (int a = 0; a < kTile; ++a)
          PARTITA_UNROLL
          for (int b = 0; b < kTile; ++b) s[a][b] += x[p + a] * x[q + b];
      PARTITA_UNROLL
      for (int a = 0; a < kTile; ++a)
        PARTITA_UNROLL
        for (int b = 0; b < kTile; ++b) sum[a * wide + b] = s[a][b];
    }
}

PARTITA_APART(add_rows, (const V* rows, int n, int wide, V* moments), (rows, n, wide, moments))

// adds the rows that wait
template <class V>
PARTITA_INLINE void add_products(Sums<V>& t) {
  add_rows<V>::run(t.scaled, t.n_scaled, t.wide, t.moments);
  t.n_scaled = 0;
}

// Room for the next row: its caller fills in P cells and the extras, each times the scale.
template <class V>
PARTITA_INLINE V* next_row(Sums<V>& t, const V& scale) {
  if (t.n_scaled == kRows) add_products(t);
  V* row = t.scaled + t.n_scaled++ * t.wide;
  row[t.P] = scale;
  return row;
}

// weight * (A^-1 + more) on the rows and columns `cells`, A given by its factor: to the moments, or to T
template <class V>
PARTITA_INLINE void add_covariance(Sums<V>& t, const Factor<V>& f, const int32_t* cells, int n, const V& weight,
                                   const Outer<V>& more, bool observed) {
  add_inverse<V>::run(f, n, t.Y, more, {observed ? t.outer : t.moments, cells, observed ? t.P : t.wide, weight});
  if (observed) t.through += weight;
  t.any_through |= observed;
}

template <class V>
PARTITA_INLINE void fill_upper(V* a, int P) {
  for (int p = 0; p < P; ++p)
    for (int q = 0; q < p; ++q) a[q * P + p] = a[p * P + q];
}

// N S - S T S to the moments, N the weight of what went through observed cells, T symmetric in `outer`
template <class V>
PARTITA_INLINE void add_sandwich(Sums<V>& t, const V* S, const int32_t* all) {
  const int P = t.P;
  V* T = t.outer;
  for (int turn = 0; turn < 2; ++turn)  // rows T S_p, then rows S (T S_p)
    times_vectors<V>::run({turn ? S : T, P, all, all, P, P}, P, turn ? (const V*)t.half : S, P, turn ? T : (V*)t.half, P);
  for (int p = 0; p < P; ++p)
    for (int q = 0; q <= p; ++q) t.moments[p * t.wide + q] += t.through * S[p * P + q] - 0.5 * (T[p * P + q] + T[q * P + p]);
}

// first (P, H), second (P, P, H) and cross (E, P, H) from component h on
template <class V>
PARTITA_INLINE void end_sums(Sums<V>& t, int H, int h, const GateSums& out) {
  const int P = t.P;
  auto add = [](double* to, const V& v) __attribute__((always_inline)) { store<V>(to, load<V>(to) + v); };
  for (int p = 0; p < P; ++p) {
    add(out.first + int64_t(p) * H + h, t.moments[P * t.wide + p]);
    for (int e = 0; e < t.E; ++e) add(out.cross + (int64_t(e) * P + p) * H + h, t.moments[(P + 1 + e) * t.wide + p]);
    for (int q = 0; q <= p; ++q) {
      add(out.second + (int64_t(p) * P + q) * H + h, t.moments[p * t.wide + q]);
      if (q < p) add(out.second + (int64_t(q) * P + p) * H + h, t.moments[p * t.wide + q]);
    }
  }
}

}  // namespace partita
