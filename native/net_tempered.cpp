// Graphs at several temperatures, which change places.
#include "net_tempered.hpp"

namespace partita {

GraphLadder::GraphLadder(const LadderTask& task) : task_(task), places_(task.known) {
  const size_t n = size_t(task.known.n);
  laws_.reserve(size_t(task.n_heats));  // walks hold where they stand
  for (int r = 0; r < task.n_heats; ++r) {
    laws_.push_back({task_.known, task.prior, task.sums + (size_t(r) * n << task.known.width), task.heats[r]});
    walks_.emplace_back(task_.known, places_, laws_.back());
    graphs_.push_back(ordered_graph(task_.known, places_, task.graphs + size_t(r) * n * n));
  }
}

double GraphLadder::score(const OrderedGraph& graph) const {
  double total = 0.0;
  for (int64_t set : graph.set) total += task_.known.scores[set];
  return total;
}

void GraphLadder::round(Stream& stream) {
  std::vector<double> value;
  for (int r = 0; r < task_.n_heats; ++r) {
    OrderedGraph& graph = graphs_[r];
    graph.chance = extend(&stream, graph.order.nodes, graph.parents);
    walks_[r].turn(stream, graph);
    value.push_back(score(graph));
  }
  for (int r = task_.n_heats - 2; r >= 0; --r)
    if (std::log(stream.uniform()) < (task_.heats[r] - task_.heats[r + 1]) * (value[r + 1] - value[r])) {
      std::swap(graphs_[r], graphs_[r + 1]);
      std::swap(value[r], value[r + 1]);
    }
}

void GraphLadder::store() const {
  const size_t n = size_t(task_.known.n);
  for (int r = 0; r < task_.n_heats; ++r) store_graph(graphs_[r].parents, task_.graphs + size_t(r) * n * n);
}

}  // namespace partita
