// Sums over all graphs and edge probabilities into one class of nodes: exact, by Gauss-Jacobi rules.
#include "net_classes.hpp"

#include <algorithm>
#include <cmath>

#include "net_scores.hpp"

namespace partita {

namespace {

int pick_weight(const std::vector<double>& weight, size_t n, double uniform) {
  double total = 0.0;
  for (size_t x = 0; x < n; ++x) total += weight[x];
  return pick(weight.data(), int(n), total, uniform);
}

PARTITA_CLONES void weigh(double* value, size_t n, double top) {
  for (size_t x = 0; x < n; ++x) value[x] = fast_exp(value[x] - top);
}

}  // namespace

ClassSums::ClassSums(const NetTables& tables, const BlockRule& rule, double heat)
    : tables_(tables), rule_(rule), heat_(heat), points_(17), pairs_(17), levels_(17), stride_(17), power_(size_t(rule.stride + 1) * 17) {
  sets_.resize(size_t(1) << tables.n);
  cells_.resize(sets_.size());
  weight_.resize(sets_.size());
}

size_t ClassSums::list_sets(Nodes within) {
  size_t n = 1;
  sets_[0] = 0;
  for (int i = 0; i < tables_.n; ++i)
    if (within >> i & 1) {
      for (size_t x = 0; x < n; ++x) sets_[n + x] = sets_[x] | Nodes(1) << i;
      n *= 2;
    }
  return n;
}

double ClassSums::gather(int j, const Allowed& allowed, size_t n) {
  if (tables_.weight) {
    const double* weight = tables_.weight + (size_t(j) << tables_.n);
    for (size_t x = 0; x < n; ++x) weight_[x] = weight[sets_[x]];
    if (allowed.hit)
      for (size_t x = 0; x < n; ++x)
        if (!(sets_[x] & allowed.hit)) weight_[x] = 0.0;
    return tables_.shift[j];
  }
  const double* score = tables_.score + (size_t(j) << tables_.n);
  double top = kNoScore;
  for (size_t x = 0; x < n; ++x) {
    const bool fits = !allowed.hit || (sets_[x] & allowed.hit);
    weight_[x] = fits ? heat_ * score[sets_[x]] : kNoScore;
    top = std::max(top, weight_[x]);
  }
  if (top > -1e299) weigh(weight_.data(), n, top);
  return top;
}

// eta^k (1 - eta)^(pairs - k) for every point of a rule and number k of parents among so many pairs
const std::vector<double>& ClassSums::powers(int points, int pairs) {
  std::vector<double>& known = power_[size_t(points) * 17 + pairs];
  if (!known.empty()) return known;
  for (int q = 0; q < points; ++q) {
    const double eta = rule_.node[points * rule_.stride + q], odds = eta / (1.0 - eta);
    double value = 1.0;
    for (int k = 0; k < pairs; ++k) value *= 1.0 - eta;
    for (int k = 0; k <= pairs; ++k, value *= odds) known.push_back(value);
  }
  return known;
}

namespace {

constexpr int kLanes = 4;  // members of a class side by side; their number is rounded up

// One axis of a table, from numbers of parents to points: to[f, q, x] = sum over k of power[q, k] * of[f, k, x]
PARTITA_CLONES void expand_axis(const double* of, double* to, const double* power, int stride, int front, int levels, int points, int back) {
  for (int f = 0; f < front; ++f, of += size_t(levels) * back)
    for (int q = 0; q < points; ++q, to += back) {
      const double* values = power + q * stride;
      for (int x = 0; x < back; x += kLanes) {
        double sum[kLanes] = {0.0};
        for (int k = 0; k < levels; ++k)
          for (int t = 0; t < kLanes; ++t) sum[t] += values[k] * of[size_t(k) * back + x + t];
        for (int t = 0; t < kLanes; ++t) to[x + t] = sum[t];
      }
    }
}

}  // namespace

double ClassSums::log_sum(Nodes members, const Nodes* from, int n_from, int own, const Allowed* allowed) {
  size_t cells = 1;
  for (int a = 0; a < n_from; ++a) {
    pairs_[a] = size_of(from[a]) - (a == own);
    points_[a] = pairs_[a] * size_of(members) / 2 + 1;  // exact for polynomials of the degree that occurs
    cells *= points_[a];
  }
  grid_.resize(cells);
  grid_[0] = 1.0;
  size_t made = 1;
  for (int a = n_from - 1; a >= 0; --a) {  // the last class varies fastest
    const double* weight = rule_.weight + points_[a] * rule_.stride;
    for (int q = points_[a] - 1; q >= 0; --q)
      for (size_t g = 0; g < made; ++g) grid_[q * made + g] = grid_[g] * weight[q];
    made *= points_[a];
  }
  const int M = size_of(members), width = (M + kLanes - 1) / kLanes * kLanes;
  double logs = 0.0;
  if (!count_parents(members, from, n_from, allowed, width, &logs)) return kNoScore;
  int front = 1, back = int(table_.size());
  for (int a = 0; a < n_from; ++a) {
    back /= levels_[a];
    next_.resize(size_t(front) * points_[a] * back);
    expand_axis(table_.data(), next_.data(), powers(points_[a], pairs_[a]).data(), pairs_[a] + 1, front, levels_[a], points_[a], back);
    front *= points_[a];
    table_.swap(next_);
  }
  double total = 0.0;
  for (int first = 0; first < M; first += kLanes) {  // a few members at a time, so that their product keeps its range
    const int last = std::min(first + kLanes, M);
    double most = 0.0;
    for (size_t g = 0; g < cells; ++g) {
      for (int m = first; m < last; ++m) grid_[g] *= table_[g * width + m];
      most = std::max(most, grid_[g]);
    }
    if (!(most > 0.0)) return kNoScore;
    logs += std::log(most);
    total = 0.0;
    for (double& value : grid_) total += value /= most;
  }
  return logs + std::log(total);
}

// table_: for every number of parents in every class, the weight of a member's sets of parents, members side by side. False where
// a member may have none.
bool ClassSums::count_parents(Nodes members, const Nodes* from, int n_from, const Allowed* allowed, int width, double* logs) {
  Nodes most = 0;
  for (Nodes left = members; left; left &= left - 1) most |= allowed[__builtin_ctz(left)].within;
  int size = width;
  for (int a = n_from - 1; a >= 0; --a) {
    stride_[a] = size;
    levels_[a] = size_of(most & from[a]) + 1;
    size *= levels_[a];
  }
  table_.assign(size_t(size), 0.0);
  int m = 0;
  for (Nodes waiting = members; waiting;) {
    const Nodes within = allowed[__builtin_ctz(waiting)].within;  // members that share it one after the other
    const size_t n = list_sets(within);
    size_t made = 1;
    cells_[0] = 0;
    for (Nodes left = within; left; left &= left - 1) {
      int step = 0;
      for (int a = 0; a < n_from; ++a)
        if (from[a] & left & (0 - left)) step = stride_[a];
      for (size_t x = 0; x < made; ++x) cells_[made + x] = cells_[x] + step;
      made *= 2;
    }
    for (Nodes left = waiting; left; left &= left - 1) {
      const int j = __builtin_ctz(left);
      if (allowed[j].within != within) continue;
      waiting &= ~(Nodes(1) << j);
      const double top = gather(j, allowed[j], n);
      if (top < -1e299) return false;
      double sum = 0.0;
      for (size_t x = 0; x < n; ++x) sum += weight_[x];
      if (!(sum > 0.0)) return false;
      *logs += top + std::log(sum);
      double* to = table_.data() + m++;
      for (size_t x = 0; x < n; ++x) to[cells_[x]] += weight_[x];
      for (int x = 0; x < size; x += width) to[x] /= sum;
    }
  }
  return true;
}

void ClassSums::draw(Stream& stream, Nodes members, const Nodes* from, int n_from, const Allowed* allowed, double* edges,
                     double* log_odds, Nodes* parents) {
  const int n = tables_.n;
  int g = pick_weight(grid_, grid_.size(), stream.uniform());
  double drawn[16] = {0.0};  // log odds of an edge from node i
  for (int a = n_from - 1; a >= 0; --a) {
    const double eta = rule_.node[points_[a] * rule_.stride + g % points_[a]];
    g /= points_[a];
    for (int i = 0; i < n; ++i)
      if (from[a] >> i & 1) drawn[i] = std::log(eta) - std::log1p(-eta);
  }
  size_t m = 0;
  Nodes listed = ~Nodes(0);
  for (int j = 0; j < n; ++j) {
    if (!(members >> j & 1)) continue;
    for (int i = 0; i < n; ++i) log_odds[i * n + j] = drawn[i];
    if (allowed[j].within != listed) {
      listed = allowed[j].within;
      m = list_sets(listed);
    }
    gather(j, allowed[j], m);
    size_t bit = 1;
    for (int i = 0; i < n; ++i)
      if (listed >> i & 1) {
        const double odds = std::exp(drawn[i]);
        for (size_t start = bit; start < m; start += 2 * bit)
          for (size_t x = start; x < start + bit; ++x) weight_[x] *= odds;
        bit *= 2;
      }
    double total = 0.0;
    for (size_t x = 0; x < m; ++x) total += weight_[x];
    parents[j] = sets_[pick(weight_.data(), int(m), total, stream.uniform())];
    // P(i -> j): the upper half is folded onto the lower, so that the next node is again the last bit
    int last = n;
    for (size_t half = m / 2; half; half /= 2) {
      do --last;
      while (!(listed >> last & 1));
      double sum = 0.0;
      for (size_t x = 0; x < half; ++x) {
        sum += weight_[half + x];
        weight_[x] += weight_[half + x];
      }
      edges[last * n + j] += sum / total;
    }
  }
}

}  // namespace partita
