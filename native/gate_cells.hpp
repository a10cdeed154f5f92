// The cells of patterns: missing, observed, and those whose block is factorised.
#pragma once
#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "gates.hpp"

namespace partita {

struct Cells {
  const int32_t *m, *o, *block;
  int n_m, n_o, n;
  bool observed;  // block = o, a block of S; else m, of Q
};

// Where factors alone are asked for and where an inverse is too, the block to take (measured with 34 columns).
constexpr double kMostMissing = 0.43, kMostMissingInverted = 0.49;

// The cells of every pattern, found once for all components. Patterns are visited in the order of the sizes of their blocks: a
// processor foresees the ends of loops that are as long as the last time.
class AllCells {
 public:
  // the observed block is taken where more than `share` of the cells are missing
  AllCells(const Patterns& patterns, int P, double share)
      : patterns_(patterns), P_(P), most_(share * P), observed_(std::size_t(patterns.n) * P - patterns.first[patterns.n]), order_(patterns.n) {
    find_observed();
    std::iota(order_.begin(), order_.end(), 0);
    std::stable_sort(order_.begin(), order_.end(), [&](int64_t a, int64_t b) {
      const Cells x = (*this)(a), y = (*this)(b);
      return x.observed != y.observed ? y.observed : x.n < y.n;
    });
  }

  const std::vector<int64_t>& order() const { return order_; }

  Cells operator()(int64_t g) const {
    const int64_t first = patterns_.first[g];
    Cells c{patterns_.cells + first, observed_.data() + g * P_ - first, nullptr, int(patterns_.first[g + 1] - first), 0, 0, false};
    c.n_o = P_ - c.n_m;
    c.observed = c.n_m > most_;
    c.block = c.observed ? c.o : c.m;
    c.n = c.observed ? c.n_o : c.n_m;
    return c;
  }

 private:
  void find_observed() {
    int32_t* o = observed_.data();
    for (int64_t g = 0; g < patterns_.n; ++g) {
      const int32_t *m = patterns_.cells + patterns_.first[g], *end = patterns_.cells + patterns_.first[g + 1];
      for (int q = 0; q < P_; ++q) {
        if (m < end && *m == q)
          ++m;
        else
          *o++ = q;
      }
    }
  }

  const Patterns& patterns_;
  int P_;
  double most_;
  std::vector<int32_t> observed_;
  std::vector<int64_t> order_;
};

}  // namespace partita
