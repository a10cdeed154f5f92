// Sums over all acyclic graphs of a modular weight, by inclusion and exclusion over sinks.
#include "net_sums.hpp"

#include <algorithm>
#include <cmath>

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

}  // namespace partita
