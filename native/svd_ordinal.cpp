// Ordinal entries: log probabilities of levels and the latent normals behind them.
#include "svd_links.hpp"
#include "svd_probit.hpp"

namespace partita {

namespace {

Interval level_of(const double* edges, int level, double fitted, double scale) {
  return Interval((edges[level] - fitted) * scale, (edges[level + 1] - fitted) * scale);
}

}  // namespace

void svd_ordinal_evidence(const double* value, const double* fitted, const double* scale, int64_t n, const double* edges,
                          double* evidence) {
  for (int64_t p = 0; p < n; ++p) {
    const int level = int(value[p]);
    evidence[level] += level_of(edges, level, fitted[p], scale[p]).log_mass();
  }
}

void svd_ordinal_latents(const double* value, const double* fitted, const double* scale, int64_t n, const double* edges,
                         const double* uniform, double* latent) {
  for (int64_t p = 0; p < n; ++p)
    latent[p] = fitted[p] + level_of(edges, int(value[p]), fitted[p], scale[p]).point(uniform[p]) / scale[p];
}

}  // namespace partita
