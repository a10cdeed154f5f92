// Ordered classes: Gibbs over classes and gaps, swaps, splits, merges and relocations, all graphs summed out.
#include <algorithm>
#include <cmath>

#include "net_chains.hpp"
#include "net_scores.hpp"

namespace partita {

std::vector<Nodes> classes_of(const int32_t* z, int n) {
  std::vector<Nodes> classes;
  for (int i = 0; i < n; ++i) {
    if (size_t(z[i]) >= classes.size()) classes.resize(size_t(z[i]) + 1, 0);
    classes[z[i]] |= Nodes(1) << i;
  }
  return classes;
}

void number_classes(const std::vector<Nodes>& classes, int n, int32_t* z) {
  for (int i = 0; i < n; ++i)
    for (size_t a = 0; a < classes.size(); ++a)
      if (classes[a] >> i & 1) z[i] = int32_t(a);
}

OrderedChain::OrderedChain(const NetTables& tables, const BlockRule& rule, HashedValues cache)
    : tables(tables), rule(rule), cache(cache), sums(tables, rule, 1.0), allowed(size_t(tables.n)) {
  restaurant = std::lgamma(rule.alpha) - std::lgamma(rule.alpha + tables.n);
  for (int m = 0; m <= tables.n + 1; ++m) {
    seated.push_back(m ? std::log(rule.alpha) + std::lgamma(double(m)) : 0.0);
    orders.push_back(std::lgamma(m + 1.0));
  }
}

double OrderedChain::log_target(const Nodes* classes, int K) {
  double total = restaurant - orders[K];
  uint64_t earlier = 77;
  Nodes before = 0;
  for (int b = 0; b < K; ++b) {
    // the sum depends on the class and the set of earlier ones; these are sorted so that its last bit does too
    const uint64_t key = mixed(earlier ^ mixed(classes[b] + (uint64_t(1) << 40))) | 1, at = key >> 20 & cache.mask;
    if (cache.key[at] != key) {
      sorted.assign(classes, classes + b);
      std::sort(sorted.begin(), sorted.end());
      std::fill(allowed.begin(), allowed.end(), Allowed{before, 0});
      cache.value[at] = sums.log_sum(classes[b], sorted.data(), b, -1, allowed.data());
      cache.key[at] = key;
    }
    total += cache.value[at] + seated[size_of(classes[b])];
    earlier += mixed(classes[b] + (uint64_t(1) << 41));
    before |= classes[b];
  }
  return total;
}

double OrderedChain::gibbs(Stream& stream, std::vector<Nodes>& classes) {
  double reached = 0.0;
  std::vector<Nodes> others;
  std::vector<std::vector<Nodes>> options;
  std::vector<double> value, weight;
  for (int i = 0; i < tables.n; ++i) {
    const Nodes node = Nodes(1) << i;
    others.clear();
    for (Nodes members : classes)
      if (members & ~node) others.push_back(members & ~node);
    const size_t K = others.size();
    options.assign(2 * K + 1, others);
    value.resize(2 * K + 1);
    for (size_t o = 0; o < options.size(); ++o) {
      if (o < K)
        options[o][o] |= node;
      else
        options[o].insert(options[o].begin() + long(o - K), node);
      value[o] = log_target(options[o].data(), int(options[o].size()));
    }
    const double top = *std::max_element(value.begin(), value.end());
    weight.resize(value.size());
    double total = 0.0;
    for (size_t o = 0; o < value.size(); ++o) total += weight[o] = std::exp(value[o] - top);
    const int o = pick(weight.data(), int(weight.size()), total, stream.uniform());
    classes = options[o];
    reached = value[o];
  }
  return reached;
}

double OrderedChain::metropolis(Stream& stream, std::vector<Nodes>& classes, double current, bool free) {
  const int n = tables.n;
  std::vector<Nodes> next;
  for (int turn = free ? 0 : 2; turn < 3 * n; turn += free ? 1 : 3) {
    next = classes;
    const int K = int(classes.size());
    double back = 0.0;  // log of the chance of the way back over that of the way forth
    if (turn % 3 == 0) {  // two nodes change places
      const Nodes a = Nodes(1) << stream.below(n), both = a | Nodes(1) << stream.below(n);
      for (Nodes& members : next)
        if (size_of(both) == 2 && size_of(members & both) == 1) members ^= both;
    } else if (turn % 3 == 1) {
      if (stream.uniform() < 0.5) {  // a class falls in two that follow each other
        const int a = int(stream.below(K));
        const Nodes first = classes[a] & Nodes(stream.below(int64_t(1) << n));
        if (!first || first == classes[a]) continue;
        next[a] = first;
        next.insert(next.begin() + a + 1, classes[a] & ~first);
        back = size_of(classes[a]) * std::log(2.0);  // forth 1/K 2^-size, back 1/K
      } else if (K > 1) {
        const int a = int(stream.below(K - 1));
        next[a] |= next[a + 1];
        next.erase(next.begin() + a + 1);
        back = -size_of(next[a]) * std::log(2.0);
      }
    } else {  // a class changes its place
      const int a = int(stream.below(K)), b = int(stream.below(K));
      next.erase(next.begin() + a);
      next.insert(next.begin() + b, classes[a]);
    }
    const double proposed = log_target(next.data(), int(next.size()));
    if (std::log(stream.uniform()) < proposed - current + back) {
      classes = next;
      current = proposed;
    }
  }
  return current;
}

double OrderedChain::sweep(Stream& stream, int32_t* z, bool free, double* edges, Nodes* parents) {
  const int n = tables.n;
  std::vector<Nodes> classes = classes_of(z, n);
  double current = free ? gibbs(stream, classes) : log_target(classes.data(), int(classes.size()));
  current = metropolis(stream, classes, current, free);
  Nodes before = 0;
  std::vector<double> odds(size_t(n) * n);
  for (size_t b = 0; b < classes.size(); ++b) {
    std::fill(allowed.begin(), allowed.end(), Allowed{before, 0});
    sums.log_sum(classes[b], classes.data(), int(b), -1, allowed.data());
    sums.draw(stream, classes[b], classes.data(), int(b), allowed.data(), edges, odds.data(), parents);
    before |= classes[b];
  }
  number_classes(classes, n, z);
  return current;
}

}  // namespace partita
