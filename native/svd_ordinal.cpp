// Ordinal entries: log probabilities of levels and the latent normals behind them.
#include "svd_links.hpp"
#include "svd_probit.hpp"

namespace partita {

namespace {

Interval level_of(const Levels& of, int64_t p) {
  const double* edge = of.at(p);
  return Interval((edge[0] - of.fitted[p]) * of.scale[p], (edge[1] - of.fitted[p]) * of.scale[p]);
}

}  // namespace

void svd_ordinal_masses(const Levels& of, double* log_mass) {
  for (int64_t p = 0; p < of.n; ++p) log_mass[p] = level_of(of, p).log_mass();
}

void svd_ordinal_latents(const Levels& of, const double* uniform, double* latent) {
  for (int64_t p = 0; p < of.n; ++p) latent[p] = of.fitted[p] + level_of(of, p).point(uniform[p]) / of.scale[p];
}

}  // namespace partita
