// Missing cells of the correlated block, drawn from their conditional Student's t given the observed ones.
#include <cmath>

#include "kernels.hpp"
#include "triangle.hpp"

namespace partita {

namespace {

double normal(Stream& stream) {  // Box and Muller, one of the two
  const double radius = std::sqrt(-2.0 * std::log(1.0 - stream.uniform()));
  return radius * std::cos(6.28318530717958647692 * stream.uniform());
}

double chi_square(Stream& stream, double degrees) {  // Marsaglia and Tsang (2000); degrees >= 2
  const double d = 0.5 * degrees - 1.0 / 3.0, c = 1.0 / std::sqrt(9.0 * d);
  for (;;) {
    const double x = normal(stream), t = 1.0 + c * x, v = t * t * t;
    const double log_u = std::log(1.0 - stream.uniform());
    if (t > 0 && log_u < 0.5 * x * x + d - d * v + d * std::log(v)) return 2.0 * d * v;
  }
}

Stream row_stream(double uniform, int64_t row) {
  return {uint64_t(bits_of(uniform)) ^ (uint64_t(row + 1) * 0xd1342543de82ef95ULL)};
}

// in a group that does not hold the row
void draw_missing(Block& row, const double* h, const double* stats, Stream& stream) {
  const int P = row.width, seen = row.n_seen;
  double *r = row.room(), *u = r + P;
  factor_scale(P, h, stats, row.order.data(), P, u);
  for (int a = 0; a < P; ++a) r[a] = a < seen ? row.x[row.order[a]] - block_centre(h, stats, row.order[a]) : 0.0;
  const double distance = whiten(u, P, nullptr, seen, r), kappa = h[0] + stats[0];
  const double degrees = h[1] + stats[0] - P + 1.0 + seen;
  const double spread = std::sqrt((1.0 + 1.0 / kappa + distance) / chi_square(stream, degrees));
  for (int a = seen; a < P; ++a) {
    const double noise = spread * normal(stream);
    for (int b = a; b < P; ++b) r[b] -= u[int64_t(a) * P + b] * noise;
  }
  for (int a = seen; a < P; ++a) row.x[row.order[a]] = block_centre(h, stats, row.order[a]) - r[a];
}

// in the group that holds the row: it leaves, its cells are drawn, it comes back
void redraw_missing(Block& row, const double* h, double* stats, Stream& stream) {
  count_block(row.width, stats, row.x, -1.0);
  draw_missing(row, h, stats, stream);
  update_block(row, h, stats, 1.0);
}

}  // namespace

void draw_holes(const Groups& groups, Cells& cells, int g, double uniform, int64_t row) {
  if (!cells.block.has_holes()) return;
  const int d = cells.block.column;
  Stream stream = row_stream(uniform, row);
  draw_missing(cells.block, groups.hyper + 4 * d, groups.at(d, g), stream);
}

void redraw_holes(const Groups& groups, Cells& cells, int g, double uniform, int64_t row) {
  if (!cells.block.has_holes()) return;
  const int d = cells.block.column;
  Stream stream = row_stream(uniform, row);
  redraw_missing(cells.block, groups.hyper + 4 * d, groups.at(d, g), stream);
}

}  // namespace partita
