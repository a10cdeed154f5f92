// Classes in order given a graph, on a rung between priors (priors/ladder.py). The plain twin: kernels/reference/net_bridge.py.
#pragma once
#include <cstdint>
#include <vector>

#include "arithmetic.hpp"
#include "kernels.hpp"
#include "net_seating.hpp"

namespace partita {

// The weight of e edges among m pairs of nodes from class to class: rise[kind, e] + rest[m - e] - whole[kind, m], kind 0 where the
// second class is later, else 1. Every class but the first adds log_room.
struct BridgeLaw {
  const double *rise, *rest, *whole;  // (2, most + 1), (most + 1,), (2, most + 1)
  int most;
  double log_room;

  double value(int kind, int edges, int pairs) const {
    return rise[kind * (most + 1) + edges] + rest[pairs - edges] - whole[kind * (most + 1) + pairs];
  }
};

class BridgeChain {
 public:
  // z, places in the order, is changed in place; the graph is n x n
  BridgeChain(const BridgeLaw& law, const NodeSeats& seats, const uint8_t* graph, int32_t* z);
  void nodes(Stream& stream);    // every node's class given all others, in a random order
  void classes(Stream& stream);  // the place of a class given the order of the others, as often as there are classes

 private:
  const BridgeLaw& law_;
  const NodeSeats& seats_;
  const uint8_t* graph_;
  int32_t* z_;
  int n_, K_ = 0;
  std::vector<int> home_, size_, count_;  // nodes of data set t in class k at [t * n + k]; edges from class a to b at [a * n + b]
  std::vector<int> out_, in_;             // edges of a node, or a class, to and from every class
  std::vector<double> weight_;

  int pairs(int a, int b) const;
  void edges_of(int i);
  void open(int place, double part);
  void close(int place);
  double joining(int k, const int* here) const;
  void opening(const int* pairs, int K, int skip, double add);  // weights of all gaps between the classes other than `skip`
  int choose(Stream& stream);
  void move_class(int from, int to);
};

}  // namespace partita
