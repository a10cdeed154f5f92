#include <numeric>
#include <vector>

#include "gate_algebra.hpp"
#include "gate_products.hpp"
#include "gates.hpp"

namespace partita {

namespace {

// The cells of one pattern, and whether its observed block is the one to factorise.
struct Cells {
  const int32_t *m, *o;
  int n_m, n_o;
  bool observed;
};

// What a call needs of some components, and room to work in.
template <class V>
struct Strip {
  const Gates& gates;
  const GateSides& sides;
  const Conditioned& out;
  const double* x;
  const int P, K, H;
  int h = 0;  // the first component
  Room<V> Q, S, W, w;                      // W: the weights of the trace
  Room<V> r, mean, half_rSr;               // of four rows, or of all: S r, r'S r / 2
  Room<V> Sw, wSw, SWS;                    // S w_k, w_k'S w_l, S W S
  Room<V> product;                         // Q x of four rows
  Room<V> a, panel, pivots, full, b, y;    // a triangle with its right-hand sides, and what is solved for
  Room<V> xhat, cw, wcw;                   // of a row, of a pattern
  V logdet_Q, trace_WS, logdet, trace;
  std::vector<int32_t> observed, all;

  PARTITA_INLINE Strip(const Gates& gates, const GateSides& sides, const Conditioned& out, const double* x)
      : gates(gates), sides(sides), out(out), x(x), P(gates.P), K(sides.K), H(gates.H),
        Q(P * P), S(P * P), W(sides.V ? P * P : 0), w(K * P), r(kTogether * P), mean(kTogether * P), half_rSr(kTogether),
        Sw(K * P), wSw(K * K), SWS(sides.V ? 2 * P * P : 0), product(kTogether * P), a((P + K + 1) * (P + K + 2) / 2),
        panel(4 * P), pivots(P), full(P * P), b((K + kTogether) * P), y((K + kTogether) * P), xhat(P), cw(K * P), wcw(K * K),
        observed(gates.P), all(gates.P) {
    std::iota(all.begin(), all.end(), 0);
  }
};

template <class V>
PARTITA_INLINE V inner(const V* x, const V* y, int n) {
  V s = {};
  for (int e = 0; e < n; ++e) s += x[e] * y[e];
  return s;
}

// S r and r'S r / 2 of four rows, from t.r; one serves all where r is the same for all
template <class V>
PARTITA_INLINE void find_means(Strip<V>& t) {
  const int P = t.P;
  times_vectors<kTogether>((const V*)t.S, P, t.all.data(), P, t.all.data(), P, (const V*)t.r, P, (V*)t.mean, P);
  for (int e = 0; e < kTogether; ++e) t.half_rSr[e] = 0.5 * inner<V>(t.r + e * P, t.mean + e * P, P);
}

template <class V>
PARTITA_INLINE void take_components(Strip<V>& t, int h) {
  const int P = t.P, K = t.K, H = t.H;
  const int64_t square = int64_t(P) * P;
  t.h = h;
  pack<V>(t.gates.Q + h, square, H, t.Q);
  pack<V>(t.gates.S + h, square, H, t.S);
  pack<V>(t.sides.w + h, int64_t(K) * P, H, t.w);
  t.logdet_Q = load<V>(t.gates.logdet + h);
  if (!t.gates.r_of_rows) {
    for (int e = 0; e < kTogether; ++e) pack<V>(t.gates.r + h, P, H, t.r + e * P);
    find_means(t);
  }
  const int32_t* all = t.all.data();
  for (int k = 0; k < K; ++k) times_vectors<1, V>(t.S, P, all, P, all, P, t.w + k * P, P, t.Sw + k * P, P);
  for (int k = 0; k < K; ++k)
    for (int l = 0; l < K; ++l) t.wSw[k * K + l] = inner<V>(t.w + k * P, t.Sw + l * P, P);
  if (!t.sides.V) return;
  pack<V>(t.sides.V + h, square, H, t.W);
  V* WS = t.SWS + square;
  t.trace_WS = V{};
  for (int p = 0; p < P; ++p) times_vectors<1, V>(t.W, P, all, P, all, P, t.S + p * P, P, WS + p * P, P);
  for (int p = 0; p < P; ++p) {
    times_vectors<1, V>(t.S, P, all, P, all, P, WS + p * P, P, t.SWS + p * P, P);
    t.trace_WS += WS[p * P + p];
  }
}

// the sum of the products of a block of a P x P matrix and a packed triangle, both symmetric
template <class V>
PARTITA_INLINE V product_trace(const V* M, int P, const int32_t* cells, int k, const V* a) {
  V s = {};
  for (int i = 0; i < k; ++i) {
    for (int j = 0; j < i; ++j) s += 2.0 * M[cells[i] * P + cells[j]] * *a++;
    s += M[cells[i] * P + cells[i]] * *a++;
  }
  return s;
}

// log|Q_mm| and tr(V_mm Q_mm^-1), given the pivots of the factorised block; the negative of its inverse in t.a for the trace
template <class V>
PARTITA_INLINE void finish_pattern(Strip<V>& t, const Cells& c, bool inverted) {
  const int P = t.P, n = c.observed ? c.n_o : c.n_m;
  const int32_t* cells = c.observed ? c.o : c.m;
  t.logdet = sum_of_logs<V>(t.pivots, n);
  if (c.observed) t.logdet += t.logdet_Q;
  if (!t.sides.V) return;
  if (!inverted) {
    take_block<V>(c.observed ? t.S : t.Q, P, cells, n, t.a);
    invert_negative<V>(t.a, n, t.panel, t.pivots);
  }
  t.trace = c.observed ? t.trace_WS + product_trace<V>(t.SWS, P, cells, n, t.a) : -product_trace<V>(t.W, P, cells, n, t.a);
}

// Q_mm^-1 w_m of every side into t.cw: from what was solved for them in t.b, through S_mo where the observed block was taken
template <class V>
PARTITA_INLINE void keep_sides(Strip<V>& t, const Cells& c) {
  const int P = t.P;
  clear<V>(t.cw, int64_t(t.K) * P);
  for (int k = 0; k < t.K; ++k) {
    V *to = t.cw + k * P, *b = t.b + k * P;
    if (c.observed) {
      times_vectors<1, V>(t.S, P, c.m, c.n_m, c.o, c.n_o, b, P, t.y, P);
      for (int i = 0; i < c.n_m; ++i) to[c.m[i]] = t.Sw[k * P + c.m[i]] - t.y[i];
    } else {
      for (int i = 0; i < c.n_m; ++i) to[c.m[i]] = b[i];
    }
  }
}

// everything about row i, whose missing cells are at `filled`, one after the other
template <class V>
PARTITA_INLINE void write_row(Strip<V>& t, const Cells& c, int64_t i, const V& quad, const V* filled) {
  const int P = t.P, K = t.K, H = t.H, h = t.h;
  const double* x = t.x + i * P;
  for (int p = 0; p < P; ++p) t.xhat[p] = V{} + x[p];
  for (int e = 0; e < c.n_m; ++e) t.xhat[c.m[e]] = filled[e];
  double* xhat = t.out.xhat + i * P * H + h;
  for (int p = 0; p < P; ++p) store<V>(xhat + p * H, t.xhat[p]);
  store<V>(t.out.quad + i * H + h, quad);
  store<V>(t.out.logdet + i * H + h, t.logdet);
  if (t.sides.V) store<V>(t.out.trace + i * H + h, t.trace);
  for (int e = 0; e < K * P; ++e) store<V>(t.out.cw + (i * K * P + e) * H + h, t.cw[e]);
  for (int e = 0; e < K * K; ++e) store<V>(t.out.wcw + (i * K * K + e) * H + h, t.wcw[e]);
  for (int k = 0; k < K; ++k) store<V>(t.out.wx + (i * K + k) * H + h, inner<V>(t.w + k * P, t.xhat, P));
}

// x'(r - Qx/2), Qx given, and r_m - Q_mo x_o into g
template <class V>
PARTITA_INLINE V split_row(const Cells& c, int P, const double* x, const V* r, const V* Qx, V* g) {
  V s = {};
  for (int e = 0; e < c.n_o; ++e) s += x[c.o[e]] * (r[c.o[e]] - 0.5 * Qx[c.o[e]]);
  for (int e = 0; e < c.n_m; ++e) g[e] = r[c.m[e]] - Qx[c.m[e]];
  return s;
}

// One row with a pattern of its own: its right-hand side is factorised along with those of the sides.
template <class V>
PARTITA_INLINE void lone_row(Strip<V>& t, const Cells& c, int64_t i, int slot) {
  const int P = t.P, K = t.K, n = c.observed ? c.n_o : c.n_m;
  const int32_t* cells = c.observed ? c.o : c.m;
  const V* r = t.r + slot * P;
  const V* mean = t.mean + slot * P;
  take_block<V>(c.observed ? t.S : t.Q, P, cells, n, t.a);
  for (int k = 0; k < K; ++k) {
    V* row = t.a + row_of(n + k);
    for (int e = 0; e < n; ++e) row[e] = (c.observed ? t.Sw : t.w)[k * P + cells[e]];
    clear(row + n, k + 1);
  }
  V *own = t.a + row_of(n + K), quad = t.half_rSr[slot];
  if (c.observed)
    for (int e = 0; e < n; ++e) own[e] = t.x[i * P + cells[e]] - mean[cells[e]];
  else
    quad = split_row<V>(c, P, t.x + i * P, r, t.product + slot * P, own);
  clear(own + n, K + 1);
  factorise<V>(t.a, n, n + K + 1, t.pivots);
  quad += (c.observed ? 0.5 : -0.5) * own[n + K];
  for (int k = 0; k < K; ++k)
    for (int l = 0; l <= k; ++l) {
      const V& corner = t.a[row_of(n + k) + n + l];
      t.wcw[k * K + l] = t.wcw[l * K + k] = c.observed ? t.wSw[k * K + l] + corner : -corner;
    }
  for (int k = 0; k <= K; ++k)
    for (int e = 0; e < n; ++e) t.b[k * P + e] = t.a[row_of(n + k) + e];
  int k = 0;
  for (; k + 2 <= K + 1; k += 2) solve_up<2, V>(t.a, n, t.b + k * P, P);
  if (k <= K) solve_up<1, V>(t.a, n, t.b + k * P, P);
  keep_sides(t, c);
  finish_pattern(t, c, false);
  V* filled = t.b + K * P;
  if (c.observed) {
    times_vectors<1, V>(t.S, P, c.m, c.n_m, c.o, n, filled, P, t.y, P);
    for (int e = 0; e < c.n_m; ++e) t.y[e] += mean[c.m[e]];
    filled = t.y;
  }
  write_row<V>(t, c, i, quad, filled);
}

// A row waiting for others, so that products are taken for four at once.
struct Waiting {
  int64_t row, pattern;
};

// Q x, or S r where the observed block is taken, of up to four rows
template <class V>
PARTITA_INLINE void multiply_rows(Strip<V>& t, const int64_t* rows, int n, bool observed, const int32_t* q, int n_q) {
  const int P = t.P;
  const double* x[kTogether];
  for (int e = 0; e < kTogether; ++e) {
    const int64_t i = rows[e < n ? e : n - 1];
    x[e] = t.x + i * P;
    if (t.gates.r_of_rows) pack<V>(t.gates.r + i * P * t.H + t.h, P, t.H, t.r + e * P);
  }
  if (!observed)
    times_numbers<V>(t.Q, P, q, n_q, x, t.product);
  else if (t.gates.r_of_rows)
    find_means(t);
}

// What rows with one pattern share: the inverse of the smaller block, all of it in t.full, and what follows for the sides.
template <class V>
PARTITA_INLINE void share_pattern(Strip<V>& t, const Cells& c) {
  const int P = t.P, K = t.K, n = c.observed ? c.n_o : c.n_m;
  const int32_t *cells = c.observed ? c.o : c.m, *all = t.all.data();
  take_block<V>(c.observed ? t.S : t.Q, P, cells, n, t.a);
  invert_negative<V>(t.a, n, t.panel, t.pivots);
  finish_pattern(t, c, true);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) t.full[i * n + j] = t.full[j * n + i] = -t.a[row_of(i) + j];
  for (int k = 0; k < K; ++k) {
    for (int e = 0; e < n; ++e) t.y[e] = (c.observed ? t.Sw : t.w)[k * P + cells[e]];
    times_vectors<1, V>(t.full, n, all, n, all, n, t.y, P, t.b + k * P, P);
    for (int l = 0; l <= k; ++l) {
      V s = {};
      for (int e = 0; e < n; ++e) s += (c.observed ? t.Sw : t.w)[l * P + cells[e]] * t.b[k * P + e];
      t.wcw[k * K + l] = t.wcw[l * K + k] = c.observed ? t.wSw[k * K + l] - s : s;
    }
  }
  keep_sides(t, c);
}

template <class V>
PARTITA_INLINE void shared_rows(Strip<V>& t, const Cells& c, int64_t begin, int64_t end) {
  const int P = t.P, n = c.observed ? c.n_o : c.n_m;
  const int32_t* all = t.all.data();
  share_pattern(t, c);
  for (int64_t first = begin; first < end; first += kTogether) {
    const int here = int(end - first < kTogether ? end - first : kTogether);
    const int64_t rows[kTogether] = {first, first + 1, first + 2, first + 3};
    multiply_rows(t, rows, here, c.observed, c.o, c.n_o);
    V quad[kTogether];
    for (int e = 0; e < kTogether; ++e) {
      const double* x = t.x + rows[e < here ? e : here - 1] * P;
      V* y = t.y + e * P;
      if (c.observed)
        for (int q = 0; q < n; ++q) y[q] = x[c.o[q]] - t.mean[e * P + c.o[q]];
      else
        quad[e] = split_row<V>(c, P, x, t.r + e * P, t.product + e * P, y);
    }
    times_vectors<kTogether, V>(t.full, n, all, n, all, n, t.y, P, t.b, P);
    for (int e = 0; e < kTogether; ++e) {
      const V half = 0.5 * inner<V>(t.y + e * P, t.b + e * P, n);
      quad[e] = c.observed ? t.half_rSr[e] - half : quad[e] + half;
    }
    if (c.observed) {
      times_vectors<kTogether, V>(t.S, P, c.m, c.n_m, c.o, n, t.b, P, t.y, P);
      for (int e = 0; e < kTogether; ++e)
        for (int i = 0; i < c.n_m; ++i) t.b[e * P + i] = t.y[e * P + i] + t.mean[e * P + c.m[i]];
    }
    for (int e = 0; e < here; ++e) write_row<V>(t, c, rows[e], quad[e], t.b + e * P);
  }
}

template <class V>
PARTITA_INLINE Cells cells_of(Strip<V>& t, const Patterns& patterns, int64_t g) {
  Cells c{patterns.cells + patterns.first[g], t.observed.data(), int(patterns.first[g + 1] - patterns.first[g]), 0, false};
  for (int q = 0, next = 0; q < t.P; ++q) {
    if (next < c.n_m && c.m[next] == q)
      ++next;
    else
      t.observed[c.n_o++] = q;
  }
  c.observed = through_observed(c.n_m, t.P);
  return c;
}

template <class V>
PARTITA_INLINE void finish_waiting(Strip<V>& t, const Patterns& patterns, const Waiting* waiting, int n, bool observed) {
  int64_t rows[kTogether];
  for (int e = 0; e < n; ++e) rows[e] = waiting[e].row;
  if (n == 0) return;
  multiply_rows(t, rows, n, observed, t.all.data(), t.P);
  for (int e = 0; e < n; ++e) lone_row(t, cells_of(t, patterns, waiting[e].pattern), rows[e], e);
}

template <class V>
PARTITA_INLINE void condition_of(const Patterns& patterns, const double* x, const Gates& gates, const GateSides& sides,
                                 const Conditioned& out) {
  Strip<V> t(gates, sides, out, x);
  for (int h = 0; h < gates.H; h += kLanes<V>) {
    take_components(t, h);
    Waiting waiting[2][kTogether];
    int n_waiting[2] = {0, 0};
    for (int64_t g = 0; g < patterns.n; ++g) {
      const int64_t begin = patterns.first_row[g], end = patterns.first_row[g + 1];
      if (end - begin > 1) {
        shared_rows(t, cells_of(t, patterns, g), begin, end);
      } else if (end > begin) {
        const bool observed = through_observed(int(patterns.first[g + 1] - patterns.first[g]), gates.P);
        waiting[observed][n_waiting[observed]++] = {begin, g};
        if (n_waiting[observed] == kTogether) {
          finish_waiting(t, patterns, waiting[observed], kTogether, observed);
          n_waiting[observed] = 0;
        }
      }
    }
    for (int observed = 0; observed < 2; ++observed)
      finish_waiting(t, patterns, waiting[observed], n_waiting[observed], observed);
  }
}

PARTITA_WIDTHS(condition, (const Patterns& p, const double* x, const Gates& g, const GateSides& s, const Conditioned& out),
               (p, x, g, s, out))

}  // namespace

void gate_condition(const Patterns& patterns, const double* x, const Gates& gates, const GateSides& sides,
                    const Conditioned& out) {
  condition(patterns, x, gates, sides, out);
}

}  // namespace partita
