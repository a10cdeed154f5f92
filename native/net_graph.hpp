// One sweep over a graph edge by edge and set by set, for any number of nodes. The plain twin: kernels/reference/net_graph.py.
#pragma once
#include <vector>

#include "net_chains.hpp"
#include "net_scores.hpp"

namespace partita {

enum GraphPrior { kGivenOdds = 0, kClasses = 1, kOrderedClasses = 2 };

struct GraphTask {
  const NetData& data;
  HashedValues cache;             // of local scores
  const uint8_t *allowed, *required;  // n x n, parent row and child column
  int max_parents;
  GraphPrior prior;
  bool move_classes;
  double alpha, beta1, beta2;
  const double* log_odds;  // n x n, of edges that are independent beforehand (kGivenOdds)
  bool single_edges;       // the kernel of [1]: one edge at a time and nothing else
};

class GraphChain {
 public:
  // z is changed in place, and so is edge (n x n)
  GraphChain(const GraphTask& task, int32_t* z, uint8_t* edge);
  double sweep(Stream& stream);  // the log joint of classes and graph, up to the normaliser over acyclic graphs

 private:
  const GraphTask& task_;
  int n_, words_, n_classes_ = 0;
  int32_t* z_;
  uint8_t* edge_;
  std::vector<uint64_t> child_, hash_, seen_, front_;
  std::vector<int> n_parents_, size_, count_;
  std::vector<double> score_, below_, above_, both_;  // log Gamma(beta1 + m), log Gamma(beta2 + m), log Gamma(beta1 + beta2 + m)

  uint64_t mark(int i, int j) const { return mixed((uint64_t(i) << 32 | uint64_t(j)) + 1); }
  double score_with(int j, const int* toggled, int n_toggled);
  bool reaches(int from, int to);
  void toggle(int i, int j, double score);
  int pairs(int a, int b) const { return size_[a] * size_[b] - (a == b ? size_[a] : 0); }
  double gain(int i, int j, int more) const;  // log odds of one more edge i -> j beside `more` + those of its kind, itself not counted
  double ratio(int present, int of) const { return below_[present] + above_[of - present] - both_[of]; }
  void count_edges();
  void edges(Stream& stream);
  void reversals(Stream& stream);
  void parent_sets(Stream& stream);
  void classes(Stream& stream);
  void exchanges(Stream& stream);
  void reorder(Stream& stream);
  double log_template() const;  // of ordered classes, up to a constant for every two of them
  double class_weight(int i, int k, bool fresh, int gap, const std::vector<int>& out, const std::vector<int>& in) const;
  double log_joint() const;
};

}  // namespace partita
