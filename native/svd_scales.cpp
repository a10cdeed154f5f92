// Scales of components moved together with what the components explain.
#include <cmath>

#include "svd.hpp"

namespace partita {

void svd_scale_steps(const double* gram, const double* linear, const ScaleSteps& given, double* gain) {
  const int K = given.K;
  for (int t = 0; t < given.rounds; ++t)
    for (int c = 0; c < K; ++c) {
      const double step = given.steps[t * K + c], more = gain[c] * std::expm1(step), own = given.theta[c] * gain[c];
      double slope = linear[c];
      for (int l = 0; l < K; ++l) slope -= gram[c * K + l] * gain[l];
      const double likelihood = given.alpha * more * (slope - 0.5 * more * gram[c * K + c]);
      const double law = -given.shape * step - given.rate / own * std::expm1(-step);  // of log theta
      if (own * std::exp(step) <= given.most && given.log_uniform[t * K + c] < likelihood + law) gain[c] += more;
    }
}

}  // namespace partita
