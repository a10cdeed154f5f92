#include "arithmetic.hpp"

namespace partita {

// eight groups side by side; unaligned, since a block may start at any multiple of eight
typedef double Eight __attribute__((vector_size(64), aligned(8), may_alias));

template <int B>
PARTITA_INLINE void accumulate_block(const double* table, int64_t stride, const int32_t* cells, int n_cells, double* acc) {
  Eight sum[B] = {};
  for (int m = 0; m < n_cells; ++m) {
    const double* t = table + int64_t(cells[m]) * stride;
#pragma GCC unroll 8
    for (int b = 0; b < B; ++b) sum[b] += *reinterpret_cast<const Eight*>(t + 8 * b);
  }
#pragma GCC unroll 8
  for (int b = 0; b < B; ++b) *reinterpret_cast<Eight*>(acc + 8 * b) = sum[b];
}

PARTITA_CLONES void accumulate(const double* table, int64_t stride, const int32_t* cells, int n_cells, int padded,
                               double* acc) {
  // the cells are gone through once for up to sixty-four groups
  for (int g = 0; g < padded; g += 64) {
    const double* t = table + g;
    double* a = acc + g;
    switch (padded - g) {
      case 8: accumulate_block<1>(t, stride, cells, n_cells, a); break;
      case 16: accumulate_block<2>(t, stride, cells, n_cells, a); break;
      case 24: accumulate_block<3>(t, stride, cells, n_cells, a); break;
      case 32: accumulate_block<4>(t, stride, cells, n_cells, a); break;
      case 40: accumulate_block<5>(t, stride, cells, n_cells, a); break;
      case 48: accumulate_block<6>(t, stride, cells, n_cells, a); break;
      case 56: accumulate_block<7>(t, stride, cells, n_cells, a); break;
      default: accumulate_block<8>(t, stride, cells, n_cells, a);
    }
  }
}

PARTITA_CLONES void accumulate_student(const double* table, int64_t stride, double x, int padded, double* acc) {
  const double *constant = table, *centre = table + stride, *inverse = table + 2 * stride, *power = table + 3 * stride;
  for (int g = 0; g < padded; ++g) {
    double u = x - centre[g];
    acc[g] += constant[g] - power[g] * fast_log(1.0 + u * u * inverse[g]);
  }
}

PARTITA_CLONES void accumulate_negative_binomial(const double* table, int64_t stride, double x, int padded, double* acc) {
  const double *r = table, *constant = table + stride, *log_q = table + 2 * stride;
  double factorial = fast_lgamma(x + 1.0);
  for (int g = 0; g < padded; ++g) acc[g] += fast_lgamma(r[g] + x) + constant[g] + x * log_q[g] - factorial;
}

PARTITA_CLONES void log_in_place(double* x, int n) {
  for (int i = 0; i < n; ++i) x[i] = fast_log(x[i]);
}

PARTITA_CLONES void lgamma_in_place(double* x, int n) {
  for (int i = 0; i < n; ++i) x[i] = fast_lgamma(x[i]);
}

PARTITA_INLINE double sum_of_eight(const double* s) {
  return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
}

PARTITA_CLONES double real_evidence(const double* n, const double* sum, const double* squares, int m, const double* h) {
  const double least = h[1] * h[2], shift = h[0] * h[3], offset = least + shift * h[3];
  const double start = 0.5 * fast_log(h[0]) - fast_lgamma(0.5 * h[1]) + 0.5 * h[1] * fast_log(least);
  double total[8] = {0};
  int g = 0;
  auto one = [&](int k) __attribute__((always_inline)) {
    const double kappa = h[0] + n[k], nu = h[1] + n[k], centre = (shift + sum[k]) / kappa;
    double ss = offset + squares[k] - kappa * centre * centre;
    ss = ss > least ? ss : least;  // rounding may take it below what the prior alone gives
    const double value = start + fast_lgamma(0.5 * nu) - 0.5 * fast_log(kappa) - 0.5 * nu * fast_log(ss) -
                         0.5 * n[k] * 1.14472988584940017414;
    return n[k] > 0 ? value : 0.0;
  };
  for (; g + 8 <= m; g += 8)
    for (int j = 0; j < 8; ++j) total[j] += one(g + j);
  for (; g < m; ++g) total[0] += one(g);
  return sum_of_eight(total);
}

PARTITA_CLONES double count_evidence(const double* n, const double* sum, int m, const double* h) {
  const double start = h[0] * fast_log(h[1]) - fast_lgamma(h[0]);
  double total = 0.0;
  for (int k = 0; k < m; ++k) {
    if (n[k] <= 0) continue;
    total += start + fast_lgamma(h[0] + sum[k]) - (h[0] + sum[k]) * fast_log(h[1] + n[k]);
  }
  return total;
}

PARTITA_CLONES double log_ratios_without(const double* stats, const double* hyper, const int32_t* stat_first,
                                         const int32_t* column, const int32_t* code, int n) {
  double result = 0.0;
  // eight products side by side, of at most sixteen factors each: far from under- and overflow, and one logarithm for them all
  for (int first = 0; first < n; first += 128) {
    const int last = first + 128 < n ? first + 128 : n, full = first + ((last - first) & ~7);
    double above[8], below[8], log_above[8], log_below[8];
    for (int j = 0; j < 8; ++j) above[j] = below[j] = 1.0;
    auto one = [&](int m, int j) __attribute__((always_inline)) {
      const int32_t d = column[m], zero = code[m] != 1, own = stat_first[d] + zero, other = stat_first[d] + 1 - zero;
      const double mine = stats[own] + hyper[4 * d + zero] - 1.0;
      above[j] *= mine;
      below[j] *= mine + stats[other] + hyper[4 * d + 1 - zero];
    };
    for (int m = first; m < full; m += 8)
      for (int j = 0; j < 8; ++j) one(m + j, j);
    for (int m = full; m < last; ++m) one(m, m - full);
    for (int j = 0; j < 8; ++j) {
      log_above[j] = fast_log(above[j]);
      log_below[j] = fast_log(below[j]);
    }
    result += sum_of_eight(log_above) - sum_of_eight(log_below);
  }
  return result;
}

// the largest of n numbers, eight side by side
PARTITA_INLINE double largest(const double* x, int n) {
  double m[8];
  for (int j = 0; j < 8; ++j) m[j] = x[0];
  const int full = n & ~7;
  for (int k = 0; k < full; k += 8)
    for (int j = 0; j < 8; ++j) m[j] = m[j] > x[k + j] ? m[j] : x[k + j];
  for (int k = full; k < n; ++k) m[0] = m[0] > x[k] ? m[0] : x[k];
  double top = m[0];
  for (int j = 1; j < 8; ++j) top = top > m[j] ? top : m[j];
  return top;
}

PARTITA_CLONES double exponentiate(const double* logp, int n, double* weight, double* maximum) {
  const double top = largest(logp, n);
  const int full = n & ~7;
  double s[8] = {0};
  for (int k = 0; k < full; k += 8)
    for (int j = 0; j < 8; ++j) {
      weight[k + j] = fast_exp(logp[k + j] - top);
      s[j] += weight[k + j];
    }
  for (int k = full; k < n; ++k) {
    weight[k] = fast_exp(logp[k] - top);
    s[0] += weight[k];
  }
  *maximum = top;
  return sum_of_eight(s);
}

PARTITA_CLONES double add_and_top(const double* logp, const double* more, int n, int without, double* sum) {
  for (int k = 0; k < n; ++k) sum[k] = logp[k] + more[k];
  const double aside = sum[without];
  sum[without] = kNever;
  const double top = largest(sum, n);
  sum[without] = aside;
  return top;
}

// the product of factors[entries[m]] as a sum of logarithms: eight products side by side, of at most sixteen factors each
PARTITA_INLINE double log_of_product(const double* factors, const int32_t* entries, int n) {
  double result = 0.0;
  for (int first = 0; first < n; first += 128) {
    const int last = first + 128 < n ? first + 128 : n, full = first + ((last - first) & ~7);
    double product[8], logs[8];
    for (int j = 0; j < 8; ++j) product[j] = 1.0;
    for (int m = first; m < full; m += 8)
      for (int j = 0; j < 8; ++j) product[j] *= factors[entries[m + j]];
    for (int m = full; m < last; ++m) product[m - full] *= factors[entries[m]];
    for (int j = 0; j < 8; ++j) logs[j] = fast_log(product[j]);
    result += sum_of_eight(logs);
  }
  return result;
}

PARTITA_CLONES double log_product(const double* factors, const int32_t* entries, int n) {
  return log_of_product(factors, entries, n);
}

typedef int64_t EightWhole __attribute__((vector_size(64)));
typedef double Four __attribute__((vector_size(32)));
typedef double Two __attribute__((vector_size(16)));

PARTITA_INLINE double top_of_eight(Eight x) {
  Four half[2];
  std::memcpy(half, &x, sizeof x);
  const Four four = half[0] > half[1] ? half[0] : half[1];
  Two quarter[2];
  std::memcpy(quarter, &four, sizeof four);
  const Two two = quarter[0] > quarter[1] ? quarter[0] : quarter[1];
  return two[0] > two[1] ? two[0] : two[1];
}

// the least power of two above exp(x), x between -700 and 0
PARTITA_INLINE double power_above_exp(double x) {
  const double magic = 6755399441055744.0;  // adding it rounds to an integer kept in the low bits
  const double t = x * 1.44269504088896340736 + (magic + 0.5000001);
  return double_of(int64_t((uint64_t(bits_of(t)) + 1023) << 52));
}

// sum[g] = log_size[g] + the row's score in group g; returns the largest of them but for that of `own` (counted from this block on)
template <int B>
PARTITA_INLINE double weigh_block(const double* table, int64_t stride, const int32_t* cells, int n_cells, const double* log_size,
                                  int own, double* sum) {
  Eight acc[B];
#pragma GCC unroll 8
  for (int b = 0; b < B; ++b) acc[b] = *reinterpret_cast<const Eight*>(log_size + 8 * b);
  for (int m = 0; m < n_cells; ++m) {
    const double* t = table + int64_t(cells[m]) * stride;
#pragma GCC unroll 8
    for (int b = 0; b < B; ++b) acc[b] += *reinterpret_cast<const Eight*>(t + 8 * b);
  }
  EightWhole lane = {0, 1, 2, 3, 4, 5, 6, 7};
  Eight never, top;
  for (int j = 0; j < 8; ++j) never[j] = top[j] = kNever;
#pragma GCC unroll 8
  for (int b = 0; b < B; ++b) {
    *reinterpret_cast<Eight*>(sum + 8 * b) = acc[b];
    const Eight other = lane == own - 8 * b ? never : acc[b];
    top = top > other ? top : other;
  }
  return top_of_eight(top);
}

PARTITA_INLINE double weigh(const double* table, int64_t stride, const int32_t* cells, int n_cells, const double* log_size, int padded,
                            int own, double* sum) {
  double top = kNever;
  for (int g = 0; g < padded; g += 64) {
    const double *t = table + g, *more = log_size + g;
    double *to = sum + g, most;
    switch (padded - g) {
      case 8: most = weigh_block<1>(t, stride, cells, n_cells, more, own - g, to); break;
      case 16: most = weigh_block<2>(t, stride, cells, n_cells, more, own - g, to); break;
      case 24: most = weigh_block<3>(t, stride, cells, n_cells, more, own - g, to); break;
      case 32: most = weigh_block<4>(t, stride, cells, n_cells, more, own - g, to); break;
      case 40: most = weigh_block<5>(t, stride, cells, n_cells, more, own - g, to); break;
      case 48: most = weigh_block<6>(t, stride, cells, n_cells, more, own - g, to); break;
      case 56: most = weigh_block<7>(t, stride, cells, n_cells, more, own - g, to); break;
      default: most = weigh_block<8>(t, stride, cells, n_cells, more, own - g, to);
    }
    top = top > most ? top : most;
  }
  return top;
}

PARTITA_CLONES int64_t pass_over_stayers(const Stayers& run, int64_t at, int64_t end, double* sum, double* own_weight) {
  for (; at < end; ++at) {
    const int64_t i = run.order[at];
    const int own = run.z[i], n = int(run.entry_first[i + 1] - run.entry_first[i]);
    const int32_t* entries = run.entries + run.entry_first[i];
    const double top = weigh(run.table, run.capacity, entries, n, run.log_size, run.padded, own, sum);
    *own_weight = run.log_less[own] + log_of_product(run.left + own * run.n_table, entries, n);
    const double above = top - *own_weight;
    // the others together weigh no more than their number times the heaviest of them
    const double others = run.bound * power_above_exp(above > -700.0 ? above : -700.0);
    if (!(above < 0 && run.uniforms[at] * (1.0 + others) < 1.0)) return at;
  }
  return end;
}

PARTITA_CLONES void log_sum_exp_parts(double* logp, const double* base, int wide, const int32_t* first, int parts, double* out) {
  double top[kMostParts], sum[kMostParts];
  for (int k = 0; k < wide; ++k) logp[k] += base[k];
  for (int p = 0; p < parts; ++p) {
    top[p] = logp[first[p]];
    for (int k = first[p]; k < first[p + 1]; ++k) top[p] = top[p] > logp[k] ? top[p] : logp[k];
    for (int k = first[p]; k < first[p + 1]; ++k) logp[k] -= top[p];
  }
  for (int k = 0; k < wide; ++k) logp[k] = fast_exp(logp[k]);
  for (int p = 0; p < parts; ++p) {
    sum[p] = 0.0;
    for (int k = first[p]; k < first[p + 1]; ++k) sum[p] += logp[k];
  }
  for (int p = 0; p < parts; ++p) sum[p] = fast_log(sum[p]);
  for (int p = 0; p < parts; ++p) out[p] += top[p] + sum[p];
}

PARTITA_CLONES double log_sum_exp(const double* logp, int n) {
  const double top = largest(logp, n);
  const int full = n & ~7;
  double s[8] = {0};
  for (int k = 0; k < full; k += 8)
    for (int j = 0; j < 8; ++j) s[j] += fast_exp(logp[k + j] - top);
  for (int k = full; k < n; ++k) s[0] += fast_exp(logp[k] - top);
  return top + fast_log(sum_of_eight(s));
}

}  // namespace partita
