// Rotations of pairs of components, their scales integrated out.
#include "arithmetic.hpp"
#include "svd.hpp"

namespace partita {

namespace {

constexpr int kMostAngles = 256;

PARTITA_INLINE void turn(double* x, double* y, double c, double s) {
  const double a = *x, b = *y;
  *x = c * a + s * b;
  *y = c * b - s * a;
}

// weight[j] of every angle, with q(phi) = c^2 Q_kk + s^2 Q_ll + 2 s c Q_kl and the other diagonal entry what is left of the trace
PARTITA_CLONES void angle_logs(double kk, double ll, double kl, double shape, double rate, const double* cosine,
                               const double* sine, int angles, double* log_weight) {
  const double both = kk + ll;
  for (int j = 0; j < angles; ++j) {
    const double c = cosine[j], s = sine[j];
    double q = c * c * kk + s * s * ll + 2.0 * s * c * kl;
    q = q > 0.0 ? q : 0.0;
    double rest = both - q;
    rest = rest > 0.0 ? rest : 0.0;
    double product = (rate + 0.5 * q) * (rate + 0.5 * rest);
    product = product > 1e-290 ? product : 1e-290;
    log_weight[j] = -shape * fast_log(product);
  }
}

}  // namespace

void svd_rotate(double* Q, int K, double shape, double rate, const double* uniform, const double* cosine, const double* sine,
                int angles, double* R) {
  double log_weight[kMostAngles], weight[kMostAngles], top;
  for (int k = 0; k < K; ++k)
    for (int l = 0; l < k; ++l) {
      angle_logs(Q[k * K + k], Q[l * K + l], Q[k * K + l], shape, rate, cosine, sine, angles, log_weight);
      const double total = exponentiate(log_weight, angles, weight, &top);
      const int j = pick(weight, angles, total, *uniform++);
      if (!j) continue;
      const double c = cosine[j], s = sine[j];
      for (int i = 0; i < K; ++i) {
        turn(Q + i * K + k, Q + i * K + l, c, s);
        turn(R + i * K + k, R + i * K + l, c, s);
      }
      for (int i = 0; i < K; ++i) turn(Q + k * K + i, Q + l * K + i, c, s);
    }
}

}  // namespace partita
