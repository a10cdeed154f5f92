// Ordered classes with lists of small sets of parents: nodes, classes and pairs of nodes change places, graphs summed out.
#include "net_listed.hpp"

#include <algorithm>
#include <cmath>

namespace partita {

ListedChain::ListedChain(const NodeSeats& seating, int most, const double* const* weight, int32_t* z, double* eta, const double* fresh)
    : n_(seating.first[seating.n_sets]), n_classes_(0), seating_(seating), weight_(weight), z_(z), eta_(eta), fresh_(fresh),
      home_(static_cast<size_t>(n_)), total_(static_cast<size_t>(n_)) {
  const int n = n_;
  for (int t = 0; t < seating.n_sets; ++t) {
    places_.emplace_back(seating.first[t + 1] - seating.first[t], most);
    for (int i = seating.first[t]; i < seating.first[t + 1]; ++i) home_[i] = t;
  }
  for (int i = 0; i < n; ++i) n_classes_ = std::max(n_classes_, z[i] + 1);
  for (int j = 0; j < n; ++j) total_[j] = log_node(j);
}

double ListedChain::log_node(int j) const {
  std::vector<int> nodes;
  std::vector<double> odds;
  earlier(j, z_[j], eta_ + z_[j] * n_, -1, nodes, odds);
  return std::log(sum(j, nodes, odds));
}

double ListedChain::log_sum() const {
  double total = 0.0;
  for (double value : total_) total += value;
  return total;
}

void ListedChain::drop_class(int a) {
  for (int u = 0; u < n_; ++u) z_[u] -= z_[u] > a;
  for (int r = 0; r < n_classes_; ++r)
    for (int c = a; c + 1 < n_classes_; ++c) eta_[r * n_ + c] = eta_[r * n_ + c + 1];
  for (int r = a; r + 1 < n_classes_; ++r) std::copy(eta_ + (r + 1) * n_, eta_ + (r + 1) * n_ + n_classes_, eta_ + r * n_);
  seating_.close(a, n_classes_);
  --n_classes_;
}

void ListedChain::insert_class(int place, const std::vector<double>& row, double part) {
  for (int u = 0; u < n_; ++u) z_[u] += z_[u] >= place;
  for (int r = 0; r < n_classes_; ++r)
    for (int c = n_classes_; c > place; --c) eta_[r * n_ + c] = eta_[r * n_ + c - 1];
  for (int r = n_classes_; r > place; --r) std::copy(eta_ + (r - 1) * n_, eta_ + (r - 1) * n_ + n_classes_ + 1, eta_ + r * n_);
  seating_.open(place, n_classes_, part);
  ++n_classes_;
  for (int b = 0; b < n_classes_; ++b)
    eta_[place * n_ + b] = eta_[b * n_ + place] = b == place ? 0.5 : row[b - (b > place)];
}

// Gibbs over all classes and gaps; a class that may be opened has probabilities from the prior (Neal 2000, algorithm 8)
void ListedChain::node(Stream& stream, int i) {
  const int old = z_[i];
  std::vector<double> row(fresh_ + i * n_, fresh_ + (i + 1) * n_), odds, without(static_cast<size_t>(n_)), with(static_cast<size_t>(n_));
  std::vector<int> nodes, size(static_cast<size_t>(n_), 0);
  z_[i] = -1;
  if (std::none_of(z_, z_ + n_, [&](int32_t b) { return b == old; })) {
    for (int b = 0; b < n_classes_; ++b)
      if (b != old) row[b - (b > old)] = eta(old, b);
    drop_class(old);
  }
  z_[i] = -1;
  const int K = n_classes_;
  for (int j = 0; j < n_; ++j) {
    if (j == i || home_[j] != home_[i]) continue;
    ++size[z_[j]];
    earlier(j, z_[j], eta_ + z_[j] * n_, i, nodes, odds);
    without[j] = sum(j, nodes, odds);
    with[j] = sum_with(j, i - first(j), nodes, odds);
  }
  std::vector<double> weight(size_t(2 * K + 1));
  double top = kNoScore, total = 0.0;
  for (int o = 0; o < 2 * K + 1; ++o) {
    const bool opened = o >= K;
    const int place = opened ? o - K : o;  // classes from `place` on (a class of its own: beyond it) come later
    const double* from = opened ? row.data() : eta_ + place * n_;
    double value = opened ? std::log(seating_.fresh()) : std::log(seating_.weight(size[place], place)) + std::log(K + 1.0);
    earlier(i, place, from, i, nodes, odds);
    value += std::log(sum(i, nodes, odds));
    for (int j = 0; j < n_; ++j) {
      if (j == i || home_[j] != home_[i]) continue;
      const int b = z_[j];
      const bool later = opened ? b >= place : b > place, same = !opened && b == place;
      if (!same) value += std::log1p(-from[b]);
      value += std::log(later ? without[j] + from[b] / (1.0 - from[b]) * with[j] : without[j]);
    }
    weight[o] = value;
    top = std::max(top, value);
  }
  for (double& w : weight) total += w = std::exp(w - top);
  const int o = pick(weight.data(), 2 * K + 1, total, stream.uniform());
  if (o >= K) {
    insert_class(o - K, row, seating_.stick[i]);
    z_[i] = o - K;
  } else {
    z_[i] = o;
  }
}

bool ListedChain::settle(Stream& stream) {
  std::vector<double> now(static_cast<size_t>(n_));
  double change = 0.0;
  for (int j = 0; j < n_; ++j) {
    now[j] = log_node(j);
    change += now[j] - total_[j];
  }
  if (!(std::log(stream.uniform()) < change)) return false;
  total_ = now;
  return true;
}

void ListedChain::relocate(Stream& stream) {
  const int a = int(stream.below(n_classes_)), b = int(stream.below(n_classes_));
  auto move = [&](int from, int to) {
    std::vector<double> row;
    for (int c = 0; c < n_classes_; ++c)
      if (c != from) row.push_back(eta(from, c));
    std::vector<int> members;
    for (int u = 0; u < n_; ++u)
      if (z_[u] == from) {
        members.push_back(u);
        z_[u] = -1;
      }
    const double share = seating_.share[from];
    drop_class(from);
    insert_class(to, row, 0.0);
    *seating_.left -= seating_.share[to] = share;
    for (int u : members) z_[u] = to;
  };
  if (a == b) return;
  move(a, b);
  if (!settle(stream)) move(b, a);
}

void ListedChain::swap(Stream& stream) {
  const int a = int(stream.below(n_)), b = int(stream.below(n_));
  if (z_[a] == z_[b] || home_[a] != home_[b]) return;
  std::swap(z_[a], z_[b]);
  if (!settle(stream)) std::swap(z_[a], z_[b]);
}

void ListedChain::sweep(Stream& stream, bool move_classes, int n_swaps) {
  for (int i = 0; i < n_ && move_classes; ++i) node(stream, i);
  for (int j = 0; j < n_; ++j) total_[j] = log_node(j);
  for (int turn = 0; turn < n_swaps; ++turn) {
    relocate(stream);
    if (move_classes) swap(stream);
  }
}

}  // namespace partita
