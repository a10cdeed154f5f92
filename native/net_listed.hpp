// Ordered classes of more nodes than fit a table of all sets: lists of sets of at most four parents, edge probabilities held.
// The plain twin: kernels/reference/net_listed.py.
#pragma once
#include <vector>

#include "net_chains.hpp"
#include "net_scores.hpp"
#include "net_seating.hpp"

namespace partita {

// Where a set of at most four nodes stands in a list: the empty set, single nodes, pairs (i < j), triples and quadruples, ascending.
class ListPlaces {
 public:
  ListPlaces(int n, int most);
  int64_t one(int i) const { return 1 + i; }
  int64_t two(int i, int j) const { return pair_[i] + j; }            // i < j
  int64_t three(int i, int j, int k) const { return triple_[i * n_ + j] + k; }  // i < j < k
  int64_t four(int i, int j, int k, int m) const { return quad_[(i * n_ + j) * n_ + k] + m; }  // i < j < k < m
  int64_t size() const { return size_; }
  int most() const { return most_; }

 private:
  int n_, most_;
  int64_t size_;
  std::vector<int64_t> pair_, triple_, quad_;
};

// log scores of all sets of at most `most` (0 .. 4) parents, kNoScore for those with the child in them
void net_score_lists(const NetData& data, int child, int most, double* out);

class ListedChain {
 public:
  // weight[t][j][set]: scores of data set t on a linear scale, zero for sets that are not allowed. z: places in the order. eta (room
  // for n x n): symmetric, the probability of an edge from the earlier to the later of two classes. fresh[i][b]: draws from the
  // prior of eta, for a class that node i opens. eta and shares change as classes come and go.
  ListedChain(const NodeSeats& seating, int most, const double* const* weight, int32_t* z, double* eta, const double* fresh);
  void sweep(Stream& stream, bool move_classes, int n_swaps);
  void draw(Stream& stream, double* edges, uint8_t* graph);  // P(i -> j | classes, eta) is added to edges
  int n_classes() const { return n_classes_; }
  double log_sum() const;  // of the log sums of all nodes

 private:
  int n_, n_classes_;
  NodeSeats seating_;
  std::vector<ListPlaces> places_;  // of every data set
  const double* const* weight_;
  int32_t* z_;
  double* eta_;
  const double* fresh_;
  std::vector<int> home_;      // data set of every node
  std::vector<double> total_;  // log sum of every node

  int first(int j) const { return seating_.first[home_[j]]; }  // node of j's data set, and how many it has
  int count(int j) const { return seating_.first[home_[j] + 1] - first(j); }
  const ListPlaces& places(int j) const { return places_[home_[j]]; }
  const double* list(int j) const { return weight_[home_[j]] + (j - first(j)) * places(j).size(); }

  double eta(int a, int b) const { return eta_[a * n_ + b]; }
  void earlier(int j, int place, const double* row, int skip, std::vector<int>& nodes, std::vector<double>& odds) const;
  double sum(int j, const std::vector<int>& nodes, const std::vector<double>& odds) const;
  double sum_with(int j, int i, const std::vector<int>& nodes, const std::vector<double>& odds) const;
  double log_node(int j) const;
  void node(Stream& stream, int i);
  void relocate(Stream& stream);
  void swap(Stream& stream);
  bool settle(Stream& stream);  // Metropolis: whether the state as it stands is kept, against total_
  void drop_class(int a);
  void insert_class(int place, const std::vector<double>& row, double part);
};

}  // namespace partita
