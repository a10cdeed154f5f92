// Orders of the nodes of a network, graphs summed out: what is known of sets of parents, and a node that changes its place. The plain
// twin: kernels/reference/net_orders.py.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "arithmetic.hpp"
#include "kernels.hpp"
#include "net_scores.hpp"

namespace partita {

// Sets of parents that are summed over: bit c of a set of node j stands for nodes[j * width + c] (-1: no more candidates). The sets
// of node j are first[j] .. first[j + 1] - 1, those of higher scores first.
struct CandidateSets {
  int n, width;
  const int32_t* nodes;
  const int64_t* first;
  const int32_t* sets;
  const double* scores;
};

struct Order {
  std::vector<int> nodes;
  std::vector<int32_t> before;  // the candidates of every node that come before it
};

// Where nodes stand among the candidates of others.
class Places {
 public:
  explicit Places(const CandidateSets& known);
  int32_t bit(int i, int j) const { return bit_[size_t(j) * n_ + i]; }  // of node i in the sets of node j; 0 where it is in none
  void find_before(Order& order, int start, int size) const;            // of the nodes in a window

 private:
  CandidateSets known_;
  int n_;
  std::vector<int32_t> bit_;
};

// The law of an order is a product over nodes of exp(law.log_sum(node, candidates before it)); a node that is not law.listed has its
// parents (law.needs) and asks only that they come before.
template <class Law>
class OrderMoves {
 public:
  OrderMoves(const Places& places, const Law& law) : places_(places), law_(law) {}

  // Gibbs over the places of one node of a window, the law to the power `heat`; by how much the log of the law has grown.
  double relocate(Stream& stream, Order& order, int start, int size, double heat) {
    const int from = start + int(stream.below(size)), i = order.nodes[from];
    std::copy(order.nodes.begin() + from + 1, order.nodes.begin() + start + size, order.nodes.begin() + from);
    weigh(order, &order.nodes[start], size, i);
    const double top = *std::max_element(weight_.begin(), weight_.end());
    double total = 0.0;
    chance_.resize(size_t(size));
    for (int p = 0; p < size; ++p) total += chance_[p] = std::exp(heat * (weight_[p] - top));
    const int to = pick(chance_.data(), size, total, stream.uniform());
    put(order, &order.nodes[start], size, i, to);
    return weight_[to] - weight_[from - start];
  }

 private:
  const Places& places_;
  const Law& law_;
  std::vector<double> weight_, chance_;

  // log weights of node i before the first, second, .. of the others and after the last, up to a constant
  void weigh(Order& order, const int* other, int size, int i) {
    weight_.resize(size_t(size));
    int missing = 0;  // parents among the others, of a node that keeps them
    for (int t = 0; t + 1 < size; ++t) {
      order.before[i] &= ~places_.bit(other[t], i);
      order.before[other[t]] &= ~places_.bit(i, other[t]);
      missing += law_.needs(other[t], i);
    }
    int32_t seen = order.before[i];
    double passed = 0.0, own = law_.listed(i) ? law_.log_sum(i, seen) : missing ? kNoScore : 0.0;
    weight_[0] = own;
    for (int p = 1; p < size; ++p) {
      const int o = other[p - 1];
      const int32_t mine = places_.bit(o, i), its = places_.bit(i, o);
      if (!law_.listed(o))
        passed += law_.needs(i, o) ? kNoScore : 0.0;
      else if (its)
        passed += law_.log_sum(o, order.before[o]) - law_.log_sum(o, order.before[o] | its);
      if (!law_.listed(i))
        own = law_.needs(o, i) && !--missing ? 0.0 : own;
      else if (mine)
        own = law_.log_sum(i, seen |= mine);
      weight_[p] = own + passed;
    }
  }

  void put(Order& order, int* other, int size, int i, int to) const {
    for (int t = 0; t + 1 < size; ++t)
      if (t < to)
        order.before[i] |= places_.bit(other[t], i);
      else
        order.before[other[t]] |= places_.bit(i, other[t]);
    std::copy_backward(other + to, other + size - 1, other + size);
    other[to] = i;
  }
};

}  // namespace partita
