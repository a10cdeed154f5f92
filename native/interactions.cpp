// What a region of attributes would add to a fitted log-linear model, and the inner loops of fitting one.
#include "interactions.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "arithmetic.hpp"

namespace partita {

namespace {

// The sums of the moments in every occupied cell of a candidate region.
struct CellSums {
  const RegionScan& scan;
  const int width;
  std::vector<double> sums;
  std::vector<int32_t> code, place;  // of every row; of every cell, -1: not met yet
  std::vector<int32_t> prefix;  // cells of the first columns of a candidate, kept while they stay the same
  std::vector<int32_t> prefix_of;

  explicit CellSums(const RegionScan& s) : scan(s), width(2 * s.n_logits), code(s.n_rows), prefix(s.n_rows) {}

  void encode_prefix(const int32_t* region) {
    const int many = scan.order - 1;
    if (int(prefix_of.size()) == many && std::equal(region, region + many, prefix_of.begin())) return;
    prefix_of.assign(region, region + many);
    std::fill(prefix.begin(), prefix.end(), 0);
    for (int j = 0; j < many; ++j) {
      const int32_t* x = scan.columns + int64_t(region[j]) * scan.n_rows;
      const int32_t L = scan.levels[region[j]];
      for (int64_t i = 0; i < scan.n_rows; ++i) prefix[i] = prefix[i] * L + x[i];
    }
  }

  // number of occupied cells; their sums stand in the first rows of `sums`
  int32_t collect(const int32_t* region) {
    encode_prefix(region);
    const int32_t last = region[scan.order - 1], L = scan.levels[last];
    const int32_t* x = scan.columns + int64_t(last) * scan.n_rows;
    int64_t cells = 1;
    for (int j = 0; j < scan.order; ++j) cells *= scan.levels[region[j]];
    for (int64_t i = 0; i < scan.n_rows; ++i) code[i] = prefix[i] * L + x[i];
    if (cells > 2 * scan.n_rows + 64) return number_cells(cells);
    sums.assign(size_t(cells) * width, 0.0);
    add_rows();
    return squeeze(int32_t(cells));
  }

  // most cells are empty: number the occupied ones as they are met
  int32_t number_cells(int64_t cells) {
    if (int64_t(place.size()) < cells) place.resize(size_t(cells), -1);
    std::vector<int32_t> met;
    for (int64_t i = 0; i < scan.n_rows; ++i) {
      int32_t& at = place[code[i]];
      if (at < 0) {
        at = int32_t(met.size());
        met.push_back(code[i]);
      }
      code[i] = at;
    }
    for (int32_t cell : met) place[cell] = -1;
    sums.assign(met.size() * width, 0.0);
    add_rows();
    return int32_t(met.size());
  }

  void add_rows() {
    const double* m = scan.moments;
    double* s = sums.data();
    if (width == 2) {
      for (int64_t i = 0; i < scan.n_rows; ++i) {
        double* at = s + 2 * int64_t(code[i]);
        at[0] += m[2 * i];
        at[1] += m[2 * i + 1];
      }
      return;
    }
    for (int64_t i = 0; i < scan.n_rows; ++i) {
      double* at = s + int64_t(code[i]) * width;
      const double* from = m + i * width;
      for (int q = 0; q < width; ++q) at[q] += from[q];
    }
  }

