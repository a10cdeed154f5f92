// One sweep of the chains over classes of at most 16 nodes. Plain twins: kernels/reference/net_ordered.py, net_block.py.
#pragma once
#include "net_sums.hpp"

namespace partita {

// Values that are found again by a key of 64 bits; a later value takes the place of an earlier one.
struct HashedValues {
  uint64_t* key;
  double* value;
  uint64_t mask;  // size - 1, the size a power of two
};

inline uint64_t mixed(uint64_t x) {
  Stream stream{x};
  return stream.next();
}

// Classes in order, graphs and edge probabilities summed out.
struct OrderedChain {
  const NetTables& tables;
  const BlockRule& rule;
  HashedValues cache;
  ClassSums sums;
  std::vector<Nodes> sorted;
  std::vector<Allowed> allowed;
  std::vector<double> seated, orders;  // log of alpha Gamma(size), and of K!
  double restaurant;

  OrderedChain(const NetTables& tables, const BlockRule& rule, HashedValues cache);
  double log_target(const Nodes* classes, int K);
  // z[i] is the place of node i's class in the order. With `free` false classes only change places. P(i -> j | eta, classes) is
  // added to edges, a graph is drawn into parents. Returns the log target, the normaliser of the restaurant included.
  double sweep(Stream& stream, int32_t* z, bool free, double* edges, Nodes* parents);

 private:
  double gibbs(Stream& stream, std::vector<Nodes>& classes);
  double metropolis(Stream& stream, std::vector<Nodes>& classes, double current, bool free);
};

// Classes and a graph: layers of the graph, orders and classes in turn.
struct BlockChain {
  const NetTables& tables;
  const BlockRule& rule;
  double heat;
  ClassSums sums;
  OrderDraws orders;
  std::vector<double> below, above, both, seated;  // logs of Gamma functions of counts
  double restaurant;

  BlockChain(const NetTables& tables, const BlockRule& rule, double heat);
  double log_prior(const Nodes* classes, int K, const Nodes* parents) const;
  // z[i] is the number of node i's class. Scores count `heat` times. Returns the log prior of classes and graph.
  double sweep(Stream& stream, int32_t* z, Nodes* parents, bool free, int n_draws, int n_splits, double* edges);

 private:
  void redraw_graph(Stream& stream, const std::vector<Nodes>& classes, Nodes* parents, int n_draws, double* edges);
  void gibbs(Stream& stream, std::vector<Nodes>& classes, const Nodes* parents);
  void split_or_merge(Stream& stream, std::vector<Nodes>& classes, const Nodes* parents, int n_splits);
};

std::vector<Nodes> classes_of(const int32_t* z, int n);
void number_classes(const std::vector<Nodes>& classes, int n, int32_t* z);

}  // namespace partita
