// Lists of small sets of parents: where a set stands in a list, its score, and sums over a node's lists given the classes.
#include <algorithm>
#include <cmath>

#include "net_listed.hpp"

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
  const PartCounts of_all(all, child);
  out[0] = of_all.score();
  for (int i = 0; i < n && most > 0; ++i) {
    if (i == child) continue;
    const Parting one(all, i);
    const PartCounts of_one(one, child);
    out[places.one(i)] = of_one.score();
    for (int j = i + 1; j < n && most > 1; ++j) {
      if (j == child) continue;
      const Parting two(one, j);
      const PartCounts of_two(two, child);
      out[places.two(i, j)] = of_two.score();
      for (int k = j + 1; k < n && most > 2; ++k) {
        if (k == child) continue;
        if (most == 3) {
          out[places.three(i, j, k)] = of_two.score_with(k);
          continue;
        }
        const Parting three(two, k);
        const PartCounts of_three(three, child);
        out[places.three(i, j, k)] = of_three.score();
        for (int m = k + 1; m < n; ++m)
          if (m != child) out[places.four(i, j, k, m)] = of_three.score_with(m);
      }
    }
  }
}

// nodes of j's data set in classes before `place`, but for j and `skip`, counted from its first, with the odds of an edge from them;
// row[b] is the probability from class b
void ListedChain::earlier(int j, int place, const double* row, int skip, std::vector<int>& nodes, std::vector<double>& odds) const {
  nodes.clear();
  const int start = first(j), n = count(j);
  odds.assign(size_t(n), 0.0);
  for (int u = 0; u < n; ++u) {
    const int at = z_[start + u];
    if (start + u == skip || start + u == j || at < 0 || at >= place) continue;
    nodes.push_back(u);
    odds[u] = row[at] / (1.0 - row[at]);
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
  const double* w = list(j);
  const ListPlaces& at = places(j);
  const int most = at.most(), n = count(j);
  double total = w[0];
  for (size_t a = 0; a < nodes.size() && most > 0; ++a) {
    const int i = nodes[a];
    double first = w[at.one(i)];
    for (size_t b = a + 1; b < nodes.size() && most > 1; ++b) {
      const int k = nodes[b];
      double second = w[at.two(i, k)];
      if (most == 3 && k + 1 < n) second += dot(w + at.three(i, k, k + 1), odds.data() + k + 1, n - k - 1);
      for (size_t c = b + 1; c < nodes.size() && most > 3; ++c) {
        const int m = nodes[c];
        double third = w[at.three(i, k, m)];
        if (m + 1 < n) third += dot(w + at.four(i, k, m, m + 1), odds.data() + m + 1, n - m - 1);
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
  const ListPlaces& at = places(j);
  if (at.most() < 1) return 0.0;
  const double* w = list(j);
  double total = w[at.one(i)];
  for (size_t a = 0; a < nodes.size() && at.most() > 1; ++a) {
    const int u = nodes[a];
    double first = w[at.two(std::min(i, u), std::max(i, u))];
    for (size_t b = a + 1; b < nodes.size() && at.most() > 2; ++b) {
      const int v = nodes[b];  // u < v
      const int64_t where = i < u ? at.three(i, u, v) : i < v ? at.three(u, i, v) : at.three(u, v, i);
      double second = w[where];
      for (size_t c = b + 1; c < nodes.size() && at.most() > 3; ++c) {
        const int x = nodes[c];  // v < x
        second += odds[x] * w[i < u   ? at.four(i, u, v, x)
                              : i < v ? at.four(u, i, v, x)
                              : i < x ? at.four(u, v, i, x)
                                      : at.four(u, v, x, i)];
      }
      first += odds[v] * second;
    }
    total += odds[u] * first;
  }
  return total;
}

void ListedChain::draw(Stream& stream, double* edges, uint8_t* graph) {
  std::vector<int> nodes;
  std::vector<double> odds, weight;
  std::fill(graph, graph + size_t(n_) * n_, 0);
  for (int j = 0; j < n_; ++j) {
    earlier(j, z_[j], eta_ + z_[j] * n_, -1, nodes, odds);
    const double* w = list(j);
    const ListPlaces& at = places(j);
    const size_t m = nodes.size();
    weight.assign(1, w[0]);
    std::vector<int> sets(4, -1);
    auto add = [&](double value, int a, int b, int c, int d) {
      weight.push_back(value);
      sets.insert(sets.end(), {a, b, c, d});
    };
    for (size_t a = 0; a < m && at.most() > 0; ++a) {
      const int i = nodes[a];
      add(odds[i] * w[at.one(i)], i, -1, -1, -1);
      for (size_t b = a + 1; b < m && at.most() > 1; ++b) {
        const int k = nodes[b];
        add(odds[i] * odds[k] * w[at.two(i, k)], i, k, -1, -1);
        for (size_t c = b + 1; c < m && at.most() > 2; ++c) {
          const int x = nodes[c];
          const double three = odds[i] * odds[k] * odds[x];
          add(three * w[at.three(i, k, x)], i, k, x, -1);
          for (size_t d = c + 1; d < m && at.most() > 3; ++d)
            add(three * odds[nodes[d]] * w[at.four(i, k, x, nodes[d])], i, k, x, nodes[d]);
        }
      }
    }
    double total = 0.0;
    for (double value : weight) total += value;
    for (size_t x = 0; x < weight.size(); ++x)
      for (int t = 0; t < 4 && sets[4 * x + t] >= 0; ++t) edges[(first(j) + sets[4 * x + t]) * n_ + j] += weight[x] / total;
    const int x = pick(weight.data(), int(weight.size()), total, stream.uniform());
    for (int t = 0; t < 4 && sets[4 * x + t] >= 0; ++t) graph[(first(j) + sets[4 * x + t]) * n_ + j] = 1;
  }
}

}  // namespace partita
