// Orders that a graph fits.
#include "net_walk.hpp"

namespace partita {

void store_graph(const Parents& parents, uint8_t* edge) {
  const size_t n = parents.size();
  std::fill(edge, edge + n * n, 0);
  for (size_t j = 0; j < n; ++j)
    for (int i : parents[j]) edge[size_t(i) * n + j] = 1;
}

namespace {

std::vector<int> some_order(const Parents& parents) {
  const int n = int(parents.size());
  std::vector<bool> placed(static_cast<size_t>(n), false);
  std::vector<int> order;
  while (int(order.size()) < n)
    for (int j = 0; j < n; ++j)
      if (!placed[j] && std::all_of(parents[j].begin(), parents[j].end(), [&](int i) { return placed[i]; })) {
        order.push_back(j);
        placed[j] = true;
      }
  return order;
}

// the number of a node's set of parents, -1 where it is not listed
int64_t listed_set(const CandidateSets& known, const Places& places, const std::vector<int>& parents, int j) {
  int32_t set = 0;
  for (int i : parents) {
    if (!places.bit(i, j)) return -1;
    set |= places.bit(i, j);
  }
  for (int64_t s = known.first[j]; s < known.first[j + 1]; ++s)
    if (known.sets[s] == set) return s;
  return -1;
}

}  // namespace

OrderedGraph ordered_graph(const CandidateSets& known, const Places& places, const uint8_t* edge) {
  const size_t n = size_t(known.n);
  OrderedGraph state{{{}, std::vector<int32_t>(n, 0)}, Parents(n), {}, 0.0};
  for (size_t j = 0; j < n; ++j) {
    for (size_t i = 0; i < n; ++i)
      if (edge[i * n + j]) state.parents[j].push_back(int(i));
    state.set.push_back(listed_set(known, places, state.parents[j], int(j)));
  }
  state.order.nodes = some_order(state.parents);
  return state;
}

namespace {

// how many nodes are reached from each, itself included
std::vector<double> descendants(const std::vector<int>& order, const Parents& parents) {
  const int n = int(order.size()), words = (n + 63) / 64;
  std::vector<uint64_t> reached(size_t(n) * words, 0);
  std::vector<double> count(static_cast<size_t>(n), 0.0);
  for (int t = n - 1; t >= 0; --t) {
    const int j = order[t];
    uint64_t* from = &reached[size_t(j) * words];
    from[j / 64] |= uint64_t(1) << (j % 64);
    for (int w = 0; w < words; ++w) count[j] += __builtin_popcountll(from[w]);
    for (int i : parents[j])
      for (int w = 0; w < words; ++w) reached[size_t(i) * words + w] |= from[w];
  }
  return count;
}

}  // namespace

double extend(Stream* stream, std::vector<int>& order, const Parents& parents) {
  const int n = int(order.size());
  const std::vector<double> count = descendants(order, parents);
  std::vector<int> missing(static_cast<size_t>(n));
  std::vector<std::vector<int>> children(static_cast<size_t>(n));
  std::vector<double> open(static_cast<size_t>(n), 0.0);
  double total = 0.0, chance = 0.0;
  for (int j = 0; j < n; ++j) {
    missing[j] = int(parents[j].size());
    for (int i : parents[j]) children[i].push_back(j);
    if (!missing[j]) total += open[j] = count[j];
  }
  for (int t = 0; t < n; ++t) {
    const int j = stream ? pick(open.data(), n, total, stream->uniform()) : order[t];
    order[t] = j;
    chance += std::log(count[j] / total);
    total -= count[j];
    open[j] = 0.0;
    for (int i : children[j])
      if (!--missing[i]) total += open[i] = count[i];
  }
  return chance;
}

}  // namespace partita
