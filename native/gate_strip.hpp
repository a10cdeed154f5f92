// Some components side by side: their matrices, what follows from them for all rows, and the solution of a pattern's systems.
#pragma once
#include <numeric>
#include <vector>

#include "gate_algebra.hpp"
#include "gate_cells.hpp"
#include "gate_products.hpp"
#include "gates.hpp"

namespace partita {

// A right-hand side b of the block of a pattern stands for w_m, or (Sw)_o where the observed block is taken.
template <class V>
struct Strip {
  const Gates& gates;
  const double* sides;               // w (K, P, H)
  const int P, K, H;
  int h = 0;                         // the first component
  Room<V> Q, S, w, Sw, wSw;          // w_k, S w_k, w_k'S w_l
  Room<V> r, mean, half_rSr, w_mean; // of four rows, or of all: S r, r'S r / 2, w_k'S r
  Room<V> L, D, root, own;           // a factor with its right-hand sides
  Room<V> Y, full;                   // its inverse
  Room<V> a, b;                      // vectors of up to four rows
  V logdet_Q;
  std::vector<int32_t> all;
  std::vector<const V*> row;

  PARTITA_INLINE Strip(const Gates& gates, const double* sides, int K)
      : gates(gates), sides(sides), P(gates.P), K(K), H(gates.H),
        Q(P * P), S(P * P), w(K * P), Sw(K * P), wSw(K * K), r(kTogether * P), mean(kTogether * P), half_rSr(kTogether),
        w_mean(kTogether * K), L((P + K + 1) * (P + 1)), D(P), root(P), own(P), Y(P * (P + 1)), full(P * P),
        a(kTogether * P), b(kTogether * P), all(gates.P), row(gates.P + K + 1) {
    std::iota(all.begin(), all.end(), 0);
  }

  PARTITA_INLINE Part<V> whole(const V* matrix) const { return {matrix, P, all.data(), all.data(), P, P}; }
  // the right-hand side k as cells of a table
  PARTITA_INLINE const V* side(const Cells& c, int k) const { return (c.observed ? Sw : w) + k * P; }
};

// S r and what goes with it of n rows, from t.r
template <class V>
PARTITA_INLINE void find_means(Strip<V>& t, int n) {
  const int P = t.P, K = t.K;
  times_vectors<V>::run(t.whole(t.S), n, t.r, P, t.mean, P);
  for (int e = 0; e < n; ++e) {
    t.half_rSr[e] = 0.5 * inner<V>(t.r + e * P, t.mean + e * P, P);
    for (int k = 0; k < K; ++k) t.w_mean[e * K + k] = inner<V>(t.w + k * P, t.mean + e * P, P);
  }
}

// everything about the components h .. that all patterns share
template <class V>
PARTITA_INLINE void take_components(Strip<V>& t, int h) {
  const int P = t.P, K = t.K, H = t.H;
  const int64_t square = int64_t(P) * P;
  t.h = h;
  pack<V>(t.gates.Q + h, square, H, t.Q);
  pack<V>(t.gates.S + h, square, H, t.S);
  pack<V>(t.sides + h, int64_t(K) * P, H, t.w);
  if (t.gates.logdet) t.logdet_Q = load<V>(t.gates.logdet + h);
  for (int k = 0; k < K; ++k)
    for (int p = 0; p < P; ++p) t.Sw[k * P + p] = inner<V>(t.S + p * P, t.w + k * P, P);
  for (int k = 0; k < K; ++k)
    for (int l = 0; l < K; ++l) t.wSw[k * K + l] = inner<V>(t.w + k * P, t.Sw + l * P, P);
  if (t.gates.r_of_rows) return;
  for (int e = 0; e < kTogether; ++e) pack<V>(t.gates.r + h, P, H, t.r + e * P);
  find_means(t, kTogether);
}

// The factor of a pattern's block A, after it L^-1 b of every side and, for a lone row, of t.own.
template <class V>
PARTITA_INLINE Factor<V> factor_pattern(Strip<V>& t, const Cells& c, bool own) {
  const int n = c.n;
  for (int i = 0; i < n; ++i) t.row[i] = (c.observed ? t.S : t.Q) + c.block[i] * t.P;
  for (int k = 0; k < t.K; ++k) t.row[n + k] = t.side(c, k);
  t.row[n + t.K] = t.own;
  const Factor<V> f{t.L, t.D, t.root, n | 1};
  factorise<V>::run({t.row.data(), c.block}, f, n, n + t.K + own);
  return f;
}

// the inverse of the block in t.full, n x n
template <class V>
PARTITA_INLINE void invert_block(Strip<V>& t, const Factor<V>& f, int n) {
  V* full = t.full;
  clear<V>(full, int64_t(n) * n);
  add_inverse<V>::run(f, n, t.Y, Outer<V>{}, {full, t.all.data(), n, V{} + 1.0});
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j) full[j * n + i] = full[i * n + j];
}

}  // namespace partita
