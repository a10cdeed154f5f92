// Sums over all acyclic graphs of a modular weight. The plain twin: kernels/reference/net_sums.py.
#pragma once
#include <vector>

#include "net_classes.hpp"

namespace partita {

// x[S], S < 2^n: the log of the sum of exp(x[P]) over all subsets P of S, in place; safe for any range of x
void log_subset_sums(int n, double* x);

// log of the sum over all acyclic graphs of the product of exp(weight[j << n | parents of j]), n <= 16, weight kNoScore where j is
// its own parent. `weight` is overwritten. Where `edges` is given, P(i -> j) goes to edges[i * n + j].
double net_dag_sum(int n, double* weight, double* edges);

// The same with classes z (numbered from 0) given and the probability of an edge between any two of them integrated out: the
// products over edges are those of (2.5). P(i -> j) goes to edges. The plain twin: kernels/reference/net_block_sum.py.
double net_block_sum(const NetTables& tables, const BlockRule& rule, const int32_t* z, double* edges);

// Graphs with probability proportional to weight times the number of their linear extensions.
class OrderDraws {
 public:
  OrderDraws(const NetTables& tables, double heat);
  void prepare(const double* log_odds);  // of an edge i -> j at i * n + j
  void draw(Stream& stream, Nodes* parents);
  double extensions(const Nodes* parents);  // the number of linear extensions
  // local moves of the same law (weight alone): the parents of every node given all others', then edges turned round one by one
  void redraw_parents(Stream& stream, Nodes* parents);
  void reverse_edges(Stream& stream, Nodes* parents);

 private:
  const NetTables& tables_;
  double heat_;
  std::vector<double>& within_;  // large, and the same memory for every sweep of a thread: fresh pages would cost as much as the sums
  std::vector<double> reached_, odds_, weight_, count_;
  // where weights need no logarithms: sums over the orders of a set, every node's factor divided by its largest; where doubles do not
  // hold them, long doubles do
  std::vector<double> passed_, share_;
  std::vector<long double> wide_;
  std::vector<Nodes> sets_, front_, next_;

  bool linear() const;  // `within_` holds sums, not their logs
  double last_chance(int j, size_t less, size_t set) const;
  void prepare_sums();
  double log_weight(int j, Nodes set) const;
  void draw_parents(Stream& stream, int j, size_t earlier, Nodes* parents);
  double sum_with(int j, Nodes in, Nodes open) const;
  Nodes pick_listed(int j, Nodes in, Nodes open, double uniform);
};

}  // namespace partita
