// The posterior mode of a log-linear model with a small dense design: what is left of it in Python would take longer than the sums.
#pragma once
#include <cstdint>
#include <vector>

namespace partita {

// M with B^-1 = M'M, or I - M'M if `dual`, on some columns; `m` holds M row by row, or column by column.
struct FactorView {
  const float* m;
  int64_t rows, columns;
  bool by_columns, dual;
  const int64_t* kept;  // (columns,) of the design; nullptr: all
};

// x -> about B^-1 x for p columns and K logits; the first `old` columns have factors, the others `tail` on their diagonal.
struct Preconditioner {
  int64_t p, old;
  int n_logits;
  const double* ratio;     // (p,)
  const double* tail;      // (p - old, K)
  const double* variance;  // (old, K): for columns that a factor leaves out
  std::vector<FactorView> factors;  // one for each logit; none where `old` is 0
};

struct DenseProblem {
  const float* design;  // (n, p)
  int64_t n, p;
  int n_logits;
  const double* scale;  // (p,)
  const int32_t* label;
  const double* weight;
};

void precondition(const Preconditioner& solver, const double* x, double* out);

// Minimises loss + |u|^2 / 2 from u by L-BFGS, as `kernels/reference/modes.py` says; u, logits and residual, which hold the
// model at u, are replaced. Returns the loss at the end.
double dense_mode(const DenseProblem& problem, const Preconditioner& solver, int max_steps, double tolerance, double loss, double* u,
                  double* logits, double* residual);

// out (p, K) = sum over rows i of design[i, j]^2 information[i, k]
void column_information(const float* design, int64_t n, int64_t p, const double* information, int n_logits, double* out);

// out (rows, columns) = root[i] design[rows[i], columns[j]] scale[columns[j]]; no rows, no columns (nullptr): all
void informed_rows(const float* design, int64_t p, const double* scale, const int64_t* rows, int64_t n_rows, const int64_t* columns,
                   int64_t n_columns, const double* root, float* out);

}  // namespace partita
