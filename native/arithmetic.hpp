// Arithmetic written so that loops over it vectorise: no calls, no branches. Accurate to a few units in the last place.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>

#if defined(PARTITA_HAS_CLONES) && defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__)
// one build runs anywhere and fast: the loader picks the clone that the processor can run
#define PARTITA_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define PARTITA_CLONES
#endif
#define PARTITA_INLINE inline __attribute__((always_inline))

namespace partita {

constexpr double kLogTwoHigh = 6.93147180369123816490e-01, kLogTwoLow = 1.90821492927058770002e-10;
constexpr double kNever = -1e300;  // log of zero that survives sums

PARTITA_INLINE int64_t bits_of(double x) {
  int64_t b;
  std::memcpy(&b, &x, 8);
  return b;
}
PARTITA_INLINE double double_of(int64_t b) {
  double x;
  std::memcpy(&x, &b, 8);
  return x;
}

// exp(x) for x <= 700; zero below -700
PARTITA_INLINE double fast_exp(double given) {
  double x = given < -700.0 ? -700.0 : given;
  const double magic = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer kept in the low bits
  double t = x * 1.44269504088896340736 + magic;
  double k = t - magic;
  double r = (x - k * kLogTwoHigh) - k * kLogTwoLow;
  double p = 2.08767569878680989792e-09;  // Taylor: 1/12! .. 1, |r| <= log(2)/2
  p = p * r + 2.50521083854417187751e-08;
  p = p * r + 2.75573192239858906526e-07;
  p = p * r + 2.75573192239858906526e-06;
  p = p * r + 2.48015873015873015873e-05;
  p = p * r + 1.98412698412698412698e-04;
  p = p * r + 1.38888888888888888889e-03;
  p = p * r + 8.33333333333333333333e-03;
  p = p * r + 4.16666666666666666667e-02;
  p = p * r + 1.66666666666666666667e-01;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  double e = p * double_of(int64_t((uint64_t(bits_of(t)) + 1023) << 52));
  return given < -700.0 ? 0.0 : e;
}

// log(x) for positive normal x
PARTITA_INLINE double fast_log(double x) {
  int64_t b = bits_of(x);
  int64_t shifted = b - 0x3fe6a09e667f3bcdLL;  // the exponent is counted from sqrt(1/2), so that the mantissa lies around 1
  // an arithmetic shift without AVX-512: bias first, shift logically, subtract the bias as a double
  uint64_t e = (uint64_t(shifted) + (uint64_t(2048) << 52)) >> 52;
  double k = double_of(int64_t(e | 0x4330000000000000ULL)) - 4503599627370496.0 - 2048.0;
  double m = double_of(b - (int64_t(e) - 2048) * (int64_t(1) << 52));
  double f = m - 1.0, s = f / (2.0 + f), z = s * s, w = z * z;
  double t1 = w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
  double t2 = z * (6.666666666666735130e-01 +
                   w * (2.857142874366239149e-01 + w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)));
  double r = t1 + t2, h = 0.5 * f * f;
  return k * kLogTwoHigh - ((h - (s * (h + r) + k * kLogTwoLow)) - f);
}

// log Gamma(x) for x > 0: Stirling's series after shifting x above 8
PARTITA_INLINE double fast_lgamma(double x) {
  double p = x * (x + 1) * (x + 2) * (x + 3), q = (x + 4) * (x + 5) * (x + 6) * (x + 7);
  bool small = x < 8.0;
  double y = small ? x + 8.0 : x, shift = small ? fast_log(p) + fast_log(q) : 0.0;
  double i = 1.0 / y, j = i * i;
  double series =
      i * (8.33333333333333333333e-02 +
           j * (-2.77777777777777777778e-03 +
                j * (7.93650793650793650794e-04 + j * (-5.95238095238095238095e-04 + j * 8.41750841750841750842e-04))));
  return (y - 0.5) * fast_log(y) - y + 0.91893853320467274178 + series - shift;
}

// log Gamma(x + 1/2) - log Gamma(x), x > 0
PARTITA_INLINE double lgamma_half_step(double x) { return fast_lgamma(x + 0.5) - fast_lgamma(x); }

// ---- leaves: the loops where the time goes, one clone per processor generation (leaves.cpp) ----

// acc[g] = sum over cells of table[cells[m] * stride + g], g < padded (a multiple of 8)
void accumulate(const double* table, int64_t stride, const int32_t* cells, int n_cells, int padded, double* acc);
// acc[g] += constant[g] - power[g] * log(1 + (x - centre[g])^2 * inverse[g]): a Student-t column
void accumulate_student(const double* table, int64_t stride, double x, int padded, double* acc);
// acc[g] += log NB(x; r, .): table rows r, constant, log of one minus the success probability
void accumulate_negative_binomial(const double* table, int64_t stride, double x, int padded, double* acc);
void log_in_place(double* x, int n);
void lgamma_in_place(double* x, int n);
// log marginal likelihood of a normal-inverse-chi-squared column summed over m groups (counts, sums, sums of squares)
double real_evidence(const double* n, const double* sum, const double* squares, int m, const double* h);
// the same of a Gamma-Poisson column, without the factorials of the counts
double count_evidence(const double* n, const double* sum, int m, const double* h);
// sum over binary cells of log p(cell | the other rows of the group the row sits in); stats are the group's
double log_ratios_without(const double* stats, const double* hyper, const int32_t* stat_first, const int32_t* column,
                          const int32_t* code, int n);
// weight[k] = exp(logp[k] - max); returns the total; n a multiple of 8 or padded with kNever
double exponentiate(const double* logp, int n, double* weight, double* maximum);
double log_sum_exp(const double* logp, int n);
// out[p] += log of the sum of exp(logp + base) over the part first[p] .. first[p + 1] - 1; logp is overwritten
constexpr int kMostParts = 64;
void log_sum_exp_parts(double* logp, const double* base, int wide, const int32_t* first, int parts, double* out);
// sum[k] = logp[k] + more[k]; returns the largest of them but for sum[without]
double add_and_top(const double* logp, const double* more, int n, int without, double* sum);
// log of the product of factors[entries[m]], m < n, each factor at least 1e-19
double log_product(const double* factors, const int32_t* entries, int n);

// A run of rows whose cells are all binary, each seated in a group of several rows.
struct Stayers {
  const int64_t *order, *entry_first;  // of row i: entries[entry_first[i]] .. entries[entry_first[i + 1] - 1]
  const int32_t *entries, *z;
  const double *uniforms, *table, *log_size;  // log_size of the group on offer: its weight; never of holes and beyond the groups
  const double *log_less, *left;  // weight of a group without one row; see Groups::left
  int64_t capacity, n_table;
  int bound, padded;
};
// Goes over rows at, at + 1, .. of a run as long as they surely stay in their groups; returns the first that may not, with its
// weights in all groups in `sum` but for its own, which is *own_weight. A group of one row has log_less = never.
int64_t pass_over_stayers(const Stayers& run, int64_t at, int64_t end, double* sum, double* own_weight);

// the index at which the running sum of weight passes left
PARTITA_INLINE int pick_from(const double* weight, int n, double left) {
  int k = 0;
  while (k < n - 1 && left >= weight[k]) left -= weight[k++];
  while (k > 0 && !(weight[k] > 0)) --k;  // rounding never picks an impossible outcome
  return k;
}

// the index at which the running sum of weight passes u * total
PARTITA_INLINE int pick(const double* weight, int n, double total, double u) { return pick_from(weight, n, u * total); }

}  // namespace partita
