// One sweep over graphs edge by edge and set by set, for any number of nodes. The plain twin: kernels/reference/net_graph.py.
#pragma once
#include <algorithm>
#include <vector>

#include "net_chains.hpp"
#include "net_scores.hpp"
#include "net_seating.hpp"

namespace partita {

enum GraphPrior { kGivenOdds = 0, kClasses = 1, kOrderedClasses = 2 };

struct GraphTask {
  std::vector<NetData> data;      // of every data set; the nodes of one follow those of the other
  NodeSeats seating;
  HashedValues cache;             // of local scores
  const uint8_t *allowed, *required;  // n x n, parent row and child column
  int max_parents;
  GraphPrior prior;
  bool move_classes;
  double beta1, beta2;
  const double* log_odds;  // n x n, of edges that are independent beforehand (kGivenOdds)
  bool single_edges;       // the kernel of [1]: one edge at a time and nothing else
  double heat;             // the power to which the joint is raised
  int n_splits;            // splits or merges of classes in a sweep
  int n_nodes;             // nodes that may change their class together with their edges
  double* chances;         // n x n: the chance of every edge given all else is added; null: not wanted
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
  std::vector<int> home_, n_parents_;
  std::vector<int> size_, count_;  // nodes of data set t in class k at [t * n + k]; edges from class a to b at [a * n + b]
  std::vector<double> score_, below_, above_, both_;  // log Gamma(beta1 + m), log Gamma(beta2 + m), log Gamma(beta1 + beta2 + m)

  // where the nodes sit, to go back to
  struct Seats {
    std::vector<int32_t> z;
    std::vector<int> size, count;
    std::vector<double> share;
    double left;
    int n_classes;
    explicit Seats(const GraphChain& of)
        : z(of.z_, of.z_ + of.n_), size(of.size_), count(of.count_), share(of.task_.seating.share, of.task_.seating.share + of.n_),
          left(*of.task_.seating.left), n_classes(of.n_classes_) {}
    void restore(GraphChain& to) const {
      std::copy(z.begin(), z.end(), to.z_);
      std::copy(share.begin(), share.end(), to.task_.seating.share);
      *to.task_.seating.left = left;
      to.size_ = size;
      to.count_ = count;
      to.n_classes_ = n_classes;
    }
  };


  bool ordered() const { return task_.prior == kOrderedClasses; }
  uint64_t mark(int i, int j) const { return mixed((uint64_t(i) << 32 | uint64_t(j)) + 1); }
  double score_with(int j, const int* toggled, int n_toggled);
  bool reaches(int from, int to);
  void toggle(int i, int j, double score);
  int pairs(int a, int b) const;              // that could have an edge from class a to b
  double gain(int i, int j, int more) const;  // log odds of one more edge i -> j beside `more` + those of its kind, itself not counted
  double ratio(int present, int of) const { return below_[present] + above_[of - present] - both_[of]; }
  void edges(Stream& stream);
  void reversals(Stream& stream);
  void parent_sets(Stream& stream);
  void exchanges(Stream& stream);
  void reorder(Stream& stream);
  double log_template() const;  // of ordered classes, up to a constant for every two of them
  double log_joint() const;

  // classes (net_graph_classes.cpp); a node that is not seated has class -1 and counts nowhere
  void count_edges();
  void seat(int i, int k);
  int unseat(int i);
  void edges_of(int i, std::vector<int>& out, std::vector<int>& in) const;  // with seated nodes, by class
  void open_class(int place, double part);
  void close_class(int place);
  int members(int k) const;
  double class_weight(int i, int k, const std::vector<int>& out, const std::vector<int>& in) const;
  double fresh_weight(int gap, const int* here, const std::vector<int>& out, const std::vector<int>& in) const;
  void classes(Stream& stream);
  void split_or_merge(Stream& stream);
  double part_members(Stream* stream, const std::vector<int>& nodes, int a, int b, const std::vector<bool>& wanted);
  double log_classes() const;

  // a node with its edges (net_graph_nodes.cpp)
  struct Standing;
  struct Attached {
    double chance, value;  // logs: of what was drawn, and by how much the joint grew
  };
  std::vector<int> partners(Stream& stream, int i) const;
  void detach(int i, const std::vector<int>& partners);
  Attached attach(Stream* stream, int i, const std::vector<int>& partners, const std::vector<int>& wanted);
  void move_node(Stream& stream);
};

}  // namespace partita
