// A node changes its class together with its edges: graphs that fit one class of a node seldom fit another.
#include <algorithm>
#include <cmath>

#include "net_graph.hpp"

namespace partita {

// All that a change of one node's class and edges touches, to go back to.
struct GraphChain::Standing {
  Seats seats;
  std::vector<uint8_t> edge;
  std::vector<uint64_t> child, hash;
  std::vector<int> n_parents;
  std::vector<double> score;
  explicit Standing(const GraphChain& of)
      : seats(of), edge(of.edge_, of.edge_ + size_t(of.n_) * of.n_), child(of.child_), hash(of.hash_), n_parents(of.n_parents_), score(of.score_) {}
  void restore(GraphChain& to) const {
    seats.restore(to);
    std::copy(edge.begin(), edge.end(), to.edge_);
    to.child_ = child;
    to.hash_ = hash;
    to.n_parents_ = n_parents;
    to.score_ = score;
  }
};

// Nodes that may have an edge with node i but need none, in random order.
std::vector<int> GraphChain::partners(Stream& stream, int i) const {
  std::vector<int> found;
  for (int u = task_.seating.first[home_[i]]; u < task_.seating.first[home_[i] + 1]; ++u) {
    const int out = i * n_ + u, in = u * n_ + i;
    if (u != i && (task_.allowed[out] || task_.allowed[in]) && !task_.required[out] && !task_.required[in]) found.push_back(u);
  }
  for (int t = int(found.size()) - 1; t > 0; --t) std::swap(found[t], found[stream.below(t + 1)]);
  return found;
}

void GraphChain::detach(int i, const std::vector<int>& partners) {
  for (int u : partners) {
    if (edge_[i * n_ + u]) toggle(i, u, score_with(u, &i, 1));
    if (edge_[u * n_ + i]) toggle(u, i, score_[i]);  // set again below
  }
  score_[i] = score_with(i, nullptr, 0);
}

// Node i, seated and without free edges, gets none, one out or one in with each partner in turn: by the stream given all that is
// there so far or, where there is none, as `wanted` says (0, 1, 2).
GraphChain::Attached GraphChain::attach(Stream* stream, int i, const std::vector<int>& partners, const std::vector<int>& wanted) {
  Attached done{0.0, 0.0};
  for (size_t t = 0; t < partners.size(); ++t) {
    const int u = partners[t];
    const bool out = task_.allowed[i * n_ + u] && n_parents_[u] < task_.max_parents && !reaches(u, i);
    const bool in = task_.allowed[u * n_ + i] && n_parents_[i] < task_.max_parents && !reaches(i, u);
    const double with_out = out ? score_with(u, &i, 1) : 0.0, with_in = in ? score_with(i, &u, 1) : 0.0;
    const double value[3] = {0.0, out ? with_out - score_[u] + gain(i, u, 0) : kNoScore, in ? with_in - score_[i] + gain(u, i, 0) : kNoScore};
    double weight[3], total = 0.0;
    const double top = std::max({value[0], value[1], value[2]});
    for (int o = 0; o < 3; ++o) total += weight[o] = std::exp(task_.heat * (value[o] - top));
    const int o = stream ? pick(weight, 3, total, stream->uniform()) : wanted[t];
    done.chance += task_.heat * (value[o] - top) - std::log(total);
    done.value += value[o];
    if (o == 1) toggle(i, u, with_out);
    if (o == 2) toggle(u, i, with_in);
  }
  return done;
}

// Another class, by how many would sit there, perhaps a fresh one; its edges are taken off and drawn again. What chance the old ones had on the
// way back is found by the same walk over its partners.
void GraphChain::move_node(Stream& stream) {
  const int i = int(stream.below(n_));
  const std::vector<int> nodes = partners(stream, i);
  std::vector<int> wanted, out, in;
  for (int u : nodes) wanted.push_back(edge_[i * n_ + u] ? 1 : edge_[u * n_ + i] ? 2 : 0);
  const Standing before(*this);
  detach(i, nodes);
  const Attached old = attach(nullptr, i, nodes, wanted);
  detach(i, nodes);
  const int* here = &size_[home_[i] * n_];
  int from = unseat(i);
  if (!members(from)) {
    close_class(from);
    from = n_classes_;
  }
  edges_of(i, out, in);
  const int K = n_classes_;
  std::vector<double> room;  // how many would sit in each class, a fresh one the last
  for (int k = 0; k < K; ++k) room.push_back(task_.seating.weight(here[k], k));
  room.push_back(task_.seating.fresh());
  double total = 0.0;
  for (double of : room) total += of;
  const double left = room[from];
  room[from] = 0.0;
  const int to = pick(room.data(), K + 1, total - left, stream.uniform());
  const double chosen = std::log(room[to] / (total - left)) - std::log(left / (total - room[to]));
  const auto seated = [&](int k) { return k == K ? fresh_weight(K, here, out, in) : class_weight(i, k, out, in); };
  const double change = seated(to) - seated(from);
  if (to == K) open_class(K, task_.seating.stick[i]);
  seat(i, to);
  const Attached drawn = attach(&stream, i, nodes, wanted);
  const double log_ratio = task_.heat * (change + drawn.value - old.value) + old.chance - drawn.chance - chosen;
  if (!(std::log(stream.uniform()) < log_ratio)) before.restore(*this);
}

}  // namespace partita
