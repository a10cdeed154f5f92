// Ordered classes with lists of small sets of parents: nodes, classes and pairs of nodes change places, graphs summed out.
#include "net_listed.hpp"

#include <algorithm>
#include <cmath>

namespace partita {

ListPlaces::ListPlaces(int n, int most) : n_(n), most_(most), size_(1 + (most > 0 ? n : 0)), pair_(static_cast<size_t>(n)) {
  for (int i = 0; i < n && most > 1; ++i) {
    pair_[i] = size_ - (i + 1);
    size_ += n - i - 1;
  }
  if (most > 2) triple_.resize(size_t(n) * n);
  for (int i = 0; i < n && most > 2; ++i)
    for (int j = i + 1; j < n; ++j) {
      triple_[i * n + j] = size_ - (j + 1);
      size_ += n - j - 1;
    }
  if (most > 3) quad_.resize(size_t(n) * n * n);
  for (int i = 0; i < n && most > 3; ++i)
    for (int j = i + 1; j < n; ++j)
      for (int k = j + 1; k < n; ++k) {
        quad_[(i * n + j) * n + k] = size_ - (k + 1);
        size_ += n - k - 1;
      }
}

void net_score_lists(const NetData& data, int child, int most, double* out) {
  const int n = data.n_columns;
  const ListPlaces places(n, most);
  std::fill(out, out + places.size(), kNoScore);
  const Parting all(data);
  out[0] = all.score(child);
  for (int i = 0; i < n && most > 0; ++i) {
    if (i == child) continue;
    const Parting one(all, i);
    out[places.one(i)] = one.score(child);
    for (int j = i + 1; j < n && most > 1; ++j) {
      if (j == child) continue;
      const Parting two(one, j);
      out[places.two(i, j)] = two.score(child);
      for (int k = j + 1; k < n && most > 2; ++k)
        if (k != child) {
          const Parting three(two, k);
          out[places.three(i, j, k)] = three.score(child);
          for (int m = k + 1; m < n && most > 3; ++m)
            if (m != child) out[places.four(i, j, k, m)] = three.score_with(m, child);
        }
    }
  }
}

ListedChain::ListedChain(int n, int most, const double* weight, double alpha, int32_t* z, double* eta, const double* fresh)
    : n_(n), n_classes_(0), places_(n, most), weight_(weight), alpha_(alpha), z_(z), eta_(eta), fresh_(fresh),
      total_(static_cast<size_t>(n)) {
  for (int i = 0; i < n; ++i) n_classes_ = std::max(n_classes_, z[i] + 1);
  for (int j = 0; j < n; ++j) total_[j] = log_node(j);
}

// nodes in classes before `place`, but for j and `skip`, with the odds of an edge from them; row[b] is the probability from class b
void ListedChain::earlier(int j, int place, const double* row, int skip, std::vector<int>& nodes, std::vector<double>& odds) const {
  nodes.clear();
  odds.assign(size_t(n_), 0.0);
  for (int u = 0; u < n_; ++u)
    if (u != skip && u != j && z_[u] >= 0 && z_[u] < place) {
      nodes.push_back(u);
      odds[u] = row[z_[u]] / (1.0 - row[z_[u]]);
    }
}

namespace {

// sum of last[m] * odds[from + m]: sets that only differ in their last node stand together
PARTITA_CLONES double dot(const double* last, const double* odds, int n) {
  double total = 0.0;
  for (int m = 0; m < n; ++m) total += last[m] * odds[m];
  return total;
}

}  // namespace

double ListedChain::sum(int j, const std::vector<int>& nodes, const std::vector<double>& odds) const {
  const double* w = weight_ + j * places_.size();
  const int most = places_.most();
  double total = w[0];
  for (size_t a = 0; a < nodes.size() && most > 0; ++a) {
    const int i = nodes[a];
    double first = w[places_.one(i)];
    for (size_t b = a + 1; b < nodes.size() && most > 1; ++b) {
      const int k = nodes[b];
      double second = w[places_.two(i, k)];
      if (most == 3 && k + 1 < n_) second += dot(w + places_.three(i, k, k + 1), odds.data() + k + 1, n_ - k - 1);
      for (size_t c = b + 1; c < nodes.size() && most > 3; ++c) {
        const int m = nodes[c];
        double third = w[places_.three(i, k, m)];
        if (m + 1 < n_) third += dot(w + places_.four(i, k, m, m + 1), odds.data() + m + 1, n_ - m - 1);
        second += odds[m] * third;
      }
      first += odds[k] * second;
    }
    total += odds[i] * first;
  }
  return total;
}

// the sum over sets with the parent i, divided by the odds of i; i is not among `nodes`
double ListedChain::sum_with(int j, int i, const std::vector<int>& nodes, const std::vector<double>& odds) const {
  if (places_.most() < 1) return 0.0;
  const double* w = weight_ + j * places_.size();
  double total = w[places_.one(i)];
  for (size_t a = 0; a < nodes.size() && places_.most() > 1; ++a) {
    const int u = nodes[a];
    double first = w[places_.two(std::min(i, u), std::max(i, u))];
    for (size_t b = a + 1; b < nodes.size() && places_.most() > 2; ++b) {
      const int v = nodes[b];  // u < v
      const int64_t at = i < u ? places_.three(i, u, v) : i < v ? places_.three(u, i, v) : places_.three(u, v, i);
      double second = w[at];
      for (size_t c = b + 1; c < nodes.size() && places_.most() > 3; ++c) {
        const int x = nodes[c];  // v < x
        second += odds[x] * w[i < u   ? places_.four(i, u, v, x)
                              : i < v ? places_.four(u, i, v, x)
                              : i < x ? places_.four(u, v, i, x)
                                      : places_.four(u, v, x, i)];
      }
      first += odds[v] * second;
    }
    total += odds[u] * first;
  }
  return total;
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
  --n_classes_;
}

void ListedChain::insert_class(int place, const std::vector<double>& row) {
  for (int u = 0; u < n_; ++u) z_[u] += z_[u] >= place;
  for (int r = 0; r < n_classes_; ++r)
    for (int c = n_classes_; c > place; --c) eta_[r * n_ + c] = eta_[r * n_ + c - 1];
  for (int r = n_classes_; r > place; --r) std::copy(eta_ + (r - 1) * n_, eta_ + (r - 1) * n_ + n_classes_ + 1, eta_ + r * n_);
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
    if (j == i) continue;
    ++size[z_[j]];
    earlier(j, z_[j], eta_ + z_[j] * n_, i, nodes, odds);
    without[j] = sum(j, nodes, odds);
    with[j] = sum_with(j, i, nodes, odds);
  }
  std::vector<double> weight(size_t(2 * K + 1));
  double top = kNoScore, total = 0.0;
  for (int o = 0; o < 2 * K + 1; ++o) {
    const bool opened = o >= K;
    const int place = opened ? o - K : o;  // classes from `place` on (a class of its own: beyond it) come later
    const double* from = opened ? row.data() : eta_ + place * n_;
    double value = opened ? std::log(alpha_) : std::log(double(size[place])) + std::log(K + 1.0);
    earlier(i, place, from, i, nodes, odds);
    value += std::log(sum(i, nodes, odds));
    for (int j = 0; j < n_; ++j) {
      if (j == i) continue;
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
    insert_class(o - K, row);
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
    drop_class(from);
    for (int u : members) z_[u] = -1;
    insert_class(to, row);
    for (int u : members) z_[u] = to;
  };
  if (a == b) return;
  move(a, b);
  if (!settle(stream)) move(b, a);
}

void ListedChain::swap(Stream& stream) {
  const int a = int(stream.below(n_)), b = int(stream.below(n_));
  if (z_[a] == z_[b]) return;
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

void ListedChain::draw(Stream& stream, double* edges, uint8_t* graph) {
  std::vector<int> nodes;
  std::vector<double> odds, weight;
  std::fill(graph, graph + size_t(n_) * n_, 0);
  for (int j = 0; j < n_; ++j) {
    earlier(j, z_[j], eta_ + z_[j] * n_, -1, nodes, odds);
    const double* w = weight_ + j * places_.size();
    const size_t m = nodes.size();
    weight.assign(1, w[0]);
    std::vector<int> sets(4, -1);
    auto add = [&](double value, int a, int b, int c, int d) {
      weight.push_back(value);
      sets.insert(sets.end(), {a, b, c, d});
    };
    for (size_t a = 0; a < m && places_.most() > 0; ++a) {
      const int i = nodes[a];
      add(odds[i] * w[places_.one(i)], i, -1, -1, -1);
      for (size_t b = a + 1; b < m && places_.most() > 1; ++b) {
        const int k = nodes[b];
        add(odds[i] * odds[k] * w[places_.two(i, k)], i, k, -1, -1);
        for (size_t c = b + 1; c < m && places_.most() > 2; ++c) {
          const int x = nodes[c];
          const double three = odds[i] * odds[k] * odds[x];
          add(three * w[places_.three(i, k, x)], i, k, x, -1);
          for (size_t d = c + 1; d < m && places_.most() > 3; ++d)
            add(three * odds[nodes[d]] * w[places_.four(i, k, x, nodes[d])], i, k, x, nodes[d]);
        }
      }
    }
    double total = 0.0;
    for (double value : weight) total += value;
    for (size_t x = 0; x < weight.size(); ++x)
      for (int t = 0; t < 4 && sets[4 * x + t] >= 0; ++t) edges[sets[4 * x + t] * n_ + j] += weight[x] / total;
    const int x = pick(weight.data(), int(weight.size()), total, stream.uniform());
    for (int t = 0; t < 4 && sets[4 * x + t] >= 0; ++t) graph[sets[4 * x + t] * n_ + j] = 1;
  }
}

}  // namespace partita
