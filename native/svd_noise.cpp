// How alike the noise of rows is: the law of its degrees of freedom, the precisions of the rows integrated out.
#include "arithmetic.hpp"
#include "svd.hpp"

namespace partita {

namespace {

constexpr int kSide = 8;  // sums side by side, so that the loop vectorises without a change of their order

PARTITA_CLONES double weighted_logs(const double* counts, const double* halves, int64_t n, double nu) {
  double sum[kSide] = {};
  int64_t i = 0;
  for (; i + kSide <= n; i += kSide)
    for (int h = 0; h < kSide; ++h) sum[h] += (nu + 0.5 * counts[i + h]) * fast_log(nu + halves[i + h]);
  for (; i < n; ++i) sum[i % kSide] += (nu + 0.5 * counts[i]) * fast_log(nu + halves[i]);
  double total = 0.0;
  for (int h = 0; h < kSide; ++h) total += sum[h];
  return total;
}

}  // namespace

void svd_noise_law(const double* counts, const double* halves, int64_t n, const double* nu, int n_df, double* law) {
  for (int a = 0; a < n_df; ++a) law[a] -= weighted_logs(counts, halves, n, nu[a]);
}

}  // namespace partita
