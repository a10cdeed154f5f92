// The normal distribution function, its logarithm, slopes and quantiles, exact in both tails: what the probit links need.
#pragma once
#include <algorithm>
#include <cmath>

namespace partita {

constexpr double kRootHalf = 0.70710678118654752440, kLogRootTwoPi = 0.91893853320467274178;
constexpr double kFarTail = 10.0;  // beyond it the continued fraction below is exact to the last digits

// phi(x) / Phi(-x) - x for x >= kFarTail: Laplace's continued fraction
inline double far_excess(double x) {
  double tail = x;
  for (int k = 16; k >= 2; --k) tail = x + k / tail;
  return 1.0 / tail;
}

// Phi(-x) / phi(x) for x >= kFarTail
inline double mills_ratio(double x) { return 1.0 / (x + far_excess(x)); }

// log Phi(x)
inline double log_below(double x) {
  if (x >= 0.0) return std::log1p(-0.5 * std::erfc(x * kRootHalf));
  if (x > -kFarTail) return std::log(0.5 * std::erfc(-x * kRootHalf));
  if (std::isinf(x)) return x;
  return -0.5 * x * x - kLogRootTwoPi + std::log(mills_ratio(-x));
}

// log Phi(x) and log Phi(-x), their slopes phi(x) / Phi(x) and phi(x) / Phi(-x) (the latter's sign changed), and their curvatures
// (signs changed, so that all are positive)
struct Probit {
  double log_success, log_failure, success_slope, failure_slope, success_curvature, failure_curvature;

  explicit Probit(double x) {
    const double size = std::fabs(x), log_density = -0.5 * x * x - kLogRootTwoPi, density = std::exp(log_density);
    double small, log_small, excess;  // of the less likely outcome; its slope is size + excess
    if (size < kFarTail) {
      small = 0.5 * std::erfc(size * kRootHalf);
      log_small = std::log(small);
      excess = density / small - size;
    } else {
      excess = far_excess(size);
      log_small = log_density - std::log(size + excess);
      small = density / (size + excess);
    }
    const double log_large = std::log1p(-small), steep = size + excess, flat = density / (1.0 - small);
    const bool rare = x < 0.0;  // a success is the less likely outcome
    log_success = rare ? log_small : log_large;
    log_failure = rare ? log_large : log_small;
    success_slope = rare ? steep : flat;
    failure_slope = rare ? flat : steep;
    const double steep_curvature = steep * excess, flat_curvature = flat * (flat + size);
    success_curvature = rare ? steep_curvature : flat_curvature;
    failure_curvature = rare ? flat_curvature : steep_curvature;
  }
};

// Coefficients c[0] + c[1] x + .. + c[7] x^7
inline double septic(const double* c, double x) {
  double sum = c[7];
  for (int k = 6; k >= 0; --k) sum = sum * x + c[k];
  return sum;
}

// The quantile of a tail probability: x with log Phi(-x) = -r r, r > sqrt(-log 0.075); M. J. Wichura (1988), Algorithm AS 241,
// which ends at r = 27, and Newton's steps beyond.
inline double tail_quantile(double r) {
  static const double near_top[8] = {1.42343711074968357734e0,  4.63033784615654529590e0,  5.76949722146069140550e0,
                                     3.64784832476320460504e0,  1.27045825245236838258e0,  2.41780725177450611770e-1,
                                     2.27238449892691845833e-2, 7.74545014278341407640e-4};
  static const double near_bottom[8] = {1.0,
                                        2.05319162663775882187e0,
                                        1.67638483018380384940e0,
                                        6.89767334985100004550e-1,
                                        1.48103976427480074590e-1,
                                        1.51986665636164571966e-2,
                                        5.47593808499534494600e-4,
                                        1.05075007164441684324e-9};
  static const double far_top[8] = {6.65790464350110377720e0,  5.46378491116411436990e0,  1.78482653991729133580e0,
                                    2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                    2.71155556874348757815e-5, 2.01033439929228813265e-7};
  static const double far_bottom[8] = {1.0,
                                       5.99832206555887937690e-1,
                                       1.36929880922735805310e-1,
                                       1.48753612908506148525e-2,
                                       7.86869131145613259100e-4,
                                       1.84631831751005468180e-5,
                                       1.42151175831644588870e-7,
                                       2.04426310338993978564e-15};
  if (r <= 5.0) return septic(near_top, r - 1.6) / septic(near_bottom, r - 1.6);
  if (r <= 27.0) return septic(far_top, r - 5.0) / septic(far_bottom, r - 5.0);
  double x = std::sqrt(2.0 * (r * r - std::log(r) - kLogRootTwoPi - 0.5 * std::log(2.0)));
  for (int k = 0; k < 4; ++k) {
    const double ratio = mills_ratio(x);
    x += ratio * (-0.5 * x * x - kLogRootTwoPi + std::log(ratio) + r * r);
  }
  return x;
}

// x with Phi(x) = p, 0 < p < 1
inline double normal_quantile(double p) {
  static const double top[8] = {3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
                                1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
                                3.3430575583588128105e4, 2.5090809287301226727e3};
  static const double bottom[8] = {1.0,
                                   4.2313330701600911252e1,
                                   6.8718700749205790830e2,
                                   5.3941960214247511077e3,
                                   2.1213794301586595867e4,
                                   3.9307895800092710610e4,
                                   2.8729085735721942674e4,
                                   5.2264952788528545610e3};
  const double q = p - 0.5;
  if (std::fabs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * septic(top, r) / septic(bottom, r);
  }
  return q < 0.0 ? -tail_quantile(std::sqrt(-std::log(p))) : tail_quantile(std::sqrt(-std::log1p(-p)));
}

// An interval of the line, mirrored so that its nearer end is on the left: no digits are lost in the right tail.
struct Interval {
  double low, high;
  bool mirrored;

  Interval(double a, double b) : low(a), high(b), mirrored(a + b > 0.0) {
    if (mirrored) low = -b, high = -a;
  }
  bool in_the_body() const { return high > -8.0 && high - low > 1e-3; }
  // Phi(high) - Phi(low), in the body only
  double mass() const { return 0.5 * (std::erfc(-high * kRootHalf) - std::erfc(-low * kRootHalf)); }
  // log Phi(low) - log Phi(high), never positive
  double log_ratio(double log_high) const { return std::min(log_below(low) - log_high, 0.0); }
  double log_mass() const {
    if (in_the_body()) return std::log(mass());
    const double log_high = log_below(high);
    return log_high + std::log(std::max(-std::expm1(log_ratio(log_high)), 1e-300));
  }
  // the point below which a share u of the mass lies, u in (0, 1)
  double point(double u) const {
    double x;
    if (in_the_body()) {
      const double below = 0.5 * std::erfc(-low * kRootHalf);
      x = normal_quantile(std::min(below + u * mass(), 1.0 - 0x1.0p-53));
    } else {
      const double log_high = log_below(high);
      const double log_p = log_high + std::log(u + (1.0 - u) * std::exp(log_ratio(log_high)));
      x = log_p < -2.6 ? -tail_quantile(std::sqrt(-log_p)) : normal_quantile(std::exp(log_p));
    }
    x = std::min(std::max(x, low), high);
    return mirrored ? -x : x;
  }
};

}  // namespace partita
