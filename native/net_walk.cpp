// The walk of a chain: nodes whose parents are no listed set keep them.
#include "net_tempered.hpp"

namespace partita {

namespace {

struct KeepingLaw {
  const SetSums& sums;
  int n;
  const uint8_t* edge;
  std::vector<bool> is_listed;
  double log_sum(int j, int32_t within) const { return sums.log_sum(j, within); }
  double log_weight(int64_t set) const { return sums.log_weight(set); }
  bool listed(int j) const { return is_listed[j]; }
  bool needs(int i, int j) const { return !is_listed[j] && edge[size_t(i) * n + j]; }
};

}  // namespace

int order_walk(Stream& stream, const CandidateSets& known, const double* log_odds, double heat, uint8_t* edge, int n_turns) {
  const Places places(known);
  const SetSums sums(known, log_odds, heat);
  KeepingLaw law{sums, known.n, edge, {}};
  OrderedGraph state = ordered_graph(known, places, edge);
  for (int64_t set : state.set) law.is_listed.push_back(set >= 0);
  GraphWalk<KeepingLaw> walk(known, places, law);
  int accepted = 0;
  for (int k = 0; k < n_turns; ++k) {
    state.chance = extend(&stream, state.order.nodes, state.parents);
    accepted += walk.turn(stream, state);
  }
  store_graph(state.parents, edge);
  return accepted;
}

}  // namespace partita
