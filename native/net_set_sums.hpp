// Sums over listed sets of parents. The plain twin: kernels/reference/net_orders.py.
#pragma once
#include "net_orders.hpp"

namespace partita {

// For every node the sum over its listed sets within any set of candidates, edges being independent beforehand. Each sum has an
// exponent of its own: scores of some thousand rows go far beyond the range of doubles.
class SetSums {
 public:
  // log odds of the edge i -> j at [i * n + j]; scores count `heat` times
  SetSums(const CandidateSets& known, const double* log_odds, double heat);
  double log_sum(int j, int32_t within) const;
  double log_weight(int64_t set) const { return weight_[size_t(set)]; }
  double log_odds(int64_t set) const { return odds_[size_t(set)]; }

 private:
  int width_;
  std::vector<double> weight_, odds_, part_;  // the sum is part * 2^power
  std::vector<int64_t> power_;
};

}  // namespace partita
