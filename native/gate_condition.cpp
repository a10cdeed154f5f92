#include <vector>

#include "gate_lanes.hpp"
#include "gates.hpp"

namespace partita {

namespace {

// What one call needs of eight components, and room to work in.
struct Strip {
  int P, K, H;
  Lanes Q, S, V, w;        // packed
  Lanes mean, Sw, SVS;     // S r, S w_k, S V S
  Lanes wSw;               // w_k'S w_l
  Lanes a, b, c, column;   // a triangle and vectors
  Lanes r;
  Eight half_rSr, trace_VS, logdet_Q;
  std::vector<int32_t> observed;

  Strip(int P, int K, int H, bool trace)
      : P(P), K(K), H(H), Q(P * P), S(P * P), V(trace ? P * P : 1), w(K * P), mean(P), Sw(K * P), SVS(trace ? 2 * P * P : 1),
        wSw(K * K), a(P * (P + 1) / 2), b(P), c(int64_t(K) * P), column(P), r(P), observed(P) {}
};

// y = A x of P x P
PARTITA_INLINE void times(const Eight* A, const Eight* x, int P, Eight* y) {
  for (int p = 0; p < P; ++p) {
    Eight s = {};
    for (int q = 0; q < P; ++q) s += A[p * P + q] * x[q];
    y[p] = s;
  }
}

PARTITA_INLINE void prepare_observed(Strip& t, const GateSides& sides) {
  const int P = t.P;
  for (int k = 0; k < t.K; ++k) times(t.S, t.w + k * P, P, t.Sw + k * P);
  for (int k = 0; k < t.K; ++k)
    for (int l = 0; l < t.K; ++l) {
      Eight s = {};
      for (int p = 0; p < P; ++p) s += t.w[k * P + p] * t.Sw[l * P + p];
      t.wSw[k * t.K + l] = s;
    }
  if (!sides.V) return;
  Eight* VS = t.SVS + P * P;
  t.trace_VS = Eight{};
  for (int p = 0; p < P; ++p) times(t.V, t.S + p * P, P, VS + p * P);  // row p: V S_p
  for (int p = 0; p < P; ++p) {
    times(t.S, VS + p * P, P, t.SVS + p * P);
    t.trace_VS += VS[p * P + p];
  }
}

PARTITA_INLINE void prepare_mean(Strip& t) {
  times(t.S, t.r, t.P, t.mean);
  t.half_rSr = Eight{};
  for (int p = 0; p < t.P; ++p) t.half_rSr += 0.5 * t.r[p] * t.mean[p];
}

// sum over a packed triangle of the block of `cells` of V times the symmetric matrix in a
PARTITA_INLINE Eight product_trace(const Eight* V, int P, const int32_t* cells, int k, const Eight* a) {
  Eight s = {};
  for (int i = 0; i < k; ++i) {
    for (int j = 0; j < i; ++j) s += 2.0 * V[cells[i] * P + cells[j]] * *a++;
    s += V[cells[i] * P + cells[i]] * *a++;
  }
  return s;
}

struct Pattern {
  const int32_t *m, *o;
  int k, n_observed;
  int64_t begin, end;
};

// What depends on the pattern alone, written to its first row: log|Q_mm|, cw, wcw, trace. Leaves the factor in t.a.
PARTITA_INLINE void pattern_missing(Strip& t, const Pattern& p, const GateSides& sides, Eight& logdet, Eight& trace, Eight* cw,
                                    Eight* wcw) {
  const int P = t.P, k = p.k;
  if (sides.V) {
    take_block(t.Q, P, p.m, k, t.a);
    invert(t.a, k, t.column);
    trace = product_trace(t.V, P, p.m, k, t.a);
  }
  take_block(t.Q, P, p.m, k, t.a);
  factorise(t.a, k, t.column);
  logdet = log_determinant(t.a, k);
  for (int s = 0; s < t.K; ++s) {
    Eight* c = cw + s * P;
    for (int i = 0; i < k; ++i) t.b[i] = t.w[s * P + p.m[i]];
    solve_down(t.a, k, t.b);
    solve_up(t.a, k, t.b);
    for (int q = 0; q < P; ++q) c[q] = Eight{};
    for (int i = 0; i < k; ++i) c[p.m[i]] = t.b[i];
    for (int l = 0; l <= s; ++l) {
      Eight sum = {};
      for (int i = 0; i < k; ++i) sum += t.w[l * P + p.m[i]] * t.b[i];
      wcw[s * t.K + l] = wcw[l * t.K + s] = sum;
    }
  }
}

PARTITA_INLINE void pattern_observed(Strip& t, const Pattern& p, const GateSides& sides, Eight& logdet, Eight& trace, Eight* cw,
                                     Eight* wcw) {
  const int P = t.P, n = p.n_observed;
  if (sides.V) {
    take_block(t.S, P, p.o, n, t.a);
    invert(t.a, n, t.column);
    trace = t.trace_VS - product_trace(t.SVS, P, p.o, n, t.a);
  }
  take_block(t.S, P, p.o, n, t.a);
  factorise(t.a, n, t.column);
  logdet = t.logdet_Q + log_determinant(t.a, n);
  for (int s = 0; s < t.K; ++s) {
    Eight* c = cw + s * P;
    for (int i = 0; i < n; ++i) t.b[i] = t.Sw[s * P + p.o[i]];
    solve_down(t.a, n, t.b);
    solve_up(t.a, n, t.b);
    for (int l = 0; l <= s; ++l) {
      Eight sum = t.wSw[s * t.K + l];
      for (int i = 0; i < n; ++i) sum -= t.Sw[l * P + p.o[i]] * t.b[i];
      wcw[s * t.K + l] = wcw[l * t.K + s] = sum;
    }
    for (int q = 0; q < P; ++q) c[q] = Eight{};
    for (int j = 0; j < p.k; ++j) {
      Eight sum = t.Sw[s * P + p.m[j]];
      for (int i = 0; i < n; ++i) sum -= t.S[p.m[j] * P + p.o[i]] * t.b[i];
      c[p.m[j]] = sum;
    }
  }
}

// quad and xhat of one row, given the factor of Q_mm in t.a
PARTITA_INLINE Eight row_missing(Strip& t, const Pattern& p, const double* x, double* xhat) {
  const int P = t.P;
  Eight quad = {};
  for (int i = 0; i < p.n_observed; ++i) {
    const int q = p.o[i];
    const Eight* row = t.Q + q * P;
    Eight s = t.r[q] - 0.5 * x[q] * row[q];
    for (int j = 0; j < i; ++j) s -= x[p.o[j]] * row[p.o[j]];
    quad += x[q] * s;
    eight(xhat + q * t.H) = Eight{} + x[q];
  }
  for (int i = 0; i < p.k; ++i) {
    const Eight* row = t.Q + p.m[i] * P;
    Eight s = t.r[p.m[i]];
    for (int j = 0; j < p.n_observed; ++j) s -= x[p.o[j]] * row[p.o[j]];
    t.b[i] = s;
  }
  quad += 0.5 * solve_down(t.a, p.k, t.b);
  solve_up(t.a, p.k, t.b);
  for (int i = 0; i < p.k; ++i) eight(xhat + p.m[i] * t.H) = t.b[i];
  return quad;
}

// the same, given the factor of S_oo
PARTITA_INLINE Eight row_observed(Strip& t, const Pattern& p, const double* x, double* xhat) {
  for (int i = 0; i < p.n_observed; ++i) {
    t.b[i] = x[p.o[i]] - t.mean[p.o[i]];
    eight(xhat + p.o[i] * t.H) = Eight{} + x[p.o[i]];
  }
  const Eight quad = t.half_rSr - 0.5 * solve_down(t.a, p.n_observed, t.b);
  solve_up(t.a, p.n_observed, t.b);
  for (int j = 0; j < p.k; ++j) {
    const Eight* row = t.S + p.m[j] * t.P;
    Eight s = t.mean[p.m[j]];
    for (int i = 0; i < p.n_observed; ++i) s += row[p.o[i]] * t.b[i];
    eight(xhat + p.m[j] * t.H) = s;
  }
  return quad;
}

// one strip of eight components, h .. h + 8
PARTITA_CLONES void condition_strip(Strip& t, const Patterns& patterns, const double* x, const Gates& gates,
                                    const GateSides& sides, const Conditioned& out, int h) {
  const int P = t.P, K = t.K, H = t.H;
  pack(gates.Q + h, int64_t(P) * P, H, t.Q);
  pack(gates.S + h, int64_t(P) * P, H, t.S);
  if (sides.V) pack(sides.V + h, int64_t(P) * P, H, t.V);
  pack(sides.w + h, int64_t(K) * P, H, t.w);
  t.logdet_Q = eight(gates.logdet + h);
  prepare_observed(t, sides);
  if (!gates.r_of_rows) {
    pack(gates.r + h, P, H, t.r);
    prepare_mean(t);
  }
  Lanes cw(int64_t(K) * P), wcw(int64_t(K) * K);
  for (int64_t g = 0; g < patterns.n; ++g) {
    Pattern p{patterns.cells + patterns.first[g], t.observed.data(), int(patterns.first[g + 1] - patterns.first[g]), 0,
              patterns.first_row[g], patterns.first_row[g + 1]};
    for (int q = 0, next = 0; q < P; ++q) {
      if (next < p.k && p.m[next] == q)
        ++next;
      else
        t.observed[p.n_observed++] = q;
    }
    const bool observed = through_observed(p.k, P);
    Eight logdet = {}, trace = {};
    if (observed)
      pattern_observed(t, p, sides, logdet, trace, cw, wcw);
    else
      pattern_missing(t, p, sides, logdet, trace, cw, wcw);
    for (int64_t i = p.begin; i < p.end; ++i) {
      if (gates.r_of_rows) {
        pack(gates.r + i * P * H + h, P, H, t.r);
        if (observed) prepare_mean(t);
      }
      double* xhat = out.xhat + i * P * H + h;
      eight(out.quad + i * H + h) = observed ? row_observed(t, p, x + i * P, xhat) : row_missing(t, p, x + i * P, xhat);
      eight(out.logdet + i * H + h) = logdet;
      if (sides.V) eight(out.trace + i * H + h) = trace;
      for (int e = 0; e < K * P; ++e) eight(out.cw + (i * K * P + e) * H + h) = cw[e];
      for (int e = 0; e < K * K; ++e) eight(out.wcw + (i * K * K + e) * H + h) = wcw[e];
      for (int k = 0; k < K; ++k) {
        Eight s = {};
        for (int q = 0; q < P; ++q) s += t.w[k * P + q] * eight(xhat + q * H);
        eight(out.wx + (i * K + k) * H + h) = s;
      }
    }
  }
}

}  // namespace

void gate_condition(const Patterns& patterns, const double* x, const Gates& gates, const GateSides& sides,
                    const Conditioned& out) {
  Strip strip(gates.P, sides.K, gates.H, sides.V != nullptr);
  for (int h = 0; h < gates.H; h += 8) condition_strip(strip, patterns, x, gates, sides, out, h);
}

}  // namespace partita
