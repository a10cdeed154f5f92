#include <vector>

#include "gate_lanes.hpp"
#include "gates.hpp"

namespace partita {

namespace {

struct Strip {
  int P, K, H;
  Lanes Q, S;
  Lanes first, second;     // sums: P, and a packed triangle
  Lanes inner, sandwich;   // sum of the weighted S_oo^-1 (P x P), room for a product
  Lanes a, column, f;
  std::vector<int32_t> observed;

  Strip(int P, int K, int H)
      : P(P), K(K), H(H), Q(P * P), S(P * P), first(P), second(P * (P + 1) / 2), inner(P * P), sandwich(P * P),
        a(P * (P + 1) / 2), column(P), f(K * K), observed(P) {}
};

PARTITA_INLINE Eight counted(const double* rho) {
  Eight weight;
  double* w = reinterpret_cast<double*>(&weight);
  for (int h = 0; h < 8; ++h) w[h] = rho[h] >= kNegligible ? rho[h] : 0.0;
  return weight;
}

PARTITA_INLINE bool any(const Eight& x) {
  const double* v = reinterpret_cast<const double*>(&x);
  double top = 0.0;
  for (int h = 0; h < 8; ++h) top = v[h] > top ? v[h] : top;
  return top > 0.0;
}

PARTITA_INLINE void add_row(Strip& t, const double* xhat, const Eight weight) {
  Eight* sum = t.second;
  for (int p = 0; p < t.P; ++p) {
    const Eight left = weight * eight(xhat + p * t.H);
    t.first[p] += left;
    for (int q = 0; q <= p; ++q) *sum++ += left * eight(xhat + q * t.H);
  }
}

// sum_kl f_kl cw_k cw_l' on the missing cells
PARTITA_INLINE void add_sides(Strip& t, const double* cw, const int32_t* m, int n) {
  for (int k = 0; k < t.K; ++k) {
    for (int i = 0; i < n; ++i) {
      Eight left = {};
      for (int l = 0; l < t.K; ++l) left += t.f[k * t.K + l] * eight(cw + (l * t.P + m[i]) * t.H);
      for (int j = 0; j <= i; ++j) t.second[row_of(m[i]) + m[j]] += left * eight(cw + (k * t.P + m[j]) * t.H);
    }
  }
}

// second += N S - S T S, T in the lower triangle of `inner`
PARTITA_INLINE void add_sandwich(Strip& t, const Eight weight) {
  const int P = t.P;
  for (int p = 0; p < P; ++p)
    for (int q = 0; q < p; ++q) t.inner[q * P + p] = t.inner[p * P + q];
  for (int p = 0; p < P; ++p)
    for (int q = 0; q < P; ++q) {
      Eight s = {};
      for (int e = 0; e < P; ++e) s += t.S[p * P + e] * t.inner[q * P + e];
      t.sandwich[p * P + q] = s;
    }
  for (int p = 0; p < P; ++p)
    for (int q = 0; q <= p; ++q) {
      Eight s = weight * t.S[p * P + q];
      for (int e = 0; e < P; ++e) s -= t.sandwich[p * P + e] * t.S[q * P + e];
      t.second[row_of(p) + q] += s;
    }
}

PARTITA_CLONES void accumulate_strip(Strip& t, const Patterns& patterns, const Gates& gates, const GateWeights& rows, int h,
                                     double* first, double* second) {
  const int P = t.P, K = t.K, H = t.H;
  pack(gates.Q + h, int64_t(P) * P, H, t.Q);
  pack(gates.S + h, int64_t(P) * P, H, t.S);
  for (int e = 0; e < P; ++e) t.first[e] = Eight{};
  for (int e = 0; e < row_of(P); ++e) t.second[e] = Eight{};
  for (int e = 0; e < P * P; ++e) t.inner[e] = Eight{};
  Eight through = {};  // weight of the rows taken through their observed cells
  bool sandwich = false;
  for (int64_t g = 0; g < patterns.n; ++g) {
    const int32_t* m = patterns.cells + patterns.first[g];
    const int k = int(patterns.first[g + 1] - patterns.first[g]);
    Eight total = {};
    for (int e = 0; e < K * K; ++e) t.f[e] = Eight{};
    for (int64_t i = patterns.first_row[g]; i < patterns.first_row[g + 1]; ++i) {
      const Eight weight = counted(rows.rho + i * H + h);
      if (!any(weight)) continue;
      total += weight;
      for (int e = 0; e < K * K; ++e) t.f[e] += weight * eight(rows.f + (i * K * K + e) * H + h);
      add_row(t, rows.xhat + i * P * H + h, weight);
    }
    if (k == 0 || !any(total)) continue;
    if (K) add_sides(t, rows.cw + patterns.first_row[g] * K * P * H + h, m, k);
    if (through_observed(k, P)) {
      int n = 0;
      for (int q = 0, next = 0; q < P; ++q) {
        if (next < k && m[next] == q)
          ++next;
        else
          t.observed[n++] = q;
      }
      take_block(t.S, P, t.observed.data(), n, t.a);
      invert(t.a, n, t.column);
      for (int i = 0, e = 0; i < n; ++i)
        for (int j = 0; j <= i; ++j) t.inner[t.observed[i] * P + t.observed[j]] += total * t.a[e++];
      through += total;
      sandwich = true;
    } else {
      take_block(t.Q, P, m, k, t.a);
      invert(t.a, k, t.column);
      for (int i = 0, e = 0; i < k; ++i)
        for (int j = 0; j <= i; ++j) t.second[row_of(m[i]) + m[j]] += total * t.a[e++];
    }
  }
  if (sandwich) add_sandwich(t, through);
  for (int p = 0; p < P; ++p) {
    eight(first + p * H + h) += t.first[p];
    for (int q = 0; q <= p; ++q) {
      eight(second + (p * P + q) * H + h) += t.second[row_of(p) + q];
      if (q < p) eight(second + (q * P + p) * H + h) += t.second[row_of(p) + q];
    }
  }
}

}  // namespace

void gate_accumulate(const Patterns& patterns, const Gates& gates, const GateWeights& rows, double* first, double* second) {
  Strip strip(gates.P, rows.K, gates.H);
  for (int h = 0; h < gates.H; h += 8) accumulate_strip(strip, patterns, gates, rows, h, first, second);
}

}  // namespace partita
