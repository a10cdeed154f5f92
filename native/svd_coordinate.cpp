// The coordinate sampler of the Bayesian SVD: one number of U or V at a time, residuals kept.
#include <cmath>
#include <vector>

#include "arithmetic.hpp"
#include "svd_links.hpp"

namespace partita {

namespace {

// sums of v^2 and of residual v
PARTITA_CLONES void line_sums(const double* residual, const double* v, int64_t n, double* out) {
  double squares[4] = {0, 0, 0, 0}, products[4] = {0, 0, 0, 0};
  int64_t p = 0;
  for (; p + 4 <= n; p += 4)
    for (int l = 0; l < 4; ++l) {
      squares[l] += v[p + l] * v[p + l];
      products[l] += residual[p + l] * v[p + l];
    }
  for (; p < n; ++p) {
    squares[0] += v[p] * v[p];
    products[0] += residual[p] * v[p];
  }
  out[0] = (squares[0] + squares[1]) + (squares[2] + squares[3]);
  out[1] = (products[0] + products[1]) + (products[2] + products[3]);
}

PARTITA_CLONES void line_shift(double* residual, const double* v, int64_t n, double amount) {
  for (int64_t p = 0; p < n; ++p) residual[p] -= amount * v[p];
}

}  // namespace

// Entries of other rows have no part in a row's law, so all components of one row in turn are all rows of one component in turn.
void svd_coordinate_rows(const Lines& lines, const CoordinateRows& rows, int64_t begin, int64_t end) {
  std::vector<double> v, residual;
  for (int64_t i = begin; i < end; ++i) {
    const int64_t from = lines.first[i], n = lines.first[i + 1] - from;
    v.resize(size_t(n));
    residual.resize(size_t(n));
    for (int64_t p = 0; p < n; ++p) residual[p] = rows.residual[lines.at(from + p)];
    for (int k = 0; k < rows.width; ++k) {
      const double weight = rows.weight[k], noise = rows.noise[i * rows.width + k];
      double& own = rows.own[i * rows.width + k];
      if (weight == 0.0) {
        own = noise / std::sqrt(rows.precision[k]);  // the prior
        continue;
      }
      for (int64_t p = 0; p < n; ++p) v[p] = rows.others[int64_t(lines.other[from + p]) * rows.width + k];
      double sums[2];
      line_sums(residual.data(), v.data(), n, sums);
      const double precision = rows.precision[k] + rows.alpha * weight * weight * sums[0];            // (5.8), (5.10)
      const double mean = rows.alpha * weight * (sums[1] + weight * own * sums[0]) / precision;      // (5.9), (5.11)
      const double drawn = mean + noise / std::sqrt(precision);
      line_shift(residual.data(), v.data(), n, weight * (drawn - own));
      own = drawn;
    }
    for (int64_t p = 0; p < n; ++p) rows.residual[lines.at(from + p)] = residual[p];
  }
}

void svd_component_sums(const int32_t* row, const int32_t* column, const double* residual, int64_t n, const double* u,
                        const double* v, double* out) {
  double squares = 0.0, products = 0.0;
  for (int64_t p = 0; p < n; ++p) {
    const double term = u[row[p]] * v[column[p]];
    squares += term * term;
    products += residual[p] * term;
  }
  out[0] = squares;
  out[1] = products;
}

void svd_component_shift(const int32_t* row, const int32_t* column, double* residual, int64_t n, const double* u, const double* v,
                         double amount) {
  for (int64_t p = 0; p < n; ++p) residual[p] -= amount * u[row[p]] * v[column[p]];
}

}  // namespace partita
