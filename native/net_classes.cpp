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
    : tables_(tables), rule_(rule), heat_(heat), points_(17), pairs_(17), levels_(17), stride_(17) {
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

// power_: eta^k (1 - eta)^(pairs - k) for every axis, point and number k of parents, axis after axis
void ClassSums::find_powers(int n_from) {
  power_.clear();
  for (int a = 0; a < n_from; ++a)
    for (int q = 0; q < points_[a]; ++q) {
      const double eta = rule_.node[points_[a] * rule_.stride + q], odds = eta / (1.0 - eta);
      double value = 1.0;
      for (int k = 0; k < pairs_[a]; ++k) value *= 1.0 - eta;
      for (int k = 0; k <= pairs_[a]; ++k, value *= odds) power_.push_back(value);
    }
}

// counts of parents in every class -> values on the grid of eta, one axis at a time
void ClassSums::expand(int n_from) {
  int front = 1, back = int(table_.size());
  const double* power = power_.data();
  for (int a = 0; a < n_from; ++a) {
    const int levels = levels_[a], points = points_[a];
    back /= levels;
    next_.assign(size_t(front) * points * back, 0.0);
    for (int f = 0; f < front; ++f)
      for (int q = 0; q < points; ++q) {
        const double* values = power + q * (pairs_[a] + 1);
        double* to = next_.data() + (size_t(f) * points + q) * back;
        for (int k = 0; k < levels; ++k) {
          const double* of = table_.data() + (size_t(f) * levels + k) * back;
          for (int b = 0; b < back; ++b) to[b] += values[k] * of[b];
        }
      }
    power += points * (pairs_[a] + 1);
    front *= points;
    table_.swap(next_);
  }
}

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
  find_powers(n_from);
  double logs = 0.0;
  size_t n = 0;
  int size = 1;
  Nodes listed = ~Nodes(0);  // the set whose subsets are in sets_ and cells_
  for (int j = 0; j < tables_.n; ++j) {
    if (!(members >> j & 1)) continue;
    if (allowed[j].within != listed) {
      listed = allowed[j].within;
      n = list_sets(listed);
      size = 1;
      for (int a = n_from - 1; a >= 0; --a) {
        stride_[a] = size;
        levels_[a] = size_of(listed & from[a]) + 1;
        size *= levels_[a];
      }
      size_t m = 1;
      cells_[0] = 0;
      for (int i = 0; i < tables_.n; ++i)
        if (listed >> i & 1) {
          int step = 0;
          for (int a = 0; a < n_from; ++a)
            if (from[a] >> i & 1) step = stride_[a];
          for (size_t x = 0; x < m; ++x) cells_[m + x] = cells_[x] + step;
          m *= 2;
        }
    }
    const double top = gather(j, allowed[j], n);
    if (top < -1e299) return kNoScore;
    table_.assign(size_t(size), 0.0);
    for (size_t x = 0; x < n; ++x) table_[cells_[x]] += weight_[x];
    expand(n_from);
    double most = 0.0;
    for (size_t g = 0; g < cells; ++g) most = std::max(most, grid_[g] *= table_[g]);
    if (!(most > 0.0)) return kNoScore;
    for (double& value : grid_) value /= most;
    logs += top + std::log(most);
  }
  double total = 0.0;
  for (double value : grid_) total += value;
  return logs + std::log(total);
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
