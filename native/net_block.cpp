// Classes without an order: the graph afresh given its layers, given classes and probabilities, then classes given the graph.
#include <algorithm>
#include <cmath>

#include "net_chains.hpp"

namespace partita {

namespace {

constexpr int kLocalTurns = 3;  // the same number in the plain twin

// The layers of a graph (Kuipers and Moffa 2017): a node may have any parents in earlier layers, at least one in the last of them.
void find_layers(int n, const Nodes* parents, Allowed* allowed) {
  const Nodes full = (Nodes(1) << n) - 1;
  for (Nodes done = 0, last = 0; done != full;) {
    Nodes layer = 0;
    for (int j = 0; j < n; ++j)
      if (!(done >> j & 1) && !(parents[j] & ~done)) layer |= Nodes(1) << j;
    for (int j = 0; j < n; ++j)
      if (layer >> j & 1) allowed[j] = {done, last};
    done |= layer;
    last = layer;
  }
}

}  // namespace

BlockChain::BlockChain(const NetTables& tables, const BlockRule& rule, double heat)
    : tables(tables), rule(rule), heat(heat), sums(tables, rule, heat), orders(tables, heat) {
  const double b1 = rule.beta1, b2 = rule.beta2, none = std::lgamma(b1 + b2) - std::lgamma(b1) - std::lgamma(b2);
  for (int m = 0; m <= tables.n * (tables.n - 1); ++m) {
    below.push_back(std::lgamma(b1 + m) + none);
    above.push_back(std::lgamma(b2 + m));
    both.push_back(std::lgamma(b1 + b2 + m));
  }
  restaurant = std::lgamma(rule.alpha) - std::lgamma(rule.alpha + tables.n);
  for (int m = 0; m <= tables.n; ++m) seated.push_back(m ? std::log(rule.alpha) + std::lgamma(double(m)) : 0.0);
}

// equations 2.1 and 2.5, up to the normaliser over acyclic graphs
double BlockChain::log_prior(const Nodes* classes, int K, const Nodes* parents) const {
  double total = restaurant;
  int present[16];
  for (int b = 0; b < K; ++b) {
    const int size = size_of(classes[b]);
    total += seated[size];
    std::fill(present, present + K, 0);
    for (Nodes left = classes[b]; left; left &= left - 1) {
      const Nodes from = parents[__builtin_ctz(left)];
      for (int a = 0; a < K; ++a) present[a] += size_of(from & classes[a]);
    }
    for (int a = 0; a < K; ++a) {
      const int pairs = size_of(classes[a]) * size - (a == b ? size : 0);
      total += below[present[a]] + above[pairs - present[a]] - both[pairs];
    }
  }
  return total;
}

void BlockChain::redraw_graph(Stream& stream, const std::vector<Nodes>& classes, Nodes* parents, int n_draws, double* edges) {
  const int n = tables.n, K = int(classes.size());
  std::vector<Allowed> allowed(static_cast<size_t>(n));
  std::vector<double> odds(size_t(n) * n);
  std::vector<Nodes> drawn(static_cast<size_t>(n));
  find_layers(n, parents, allowed.data());
  for (int b = 0; b < K; ++b) {
    sums.log_sum(classes[b], classes.data(), K, b, allowed.data());
    sums.draw(stream, classes[b], classes.data(), K, allowed.data(), edges, odds.data(), parents);
  }
  // an independent graph given classes and probabilities, too often by its number of orders; that is put right
  orders.prepare(odds.data());
  double present = orders.extensions(parents);
  for (int turn = 0; turn < n_draws; ++turn) {
    orders.draw(stream, drawn.data());
    const double proposed = orders.extensions(drawn.data());
    if (stream.uniform() * proposed < present) {
      std::copy(drawn.begin(), drawn.end(), parents);
      present = proposed;
    }
  }
  for (int turn = 0; turn < kLocalTurns; ++turn) {
    orders.redraw_parents(stream, parents);
    orders.reverse_edges(stream, parents);
  }
}

void BlockChain::gibbs(Stream& stream, std::vector<Nodes>& classes, const Nodes* parents) {
  std::vector<Nodes> others;
  std::vector<double> value;
  for (int i = 0; i < tables.n; ++i) {
    const Nodes node = Nodes(1) << i;
    others.clear();
    for (Nodes members : classes)
      if (members & ~node) others.push_back(members & ~node);
    const size_t K = others.size();
    others.push_back(0);
    value.resize(K + 1);
    for (size_t o = 0; o <= K; ++o) {
      others[o] |= node;
      value[o] = log_prior(others.data(), int(K + (o == K)), parents);
      others[o] &= ~node;
    }
    const double top = *std::max_element(value.begin(), value.end());
    double total = 0.0;
    for (double& v : value) total += v = std::exp(v - top);
    const int o = pick(value.data(), int(K + 1), total, stream.uniform());
    others[o] |= node;
    if (!others[K]) others.pop_back();
    classes = others;
  }
}

void BlockChain::split_or_merge(Stream& stream, std::vector<Nodes>& classes, const Nodes* parents, int n_splits) {
  double current = log_prior(classes.data(), int(classes.size()), parents);
  std::vector<Nodes> next;
  for (int turn = 0; turn < n_splits; ++turn) {
    const int K = int(classes.size());
    next = classes;
    double back;
    if (stream.uniform() < 0.5) {
      const int a = int(stream.below(K));
      const Nodes first = classes[a] & Nodes(stream.below(int64_t(1) << tables.n));
      if (!first || first == classes[a]) continue;
      next[a] = first;
      next.push_back(classes[a] & ~first);
      // forth 2^(1 - size) / K, back 2 / (K (K + 1))
      back = (size_of(classes[a]) - 1) * std::log(2.0) + std::log(2.0 / (K + 1));
    } else if (K > 1) {
      const int a = int(stream.below(K)), other = int(stream.below(K - 1)), b = other + (other >= a);
      next[a] |= next[b];
      back = -(size_of(next[a]) - 1) * std::log(2.0) - std::log(2.0 / K);
      next.erase(next.begin() + b);
    } else {
      continue;
    }
    const double proposed = log_prior(next.data(), int(next.size()), parents);
    if (std::log(stream.uniform()) < proposed - current + back) {
      classes = next;
      current = proposed;
    }
  }
}

double BlockChain::sweep(Stream& stream, int32_t* z, Nodes* parents, bool free, int n_draws, int n_splits, double* edges) {
  std::vector<Nodes> classes = classes_of(z, tables.n);
  redraw_graph(stream, classes, parents, n_draws, edges);
  if (free) {
    gibbs(stream, classes, parents);
    split_or_merge(stream, classes, parents, n_splits);
  }
  number_classes(classes, tables.n, z);
  return log_prior(classes.data(), int(classes.size()), parents);
}

}  // namespace partita
