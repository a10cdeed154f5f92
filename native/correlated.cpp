#include "correlated.hpp"

#include <algorithm>
#include <cmath>

#include "kernels.hpp"
#include "triangle.hpp"

namespace partita {

namespace {

constexpr double kLogPi = 1.14472988584940017414;

// Psi_0 = least I; no pivot of Psi_n can be smaller but by rounding
PARTITA_INLINE double least_of(int P, const double* h) { return h[2] * (h[1] - P - 1.0); }

// U of the n rows and columns of Psi_n that `order` names, row by row; zero below the diagonal
PARTITA_INLINE void factor_cells(int P, const double* h, const double* stats, const int32_t* order, int n, double* u) {
  const double kappa = h[0] + stats[0], least = least_of(P, h), start = h[0] * h[3];
  const double *sums = stats + 1, *products = sums + P;
  for (int a = 0; a < n; ++a) {
    const int j = cell(order, a);
    double* row = u + int64_t(a) * n;
    const double *from = products + int64_t(j) * P, m = (start + sums[j]) / kappa;
    for (int b = 0; b < a; ++b) row[b] = 0.0;
    if (order)
      for (int b = a; b < n; ++b) row[b] = from[order[b]] + start * h[3] - m * (start + sums[order[b]]);
    else
      for (int b = a; b < n; ++b) row[b] = from[b] + start * h[3] - m * (start + sums[b]);
    row[a] += least;
  }
  factorise(u, n, least);
}

// log Student's t of m cells: `degrees` those of the group's predictive, `distance` |z|^2, `log_root` half of log |Psi_oo|
PARTITA_INLINE double log_student(double m, double degrees, double kappa, double log_root, double distance) {
  return fast_lgamma(0.5 * (degrees + m)) - fast_lgamma(0.5 * degrees) - 0.5 * m * (kLogPi + fast_log(1.0 + 1.0 / kappa)) -
         log_root - 0.5 * (degrees + m) * fast_log(1.0 + distance * kappa / (kappa + 1.0));
}

}  // namespace

// ---- leaves, one clone per processor generation ----

PARTITA_CLONES void factor_scale(int P, const double* h, const double* stats, const int32_t* order, int n, double* u) {
  factor_cells(P, h, stats, order, n, u);
}

PARTITA_CLONES void score_groups(int P, const double* h, const double* stats, int64_t stride, int n, const double* x,
                                 const int32_t* order, int n_seen, double* scratch, double* acc) {
  constexpr int kGroups = 64;  // at a time: their logarithms vectorise
  double log_root[kGroups], distance[kGroups], count[kGroups];
  double *r = scratch, *copy = scratch + P;
  const bool many_missing = 5 * (P - n_seen) > n_seen;  // then factorising anew costs less than striking them out
  for (int first = 0; first < n; first += kGroups) {
    const int m = n - first < kGroups ? n - first : kGroups;
    for (int g = 0; g < m; ++g) {
      const double* s = stats + (first + g) * stride;
      const double* u = s + 1 + P + int64_t(P) * P;
      count[g] = s[0];
      if (many_missing) {
        factor_cells(P, h, s, order, n_seen, copy);
        for (int a = 0; a < n_seen; ++a) r[a] = x[order[a]] - block_centre(h, s, order[a]);
        distance[g] = whiten(copy, n_seen, nullptr, n_seen, r);
        log_root[g] = log_diagonal(copy, n_seen, nullptr, n_seen);
        continue;
      }
      if (n_seen < P) {
        for (int64_t k = 0; k < int64_t(P) * P; ++k) copy[k] = u[k];
        for (int a = P - 1; a >= n_seen; --a) strike(copy, P, order, n_seen, order[a]);
        u = copy;
        for (int j = 0; j < P; ++j) r[j] = 0.0;
      }
      for (int a = 0; a < n_seen; ++a) r[order[a]] = x[order[a]] - block_centre(h, s, order[a]);
      distance[g] = whiten(u, P, order, n_seen, r);
      log_root[g] = log_diagonal(u, P, order, n_seen);
    }
    for (int g = 0; g < m; ++g)
      acc[first + g] += log_student(n_seen, h[1] + count[g] - P + 1.0, h[0] + count[g], log_root[g], distance[g]);
  }
}

PARTITA_CLONES void add_products(int P, double* stats, const double* x, double by) {
  double *sums = stats + 1, *products = sums + P;
  stats[0] += by;
  for (int j = 0; j < P; ++j) {
    sums[j] += by * x[j];
    double* row = products + int64_t(j) * P;
    const double xj = by * x[j];
    for (int k = 0; k < P; ++k) row[k] += xj * x[k];
  }
}

namespace {

// u: room for a matrix
double log_marginal(int P, const double* h, const double* stats, double* u) {
  factor_scale(P, h, stats, nullptr, P, u);
  const double n = stats[0], nu = h[1], kappa = h[0];
  double result = -0.5 * n * P * kLogPi + 0.5 * P * fast_log(kappa / (kappa + n)) + 0.5 * nu * P * fast_log(least_of(P, h)) -
                  (nu + n) * log_diagonal(u, P, nullptr, P);
  for (int j = 0; j < P; ++j) result += fast_lgamma(0.5 * (nu + n - j)) - fast_lgamma(0.5 * (nu - j));
  return result;
}

}  // namespace

void Block::gather(int column_, int width_, const double* cells, int64_t row) {
  column = column_;
  width = width_;
  if (int(order.size()) < width) order.resize(width);
  if (filled) {
    x = filled + row * width;
  } else {
    if (int(own.size()) < width) own.resize(width);
    x = own.data();
  }
  n_seen = 0;
  for (int j = 0; j < width; ++j)
    if (cells[j] == cells[j]) {
      x[j] = cells[j];
      order[n_seen++] = j;
    }
  int last = n_seen;
  for (int j = 0; j < width; ++j)
    if (!(cells[j] == cells[j])) {
      order[last++] = j;
      if (!filled) x[j] = cells[j];
    }
  if (whole && n_seen) {
    n_seen = width;
    for (int j = 0; j < width; ++j) order[j] = j;
  }
}

double* Block::room() const {
  const size_t P = size_t(width), need = P + P * P + size_t(block_stats(width));
  if (scratch.size() < need) scratch.resize(need);
  return scratch.data();
}

void fill_block(int P, const double* cells, double mean, double* x) {
  bool any = false;
  for (int j = 0; j < P; ++j) any = any || cells[j] == cells[j];
  for (int j = 0; j < P; ++j) {
    if (!any || cells[j] == cells[j]) x[j] = cells[j];
    else if (!(x[j] == x[j])) x[j] = mean;
  }
}

void count_block(int P, double* stats, const double* x, double by) {
  if (x[0] == x[0]) add_products(P, stats, x, by);
}

void factor_block(int P, const double* h, double* stats) {
  double* u = stats + 1 + P + int64_t(P) * P;
  if (stats[0] < 0.5) {  // empty: what rounding left behind is no evidence
    std::fill(stats, u + int64_t(P) * P, 0.0);
    for (int j = 0; j < P; ++j) u[j * int64_t(P + 1)] = std::sqrt(least_of(P, h));
    return;
  }
  factor_scale(P, h, stats, nullptr, P, u);
}

double log_marginal_block(int P, const double* h, const double* stats) {
  if (stats[0] <= 0) return 0.0;
  std::vector<double> u(size_t(P) * P);
  return log_marginal(P, h, stats, u.data());
}

void score_block(const Block& row, const double* h, const double* stats, int64_t stride, int n, double* acc) {
  score_groups(row.width, h, stats, stride, n, row.x, row.order.data(), row.n_seen, row.room(), acc);
}

double score_block_without(const Block& row, const double* h, const double* stats) {
  const int P = row.width;
  double *r = row.room(), *group = r + P + int64_t(P) * P;
  const double kappa = h[0] + stats[0] - 1.0;
  if (!row.has_holes()) {
    // Psi_n = Psi_{n-1} + (kappa_n / kappa_{n-1}) (x - m_n)(x - m_n)': one distance gives determinant and distance without x
    const double* u = stats + 1 + P + int64_t(P) * P;
    for (int j = 0; j < P; ++j) r[j] = row.x[j] - block_centre(h, stats, j);
    const double rest = 1.0 - (kappa + 1.0) / kappa * whiten(u, P, nullptr, P, r);
    if (rest > 1e-6) {  // else the row makes up nearly all of Psi_n and too few digits are left
      const double log_root = log_diagonal(u, P, nullptr, P) + 0.5 * fast_log(rest);
      return log_student(P, h[1] + stats[0] - P, kappa, log_root, (1.0 / rest - 1.0) * (kappa + 1.0) / kappa);
    }
  }
  std::copy_n(stats, block_stats(P), group);
  add_products(P, group, row.x, -1.0);
  factor_block(P, h, group);
  double result = 0.0;
  score_groups(P, h, group, 0, 1, row.x, row.order.data(), row.n_seen, r, &result);
  return result;
}

void update_block(const Block& row, const double* h, double* stats, double by) {
  add_products(row.width, stats, row.x, by);
  factor_block(row.width, h, stats);
}

void move_block(int P, double* h, int32_t* at, const Grids& grids, const std::vector<const double*>& groups,
                const double* uniforms) {
  const double* grid[3] = {grids.kappa, grids.nu, grids.sigma};
  const int size[3] = {grids.n_kappa, grids.n_nu, grids.n_sigma};
  const double offset[3] = {0.0, P + 1.0, 0.0};
  std::vector<double> u(size_t(P) * P), logp, weight;
  for (int j = 0; j < 3; ++j) {
    logp.assign(size[j], 0.0);
    weight.resize(size[j]);
    for (int k = 0; k < size[j]; ++k) {
      h[j] = offset[j] + grid[j][k];
      for (const double* stats : groups) logp[k] += log_marginal(P, h, stats, u.data());
    }
    double top, total = exponentiate(logp.data(), size[j], weight.data(), &top);
    at[j] = pick(weight.data(), size[j], total, uniforms[j]);
    h[j] = offset[j] + grid[j][at[j]];
  }
}

}  // namespace partita
