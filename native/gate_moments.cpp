#include "gate_strip.hpp"
#include "gate_sums.hpp"

namespace partita {

namespace {

// What of the rows of a pattern, or of all patterns taken through their observed cells, goes with the sides: sums over rows of
// weight times f (K, K) and tie (E, K). Through observed cells cw_k = S (w_k - c_k) with c_k = S_oo^-1 (S w_k)_o on the
// observed cells and 0 elsewhere, so that products with S are taken once for all patterns.
template <class V>
struct Ties {
  Room<V> f, tie;          // of a pattern
  Room<V> left, right;     // sum_l f_kl b_l and b_k, b_k = A^-1 of side k
  Room<V> all_f, all_tie;  // of the patterns taken through their observed cells
  Room<V> f_c, tie_c;      // sums of f_kl c_l (K, P), of tie_ek c_k (E, P)

  PARTITA_INLINE Ties(int P, int K, int E)
      : f(K * K), tie(E * K), left(K * P), right(K * P), all_f(K * K), all_tie(E * K), f_c(K * P), tie_c(E * P) {}
};

template <class V>
struct Task {
  const GateTargets& given;
  const double* x;
  const int E;
  Sums<V> sums;
  Ties<V> ties;
  Room<V> filled, shift;   // missing cells of four rows, their shifts (K each)

