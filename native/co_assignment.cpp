// Partitions of the same rows side by side.
#include "kernels.hpp"

namespace partita {

void shared_pairs(const int32_t* z, int n_states, int64_t n_rows, int n_groups, double* together) {
  std::vector<int32_t> count(size_t(n_groups) * n_groups, 0);
  for (int a = 0; a < n_states; ++a)
    for (int b = 0; b <= a; ++b) {
      const int32_t *x = z + a * n_rows, *y = z + b * n_rows;
      for (int64_t i = 0; i < n_rows; ++i) ++count[size_t(x[i]) * n_groups + y[i]];
      int64_t sum = 0;  // every row meets its company, itself included: that is the sum of squares
      for (int64_t i = 0; i < n_rows; ++i) sum += count[size_t(x[i]) * n_groups + y[i]];
      for (int64_t i = 0; i < n_rows; ++i) count[size_t(x[i]) * n_groups + y[i]] = 0;
      together[int64_t(a) * n_states + b] = together[int64_t(b) * n_states + a] = double(sum);
    }
}

}  // namespace partita
