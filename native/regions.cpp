#include "regions.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "arithmetic.hpp"

namespace partita {

namespace {

constexpr int kBlock = 256;
constexpr double kSmallest = 1e-300;

constexpr double kMildPotential = 40.0;  // products of eight numbers between exp(-40) and exp(40) stay finite

// sums[i] = sum over classes of proba[i, c] * factor[cell[i], c]. Two classes are the common case, worth their own loop.
void mix(const int32_t* cell, const double* proba, const double* factor, int n, int C, double* sums) {
  if (C == 2) {
    for (int i = 0; i < n; ++i) sums[i] = proba[2 * i] * factor[2 * cell[i]] + proba[2 * i + 1] * factor[2 * cell[i] + 1];
    return;
  }
  for (int i = 0; i < n; ++i) {
    const double *p = proba + int64_t(i) * C, *f = factor + int64_t(cell[i]) * C;
    double sum = 0.0;
    for (int c = 0; c < C; ++c) sum += p[c] * f[c];
    sums[i] = sum;
  }
}

// The sum of the logs of n <= kBlock numbers, one logarithm for eight of them; changes x.
double sum_logs_of_products(double* x, int n) {
  const int eighths = (n + 7) / 8;
  for (int i = n; i < 8 * eighths; ++i) x[i] = 1.0;
  for (int k = 0; k < eighths; ++k) {
    const double* y = x + 8 * k;
    x[k] = ((y[0] * y[1]) * (y[2] * y[3])) * ((y[4] * y[5]) * (y[6] * y[7]));
  }
  log_in_place(x, eighths);
  double total = 0.0;
  for (int k = 0; k < eighths; ++k) total += x[k];
  return total;
}

// The weighted sum of the logs of n numbers; changes x.
double weighted_logs(const double* weight, double* x, int n) {
  for (int i = 0; i < n; ++i) x[i] = std::max(x[i], kSmallest);
  log_in_place(x, n);
  double total = 0.0;
  for (int i = 0; i < n; ++i) total += weight[i] * x[i];
  return total;
}

// The cell of every row in a region; regions in lexicographic order share all but their last attribute.
class Cells {
 public:
  explicit Cells(const CodedRows& rows) : rows_(rows), prefix_(rows.n_rows), cell_(rows.n_rows) {}

  const int32_t* of(const int32_t* member, int order) {
    const int64_t n = rows_.n_rows;
    if (!same_prefix(member, order)) fill_prefix(member, order);
    const int32_t last = rows_.levels[member[order - 1]];
    const int32_t* code = rows_.codes + int64_t(member[order - 1]) * n;
    for (int64_t i = 0; i < n; ++i) cell_[i] = prefix_[i] * last + code[i];
    return cell_.data();
  }

 private:
  bool same_prefix(const int32_t* member, int order) const {
    return known_ == order && std::equal(member, member + order - 1, prefix_of_);
  }

  void fill_prefix(const int32_t* member, int order) {
    std::fill(prefix_.begin(), prefix_.end(), 0);
    for (int k = 0; k + 1 < order; ++k) {
      const int32_t size = rows_.levels[member[k]];
      const int32_t* code = rows_.codes + int64_t(member[k]) * rows_.n_rows;
      for (int64_t i = 0; i < rows_.n_rows; ++i) prefix_[i] = prefix_[i] * size + code[i];
      prefix_of_[k] = member[k];
    }
    known_ = order;
  }

  const CodedRows& rows_;
  std::vector<int32_t> prefix_, cell_;
  int32_t prefix_of_[kMostAttributes] = {};
  int known_ = 0;
};

// How a region's cells map to those of one subset of its attributes (a bit mask).
struct Projection {
  int cells = 1;            // of the subset
  std::vector<int> target;  // cell of the region -> cell of the subset

