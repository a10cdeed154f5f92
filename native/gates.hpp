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

// xhat and cw null: not wanted
struct Conditioned {
  double *quad, *logdet, *xhat, *cw, *wx, *wcw, *trace;
};

// What is added to: first (P, H), second (P, P, H), cross (E, P, H; null: E = 0).
struct GateSums {
  double *first, *second, *cross;
};

struct GateWeights {
  const double *xhat, *cw, *rho, *f;  // f null: none
  int K;
};

void gate_condition(const Patterns& patterns, const double* x, const Gates& gates, const GateSides& sides,
                    const Conditioned& out);

void gate_accumulate(const Patterns& patterns, const Gates& gates, const GateWeights& rows, const GateSums& out);

// Of every row: weight rho (n, H), shift (n, K, H), f (n, K, K, H), extra (n, E, H), tie (n, E, K, H); sides w (K, P, H).
struct GateTargets {
  const double *w, *rho, *shift, *f, *extra, *tie;
  int K, E;
};

void gate_moments(const Patterns& patterns, const double* x, const Gates& gates, const GateTargets& given, const GateSums& out);

void gate_draw_missing(const Patterns& patterns, const double* x, const Gates& gates, const int32_t* z, const double* noise,
                       double* out);

constexpr double kNegligible = 1e-9;  // the smallest weight that counts in gate_accumulate

}  // namespace partita
