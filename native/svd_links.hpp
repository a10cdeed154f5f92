// Kernels of the Bayesian SVD's probit links and of its coordinate sampler. Contract and plain twins: src/partita/kernels.
#pragma once
#include <cstdint>

namespace partita {

// ---- ordinal: level l holds where edges[l] < x <= edges[l + 1], x normal around fitted with standard deviation 1 / scale ----

// Entries, and the edges of their levels: those of line[p] (null: the first line)
struct Levels {
  int64_t n;
  const double *value, *fitted, *scale;
  const int32_t* line;
  const double* edges;  // [line][width]
  int64_t width;
  const double* at(int64_t p) const { return edges + (line ? line[p] : 0) * width + int64_t(value[p]); }
};
// log p(level) of every entry
void svd_ordinal_masses(const Levels&, double* log_mass);
void svd_ordinal_latents(const Levels&, const double* uniform, double* latent);

// ---- binomial: successes out of trials, each with probability Phi(fitted + shift) ----

// adds to out: log-likelihood without binomial coefficients, its slope and its expected curvature in the shift
void svd_binomial_sums(const double* fitted, double shift, const double* successes, const double* trials, int64_t n, double* out);
void svd_binomial_working(const double* fitted, const double* successes, const double* trials, int64_t n, double* weight,
                          double* score);

// The entries of one side: row i holds first[i] .. first[i + 1] - 1, which meet other[p] and stand at place[p] (null: p).
struct Lines {
  const int64_t* first;
  const int32_t* other;
  const int64_t* place;
  int64_t at(int64_t p) const { return place ? place[p] : p; }
};

struct BinomialRows {
  int width;
  double df;                            // of the proposal, a Student t
  const double *successes, *trials;
  const double *base, *design;          // [other], [other][width]: what is known of the probit, what the row multiplies
  const double *centre, *precision;     // [row][width], [width]: prior
  const double *noise, *stretch, *uniform;  // [row][width], [row], [row]
  double* own;                          // [row][width]
  uint8_t* accepted;                    // [row]
};
void svd_binomial_rows(const Lines&, const BinomialRows&, int64_t begin, int64_t end);

// ---- the coordinate sampler ----

struct CoordinateRows {
  int width;
  const double *weight, *precision;     // [width]: s_k z_k, and the precision of the prior around zero
  double alpha;
  const double *others, *noise;         // [other][width], [row][width]
  double *own, *residual;               // [row][width], [entry]
};
void svd_coordinate_rows(const Lines&, const CoordinateRows&, int64_t begin, int64_t end);
// out: sum of (u_i v_j)^2 and of residual u_i v_j over the entries
void svd_component_sums(const int32_t* row, const int32_t* column, const double* residual, int64_t n, const double* u,
                        const double* v, double* out);
// residual -= amount u_i v_j
void svd_component_shift(const int32_t* row, const int32_t* column, double* residual, int64_t n, const double* u, const double* v,
                         double amount);

}  // namespace partita