  Projection(const int32_t* levels, const int32_t* member, int order, unsigned subset) {
    target.assign(1, 0);
    for (int k = 0; k < order; ++k) {
      const int size = levels[member[k]];
      const bool in = subset >> k & 1u;
      std::vector<int> wider(target.size() * size);
      for (size_t u = 0; u < target.size(); ++u)
        for (int l = 0; l < size; ++l) wider[u * size + l] = in ? target[u] * size + l : target[u];
      target.swap(wider);
      if (in) cells *= size;
    }
  }
};

// Sum over the new subsets T that contain `subset` of (-1)^(|T| - |subset|): how often its log P enters the product.
int coefficient(uint32_t fresh, unsigned subset, int order) {
  int sum = 0;
  for (unsigned t = 0; t < 1u << order; ++t)
    if ((fresh >> t & 1u) && (t & subset) == subset) sum += __builtin_popcount(t ^ subset) & 1 ? -1 : 1;
  return sum;
}

// All cells of one table from the sums with "any level" at place 0 of each axis: what is left there is level 0.
void separate_levels(double* table, const int* sizes, int order, int width) {
  int after = width, cells = width;
  for (int k = 0; k < order; ++k) cells *= sizes[k];
  for (int k = order - 1; k >= 0; --k) {
    const int span = after * sizes[k];
    for (int start = 0; start < cells; start += span)
      for (int l = 1; l < sizes[k]; ++l)
        for (int e = 0; e < after; ++e) table[start + e] -= table[start + l * after + e];
    after = span;
  }
}

}  // namespace

void region_sums(const CodedRows& rows, const Regions& regions, const double* vectors, int width, double* out) {
  Cells cells(rows);
  for (int64_t j = 0; j < regions.n; ++j) {
    const int32_t* cell = cells.of(regions.members + j * regions.order, regions.order);
    double* table = out + regions.offset[j] * width;
    std::fill(table, out + regions.offset[j + 1] * width, 0.0);
    if (width == 1) {
      for (int64_t i = 0; i < rows.n_rows; ++i) table[cell[i]] += vectors[i];
    } else {
      for (int64_t i = 0; i < rows.n_rows; ++i)
        for (int v = 0; v < width; ++v) table[int64_t(cell[i]) * width + v] += vectors[i * width + v];
    }
  }
}

void region_sums_of_moments(const int32_t* levels, const Regions& regions, const Moments& moments, double* out) {
  const int V = moments.width, K = moments.n_columns, r = regions.order;
  for (int64_t j = 0; j < regions.n; ++j) {
    const int32_t* member = regions.members + j * r;
    int sizes[3] = {1, 1, 1}, column[3] = {0, 0, 0};
    for (int k = 0; k < r; ++k) {
      sizes[k] = levels[member[k]];
      column[k] = moments.first[member[k]] - 1;  // level l >= 1 has the indicator column[k] + l
    }
    double* table = out + regions.offset[j] * V;
    const int inner = r == 3 ? sizes[2] : 1;  // unused axes have one level, level 0: "any"
    for (int a = 0; a < sizes[0]; ++a)
      for (int b = 0; b < sizes[1]; ++b)
        for (int c = 0; c < inner; ++c) {
          int at[3], n = 0;
          if (a) at[n++] = column[0] + a;
          if (b) at[n++] = column[1] + b;
          if (c) at[n++] = column[2] + c;
          for (int v = 0; v < V; ++v) {
            const int64_t square = int64_t(K) * K;
            const double x = n == 0   ? moments.zero[v]
                             : n == 1 ? moments.one[int64_t(v) * K + at[0]]
                             : n == 2 ? moments.two[v * square + int64_t(at[0]) * K + at[1]]
                                      : moments.three[(int64_t(v) * (sizes[0] - 1) + a - 1) * square + int64_t(at[1]) * K + at[2]];
            *table++ = x;
          }
        }
    separate_levels(out + regions.offset[j] * V, sizes, r, V);
  }
}

void region_potentials(const int32_t* levels, const Regions& regions, const uint32_t* fresh, const double* counts,
                       int n_classes, double theta, double* out) {
  const int C = n_classes, r = regions.order;
  std::vector<double> marginal;
  for (int64_t j = 0; j < regions.n; ++j) {
    const int32_t* member = regions.members + j * r;
    const int cells = int(regions.offset[j + 1] - regions.offset[j]);
    const double* count = counts + regions.offset[j] * C;
    double* potential = out + regions.offset[j] * (C - 1);
    std::fill(potential, potential + int64_t(cells) * (C - 1), 0.0);
    for (unsigned subset = 0; subset < 1u << r; ++subset) {
      const int times = coefficient(fresh[j], subset, r);
      if (times == 0) continue;
      const Projection to(levels, member, r, subset);
      marginal.assign(size_t(to.cells) * C, theta / (double(to.cells) * C));  // eq. 4
      for (int k = 0; k < cells; ++k)
        for (int c = 0; c < C; ++c) marginal[size_t(to.target[k]) * C + c] += count[k * C + c];
      log_in_place(marginal.data(), int(marginal.size()));
      for (int k = 0; k < cells; ++k) {
        const double* logs = marginal.data() + size_t(to.target[k]) * C;
        for (int c = 0; c + 1 < C; ++c) potential[k * (C - 1) + c] += times * (logs[c] - logs[C - 1]);
      }
    }
  }
}

void region_normalisers(const CodedRows& rows, const double* weight, const double* proba, int n_classes,
                        const Regions& regions, const double* potentials, double* out) {
  Cells cells(rows);
  const int C = n_classes;
  const bool even = std::all_of(weight, weight + rows.n_rows, [](double w) { return w == 1.0; });
  std::vector<double> factor, shift;
  double sums[kBlock + 8];
  for (int64_t j = 0; j < regions.n; ++j) {
    const int n_cells = int(regions.offset[j + 1] - regions.offset[j]);
    const double* potential = potentials + regions.offset[j] * (C - 1);
    double largest = 0.0;
    for (int64_t e = 0; e < int64_t(n_cells) * (C - 1); ++e) largest = std::max(largest, std::abs(potential[e]));
    const bool mild = largest <= kMildPotential;
    factor.assign(size_t(n_cells) * C, 1.0);
    shift.assign(size_t(n_cells), 0.0);
    for (int k = 0; k < n_cells; ++k) {
      if (!mild)  // the largest factor of a cell becomes 1: nothing overflows
        for (int c = 0; c + 1 < C; ++c) shift[k] = std::max(shift[k], potential[k * (C - 1) + c]);
      for (int c = 0; c < C; ++c)
        factor[size_t(k) * C + c] = fast_exp((c + 1 < C ? potential[k * (C - 1) + c] : 0.0) - shift[k]);
    }
    const int32_t* cell = cells.of(regions.members + j * regions.order, regions.order);
    double total = 0.0;
    for (int64_t begin = 0; begin < rows.n_rows; begin += kBlock) {
      const int n = int(std::min<int64_t>(kBlock, rows.n_rows - begin));
      mix(cell + begin, proba + begin * C, factor.data(), n, C, sums);
      total += mild && even ? sum_logs_of_products(sums, n) : weighted_logs(weight + begin, sums, n);
    }
    if (!mild)
      for (int64_t i = 0; i < rows.n_rows; ++i) total += weight[i] * shift[cell[i]];
    out[j] = total;
  }
}

}  // namespace partita
