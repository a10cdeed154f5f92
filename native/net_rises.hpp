// What the counts of a row of a table of parents add to a score.
#pragma once
#include <cstdint>

#include "net_scores.hpp"

namespace partita {

// log Gamma(a + m) - log Gamma(a) of counts m, for one pseudo-count a: looked up, or computed where no table knows it
struct Rise {
  static constexpr double kUnknown = -1e300;
  const double* known = nullptr;  // below kUnknown where not yet known
  double* room = nullptr;         // where it is put down, if it may be
  int64_t length = 0;
  double pseudo = 0.0, start = 0.0;  // start: log Gamma(a)

  double operator()(int64_t count) const {
    if (count < length && known[count] > kUnknown) return known[count];
    return find(count);
  }

 private:
  double find(int64_t count) const;
};

// The rises of a child whose parents have so many configurations. Valid until the next of the same thread.
class RowWeight {
 public:
  RowWeight(const NetData& data, int child, double n_configurations);
  double operator()(const int64_t* count, int64_t total) const {
    double sum = 0.0;
    for (int v = 0; v < levels_; ++v) sum += cell_(count[v]);
    return sum - row_(total);
  }

 private:
  int levels_;
  Rise cell_, row_;
};

}  // namespace partita
