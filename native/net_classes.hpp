// Sums over all graphs and edge probabilities into one class of nodes. The plain twin: kernels/reference/net_classes.py.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels.hpp"

namespace partita {

using Nodes = uint32_t;  // a set of nodes, one bit each; at most 16 of them

inline int size_of(Nodes set) { return __builtin_popcount(set); }

// score[j << n | P]: log score of the parents P of node j, kNoScore where they are not allowed. Where doubles hold the range of what
// is allowed, weight[j << n | P] is exp(heat * score - shift[j]) for the heat at hand, and no logarithms are needed; else it is null.
struct NetTables {
  int n;
  const double* score;
  const double* weight = nullptr;
  const double* shift = nullptr;
};

// Chinese restaurant of concentration alpha; probabilities of edges are Beta(beta1, beta2). Row D of `node` and `weight` is the
// Gauss-Jacobi rule of D points for that law.
struct BlockRule {
  double alpha, beta1, beta2;
  const double *node, *weight;
  int stride;
};

// Which parents a node may have: subsets of `within` that hit `hit` (nothing is asked where it is empty).
struct Allowed {
  Nodes within, hit;
};

class ClassSums {
 public:
  ClassSums(const NetTables& tables, const BlockRule& rule, double heat);

  // log of F: integral over the probabilities eta of edges from every class of `from` into `members`, of the product over members
  // of the sum over their allowed parent sets. `own` is the place of `members` in `from`, or -1. Scores count `heat` times.
  double log_sum(Nodes members, const Nodes* from, int n_from, int own, const Allowed* allowed);

  // After log_sum with the same arguments: eta drawn given everything else (log odds go to log_odds[i * n + j]), parents drawn
  // given eta, and P(i -> j | eta, classes) added to edges[i * n + j].
  void draw(Stream& stream, Nodes members, const Nodes* from, int n_from, const Allowed* allowed, double* edges,
            double* log_odds, Nodes* parents);

 private:
  const NetTables& tables_;
  const BlockRule& rule_;
  double heat_;
  std::vector<int> points_, pairs_, levels_, stride_;
  std::vector<double> grid_, table_, next_, weight_;
  std::vector<Nodes> sets_;
  std::vector<int> cells_;
  std::vector<std::vector<double>> power_;  // by points and pairs, made when first wanted

  size_t list_sets(Nodes within);  // sets_; how many there are
  double gather(int j, const Allowed& allowed, size_t n);  // weights of the n sets of sets_, up to a factor whose log is returned
  const std::vector<double>& powers(int points, int pairs);
  bool count_parents(Nodes members, const Nodes* from, int n_from, const Allowed* allowed, int width, double* logs);
};

}  // namespace partita
