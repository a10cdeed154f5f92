// Graphs by orders of their nodes. The plain twin: kernels/reference/net_walk.py.
#pragma once
#include "net_orders.hpp"

namespace partita {

using Parents = std::vector<std::vector<int>>;  // ascending

void store_graph(const Parents& parents, uint8_t* edge);
// The log chance of an order given the graph that it fits: the next of the nodes whose parents are placed is chosen by how many nodes
// it leads to, so that all orders of a forest are alike. With a stream the order is drawn anew.
double extend(Stream* stream, std::vector<int>& order, const Parents& parents);

// A graph with the numbers of its listed sets of parents, an order that it fits, and the log chance of that order given the graph.
struct OrderedGraph {
  Order order;
  Parents parents;
  std::vector<int64_t> set;  // -1: the parents of a node are no listed set
  double chance;
};

OrderedGraph ordered_graph(const CandidateSets& known, const Places& places, const uint8_t* edge);  // with some order

// The joint law of a graph and its order is that of the graph times the chance of the order given it. Law as for OrderMoves, and
// law.log_weight(set).
template <class Law>
class GraphWalk {
 public:
  GraphWalk(const CandidateSets& known, const Places& places, const Law& law) : known_(known), places_(places), law_(law), moves_(places, law) {}

  // A window of the order is walked over, and its nodes are given new parents, which have the law they should have given the order.
  bool turn(Stream& stream, OrderedGraph& state) {
    const int n = known_.n;
    int size = n >> stream.below(3);
    if (size < 2) size = n;
    const int start = int(stream.below(n - size + 1));
    OrderedGraph next = state;
    places_.find_before(next.order, start, size);
    for (int step = 0; step < size; ++step) moves_.relocate(stream, next.order, start, size, 1.0);
    for (int t = start; t < start + size; ++t)
      if (law_.listed(next.order.nodes[t])) draw_set(stream, next, next.order.nodes[t]);
    next.chance = extend(nullptr, next.order.nodes, next.parents);
    if (!(std::log(stream.uniform()) < next.chance - state.chance)) return false;
    state = next;
    return true;
  }

 private:
  CandidateSets known_;
  const Places& places_;
  const Law& law_;
  OrderMoves<Law> moves_;

  // one of the listed sets within the candidates that come before; those of high scores are looked at first
  void draw_set(Stream& stream, OrderedGraph& state, int j) const {
    const int32_t before = state.order.before[j];
    const double total = law_.log_sum(j, before), limit = stream.uniform();
    double reached = 0.0;
    for (int64_t s = known_.first[j]; s < known_.first[j + 1]; ++s) {
      if (known_.sets[s] & ~before) continue;
      const double share = std::exp(law_.log_weight(s) - total);
      if (share > 0.0) state.set[j] = s;
      if ((reached += share) > limit) break;
    }
    state.parents[j].clear();
    for (uint32_t left = uint32_t(known_.sets[state.set[j]]); left; left &= left - 1)
      state.parents[j].push_back(known_.nodes[j * known_.width + __builtin_ctz(left)]);
    std::sort(state.parents[j].begin(), state.parents[j].end());
  }
};

}  // namespace partita
