// Walks over orders: that of a chain, and a ladder of them under fixed laws. The plain twins: kernels/reference/net_walk.py,
// net_tempered.py.
#pragma once
#include "net_set_sums.hpp"
#include "net_walk.hpp"

namespace partita {

// Turns of a graph whose edges are independent beforehand; how many were accepted.
int order_walk(Stream& stream, const CandidateSets& known, const double* log_odds, double heat, uint8_t* edge, int n_turns);

// Graphs whose scores count heats[r] times, from 1 down.
struct LadderTask {
  CandidateSets known;
  const double* prior;  // log odds of every listed set
  const double* sums;   // (n_heats, n, 2^width) log sums over the listed sets within any set of candidates
  int n_heats;
  const double* heats;
  uint8_t* graphs;  // n_heats x n x n, all of listed sets
};

class GraphLadder {
 public:
  explicit GraphLadder(const LadderTask& task);
  void round(Stream& stream);  // each has a turn with a new order, then neighbours change places from the hottest on
  void store() const;

 private:
  struct Law {
    const CandidateSets& known;
    const double *prior, *sums;
    double heat;
    double log_sum(int j, int32_t within) const { return sums[(size_t(j) << known.width) + size_t(within)]; }
    double log_weight(int64_t set) const { return heat * known.scores[set] + prior[set]; }
    static constexpr bool listed(int) { return true; }
    static constexpr bool needs(int, int) { return false; }
  };
  LadderTask task_;
  Places places_;
  std::vector<Law> laws_;
  std::vector<GraphWalk<Law>> walks_;
  std::vector<OrderedGraph> graphs_;

  double score(const OrderedGraph& graph) const;
};

}  // namespace partita
