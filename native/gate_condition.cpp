#include "gate_strip.hpp"

namespace partita {

namespace {

// What is written of a pattern and its rows.
template <class V>
struct Answer {
  const GateSides& sides;
  const Conditioned& out;
  const double* x;
  Room<V> weight, SWS;     // W, the weights of the trace; S W S, and room for W S
  Room<V> U, product;      // x'Ux = x'Qx / 2 with U upper triangular; U'x of four rows
  Room<V> cw, wcw;         // of a pattern
  Room<V> filled, xhat;    // missing cells of four rows; a row
  Room<V> wx;              // of four rows
  V trace_WS, logdet, trace;

  PARTITA_INLINE Answer(const GateSides& sides, const Conditioned& out, const double* x, int P)
      : sides(sides), out(out), x(x), weight(sides.V ? P * P : 0), SWS(sides.V ? 2 * P * P : 0), U(P * P),
        product(kTogether * P),
        cw(sides.K * P), wcw(sides.K * sides.K), filled(kTogether * P), xhat(P), wx(kTogether * sides.K) {}
};

// S W S and tr(W S), for the trace through observed cells
template <class V>
PARTITA_INLINE void prepare_trace(Strip<V>& t, Answer<V>& to) {
  const int P = t.P;
  const int64_t square = int64_t(P) * P;
  pack<V>(to.sides.V + t.h, square, t.H, to.weight);
  V* WS = to.SWS + square;
  for (int turn = 0; turn < 2; ++turn)  // rows of WS = S W by W S_p, rows of S W S by S (W S)_p
    times_vectors<V>::run(t.whole(turn ? t.S : to.weight), P, turn ? WS : (V*)t.S, P, turn ? (V*)to.SWS : WS, P);
  to.trace_WS = V{};
  for (int p = 0; p < P; ++p) to.trace_WS += WS[p * P + p];
}

template <class V>
PARTITA_INLINE void prepare_triangle(Strip<V>& t, Answer<V>& to) {
  const int P = t.P;
  for (int p = 0; p < P; ++p)
    for (int q = 0; q < P; ++q) to.U[p * P + q] = q > p ? t.Q[p * P + q] : q < p ? V{} : 0.5 * t.Q[p * P + p];
}

// tr(V_mm Q_mm^-1), from the inverse of the block
template <class V>
PARTITA_INLINE void find_trace(Strip<V>& t, Answer<V>& to, const Cells& c) {
  const int n = c.n;
  const V* weight = c.observed ? to.SWS : to.weight;
  V s = {};
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) s += weight[c.block[i] * t.P + c.block[j]] * t.full[i * n + j];
  to.trace = c.observed ? to.trace_WS - s : s;
}

// cw of every side from A^-1 b
template <class V>
PARTITA_INLINE void find_cw(Strip<V>& t, Answer<V>& to, const Cells& c, const Factor<V>& f) {
  const int P = t.P;
  clear<V>(to.cw, int64_t(t.K) * P);
  for (int k = 0; k < t.K; ++k) {
    const V* solved = f.L + (c.n + k) * f.step;
    if (c.observed) {
      times_vectors<V>::run({t.S, P, c.m, c.o, c.n_m, c.n_o}, 1, solved, P, t.a, P);
      solved = t.a;
    }
    for (int e = 0; e < c.n_m; ++e) to.cw[k * P + c.m[e]] = c.observed ? t.Sw[k * P + c.m[e]] - solved[e] : solved[e];
  }
}

// what depends on the pattern alone, from its factor
template <class V>
PARTITA_INLINE void answer_pattern(Strip<V>& t, Answer<V>& to, const Cells& c, const Factor<V>& f, bool shared) {
  const int K = t.K, n = c.n;
  const V* b = f.L + n * f.step;
  to.logdet = sum_of_logs<V>(t.D, n);
  if (c.observed) to.logdet += t.logdet_Q;
  for (int k = 0; k < K; ++k)
    for (int l = 0; l <= k; ++l) {
      const V s = inner<V>(b + k * f.step, b + l * f.step, n);
      to.wcw[k * K + l] = to.wcw[l * K + k] = c.observed ? t.wSw[k * K + l] - s : s;
    }
  if (shared || to.sides.V) invert_block(t, f, n);
  if (to.sides.V) find_trace(t, to, c);
}

template <class V>
PARTITA_INLINE void write_row(Strip<V>& t, Answer<V>& to, const Cells& c, int64_t i, const V& quad, int slot) {
  const int P = t.P, K = t.K, H = t.H, h = t.h;
  store<V>(to.out.quad + i * H + h, quad);
  store<V>(to.out.logdet + i * H + h, to.logdet);
  if (to.sides.V) store<V>(to.out.trace + i * H + h, to.trace);
  for (int k = 0; k < K; ++k) store<V>(to.out.wx + (i * K + k) * H + h, to.wx[slot * K + k]);
  for (int e = 0; e < K * K; ++e) store<V>(to.out.wcw + (i * K * K + e) * H + h, to.wcw[e]);
  if (!to.out.xhat) return;
  for (int p = 0; p < P; ++p) to.xhat[p] = V{} + to.x[i * P + p];
  for (int e = 0; e < c.n_m; ++e) to.xhat[c.m[e]] = to.filled[slot * P + e];
  double *xhat = to.out.xhat + i * P * H + h, *cw = to.out.cw + i * K * P * H + h;
  for (int p = 0; p < P; ++p) store<V>(xhat + p * H, to.xhat[p]);
  for (int e = 0; e < K * P; ++e) store<V>(cw + e * H, to.cw[e]);
}

// x_o'(r_o - (U'x)_o), and w'x of every side
template <class V>
PARTITA_INLINE V observed_form(Strip<V>& t, Answer<V>& to, const Cells& c, const double* x, int slot) {
  const V *r = t.r + slot * t.P, *Ux = to.product + slot * t.P;
  V s = {};
  for (int e = 0; e < c.n_o; ++e) s += x[c.o[e]] * (r[c.o[e]] - Ux[c.o[e]]);
  for (int k = 0; k < t.K; ++k) {
    V wx = {};
    for (int e = 0; e < c.n_o; ++e) wx += x[c.o[e]] * t.w[k * t.P + c.o[e]];
    to.wx[slot * t.K + k] = wx;
  }
  return s;
}

// quad and wx of a row from (1) b'A^-1 b of its own right-hand side b, and (2) that of every side and its own
template <class V, class Product>
PARTITA_INLINE V answer_row(Strip<V>& t, Answer<V>& to, const Cells& c, const double* x, int slot, const V& square,
                            const Product& side_and_own) {
  V quad;
  if (c.observed) {
    quad = t.half_rSr[slot] - 0.5 * square;
    for (int k = 0; k < t.K; ++k) to.wx[slot * t.K + k] = t.w_mean[slot * t.K + k];
  } else {
    quad = observed_form<V>(t, to, c, x, slot) + 0.5 * square;
  }
  for (int k = 0; k < t.K; ++k) to.wx[slot * t.K + k] += side_and_own(k);
  return quad;
}

// the right-hand side of a row: r - Qx, or x - S r where the observed block is taken
template <class V>
PARTITA_INLINE V own_side(Strip<V>& t, Answer<V>& to, const Cells& c, const double* x, int slot, int p) {
  const int P = t.P, at = slot * P + p;
  if (c.observed) return x[p] - t.mean[at];
  return t.r[at] - to.product[at] - inner_numbers<V>(to.U + p * P + p + 1, x + p + 1, P - p - 1);
}

// the missing cells of n rows from A^-1 b of their own right-hand sides, `step` apart
template <class V>
PARTITA_INLINE void fill_rows(Strip<V>& t, Answer<V>& to, const Cells& c, const V* solved, int step, int slot, int n) {
  const int P = t.P;
  V* filled = to.filled + slot * P;
  if (c.observed) times_vectors<V>::run({t.S, P, c.m, c.o, c.n_m, c.n_o}, n, solved, step, filled, P);
  for (int r = 0; r < n; ++r)
    for (int e = 0; e < c.n_m; ++e)
      filled[r * P + e] = c.observed ? t.mean[(slot + r) * P + c.m[e]] + filled[r * P + e] : solved[r * step + e];
}

// One row with a pattern of its own: its right-hand side is factorised along with those of the sides.
template <class V>
PARTITA_INLINE void lone_row(Strip<V>& t, Answer<V>& to, const Cells& c, int64_t i, int slot) {
  const double* x = to.x + i * t.P;
  for (int e = 0; e < c.n; ++e) t.own[c.block[e]] = own_side<V>(t, to, c, x, slot, c.block[e]);
  const Factor<V> f = factor_pattern(t, c, true);
  answer_pattern(t, to, c, f, false);
  const V *b = f.L + c.n * f.step, *own = b + t.K * f.step;
  const V quad = answer_row<V>(t, to, c, x, slot, inner<V>(own, own, c.n), [&](int k) __attribute__((always_inline)) {
    return inner<V>(b + k * f.step, own, c.n);
  });
  if (to.out.xhat) {
    solve_up<V>::run(f, c.n, t.K + 1);
    find_cw(t, to, c, f);
    fill_rows<V>(t, to, c, own, t.P, slot, 1);
  }
  write_row<V>(t, to, c, i, quad, slot);
}

// U'x, or S r where the observed block is taken, of up to four rows whose x is zero but for the cells q
template <class V>
PARTITA_INLINE void multiply_rows(Strip<V>& t, Answer<V>& to, const int64_t* rows, int n, bool observed, const int32_t* q, int n_q) {
  const int P = t.P;
  const double* x[kTogether];
  for (int e = 0; e < kTogether; ++e) {
    const int64_t i = rows[e < n ? e : n - 1];
    x[e] = to.x + i * P;
    if (t.gates.r_of_rows) pack<V>(t.gates.r + i * P * t.H + t.h, P, t.H, t.r + e * P);
  }
  if (!observed)
    times_triangle<V>::run(to.U, P, q, n_q, x, to.product);
  else if (t.gates.r_of_rows)
    find_means(t, kTogether);
}

// Rows with one pattern, four at a time, by the inverse of its block.
template <class V>
PARTITA_INLINE void shared_rows(Strip<V>& t, Answer<V>& to, const Cells& c, int64_t begin, int64_t end) {
  const int P = t.P, n = c.n;
  const Factor<V> f = factor_pattern(t, c, false);
  answer_pattern(t, to, c, f, true);
  solve_up<V>::run(f, n, t.K);
  if (to.out.xhat) find_cw(t, to, c, f);
  const V* solved = f.L + n * f.step;
  for (int64_t first = begin; first < end; first += kTogether) {
    const int here = int(end - first < kTogether ? end - first : kTogether);
    int64_t rows[kTogether];
    for (int e = 0; e < kTogether; ++e) rows[e] = first + (e < here ? e : here - 1);
    multiply_rows(t, to, rows, here, c.observed, c.o, c.n_o);
    for (int e = 0; e < kTogether; ++e)
      for (int i = 0; i < n; ++i) t.a[e * P + i] = own_side<V>(t, to, c, to.x + rows[e] * P, e, c.block[i]);
    times_vectors<V>::run({t.full, n, t.all.data(), t.all.data(), n, n}, kTogether, t.a, P, t.b, P);
    if (to.out.xhat) fill_rows<V>(t, to, c, t.b, P, 0, kTogether);
    for (int e = 0; e < here; ++e) {
      const V* own = t.a + e * P;
      const V quad = answer_row<V>(t, to, c, to.x + rows[e] * P, e, inner<V>(own, t.b + e * P, n),
                                   [&](int k) __attribute__((always_inline)) { return inner<V>(solved + k * f.step, own, n); });
      write_row<V>(t, to, c, rows[e], quad, e);
    }
  }
}

// Lone rows wait for others, so that products are taken for four at once.
struct Waiting {
  int64_t row[kTogether], pattern[kTogether];
  int n = 0;
};

template <class V>
PARTITA_INLINE void finish_waiting(Strip<V>& t, Answer<V>& to, const AllCells& cells, Waiting& waiting, bool observed) {
  if (waiting.n == 0) return;
  multiply_rows(t, to, waiting.row, waiting.n, observed, t.all.data(), t.P);
  for (int e = 0; e < waiting.n; ++e) lone_row(t, to, cells(waiting.pattern[e]), waiting.row[e], e);
  waiting.n = 0;
}

template <class V>
PARTITA_INLINE void condition_of(const Patterns& patterns, const double* x, const Gates& gates, const GateSides& sides,
                                 const Conditioned& out) {
  const Call call;
  const AllCells cells(patterns, gates.P, out.xhat ? kMostMissingInverted : kMostMissing);
  Strip<V> t(gates, sides.w, sides.K);
  Answer<V> to(sides, out, x, gates.P);
  for (int h = 0; h < gates.H; h += kLanes<V>) {
    take_components(t, h);
    prepare_triangle(t, to);
    if (sides.V) prepare_trace(t, to);
    Waiting waiting[2];
    const int64_t last = cells.order().empty() ? -1 : cells.order().back();
    for (int64_t g : cells.order()) {
      const int64_t begin = patterns.first_row[g], end = patterns.first_row[g + 1];
      if (end - begin > 1) shared_rows(t, to, cells(g), begin, end);
      if (end - begin == 1) {
        Waiting& one = waiting[cells(g).observed];
        one.row[one.n] = begin;
        one.pattern[one.n++] = g;
      }
      for (int observed = 0; observed < 2; ++observed)
        if (g == last || waiting[observed].n == kTogether) finish_waiting(t, to, cells, waiting[observed], observed);
    }
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
