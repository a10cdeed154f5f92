#include <cmath>
#include <vector>

#include "gate_algebra.hpp"
#include "gates.hpp"

namespace partita {

namespace {

constexpr int kRows = 8;  // rows whose products are added at once: they fit into the first cache
constexpr int kTile = 4;

// What a call needs of some components, and room to work in. The moments are those of (x, 1): its last row holds the sums of x.
template <class V>
struct Strip {
  const Gates& gates;
  const GateWeights& rows;
  const int P, K, H, wide;  // wide: P + 1, up to a multiple of the tile
  int h = 0;
  Room<V> Q, S;
  Room<V> moments;             // wide x wide, lower tiles
  Room<V> scaled;              // kRows rows of sqrt(rho) (x, 1)
  Room<V> outer, half;         // the sum of the weighted S_oo^-1, a product with it (P x P)
  Room<V> a, panel, pivots, f, left;
  V weight_through;            // of rows taken through their observed cells
  bool any_through;
  int n_scaled;
  std::vector<int32_t> observed;

  PARTITA_INLINE Strip(const Gates& gates, const GateWeights& rows)
      : gates(gates), rows(rows), P(gates.P), K(rows.K), H(gates.H), wide((P + kTile) / kTile * kTile), Q(P * P), S(P * P),
        moments(wide * wide), scaled(kRows * wide), outer(P * P), half(P * P), a(P * (P + 1) / 2), panel(4 * P), pivots(P),
        f(K * K), left(K * P), observed(gates.P) {}
};

// the weights of a row, the negligible ones zero; returns whether there is any other
template <class V>
PARTITA_INLINE bool take_weights(const double* rho, V& weight) {
  double w[kLanes<V>], top = 0.0;
  for (int h = 0; h < kLanes<V>; ++h) {
    w[h] = rho[h] >= kNegligible ? rho[h] : 0.0;
    top = w[h] > top ? w[h] : top;
  }
  weight = load<V>(w);
  return top > 0.0;
}

// the products of every two cells of the n_scaled rows
template <class V>
PARTITA_INLINE void add_products(Strip<V>& t) {
  const int wide = t.wide, n = t.n_scaled;
  for (int p = 0; p < wide; p += kTile)
    for (int q = 0; q <= p; q += kTile) {
      V s[kTile][kTile];
      V* sum = t.moments + p * wide + q;
      for (int a = 0; a < kTile; ++a)
        for (int b = 0; b < kTile; ++b) s[a][b] = sum[a * wide + b];
      for (int i = 0; i < n; ++i) {
        const V* x = t.scaled + i * wide;
        for (int a = 0; a < kTile; ++a)
          for (int b = 0; b < kTile; ++b) s[a][b] += x[p + a] * x[q + b];
      }
      for (int a = 0; a < kTile; ++a)
        for (int b = 0; b < kTile; ++b) sum[a * wide + b] = s[a][b];
    }
  t.n_scaled = 0;
}

template <class V>
PARTITA_INLINE void add_row(Strip<V>& t, int64_t i, const V& weight) {
  double root[kLanes<V>];
  store<V>(root, weight);
  for (int h = 0; h < kLanes<V>; ++h) root[h] = std::sqrt(root[h]);
  const V scale = load<V>(root);
  const double* xhat = t.rows.xhat + i * t.P * t.H + t.h;
  V* to = t.scaled + t.n_scaled * t.wide;
  for (int p = 0; p < t.P; ++p) to[p] = scale * load<V>(xhat + p * t.H);
  to[t.P] = scale;
  if (++t.n_scaled == kRows) add_products(t);
}

// The part of the covariances that comes from the sides, sum_kl f_kl cw_k cw_l', summed over the rows of a pattern.
template <class V>
PARTITA_INLINE void add_sides(Strip<V>& t, int64_t row, const int32_t* m, int n) {
  const int P = t.P, K = t.K, H = t.H;
  const double* cw = t.rows.cw + row * K * P * H + t.h;
  for (int k = 0; k < K; ++k) {
    for (int i = 0; i < n; ++i) t.left[i] = load<V>(cw + (k * P + m[i]) * H);
    for (int i = 0; i < n; ++i) {
      V by = {};
      for (int l = 0; l < K; ++l) by += t.f[k * K + l] * load<V>(cw + (l * P + m[i]) * H);
      V* row = t.moments + m[i] * t.wide;
      for (int j = 0; j <= i; ++j) row[m[j]] += by * t.left[j];
    }
  }
}

// to += weight * A^-1 on the rows and columns `cells` of a matrix with rows of `wide`, A the block of `matrix` there
template <class V>
PARTITA_INLINE void add_inverse(Strip<V>& t, const V* matrix, const int32_t* cells, int n, const V& weight, V* to, int wide) {
  take_block<V>(matrix, t.P, cells, n, t.a);
  invert_negative<V>(t.a, n, t.panel, t.pivots);
  const V* a = t.a;
  for (int i = 0; i < n; ++i) {
    V* row = to + cells[i] * wide;
    for (int j = 0; j <= i; ++j) row[cells[j]] -= weight * *a++;
  }
}

template <class V>
PARTITA_INLINE void add_pattern(Strip<V>& t, const Patterns& patterns, int64_t g, const V& weight) {
  const int32_t* m = patterns.cells + patterns.first[g];
  const int n_m = int(patterns.first[g + 1] - patterns.first[g]), P = t.P;
  if (t.K) add_sides(t, patterns.first_row[g], m, n_m);
  if (!through_observed(n_m, P)) {
    add_inverse<V>(t, t.Q, m, n_m, weight, t.moments, t.wide);
    return;
  }
  int n_o = 0;
  for (int q = 0, next = 0; q < P; ++q) {
    if (next < n_m && m[next] == q)
      ++next;
    else
      t.observed[n_o++] = q;
  }
  add_inverse<V>(t, t.S, t.observed.data(), n_o, weight, t.outer, P);
  t.weight_through += weight;
  t.any_through = true;
}

// N S - S T S, T the symmetric matrix with its lower triangle in `outer`
template <class V>
PARTITA_INLINE void add_sandwich(Strip<V>& t) {
  const int P = t.P;
  V *T = t.outer, *S = t.S;
  for (int p = 0; p < P; ++p)
    for (int q = 0; q < p; ++q) T[q * P + p] = T[p * P + q];
  for (int p = 0; p < P; ++p)
    for (int q = 0; q < P; ++q) {
      V s = {};
      for (int e = 0; e < P; ++e) s += S[p * P + e] * T[q * P + e];
      t.half[p * P + q] = s;
    }
  for (int p = 0; p < P; ++p)
    for (int q = 0; q <= p; ++q) {
      V s = t.weight_through * S[p * P + q];
      for (int e = 0; e < P; ++e) s -= t.half[p * P + e] * S[q * P + e];
      t.moments[p * t.wide + q] += s;
    }
}

template <class V>
PARTITA_INLINE void begin_strip(Strip<V>& t, int h) {
  const int64_t square = int64_t(t.P) * t.P;
  t.h = h;
  pack<V>(t.gates.Q + h, square, t.H, t.Q);
  pack<V>(t.gates.S + h, square, t.H, t.S);
  clear<V>(t.moments, int64_t(t.wide) * t.wide);
  clear<V>(t.scaled, int64_t(kRows) * t.wide);
  clear<V>(t.outer, square);
  t.weight_through = V{};
  t.any_through = false;
  t.n_scaled = 0;
}

template <class V>
PARTITA_INLINE void end_strip(Strip<V>& t, double* first, double* second) {
  const int P = t.P, H = t.H;
  add_products(t);
  if (t.any_through) add_sandwich(t);
  for (int p = 0; p < P; ++p) {
    double* to = first + p * H + t.h;
    store<V>(to, load<V>(to) + t.moments[P * t.wide + p]);
    for (int q = 0; q <= p; ++q) {
      double *lower = second + (p * P + q) * H + t.h, *upper = second + (q * P + p) * H + t.h;
      const V sum = load<V>(lower) + t.moments[p * t.wide + q];
      if (q < p) store<V>(upper, load<V>(upper) + t.moments[p * t.wide + q]);
      store<V>(lower, sum);
    }
  }
}

template <class V>
PARTITA_INLINE void accumulate_moments_of(const Patterns& patterns, const Gates& gates, const GateWeights& rows, double* first,
                                          double* second) {
  Strip<V> t(gates, rows);
  const int64_t pairs = int64_t(t.K) * t.K;
  for (int h = 0; h < gates.H; h += kLanes<V>) {
    begin_strip(t, h);
    for (int64_t g = 0; g < patterns.n; ++g) {
      V total = {}, weight;
      bool any = false;
      clear<V>(t.f, pairs);
      for (int64_t i = patterns.first_row[g]; i < patterns.first_row[g + 1]; ++i) {
        if (!take_weights<V>(rows.rho + i * t.H + h, weight)) continue;
        any = true;
        total += weight;
        for (int64_t e = 0; e < pairs; ++e) t.f[e] += weight * load<V>(rows.f + (i * pairs + e) * t.H + h);
        add_row<V>(t, i, weight);
      }
      if (any && patterns.first[g + 1] > patterns.first[g]) add_pattern<V>(t, patterns, g, total);
    }
    end_strip(t, first, second);
  }
}

PARTITA_WIDTHS(accumulate_moments,
               (const Patterns& p, const Gates& g, const GateWeights& w, double* first, double* second), (p, g, w, first, second))

}  // namespace

void gate_accumulate(const Patterns& patterns, const Gates& gates, const GateWeights& rows, double* first, double* second) {
  accumulate_moments(patterns, gates, rows, first, second);
}

}  // namespace partita