  // empty cells out; every row carries some information, so an occupied cell has a positive sum
  int32_t squeeze(int32_t cells) {
    int32_t kept = 0;
    for (int32_t k = 0; k < cells; ++k) {
      const double* from = sums.data() + size_t(k) * width;
      if (!(from[scan.n_logits] > 0.0)) continue;
      if (kept != k) std::copy_n(from, width, sums.data() + size_t(kept) * width);
      ++kept;
    }
    return kept;
  }
};

// 1/2 sum g^2 / (h + 1/v) over cells and logits
double half_quadratic(const double* sums, int32_t cells, int K, double v) {
  double total = 0.0;
  for (int32_t k = 0; k < cells; ++k)
    for (int q = 0; q < K; ++q) {
      const double g = sums[size_t(k) * 2 * K + q], h = sums[size_t(k) * 2 * K + K + q];
      total += g * g * v / (1.0 + v * h);
    }
  return 0.5 * total;
}

// 1/2 sum log(1 + v h); logarithms of products, taken before they overflow
double half_log_determinant(const double* sums, int32_t cells, int K, double v) {
  double total = 0.0, product = 1.0;
  for (int32_t k = 0; k < cells; ++k)
    for (int q = 0; q < K; ++q) {
      product *= 1.0 + v * sums[size_t(k) * 2 * K + K + q];
      if (product > 1e200) {
        total += std::log(product);
        product = 1.0;
      }
    }
  return 0.5 * (total + std::log(product));
}

}  // namespace

void scan_regions(const RegionScan& scan, const int32_t* candidates, int64_t n_candidates, const double* fitted, double* gain,
                  int32_t* occupied, int32_t* best) {
  CellSums cells(scan);
  const int K = scan.n_logits, G = scan.n_scales;
  for (int64_t c = 0; c < n_candidates; ++c) {
    const int32_t m = occupied[c] = cells.collect(candidates + c * scan.order);
    gain[c] = -1.0;
    best[c] = 0;
    if (half_quadratic(cells.sums.data(), m, K, scan.scales[G - 1]) <= scan.threshold) continue;
    const double rho = std::max(1.0 - fitted[c] / m, 0.5 / m) * scan.share;
    for (int w = 0; w < G; ++w) {
      const double v = scan.scales[w];
      const double e = half_quadratic(cells.sums.data(), m, K, v) - rho * half_log_determinant(cells.sums.data(), m, K, v);
      if (w == 0 || e > gain[c]) {
        gain[c] = e;
        best[c] = w;
      }
    }
  }
}

namespace {

// one number a row: it stays in a register
void look_up_one(const int32_t* cells, int64_t n_rows, int n_blocks, const double* table, double* out) {
  for (int64_t i = 0; i < n_rows; ++i) {
    double sum = out[i];
    for (int b = 0; b < n_blocks; ++b) sum += table[cells[i * n_blocks + b]];
    out[i] = sum;
  }
}

void tally_one(const int32_t* cells, int64_t n_rows, int n_blocks, const double* values, double* out) {
  for (int64_t i = 0; i < n_rows; ++i) {
    const double value = values[i];
    for (int b = 0; b < n_blocks; ++b) out[cells[i * n_blocks + b]] += value;
  }
}

}  // namespace

void look_up(const int32_t* cells, int64_t n_rows, int n_blocks, const double* table, int width, double* out) {
  if (width == 1) return look_up_one(cells, n_rows, n_blocks, table, out);
  for (int64_t i = 0; i < n_rows; ++i)
    for (int b = 0; b < n_blocks; ++b) {
      const double* from = table + int64_t(cells[i * n_blocks + b]) * width;
      for (int k = 0; k < width; ++k) out[i * width + k] += from[k];
    }
}

void tally(const int32_t* cells, int64_t n_rows, int n_blocks, const double* values, int width, double* out) {
  if (width == 1) return tally_one(cells, n_rows, n_blocks, values, out);
  for (int64_t i = 0; i < n_rows; ++i)
    for (int b = 0; b < n_blocks; ++b) {
      double* at = out + int64_t(cells[i * n_blocks + b]) * width;
      for (int k = 0; k < width; ++k) at[k] += values[i * width + k];
    }
}

namespace {

PARTITA_CLONES double logistic_loss(const double* logits, int64_t n, const int32_t* label, const double* weight, double* residual) {
  double total = 0.0;
  for (int64_t i = 0; i < n; ++i) {
    const double f = logits[i], e = fast_exp(-std::fabs(f)), y = double(label[i]);
    const double p = (f >= 0 ? 1.0 : e) / (1.0 + e);
    residual[i] = weight[i] * (p - y);
    total += weight[i] * ((f > 0 ? f : 0.0) + fast_log(1.0 + e) - f * y);
  }
  return total;
}

}  // namespace

PARTITA_CLONES double softmax_loss(const double* logits, int64_t n_rows, int n_logits, const int32_t* label, const double* weight,
                                   double* residual) {
  if (n_logits == 1) return logistic_loss(logits, n_rows, label, weight, residual);
  double total = 0.0;
  for (int64_t i = 0; i < n_rows; ++i) {
    const double* f = logits + i * n_logits;
    double* r = residual + i * n_logits;
    double top = f[0], sum = 0.0;
    for (int k = 1; k < n_logits; ++k) top = f[k] > top ? f[k] : top;
    for (int k = 0; k < n_logits; ++k) r[k] = fast_exp(f[k] - top);
    for (int k = 0; k < n_logits; ++k) sum += r[k];
    const double scale = weight[i] / sum;
    for (int k = 0; k < n_logits; ++k) r[k] *= scale;
    r[label[i]] -= weight[i];
    total += weight[i] * (std::log(sum) - (f[label[i]] - top));
  }
  return total;
}

PARTITA_CLONES void tempered_labels(const double* against, const double* prior, int n_others, int64_t n_states, int64_t n_rows, double t,
                                    double* p) {
  constexpr int64_t kRows = 64;  // at a time, so that their sums stay at hand
  constexpr double kMost = 700.0;
  for (int64_t first = 0; first < n_rows; first += kRows) {
    const int64_t m = n_rows - first < kRows ? n_rows - first : kRows;
    double sum[kRows] = {}, odds[kRows];
    for (int64_t s = 0; s < n_states; ++s) {
      for (int64_t i = 0; i < m; ++i) odds[i] = 1.0;
      for (int k = 0; k < n_others; ++k) {
        const double *a = against + (k * n_states + s) * n_rows + first, *b = prior + k * n_rows + first;
        for (int64_t i = 0; i < m; ++i) {
          const double x = t * a[i] + b[i];
          odds[i] += fast_exp(x < kMost ? x : kMost);
        }
      }
      for (int64_t i = 0; i < m; ++i) sum[i] += 1.0 / odds[i];
    }
    for (int64_t i = 0; i < m; ++i) p[first + i] = sum[i] / double(n_states);
  }
}

PARTITA_CLONES void pool_shares(const double* likelihood, int n_members, int64_t n_rows, const double* weight, const double* prior,
                                int rounds, double tolerance, double* share) {
  std::vector<double> mixed(n_rows), credit(n_members);
  for (int r = 0; r < rounds; ++r) {
    std::fill(mixed.begin(), mixed.end(), 0.0);
    for (int m = 0; m < n_members; ++m)
      for (int64_t i = 0; i < n_rows; ++i) mixed[i] += share[m] * likelihood[m * n_rows + i];
    for (int64_t i = 0; i < n_rows; ++i) mixed[i] = weight[i] / mixed[i];
    double total = 0.0, furthest = 0.0;
    for (int m = 0; m < n_members; ++m) {
      double sum[8] = {};  // side by side, so that they can be one vector
      int64_t i = 0;
      for (; i + 8 <= n_rows; i += 8)
        for (int l = 0; l < 8; ++l) sum[l] += likelihood[m * n_rows + i + l] * mixed[i + l];
      for (; i < n_rows; ++i) sum[0] += likelihood[m * n_rows + i] * mixed[i];
      for (int l = 1; l < 8; ++l) sum[0] += sum[l];
      total += credit[m] = share[m] * sum[0] + prior[m];
    }
    for (int m = 0; m < n_members; ++m) {
      furthest = std::max(furthest, std::fabs(credit[m] / total - share[m]));
      share[m] = credit[m] / total;
    }
    if (furthest < tolerance) break;
  }
}

}  // namespace partita
