// The correlated block: P real columns that in every group are jointly normal, mean and covariance unknown.
//
//   Sigma ~ InverseWishart(nu, Psi_0),  mu | Sigma ~ Normal(m_0, Sigma / kappa),  h = kappa, nu, sigma^2, mean
//
// Every coordinate of m_0 is h[3]; Psi_0 = sigma^2 (nu - P - 1) I, so that the prior expectation of Sigma is sigma^2 I; nu > P + 1.
//
// Statistics of a group: n, sums[P], products[P][P], factor[P][P]; the factor is the upper triangle U with U'U = Psi_n, where
//   kappa_n = kappa + n,  nu_n = nu + n,  m_n = (kappa m_0 + sums) / kappa_n,
//   Psi_n = Psi_0 + products + kappa m_0 m_0' - kappa_n m_n m_n'.
// The predictive is Student's t with nu_n - P + 1 degrees of freedom, and so is every margin and every conditional of it.
//
// Missing cells are part of the state: a row is scored by its observed cells alone, and when it is seated its missing cells are
// drawn given these; only then do the sums hold it. A row without any observed cell of the block adds nothing.
#pragma once
#include <cstdint>
#include <vector>

namespace partita {

struct Grids;

// The cells of one row in the block.
struct Block {
  int column = -1, width = 0;
  int n_seen = 0;                // 0: nothing to score or count, or no block in this view
  bool whole = false;            // take the current values of missing cells for data
  double* filled = nullptr;      // [row][width], the current values of all rows; null where rows are only scored
  double* x = nullptr;           // this row's values, those of missing cells as last drawn (NaN: never)
  std::vector<int32_t> order;    // cells seen, then cells missing, both ascending
  std::vector<double> own;       // x points here where there is no `filled`
  mutable std::vector<double> scratch;
  void gather(int column, int width, const double* cells, int64_t row);
  double* room() const;          // scratch: P for residuals, P^2 for a matrix, then a whole group
  bool has_holes() const { return 0 < n_seen && n_seen < width; }
};

inline int64_t block_stats(int64_t width) { return 1 + width + 2 * width * width; }

inline double block_centre(const double* h, const double* stats, int j) {  // m_n[j]
  return (h[0] * h[3] + stats[1 + j]) / (h[0] + stats[0]);
}

// the triangle of the n rows and columns of Psi_n that `order` names (null: as they stand); zero below the diagonal
void factor_scale(int width, const double* h, const double* stats, const int32_t* order, int n, double* u);
// a row's current values x: observed cells as they are, missing ones as last drawn (`mean` where never); all NaN if none is observed
void fill_block(int width, const double* cells, double mean, double* x);
void count_block(int width, double* stats, const double* x, double by);  // n, sums, products; nothing where x is NaN
void factor_block(int width, const double* h, double* stats);            // the factor, from n, sums and products
double log_marginal_block(int width, const double* h, const double* stats);

// acc[g] += log predictive of the observed cells in groups g < n; the statistics of group g stand at stats + g * stride
void score_block(const Block& row, const double* h, const double* stats, int64_t stride, int n, double* acc);
// the same in the one group that holds the row, as if it did not
double score_block_without(const Block& row, const double* h, const double* stats);
void update_block(const Block& row, const double* h, double* stats, double by);

// kappa, nu and sigma^2 in turn on their grids (nu counted from P + 1), every point alike beforehand
void move_block(int width, double* h, int32_t* at, const Grids& grids, const std::vector<const double*>& groups,
                const double* uniforms);

}  // namespace partita
