// Sums over all acyclic graphs of a modular weight: by inclusion and exclusion over sinks, or over orders.
#include "net_sums.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "net_scores.hpp"

namespace partita {

namespace {

// (top, part) stands for part * exp(top); b takes a in
PARTITA_CLONES void add_pairs(const double* top_a, const double* part_a, double* top_b, double* part_b, int64_t n) {
  for (int64_t x = 0; x < n; ++x) {
    const double high = top_a[x] > top_b[x] ? top_a[x] : top_b[x], low = top_a[x] > top_b[x] ? top_b[x] : top_a[x];
    const double less = fast_exp(low - high);
    const double a = top_a[x] > top_b[x] ? part_a[x] : part_a[x] * less, b = top_a[x] > top_b[x] ? part_b[x] * less : part_b[x];
    top_b[x] = high;
    part_b[x] = a + b;
  }
}

PARTITA_CLONES void close_pairs(double* top, const double* part, int64_t n) {
  for (int64_t x = 0; x < n; ++x) top[x] += fast_log(part[x]);
}

}  // namespace

void log_subset_sums(int n, double* x) {
  std::vector<double> part(size_t(1) << n, 1.0);
  for (int i = 0; i < n; ++i) {
    const int64_t step = int64_t(1) << i;
    for (int64_t start = 0; start < int64_t(1) << n; start += 2 * step)
      add_pairs(x + start, part.data() + start, x + start + step, part.data() + start + step, step);
  }
  close_pairs(x, part.data(), int64_t(1) << n);
}

double net_dag_sum(int n, double* weight, double* edges) {
  const Nodes full = (Nodes(1) << n) - 1;
  const size_t cells = size_t(1) << n;
  for (int j = 0; j < n; ++j) log_subset_sums(n, weight + (size_t(j) << n));
  auto within = [&](int j, Nodes R) { return weight[size_t(j) << n | R]; };
  // best[S]: the best order of S, max over j of best[S - j] + within(j, S - j). Sums over the graphs of S, divided by
  // exp(best[S]), lie between 1 and |S|!, whatever the range of the scores.
  std::vector<double> best(cells, kNoScore), sum(cells, 0.0), back(cells, 0.0), term(cells);
  best[0] = 0.0;
  for (Nodes S = 1; S <= full; ++S)
    for (int j = 0; j < n; ++j)
      if (S >> j & 1) best[S] = std::max(best[S], best[S ^ Nodes(1) << j] + within(j, S ^ Nodes(1) << j));
  sum[0] = back[full] = 1.0;
  if (best[full] < -1e299) return kNoScore;
  if (edges) std::fill(edges, edges + n * n, 0.0);
  std::vector<double> share(static_cast<size_t>(n));
  for (int pass = 0; pass < (edges ? 2 : 1); ++pass)
    for (Nodes k = 0; k < full; ++k) {
      const Nodes R = pass ? full - 1 - k : k, rest = full & ~R;
      if (best[R] < -1e299) continue;
      std::fill(share.begin(), share.end(), 0.0);
      term[0] = 0.0;
      for (Nodes T = (0 - rest) & rest; T; T = (T - rest) & rest) {  // sinks T above R, in ascending order
        const int low = __builtin_ctz(T);
        term[T] = term[T & (T - 1)] + within(low, R);
        const double size = best[R] + term[T] - best[R | T];
        if (size < -60.0) continue;
        const double value = (size_of(T) & 1 ? 1.0 : -1.0) * fast_exp(size);
        if (!pass) {
          sum[R | T] += sum[R] * value;
          continue;
        }
        back[R] += value * back[R | T];
        for (Nodes t = T; t; t &= t - 1) share[__builtin_ctz(t)] += value * back[R | T];
      }
      if (pass)  // share[j] * sum[R] / total is the derivative of log total in within(j, R)
        for (int j = 0; j < n; ++j)
          for (int i = 0; i < n; ++i)
            if (share[j] != 0.0 && (R >> i & 1))
              edges[i * n + j] += share[j] * sum[R] / sum[full] * (1.0 - std::exp(within(j, R ^ Nodes(1) << i) - within(j, R)));
    }
  return best[full] + std::log(sum[full]);
}

namespace {

std::vector<double>& room_of_thread() {
  static thread_local std::vector<double> room;
  return room;
}

}  // namespace

OrderDraws::OrderDraws(const NetTables& tables, double heat) : tables_(tables), heat_(heat), within_(room_of_thread()) {
  const size_t cells = size_t(1) << tables.n;
  if (within_.size() < cells * size_t(tables.n)) within_.resize(cells * size_t(tables.n));
  reached_.resize(cells);
  weight_.resize(cells);
  count_.resize(cells);
  passed_.resize(linear() ? cells : 0);
  sets_.resize(cells);
  odds_.resize(size_t(tables.n) * tables.n);
}

// the sum over the orders of 16 nodes may span 16 times what doubles hold: long doubles of 15 bits of exponent do
bool OrderDraws::linear() const { return tables_.weight && std::numeric_limits<long double>::max_exponent >= 16384; }

namespace {

PARTITA_CLONES void multiply(double* to, const double* by, size_t n) {
  for (size_t x = 0; x < n; ++x) to[x] *= by[x];
}

// x[S] becomes the sum of x over all subsets of S
PARTITA_CLONES void subset_sums(int n, double* x) {
  if (n >= 3)  // steps of one, two and four within blocks of eight, where a loop over them would be all overhead
    for (size_t start = 0; start < size_t(1) << n; start += 8) {
      double* y = x + start;
      y[1] += y[0];
      y[3] += y[2];
      y[5] += y[4];
      y[7] += y[6];
      y[2] += y[0];
      y[3] += y[1];
      y[6] += y[4];
      y[7] += y[5];
      for (int k = 0; k < 4; ++k) y[4 + k] += y[k];
    }
  for (int i = n >= 3 ? 3 : 0; i < n; ++i) {
    const size_t step = size_t(1) << i;
    for (size_t start = step; start < size_t(1) << n; start += 2 * step)
      for (size_t k = start; k < start + step; ++k) x[k] += x[k - step];
  }
}

}  // namespace

void OrderDraws::prepare_sums() {
  const int n = tables_.n;
  const size_t cells = size_t(1) << n;
  for (int j = 0; j < n; ++j) {
    double* to = within_.data() + j * cells;
    to[0] = 1.0;
    for (int i = 0; i < n; ++i) {
      const double odds = std::exp(odds_[i * n + j]);
      const size_t step = size_t(1) << i;
      for (size_t S = 0; S < step; ++S) to[S + step] = to[S] * odds;
    }
    multiply(to, tables_.weight + j * cells, cells);
    subset_sums(n, to);
  }
  passed_[0] = 1.0L;
  for (size_t S = 1; S < cells; ++S) {
    long double sum = 0.0L;
    for (size_t left = S; left; left &= left - 1) {
      const size_t less = S ^ (left & (0 - left));
      sum += passed_[less] * (long double)(within_[size_t(__builtin_ctzll(left)) * cells + less]);
    }
    passed_[S] = sum;
  }
}

void OrderDraws::prepare(const double* log_odds) {
  const int n = tables_.n;
  const size_t cells = size_t(1) << n;
  odds_.assign(log_odds, log_odds + size_t(n) * n);
  if (linear()) {
    prepare_sums();
    return;
  }
  for (int j = 0; j < n; ++j) {
    double* to = within_.data() + j * cells;
    const double* score = tables_.score + j * cells;
    weight_[0] = 0.0;
    for (int i = 0; i < n; ++i)
      for (size_t S = 0; S < size_t(1) << i; ++S) weight_[S | size_t(1) << i] = weight_[S] + log_odds[i * n + j];
    for (size_t S = 0; S < cells; ++S) to[S] = heat_ * score[S] + weight_[S];
    log_subset_sums(n, to);
  }
  reached_[0] = 0.0;
  double term[16];
  for (size_t S = 1; S < cells; ++S) {
    double top = kNoScore, sum = 0.0;
    int m = 0;
    for (int j = 0; j < n; ++j)
      if (S >> j & 1) {
        const size_t less = S ^ size_t(1) << j;
        term[m] = reached_[less] + within_[j * cells + less];
        top = std::max(top, term[m++]);
      }
    for (int k = 0; k < m; ++k) sum += fast_exp(term[k] - top);
    reached_[S] = top < -1e299 ? kNoScore : top + std::log(sum);
  }
}

void OrderDraws::draw(Stream& stream, Nodes* parents) {
  const int n = tables_.n;
  const size_t cells = size_t(1) << n;
  for (size_t S = cells - 1; S;) {
    double chance[16], total = 0.0;
    for (int j = 0; j < n; ++j) {
      const size_t less = S & ~(size_t(1) << j);
      const double within = within_[j * cells + less];
      chance[j] = !(S >> j & 1) ? 0.0
                  : linear()    ? double(passed_[less] * (long double)(within) / passed_[S])
                                : fast_exp(reached_[less] + within - reached_[S]);
      total += chance[j];
    }
    const int j = pick(chance, n, total, stream.uniform());
    S ^= size_t(1) << j;
    draw_parents(stream, j, S, parents);
  }
}

void OrderDraws::draw_parents(Stream& stream, int j, size_t earlier, Nodes* parents) {
  const int n = tables_.n;
  const size_t cells = size_t(1) << n;
  const double* score = (linear() ? tables_.weight : tables_.score) + j * cells;
  size_t m = 1;
  sets_[0] = 0;
  weight_[0] = linear() ? 1.0 : 0.0;  // odds of the set, or their log
  for (int i = 0; i < n; ++i)
    if (earlier >> i & 1) {
      const double odds = linear() ? std::exp(odds_[i * n + j]) : odds_[i * n + j];
      for (size_t x = 0; x < m; ++x) {
        sets_[m + x] = sets_[x] | Nodes(1) << i;
        weight_[m + x] = linear() ? weight_[x] * odds : weight_[x] + odds;
      }
      m *= 2;
    }
  double total = 0.0;
  const double all = within_[j * cells + earlier];
  for (size_t x = 0; x < m; ++x)
    total += weight_[x] = linear() ? weight_[x] * score[sets_[x]] : fast_exp(heat_ * score[sets_[x]] + weight_[x] - all);
  parents[j] = sets_[pick(weight_.data(), int(m), total, stream.uniform())];
}

namespace {

Nodes descendants(int n, int j, const Nodes* parents) {
  Nodes found = Nodes(1) << j;
  for (Nodes before = 0; found != before;) {
    before = found;
    for (int i = 0; i < n; ++i)
      if (parents[i] & found) found |= Nodes(1) << i;
  }
  return found;
}

}  // namespace

void OrderDraws::redraw_parents(Stream& stream, Nodes* parents) {
  const Nodes full = (Nodes(1) << tables_.n) - 1;
  for (int j = 0; j < tables_.n; ++j) draw_parents(stream, j, full & ~descendants(tables_.n, j, parents), parents);
}

double OrderDraws::log_weight(int j, Nodes set) const {
  double total = heat_ * tables_.score[(size_t(j) << tables_.n) + set];
  for (Nodes left = set; left; left &= left - 1) total += odds_[__builtin_ctz(left) * tables_.n + j];
  return total;
}

void OrderDraws::reverse_edges(Stream& stream, Nodes* parents) {
  const int n = tables_.n;
  for (int a = 0; a < n; ++a)
    for (int b = a + 1; b < n; ++b) {
      const bool there = parents[b] >> a & 1;
      if (!there && !(parents[a] >> b & 1)) continue;
      const int i = there ? a : b, j = there ? b : a;
      const Nodes of_i = parents[i], of_j = parents[j];
      const double before = log_weight(i, of_i) + log_weight(j, of_j), limit = std::log(stream.uniform());
      parents[j] &= ~(Nodes(1) << i);
      const bool circle = descendants(n, i, parents) >> j & 1;  // another way from i to j
      parents[i] |= Nodes(1) << j;
      if (circle || !(limit < log_weight(i, parents[i]) + log_weight(j, parents[j]) - before)) {
        parents[i] = of_i;
        parents[j] = of_j;
      }
    }
}

double OrderDraws::extensions(const Nodes* parents) {
  const int n = tables_.n;
  const Nodes full = (Nodes(1) << n) - 1;
  std::fill(count_.begin(), count_.end(), 0.0);
  count_[0] = 1.0;
  for (Nodes S = 0; S < full; ++S)
    if (count_[S] > 0.0)
      for (Nodes left = full & ~S; left; left &= left - 1) {
        const int j = __builtin_ctz(left);
        if (!(parents[j] & ~S)) count_[S | Nodes(1) << j] += count_[S];
      }
  return count_[full];
}

}  // namespace partita
