// Normal variables of which one is the largest: the cone of a class label.
#pragma once
#include <cstdint>

namespace partita {

// Of n rows of K independent t_k ~ N(mean_k, 1): log P(t_label is the largest), and E[t] (n, K) given so.
void cone(const double* mean, const int64_t* label, int64_t n, int K, const double* nodes, const double* log_weights, int n_nodes,
          double* log_p, double* expected);

// Of n rows of K independent t_k ~ N(mean_k, sd_k^2): log P(t_c is the largest) for every c (n, K), normalised.
void cone_probabilities(const double* mean, const double* sd, int64_t n, int K, const double* nodes, const double* log_weights,
                        int n_nodes, double* log_p);

}  // namespace partita
