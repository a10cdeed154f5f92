// Matrices with holes: rows of factors drawn whole, residuals in one pass, rotations, scales. Symbols: kernels/svd_contract.py.
#pragma once
#include <cstdint>

namespace partita {

// The cells of one side: row i has first[i] .. first[i + 1] - 1, each in row other[p] of the other side, with the number y[p].
struct SideCells {
  const int64_t* first;
  const int32_t* other;
  const double* y;
};

struct RowDraw {
  SideCells cells;
  const double* Z;        // (N, W), or null where it is
  const float* Z_single;  // of single precision
  const double *root, *shift, *weight, *gain, *precision, *prior, *noise;
  double alpha;
  int K, W, n;  // components, components padded to whole vectors, unknowns of a row (K, or K + 1 with its offset)
  double* out;
  double* residual;                // (n_rows,) sum over a row's cells of root_j^2 e^2; null where it is not wanted
  double *gram, *linear, *square;  // sums for the gains; null where they are not wanted
};
void svd_draw_rows(int64_t begin, int64_t end, const RowDraw& draw);

struct ResidualPass {
  SideCells cells;
  const double *U, *V;  // (I, W), (J, W)
  int W;
  const double *row_offset, *shift;
};
// squares[p] = e_p^2, row_sum[i] = sum over the cells of row i of column_noise_j e_p^2
void svd_squares(int64_t begin, int64_t end, const ResidualPass& pass, const double* column_noise, double* squares,
                 double* row_sum);
// column_sum[j] += row_noise_i squares[p] over the cells of rows begin .. end - 1
void svd_column_sums(int64_t begin, int64_t end, const SideCells& cells, const double* row_noise, const double* squares,
                     double* column_sum);
// out[p] = U_i'V_j + row_offset_i + shift_j of the cells of rows begin .. end - 1
void svd_fitted(int64_t begin, int64_t end, const ResidualPass& pass, double* out);
// out[i] = sum over the cells of row i of X[other], both of width W
void svd_gather_sums(int64_t begin, int64_t end, const SideCells& cells, const double* X, int W, double* out);

// law[a] -= sum over rows of (nu_a + n_i / 2) log(nu_a + S_i), nu of n_df degrees of freedom
void svd_noise_law(const double* counts, const double* halves, int64_t n, const double* nu, int n_df, double* law);

// cosine and sine: of the angles; Q and R (K, K) are rotated in place
void svd_rotate(double* Q, int K, double shape, double rate, const double* uniform, const double* cosine, const double* sine,
                int angles, double* R);

struct ScaleSteps {
  const double *theta, *steps, *log_uniform;  // (K,), (rounds, K), (rounds, K)
  int K, rounds;
  double alpha, shape, rate, most;
};
// gain[c] = theta_c over what it was, in place; gram (K, K) in full and linear (K,) are the sums of GainSums
void svd_scale_steps(const double* gram, const double* linear, const ScaleSteps& given, double* gain);

}  // namespace partita
