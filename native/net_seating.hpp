// How the nodes of several data sets choose classes that they share. The plain twin: kernels/reference/net_seating.py.
#pragma once
#include <cmath>
#include <vector>

namespace partita {

// A node of data set t joins class k with weight n_tk + alpha share[k] and a fresh class with alpha left, n_tk the nodes of its data
// set that are there. A plain restaurant is one data set, shares of zero and left = 1; a franchise (top > 0) has shares that are
// sticks of concentration top, and a class that node i opens takes stick[i] of what is left.
struct NodeSeats {
  double alpha, top;
  double *share, *left;  // share: room for n classes
  const double* stick;
  int n_sets;
  const int32_t* first;  // n_sets + 1: the nodes of data set t are first[t] .. first[t + 1] - 1

  double weight(double here, int k) const { return here + alpha * share[k]; }
  double fresh() const { return alpha * *left; }
  void open(int place, int n_classes, double part) const {
    for (int k = n_classes; k > place; --k) share[k] = share[k - 1];
    share[place] = part * *left;
    *left -= share[place];
  }
  void close(int place, int n_classes) const {
    *left += share[place];
    for (int k = place; k + 1 < n_classes; ++k) share[k] = share[k + 1];
  }
  // log probability of the classes, and of the shares where there are some; size[t * stride + k] counts nodes
  double log_prior(const std::vector<int>& size, int stride, int n_classes) const {
    double total = 0.0;
    for (int t = 0; t < n_sets; ++t) {
      const int n = first[t + 1] - first[t];
      total += std::lgamma(alpha) - std::lgamma(alpha + n);
      for (int k = 0; k < n_classes; ++k) {
        const double prior = alpha * share[k];
        const int here = size[t * stride + k];
        if (here) total += top > 0.0 ? std::lgamma(prior + here) - std::lgamma(prior) : std::log(alpha) + std::lgamma(double(here));
      }
    }
    if (!(top > 0.0)) return total;
    total += (top - 1.0) * std::log(*left);
    for (int k = 0; k < n_classes; ++k) total += std::log(top) - std::log(share[k]);
    return total;
  }
};

}  // namespace partita
