#include <algorithm>
#include <cmath>
#include <vector>

#include "arithmetic.hpp"
#include "gates.hpp"

namespace partita {

namespace {

// The lower triangle L with LL' = the block of `m` of component h, row by row, stride k.
PARTITA_CLONES void factor_block(const Gates& gates, const int32_t* m, int k, int h, double* l) {
  for (int i = 0; i < k; ++i) {
    double* row = l + i * k;
    for (int j = 0; j <= i; ++j) {
      const double* other = l + j * k;
      double s = gates.Q[(int64_t(m[i]) * gates.P + m[j]) * gates.H + h];
      for (int e = 0; e < j; ++e) s -= row[e] * other[e];
      row[j] = i == j ? std::sqrt(s) : s / other[j];
    }
  }
}

// out_m = Q_mm^-1 (r_m - Q_mo x_o) + L'^-1 noise_m of one row: one solve down, one up
PARTITA_CLONES void draw_row(const Gates& gates, const double* x, const double* r, const double* noise, const int32_t* m, int k,
                             int h, const double* l, double* b, double* out) {
  const int P = gates.P, H = gates.H;
  for (int i = 0; i < k; ++i) {
    const double *row = gates.Q + int64_t(m[i]) * P * H + h, *factor = l + i * k;
    double s = r[m[i] * H + h];
    for (int q = 0; q < P; ++q) s -= row[q * H] * x[q];
    for (int j = 0; j < i; ++j) s -= factor[j] * b[j];
    b[i] = s / factor[i];
  }
  for (int i = 0; i < k; ++i) b[i] += noise[m[i]];
  for (int i = k - 1; i >= 0; --i) {
    b[i] /= l[i * k + i];
    for (int j = 0; j < i; ++j) b[j] -= l[i * k + j] * b[i];
  }
  std::copy(x, x + P, out);
  for (int i = 0; i < k; ++i) out[m[i]] = b[i];
}

}  // namespace

void gate_draw_missing(const Patterns& patterns, const double* x, const Gates& gates, const int32_t* z, const double* noise,
                       double* out) {
  const int P = gates.P, H = gates.H;
  std::vector<double> l(size_t(P) * P), b(P);
  std::vector<int64_t> done(H, -1);  // the last pattern a component was factorised for
  for (int64_t g = 0; g < patterns.n; ++g) {
    const int32_t* m = patterns.cells + patterns.first[g];
    const int k = int(patterns.first[g + 1] - patterns.first[g]);
    const int64_t end = patterns.first_row[g + 1];
    for (int64_t i = patterns.first_row[g]; i < end; ++i) {
      const int h = z[i];
      if (done[h] == g) continue;
      done[h] = g;
      factor_block(gates, m, k, h, l.data());
      for (int64_t e = i; e < end; ++e)
        if (z[e] == h)
          draw_row(gates, x + e * P, gates.r + (gates.r_of_rows ? e * P * H : 0), noise + e * P, m, k, h, l.data(), b.data(),
                   out + e * P);
    }
  }
}

}  // namespace partita
