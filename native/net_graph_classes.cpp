// Classes given graphs, edge probabilities integrated out: one node at a time, and classes split and merged.
#include <algorithm>
#include <cmath>

#include "net_graph.hpp"

namespace partita {

void GraphChain::count_edges() {
  size_.assign(size_t(task_.seating.n_sets) * n_, 0);
  count_.assign(size_t(n_) * n_, 0);
  for (int i = 0; i < n_; ++i) ++size_[home_[i] * n_ + z_[i]];
  for (int i = 0; i < n_; ++i)
    for (int w = 0; w < words_; ++w)
      for (uint64_t left = child_[i * words_ + w]; left; left &= left - 1) ++count_[z_[i] * n_ + z_[w * 64 + __builtin_ctzll(left)]];
}

void GraphChain::edges_of(int i, std::vector<int>& out, std::vector<int>& in) const {
  out.assign(size_t(n_), 0);
  in.assign(size_t(n_), 0);
  for (int u = task_.seating.first[home_[i]]; u < task_.seating.first[home_[i] + 1]; ++u) {
    if (z_[u] < 0) continue;
    out[z_[u]] += edge_[i * n_ + u];
    in[z_[u]] += edge_[u * n_ + i];
  }
}

void GraphChain::seat(int i, int k) {
  for (int u = task_.seating.first[home_[i]]; u < task_.seating.first[home_[i] + 1]; ++u)
    if (z_[u] >= 0) {
      count_[k * n_ + z_[u]] += edge_[i * n_ + u];
      count_[z_[u] * n_ + k] += edge_[u * n_ + i];
    }
  z_[i] = k;
  ++size_[home_[i] * n_ + k];
}

int GraphChain::unseat(int i) {
  const int k = z_[i];
  z_[i] = -1;
  --size_[home_[i] * n_ + k];
  for (int u = task_.seating.first[home_[i]]; u < task_.seating.first[home_[i] + 1]; ++u)
    if (z_[u] >= 0) {
      count_[k * n_ + z_[u]] -= edge_[i * n_ + u];
      count_[z_[u] * n_ + k] -= edge_[u * n_ + i];
    }
  return k;
}

int GraphChain::members(int k) const {
  int total = 0;
  for (int t = 0; t < task_.seating.n_sets; ++t) total += size_[t * n_ + k];
  return total;
}

void GraphChain::open_class(int place, double part) {
  const int K = n_classes_;
  for (int u = 0; u < n_; ++u) z_[u] += z_[u] >= place;
  for (int t = 0; t < task_.seating.n_sets; ++t) {
    for (int k = K; k > place; --k) size_[t * n_ + k] = size_[t * n_ + k - 1];
    size_[t * n_ + place] = 0;
  }
  for (int a = K; a >= 0; --a)
    for (int b = K; b >= 0; --b)
      count_[a * n_ + b] = a == place || b == place ? 0 : count_[(a - (a > place)) * n_ + b - (b > place)];
  task_.seating.open(place, K, part);
  ++n_classes_;
}

void GraphChain::close_class(int place) {
  const int K = n_classes_;
  for (int u = 0; u < n_; ++u) z_[u] -= z_[u] > place;
  for (int t = 0; t < task_.seating.n_sets; ++t) {
    for (int k = place; k + 1 < K; ++k) size_[t * n_ + k] = size_[t * n_ + k + 1];
    size_[t * n_ + K - 1] = 0;
  }
  for (int a = 0; a < K; ++a)
    for (int b = 0; b < K; ++b)
      count_[a * n_ + b] = a == K - 1 || b == K - 1 ? 0 : count_[(a + (a >= place)) * n_ + b + (b >= place)];
  task_.seating.close(place, K);
  --n_classes_;
}

// Log weight of node i, not seated, in class k.
double GraphChain::class_weight(int i, int k, const std::vector<int>& out, const std::vector<int>& in) const {
  const int* here = &size_[home_[i] * n_];
  double weight = std::log(task_.seating.weight(here[k], k));
  for (int b = 0; b < n_classes_; ++b) {
    if (b == k) {
      if (ordered()) continue;
      const int p = count_[k * n_ + k], t = pairs(k, k);
      weight += ratio(p + out[k] + in[k], t + 2 * here[k]) - ratio(p, t);
      continue;
    }
    const int t = pairs(k, b);
    if (!ordered() || b > k) weight += ratio(count_[k * n_ + b] + out[b], t + here[b]) - ratio(count_[k * n_ + b], t);
    if (!ordered() || b < k) weight += ratio(count_[b * n_ + k] + in[b], t + here[b]) - ratio(count_[b * n_ + k], t);
  }
  return weight;
}

// The same of a class of its own, in the ordered case before the class `gap`; `out`, `in` and the sizes `here` are of its data set.
double GraphChain::fresh_weight(int gap, const int* here, const std::vector<int>& out, const std::vector<int>& in) const {
  double weight = std::log(task_.seating.fresh()) - (ordered() ? std::log(n_classes_ + 1.0) : 0.0);
  for (int b = 0; b < n_classes_; ++b) {
    if (!ordered() || b >= gap) weight += ratio(out[b], here[b]) - ratio(0, 0);
    if (!ordered() || b < gap) weight += ratio(in[b], here[b]) - ratio(0, 0);
  }
  return weight;
}

void GraphChain::classes(Stream& stream) {
  std::vector<int> out, in;
  std::vector<double> weight;
  for (int i = 0; i < n_; ++i) {
    const int old = unseat(i);
    if (!members(old)) close_class(old);  // its class goes with it
    edges_of(i, out, in);
    const int K = n_classes_, options = ordered() ? 2 * K + 1 : K + 1;
    int lowest = -1, highest = K;  // the ordered case: after all parents, before all children
    for (int b = 0; b < K && ordered(); ++b) {
      if (in[b]) lowest = b;
      if (out[b] && highest == K) highest = b;
    }
    weight.assign(size_t(options), kNoScore);
    double top = kNoScore, total = 0.0;
    for (int o = 0; o < options; ++o) {
      const bool fresh = o >= K;
      if (ordered() && (fresh ? o - K <= lowest || o - K > highest : o <= lowest || o >= highest)) continue;
      weight[o] = task_.heat * (fresh ? fresh_weight(o - K, &size_[home_[i] * n_], out, in) : class_weight(i, o, out, in));
      top = std::max(top, weight[o]);
    }
    for (double& w : weight) total += w = std::exp(w - top);
    int o = pick(weight.data(), options, total, stream.uniform());
    if (o >= K) {
      o = ordered() ? o - K : K;
      open_class(o, task_.seating.stick[i]);
    }
    seat(i, o);
  }
}

// Nodes that are not seated choose between classes a and b one after the other, by the stream or, where there is none, as
// `wanted` says (true: b); the log probability of what they chose.
double GraphChain::part_members(Stream* stream, const std::vector<int>& nodes, int a, int b, const std::vector<bool>& wanted) {
  std::vector<int> out, in;
  double chosen = 0.0;
  for (size_t m = 0; m < nodes.size(); ++m) {
    edges_of(nodes[m], out, in);
    const double odds = task_.heat * (class_weight(nodes[m], b, out, in) - class_weight(nodes[m], a, out, in));
    const double second = 1.0 / (1.0 + std::exp(-odds));
    const bool to_b = stream ? stream->uniform() < second : bool(wanted[m]);
    chosen += to_b ? -std::log1p(std::exp(-odds)) : -std::log1p(std::exp(odds));
    seat(nodes[m], to_b ? b : a);
  }
  return chosen;
}

// Two nodes of one class are parted, the others choosing between them one by one (Dahl 2005), or two classes become one. Ordered
// classes are parted into neighbours, and merged where they are neighbours without edges.
void GraphChain::split_or_merge(Stream& stream) {
  const int i = int(stream.below(n_)), j = int(stream.below(n_));
  if (i == j) return;
  const bool split = z_[i] == z_[j];
  int a = z_[i], b = split ? (ordered() ? a + 1 : n_classes_) : z_[j];
  if (!split && ordered() && (b != a + 1 || count_[a * n_ + b])) return;
  const Seats before(*this);
  const double now = log_classes();
  std::vector<int> nodes;
  std::vector<bool> wanted;
  for (int u = 0; u < n_; ++u)
    if (u != i && u != j && (z_[u] == a || z_[u] == z_[j])) {
      nodes.push_back(u);
      wanted.push_back(z_[u] == b);
    }
  for (int u : nodes) unseat(u);
  const NodeSeats& seating = task_.seating;
  double change;
  if (split) {
    const double whole = seating.share[a], part = seating.top > 0.0 ? std::max(stream.uniform(), 1e-100) : 0.0;
    unseat(j);
    open_class(b, 0.0);
    seating.share[a] = part * whole;
    seating.share[b] = (1.0 - part) * whole;
    seat(j, b);
    change = -part_members(&stream, nodes, a, b, wanted) + (whole > 0.0 ? std::log(whole) : 0.0);
  } else {
    const double whole = seating.share[a] + seating.share[b];
    change = part_members(nullptr, nodes, a, b, wanted) - (whole > 0.0 ? std::log(whole) : 0.0);
    for (int u = 0; u < n_; ++u)
      if (z_[u] == b) {
        unseat(u);
        seat(u, a);
      }
    seating.share[a] = whole;
    seating.share[b] = 0.0;
    close_class(b);
  }
  if (!(std::log(stream.uniform()) < task_.heat * (log_classes() - now) + change)) before.restore(*this);
}

double GraphChain::log_classes() const {
  double total = task_.seating.log_prior(size_, n_, n_classes_) - (ordered() ? std::lgamma(n_classes_ + 1.0) : 0.0);
  for (int a = 0; a < n_classes_; ++a)
    for (int b = ordered() ? a + 1 : 0; b < n_classes_; ++b) total += ratio(count_[a * n_ + b], pairs(a, b)) - ratio(0, 0);
  return total;
}

}  // namespace partita
