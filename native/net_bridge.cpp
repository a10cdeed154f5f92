#include "net_bridge.hpp"

#include <algorithm>
#include <cmath>

namespace partita {

BridgeChain::BridgeChain(const BridgeLaw& law, const NodeSeats& seats, const uint8_t* graph, int32_t* z)
    : law_(law), seats_(seats), graph_(graph), z_(z), n_(seats.first[seats.n_sets]) {
  home_.resize(size_t(n_));
  size_.assign(size_t(seats.n_sets) * n_, 0);
  count_.assign(size_t(n_) * n_, 0);
  for (int t = 0; t < seats.n_sets; ++t) std::fill(home_.begin() + seats.first[t], home_.begin() + seats.first[t + 1], t);
  for (int i = 0; i < n_; ++i) {
    K_ = std::max(K_, z[i] + 1);
    ++size_[home_[i] * n_ + z[i]];
    for (int j = 0; j < n_; ++j) count_[z[i] * n_ + z[j]] += graph[i * n_ + j];
  }
}

int BridgeChain::pairs(int a, int b) const {
  int total = 0;
  for (int t = 0; t < seats_.n_sets; ++t) total += size_[t * n_ + a] * (size_[t * n_ + b] - (a == b));
  return total;
}

void BridgeChain::edges_of(int i) {
  out_.assign(size_t(n_), 0);
  in_.assign(size_t(n_), 0);
  for (int u = seats_.first[home_[i]]; u < seats_.first[home_[i] + 1]; ++u) {
    if (u == i || z_[u] < 0) continue;
    out_[z_[u]] += graph_[i * n_ + u];
    in_[z_[u]] += graph_[u * n_ + i];
  }
}

void BridgeChain::open(int place, double part) {
  for (int u = 0; u < n_; ++u) z_[u] += z_[u] >= place;
  for (int t = 0; t < seats_.n_sets; ++t) {
    for (int k = K_; k > place; --k) size_[t * n_ + k] = size_[t * n_ + k - 1];
    size_[t * n_ + place] = 0;
  }
  for (int a = K_; a >= 0; --a)
    for (int b = K_; b >= 0; --b)
      count_[a * n_ + b] = a == place || b == place ? 0 : count_[(a - (a > place)) * n_ + b - (b > place)];
  seats_.open(place, K_++, part);
}

void BridgeChain::close(int place) {
  for (int u = 0; u < n_; ++u) z_[u] -= z_[u] > place;
  for (int t = 0; t < seats_.n_sets; ++t)
    for (int k = place; k + 1 < K_; ++k) size_[t * n_ + k] = size_[t * n_ + k + 1];
  for (int a = 0; a + 1 < K_; ++a)
    for (int b = 0; b + 1 < K_; ++b) count_[a * n_ + b] = count_[(a + (a >= place)) * n_ + b + (b >= place)];
  seats_.close(place, K_--);
}

// What a node with the edges out_ and in_ adds to class k; `here` are the nodes of its data set in every class.
double BridgeChain::joining(int k, const int* here) const {
  double weight = 0.0;
  for (int b = 0; b < K_; ++b) {
    const int of = pairs(k, b), forth = count_[k * n_ + b], back = count_[b * n_ + k];
    if (b == k) {
      weight += law_.value(1, forth + out_[k] + in_[k], of + 2 * here[k]) - law_.value(1, forth, of);
      continue;
    }
    weight += law_.value(k > b, forth + out_[b], of + here[b]) - law_.value(k > b, forth, of);
    weight += law_.value(b > k, back + in_[b], of + here[b]) - law_.value(b > k, back, of);
  }
  return weight;
}

void BridgeChain::opening(const int* pairs, int K, int skip, double add) {
  double total = add;
  for (int b = 0; b < K; ++b)
    if (b != skip) total += law_.value(0, out_[b], pairs[b]) + law_.value(1, in_[b], pairs[b]);  // before all others
  weight_.push_back(total);
  for (int b = 0; b < K; ++b) {
    if (b == skip) continue;
    total += law_.value(0, in_[b], pairs[b]) + law_.value(1, out_[b], pairs[b]);
    total -= law_.value(0, out_[b], pairs[b]) + law_.value(1, in_[b], pairs[b]);
    weight_.push_back(total);
  }
}

int BridgeChain::choose(Stream& stream) {
  const double top = *std::max_element(weight_.begin(), weight_.end());
  double total = 0.0;
  for (double& w : weight_) total += w = std::exp(w - top);
  return pick(weight_.data(), int(weight_.size()), total, stream.uniform());
}

void BridgeChain::nodes(Stream& stream) {
  std::vector<int> order(static_cast<size_t>(n_));
  for (int i = 0; i < n_; ++i) order[i] = i;
  for (int i = n_ - 1; i > 0; --i) std::swap(order[i], order[size_t(stream.below(i + 1))]);
  for (int i : order) {
    const int old = z_[i];
    z_[i] = -1;
    edges_of(i);
    for (int b = 0; b < K_; ++b) {
      count_[old * n_ + b] -= out_[b];
      count_[b * n_ + old] -= in_[b];
    }
    --size_[home_[i] * n_ + old];
    bool empty = true;
    for (int t = 0; t < seats_.n_sets; ++t) empty = empty && !size_[t * n_ + old];
    if (empty) {
      close(old);
      edges_of(i);
    }
    const int K = K_, *here = &size_[home_[i] * n_];
    weight_.clear();
    for (int k = 0; k < K; ++k) weight_.push_back(std::log(seats_.weight(here[k], k)) + joining(k, here));
    opening(here, K, -1, std::log(seats_.fresh()) - std::log(K + 1.0) + (K ? law_.log_room : 0.0));
    int chosen = choose(stream);
    if (chosen >= K) {
      open(chosen -= K, seats_.stick[i]);
      edges_of(i);
    }
    for (int b = 0; b < K_; ++b) {
      count_[chosen * n_ + b] += out_[b];
      count_[b * n_ + chosen] += in_[b];
    }
    ++size_[home_[i] * n_ + chosen];
    z_[i] = chosen;
  }
}

void BridgeChain::move_class(int from, int to) {
  const auto turn = [&](auto* first) {  // the entry `from` of a row goes to the place `to`
    if (from < to)
      std::rotate(first + from, first + from + 1, first + to + 1);
    else
      std::rotate(first + to, first + from, first + from + 1);
  };
  for (int i = 0; i < n_; ++i)
    z_[i] = z_[i] == from ? to : z_[i] - (z_[i] > from && z_[i] <= to) + (z_[i] < from && z_[i] >= to);
  for (int t = 0; t < seats_.n_sets; ++t) turn(&size_[t * n_]);
  for (int a = 0; a < K_; ++a) turn(&count_[a * n_]);
  std::vector<int> column(static_cast<size_t>(K_));
  for (int b = 0; b < K_; ++b) {
    for (int a = 0; a < K_; ++a) column[a] = count_[a * n_ + b];
    turn(column.data());
    for (int a = 0; a < K_; ++a) count_[a * n_ + b] = column[a];
  }
  turn(seats_.share);
}

void BridgeChain::classes(Stream& stream) {
  std::vector<int> of(static_cast<size_t>(K_));
  for (int turn = 0; turn < K_ && K_ > 1; ++turn) {
    const int k = int(stream.below(K_));
    out_.assign(size_t(n_), 0);
    in_.assign(size_t(n_), 0);
    for (int b = 0; b < K_; ++b) {
      out_[b] = count_[k * n_ + b];
      in_[b] = count_[b * n_ + k];
      of[b] = pairs(k, b);
    }
    weight_.clear();
    opening(of.data(), K_, k, 0.0);
    move_class(k, choose(stream));
  }
}

}  // namespace partita