  PARTITA_INLINE Task(const GateTargets& given, const double* x, int P)
      : given(given), x(x), E(given.E), sums(P, given.E), ties(P, given.K, given.E), filled(kTogether * P),
        shift(kTogether * given.K) {}
};

// right-hand side of row i on the block, moved by what the shift adds: (r - Qx)_m + sum shift w_m, (x - S r - sum shift S w)_o
template <class V>
PARTITA_INLINE void own_side(Strip<V>& t, Task<V>& task, const Cells& c, int64_t i, int slot, const V* Qx, V* own) {
  const int P = t.P, K = t.K;
  const double *x = task.x + i * P, *r = t.gates.r + (t.gates.r_of_rows ? i * P * t.H : 0) + t.h;
  for (int e = 0; e < c.n; ++e) {
    const int p = c.block[e];
    V s = c.observed ? x[p] - t.mean[slot * P + p] : load<V>(r + p * t.H) - Qx[e];
    for (int k = 0; k < K; ++k) {
      const V by = task.shift[slot * K + k] * t.side(c, k)[p];
      s += c.observed ? -by : by;
    }
    own[e] = s;
  }
}

// (x, 1, extras) of row i, its missing cells filled in from A^-1 of its right-hand side, or S_mo times that
template <class V>
PARTITA_INLINE void add_row(Strip<V>& t, Task<V>& task, const Cells& c, int64_t i, int slot, const V& weight, const V* solved) {
  const int P = t.P, K = t.K;
  const V scale = square_root(weight);
  V* to = next_row(task.sums, scale);
  const double *x = task.x + i * P, *extra = task.given.extra + i * task.E * t.H + t.h;
  for (int p = 0; p < P; ++p) to[p] = scale * x[p];
  for (int e = 0; e < c.n_m; ++e) {
    const int p = c.m[e];
    V s = solved[e];
    if (c.observed) {
      s += t.mean[slot * P + p];
      for (int k = 0; k < K; ++k) s += task.shift[slot * K + k] * t.Sw[k * P + p];
    }
    to[p] = scale * s;
  }
  for (int e = 0; e < task.E; ++e) to[P + 1 + e] = scale * load<V>(extra + e * t.H);
}

// the weights of row i times its f and tie, to those of the pattern; its shifts
template <class V>
PARTITA_INLINE void take_row(Strip<V>& t, Task<V>& task, int64_t i, int slot, const V& weight) {
  const int K = t.K, H = t.H;
  const GateTargets& given = task.given;
  for (int e = 0; e < K * K; ++e) task.ties.f[e] += weight * load<V>(given.f + (i * K * K + e) * H + t.h);
  for (int e = 0; e < task.E * K; ++e) task.ties.tie[e] += weight * load<V>(given.tie + (i * task.E * K + e) * H + t.h);
  for (int k = 0; k < K; ++k) task.shift[slot * K + k] = load<V>(given.shift + (i * K + k) * H + t.h);
}

// S r of rows with an r of their own, where the observed block is taken
template <class V>
PARTITA_INLINE void take_means(Strip<V>& t, const Cells& c, const int64_t* rows, int n) {
  if (!t.gates.r_of_rows || !c.observed) return;
  for (int e = 0; e < n; ++e) pack<V>(t.gates.r + rows[e] * t.P * t.H + t.h, t.P, t.H, t.r + e * t.P);
  times_vectors<V>::run(t.whole(t.S), n, t.r, t.P, t.mean, t.P);
}

// What a pattern adds beside the products of the means of its rows, from its factor and A^-1 of the sides.
template <class V>
PARTITA_INLINE void add_pattern(Strip<V>& t, Task<V>& task, const Cells& c, const Factor<V>& f, const V& weight) {
  const int P = t.P, K = t.K, E = task.E, n = c.n;
  Ties<V>& ties = task.ties;
  const V* solved = f.L + n * f.step;
  const V share = c.observed ? -share_of(weight) : share_of(weight);
  for (int k = 0; k < K; ++k)
    for (int e = 0; e < n; ++e) {
      V s = {};
      for (int l = 0; l < K; ++l) s += ties.f[k * K + l] * solved[l * f.step + e];
      if (c.observed) ties.f_c[k * P + c.block[e]] += s;
      ties.left[k * P + e] = share * s;
      ties.right[k * P + e] = solved[k * f.step + e];
    }
  for (int a = 0; a < E; ++a) {
    V* to = c.observed ? ties.tie_c + a * P : task.sums.moments + (P + 1 + a) * task.sums.wide;
    for (int k = 0; k < K; ++k)
      for (int e = 0; e < n; ++e) to[c.block[e]] += ties.tie[a * K + k] * solved[k * f.step + e];
  }
  if (c.observed) {
    for (int e = 0; e < K * K; ++e) ties.all_f[e] += ties.f[e];
    for (int e = 0; e < E * K; ++e) ties.all_tie[e] += ties.tie[e];
  }
  if (c.n_m) add_covariance<V>(task.sums, f, c.block, n, weight, {ties.left, ties.right, K, P}, c.observed);
}

template <class V>
PARTITA_INLINE void lone_row(Strip<V>& t, Task<V>& task, const Cells& c, int64_t i, const V& weight) {
  const int P = t.P, K = t.K, n = c.n;
  const double* x[1] = {task.x + i * P};
  take_row<V>(t, task, i, 0, weight);
  take_means(t, c, &i, 1);
  if (!c.observed) times_numbers<V>::run({t.Q, P, c.m, c.o, c.n_m, c.n_o}, 1, x, t.a, P);
  own_side<V>(t, task, c, i, 0, t.a, t.b);
  for (int e = 0; e < n; ++e) t.own[c.block[e]] = t.b[e];
  const Factor<V> f = factor_pattern(t, c, true);
  solve_up<V>::run(f, n, K + 1);
  const V* solved = f.L + (n + K) * f.step;
  if (c.observed) {
    times_vectors<V>::run({t.S, P, c.m, c.o, c.n_m, c.n_o}, 1, solved, P, t.a, P);
    solved = t.a;
  }
  add_row<V>(t, task, c, i, 0, weight, solved);
  add_pattern<V>(t, task, c, f, weight);
}

// Up to four rows with one pattern, the inverse of its block in t.full.
template <class V>
PARTITA_INLINE void few_rows(Strip<V>& t, Task<V>& task, const Cells& c, const int64_t* rows, int n_rows, const V* weight) {
  const int P = t.P, n = c.n;
  const double* x[kTogether];
  int64_t row[kTogether];
  for (int e = 0; e < kTogether; ++e) {
    row[e] = rows[e < n_rows ? e : n_rows - 1];
    x[e] = task.x + row[e] * P;
  }
  take_means(t, c, row, kTogether);
  if (!c.observed) times_numbers<V>::run({t.Q, P, c.m, c.o, c.n_m, c.n_o}, kTogether, x, t.a, P);
  for (int e = 0; e < kTogether; ++e) own_side<V>(t, task, c, row[e], e, t.a + e * P, t.b + e * P);
  const int32_t* all = t.all.data();
  times_vectors<V>::run({t.full, n, all, all, n, n}, kTogether, t.b, P, t.a, P);
  V* solved = t.a;
  if (c.observed) {
    times_vectors<V>::run({t.S, P, c.m, c.o, c.n_m, c.n_o}, kTogether, t.a, P, t.b, P);
    solved = t.b;
  }
  for (int e = 0; e < n_rows; ++e) add_row<V>(t, task, c, row[e], e, weight[e], solved + e * P);
}

template <class V>
PARTITA_INLINE void shared_rows(Strip<V>& t, Task<V>& task, const Cells& c, int64_t begin, int64_t end) {
  const int n = c.n;
  const Factor<V> f = factor_pattern(t, c, false);
  solve_up<V>::run(f, n, t.K);
  invert_block(t, f, n);
  V total = {}, weight[kTogether];
  int64_t rows[kTogether];
  int waiting = 0;
  for (int64_t i = begin; i <= end; ++i) {
    if (i < end && take_weights<V>(task.given.rho + i * t.H + t.h, weight[waiting])) {
      take_row<V>(t, task, i, waiting, weight[waiting]);
      total += weight[waiting];
      rows[waiting++] = i;
    }
    if (waiting == kTogether || (i == end && waiting)) {
      few_rows<V>(t, task, c, rows, waiting, weight);
      waiting = 0;
    }
  }
  add_pattern<V>(t, task, c, f, total);
}

// the part of the patterns taken through their observed cells that is the same for all of them
template <class V>
PARTITA_INLINE void end_through(Strip<V>& t, Task<V>& task) {
  const int P = t.P, K = t.K;
  Ties<V>& ties = task.ties;
  V* T = task.sums.outer;
  for (int k = 0; k < K; ++k)  // T - sum_kl f_kl w_k w_l' + sum_k (w_k f_c,k' + f_c,k w_k'), the lower triangle
    for (int p = 0; p < P; ++p) {
      V fw = ties.f_c[k * P + p];
      for (int l = 0; l < K; ++l) fw -= ties.all_f[k * K + l] * t.w[l * P + p];
      for (int q = 0; q <= p; ++q) T[p * P + q] += fw * t.w[k * P + q] + t.w[k * P + p] * ties.f_c[k * P + q];
    }
  fill_upper<V>(T, P);
  add_sandwich<V>(task.sums, t.S, t.all.data());
  for (int a = 0; a < task.E; ++a) {
    for (int p = 0; p < P; ++p) {
      t.own[p] = -ties.tie_c[a * P + p];
      for (int k = 0; k < K; ++k) t.own[p] += ties.all_tie[a * K + k] * t.w[k * P + p];
    }
    for (int p = 0; p < P; ++p) task.sums.moments[(P + 1 + a) * task.sums.wide + p] += inner<V>(t.S + p * P, t.own, P);
  }
}

template <class V>
PARTITA_INLINE void begin_strip(Strip<V>& t, Task<V>& task, int h) {
  take_components(t, h);
  begin_sums(task.sums);
  const int64_t K = t.K, E = task.E, P = t.P;
  clear<V>(task.ties.all_f, K * K);
  clear<V>(task.ties.all_tie, E * K);
  clear<V>(task.ties.f_c, K * P);
  clear<V>(task.ties.tie_c, E * P);
}

template <class V>
PARTITA_INLINE void moments_of(const Patterns& patterns, const double* x, const Gates& gates, const GateTargets& given,
                               const GateSums& out) {
  const Call call;
  const AllCells cells(patterns, gates.P, kMostMissingInverted);
  Strip<V> t(gates, given.w, given.K);
  Task<V> task(given, x, gates.P);
  for (int h = 0; h < gates.H; h += kLanes<V>) {
    begin_strip(t, task, h);
    for (int64_t g : cells.order()) {
      const int64_t begin = patterns.first_row[g], end = patterns.first_row[g + 1];
      V weight;
      int64_t i = begin;
      while (i < end && !take_weights<V>(given.rho + i * t.H + h, weight)) ++i;
      if (i == end) continue;
      clear<V>(task.ties.f, t.K * t.K);
      clear<V>(task.ties.tie, task.E * t.K);
      if (end - begin == 1)
        lone_row<V>(t, task, cells(g), i, weight);
      else
        shared_rows<V>(t, task, cells(g), i, end);
    }
    add_products(task.sums);
    if (task.sums.any_through) end_through(t, task);
    end_sums(task.sums, t.H, h, out);
  }
}

PARTITA_WIDTHS(moments, (const Patterns& p, const double* x, const Gates& g, const GateTargets& given, const GateSums& out),
               (p, x, g, given, out))

}  // namespace

void gate_moments(const Patterns& patterns, const double* x, const Gates& gates, const GateTargets& given, const GateSums& out) {
  moments(patterns, x, gates, given, out);
}

}  // namespace partita
