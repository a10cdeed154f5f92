// Gaussian gates with missing cells: all components of a row side by side (kernels/gates_contract.py has the symbols).
#pragma once
#include <cstdint>

namespace partita {

// Rows first_row[g] .. first_row[g + 1] miss the columns cells[first[g]] .. cells[first[g + 1]], ascending.
struct Patterns {
  const int64_t *first_row, *first;
  const int32_t* cells;
  int64_t n;
};

// Quadratic forms -x'Qx/2 + r'x; Q, S = Q^-1 (P, P, H), logdet = log|Q| (H), r (1 or n, P, H). H is a multiple of eight.
struct Gates {
  const double *Q, *S, *logdet, *r;
  int P, H;
  bool r_of_rows;  // r has a row for every row of the table
};

// Right-hand sides w (K, P, H), and the weights V (P, P, H) of the trace, or null.
struct GateSides {
  const double *w, *V;
  int K;
};

struct Conditioned {
  double *quad, *logdet, *xhat, *cw, *wx, *wcw, *trace;
};

struct GateWeights {
  const double *xhat, *cw, *rho, *f;  // f null: none
  int K;
};

void gate_condition(const Patterns& patterns, const double* x, const Gates& gates, const GateSides& sides,
                    const Conditioned& out);

// first (P, H) and second (P, P, H) are added to
void gate_accumulate(const Patterns& patterns, const Gates& gates, const GateWeights& rows, double* first, double* second);

void gate_draw_missing(const Patterns& patterns, const double* x, const Gates& gates, const int32_t* z, const double* noise,
                       double* out);

constexpr double kNegligible = 1e-9;  // the smallest weight that counts in gate_accumulate

// Whether the observed block is the cheaper one to factorise.
inline bool through_observed(int n_missing, int P) { return 2 * n_missing > P; }

}  // namespace partita
