#include <numeric>
#include <vector>

#include "gate_cells.hpp"
#include "gate_sums.hpp"

namespace partita {

namespace {

template <class V>
struct Strip {
  const Gates& gates;
  const GateWeights& rows;
  const int P, K, H;
  int h = 0;
  Room<V> Q, S;
  Room<V> L, D, root;
  Room<V> f, left, right;
  std::vector<int32_t> all;
  std::vector<const V*> row;

  PARTITA_INLINE Strip(const Gates& gates, const GateWeights& rows)
      : gates(gates), rows(rows), P(gates.P), K(rows.K), H(gates.H), Q(P * P), S(P * P), L(P * (P + 1)), D(P), root(P), f(K * K),
        left(K * P), right(K * P), all(gates.P), row(gates.P) {
    std::iota(all.begin(), all.end(), 0);
  }
};

template <class V>
PARTITA_INLINE void add_row(Strip<V>& t, Sums<V>& sums, int64_t i, const V& weight) {
  const V scale = square_root(weight);
  const double* xhat = t.rows.xhat + i * t.P * t.H + t.h;
  V* to = next_row(sums, scale);
  for (int p = 0; p < t.P; ++p) to[p] = scale * load<V>(xhat + p * t.H);
}

// The part of the covariances that comes from the sides, sum_kl f_kl cw_k cw_l', of all rows of a pattern: as n_m numbers of
// each side, left_k = sum_l f_kl cw_l and right_k = cw_k.
template <class V>
PARTITA_INLINE void take_sides(Strip<V>& t, int64_t row, const int32_t* m, int n) {
  const int P = t.P, K = t.K, H = t.H;
  const double* cw = t.rows.cw + row * K * P * H + t.h;
  for (int k = 0; k < K; ++k)
    for (int i = 0; i < n; ++i) t.right[k * P + i] = load<V>(cw + (k * P + m[i]) * H);
  for (int k = 0; k < K; ++k)
    for (int i = 0; i < n; ++i) {
      V s = {};
      for (int l = 0; l < K; ++l) s += t.f[k * K + l] * t.right[l * P + i];
      t.left[k * P + i] = s;
    }
}

template <class V>
PARTITA_INLINE void add_sides(Strip<V>& t, Sums<V>& sums, const int32_t* m, int n) {
  for (int k = 0; k < t.K; ++k)
    for (int i = 0; i < n; ++i) {
      V* to = sums.moments + m[i] * sums.wide;
      const V by = t.left[k * t.P + i];
      for (int j = 0; j <= i; ++j) to[m[j]] += by * t.right[k * t.P + j];
    }
}

template <class V>
PARTITA_INLINE void add_pattern(Strip<V>& t, Sums<V>& sums, const Cells& c, int64_t row, const V& weight) {
  const int P = t.P, n = c.n;
  if (t.K) {
    const V share = c.observed ? V{} + 1.0 : share_of(weight);
    for (int e = 0; e < t.K * t.K; ++e) t.f[e] *= share;
    take_sides(t, row, c.m, c.n_m);
    if (c.observed) add_sides(t, sums, c.m, c.n_m);
  }
  for (int i = 0; i < n; ++i) t.row[i] = (c.observed ? t.S : t.Q) + c.block[i] * P;
  const Factor<V> f{t.L, t.D, t.root, n | 1};
  factorise<V>::run({t.row.data(), c.block}, f, n, n);
  add_covariance<V>(sums, f, c.block, n, weight, {t.left, t.right, c.observed ? 0 : t.K, P}, c.observed);
}

template <class V>
PARTITA_INLINE void accumulate_moments_of(const Patterns& patterns, const Gates& gates, const GateWeights& rows,
                                          const GateSums& out) {
  const Call call;
  const AllCells cells(patterns, gates.P, kMostMissingInverted);
  Strip<V> t(gates, rows);
  Sums<V> sums(gates.P, 0);
  const int64_t square = int64_t(t.P) * t.P, pairs = int64_t(t.K) * t.K;
  for (int h = 0; h < gates.H; h += kLanes<V>) {
    t.h = h;
    pack<V>(gates.Q + h, square, t.H, t.Q);
    pack<V>(gates.S + h, square, t.H, t.S);
    begin_sums(sums);
    for (int64_t g : cells.order()) {
      V total = {}, weight;
      bool any = false;
      clear<V>(t.f, pairs);
      for (int64_t i = patterns.first_row[g]; i < patterns.first_row[g + 1]; ++i) {
        if (!take_weights<V>(rows.rho + i * t.H + h, weight)) continue;
        any = true;
        total += weight;
        for (int64_t e = 0; e < pairs; ++e) t.f[e] += weight * load<V>(rows.f + (i * pairs + e) * t.H + h);
        add_row<V>(t, sums, i, weight);
      }
      if (any && patterns.first[g + 1] > patterns.first[g]) add_pattern<V>(t, sums, cells(g), patterns.first_row[g], total);
    }
    add_products(sums);
    if (sums.any_through) {
      fill_upper<V>(sums.outer, t.P);
      add_sandwich<V>(sums, t.S, t.all.data());
    }
    end_sums(sums, t.H, h, out);
  }
}

PARTITA_WIDTHS(accumulate_moments, (const Patterns& p, const Gates& g, const GateWeights& w, const GateSums& out), (p, g, w, out))

}  // namespace

void gate_accumulate(const Patterns& patterns, const Gates& gates, const GateWeights& rows, const GateSums& out) {
  accumulate_moments(patterns, gates, rows, out);
}

}  // namespace partita
