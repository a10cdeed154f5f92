// Kernels of log-linear models over regions of discrete attributes: what a region would add, look-ups, class loss.
#pragma once
#include <cstdint>

namespace partita {

// Candidates of a search and where their scores go. Symbols: d columns, n rows, K logits, G prior variances.
struct RegionScan {
  int64_t n_rows;
  int n_logits, order, n_scales;
  const int32_t* columns;  // (d, n): codes, one column after the other
  const int32_t* levels;   // (d,)
  const double* moments;   // (n, 2 K): residual y - p, then information p (1 - p), of every logit
  const double* scales;    // (G,): prior variances tried, ascending
  double share, threshold;
};

// gain[c] = max over v of 1/2 sum over cells and logits of [g^2 / (h + 1/v) - rho log(1 + v h)], g and h being the sums of
// residuals and information in the cell, rho = max(1 - fitted / cells, 1/2 / cells) share. Where 1/2 sum g^2 / (h + 1/v_max),
// which no v can exceed, is at most `threshold`, the gain is not computed and -1 stands for it.
void scan_regions(const RegionScan& scan, const int32_t* candidates, int64_t n_candidates, const double* fitted, double* gain,
                  int32_t* occupied, int32_t* best);

// out[i] += sum over blocks b of table[cells[i, b]], rows of `width` numbers
void look_up(const int32_t* cells, int64_t n_rows, int n_blocks, const double* table, int width, double* out);
// out[cells[i, b]] += values[i] for every row and block
void tally(const int32_t* cells, int64_t n_rows, int n_blocks, const double* values, int width, double* out);

// weighted negative log-likelihood of the labels; residual = weight (p - y). One logit: that of label 1 against label 0.
double softmax_loss(const double* logits, int64_t n_rows, int n_logits, const int32_t* label, const double* weight, double* residual);

// p[i] = mean over states of 1 / (1 + sum over others of exp(t against + prior)): probability of the label of a row from its log odds
// against the other classes, (others, states, n), tempered by t, and those of their priors, (others, n)
void tempered_labels(const double* against, const double* prior, int n_others, int64_t n_states, int64_t n_rows, double t, double* p);

// EM for the shares of a linear pool: members' likelihoods (members, n), rows' weights, a Dirichlet prior in rows. Ends when no
// share moves by `tolerance`.
void pool_shares(const double* likelihood, int n_members, int64_t n_rows, const double* weight, const double* prior, int rounds,
                 double tolerance, double* share);

}  // namespace partita
