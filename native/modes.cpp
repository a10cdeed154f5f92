// L-BFGS around a preconditioner; products with the design in single precision.
#include "modes.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "arithmetic.hpp"
#include "interactions.hpp"

namespace partita {

namespace {

constexpr double kEnough = 1e-4, kRounding = 1e-9;  // as in `kernels/reference/modes.py`
constexpr int kShrinks = 12, kLanes = 16, kRowsAtATime = 64;

typedef float Lanes __attribute__((vector_size(4 * kLanes)));
typedef float HalfLanes __attribute__((vector_size(2 * kLanes)));
typedef float QuarterLanes __attribute__((vector_size(kLanes)));

PARTITA_INLINE Lanes load(const float* x) {
  Lanes v;
  std::memcpy(&v, x, sizeof v);
  return v;
}

// by halves: one lane after the other would take longer than the products of a short row
PARTITA_INLINE float sum(Lanes v) {
  HalfLanes half[2];
  std::memcpy(half, &v, sizeof v);
  const HalfLanes h = half[0] + half[1];
  QuarterLanes quarter[2];
  std::memcpy(quarter, &h, sizeof h);
  const QuarterLanes q = quarter[0] + quarter[1];
  return (q[0] + q[1]) + (q[2] + q[3]);
}

PARTITA_INLINE float dot(const float* a, const float* b, int64_t n) {
  Lanes first = {}, second = {};
  int64_t j = 0;
  for (; j + 2 * kLanes <= n; j += 2 * kLanes) {
    first += load(a + j) * load(b + j);
    second += load(a + j + kLanes) * load(b + j + kLanes);
  }
  if (j + kLanes <= n) {
    first += load(a + j) * load(b + j);
    j += kLanes;
  }
  float total = sum(first + second);
  for (; j < n; ++j) total += a[j] * b[j];
  return total;
}

PARTITA_INLINE void add_times(float* to, float a, const float* x, int64_t n) {
  for (int64_t j = 0; j < n; ++j) to[j] += a * x[j];
}

double inner(const std::vector<double>& a, const std::vector<double>& b) {
  double total[4] = {};
  size_t j = 0;
  for (; j + 4 <= a.size(); j += 4)
    for (int l = 0; l < 4; ++l) total[l] += a[j + l] * b[j + l];
  for (; j < a.size(); ++j) total[0] += a[j] * b[j];
  return (total[0] + total[1]) + (total[2] + total[3]);
}

// out = M'M x, M (rows, columns)
PARTITA_CLONES void apply(const FactorView& f, const float* x, float* y, float* out) {
  if (f.by_columns) {
    std::fill_n(y, f.rows, 0.0f);
    for (int64_t j = 0; j < f.columns; ++j) add_times(y, x[j], f.m + j * f.rows, f.rows);
    for (int64_t j = 0; j < f.columns; ++j) out[j] = dot(f.m + j * f.rows, y, f.rows);
    return;
  }
  std::fill_n(out, f.columns, 0.0f);
  for (int64_t i = 0; i < f.rows; ++i) {
    const float* row = f.m + i * f.columns;
    add_times(out, dot(row, x, f.columns), row, f.columns);
  }
}

// out (n, K) = X s d, d (p, K)
PARTITA_CLONES void times(const DenseProblem& q, const double* d, std::vector<float>& w, double* out) {
  const int K = q.n_logits;
  for (int64_t j = 0; j < q.p; ++j)
    for (int k = 0; k < K; ++k) w[size_t(k) * q.p + j] = float(q.scale[j] * d[j * K + k]);
  for (int64_t i = 0; i < q.n; ++i)
    for (int k = 0; k < K; ++k) out[i * K + k] = dot(q.design + i * q.p, w.data() + size_t(k) * q.p, q.p);
}

// out (p, K) = s X' r + u; sums over few rows in single precision
PARTITA_CLONES void gradient_at(const DenseProblem& q, const double* r, const double* u, std::vector<float>& w, double* out) {
  const int K = q.n_logits;
  std::fill_n(out, q.p * K, 0.0);
  for (int64_t from = 0; from < q.n; from += kRowsAtATime) {
    const int64_t to = std::min(q.n, from + kRowsAtATime);
    std::fill(w.begin(), w.end(), 0.0f);
    for (int64_t i = from; i < to; ++i)
      for (int k = 0; k < K; ++k) add_times(w.data() + size_t(k) * q.p, float(r[i * K + k]), q.design + i * q.p, q.p);
    for (int64_t j = 0; j < q.p; ++j)
      for (int k = 0; k < K; ++k) out[j * K + k] += w[size_t(k) * q.p + j];
  }
  for (int64_t j = 0; j < q.p; ++j)
    for (int k = 0; k < K; ++k) out[j * K + k] = q.scale[j] * out[j * K + k] + u[j * K + k];
}

struct Step {
  std::vector<double> moved, bend;
  double inverse;
};

// the two loops of L-BFGS around the preconditioner
void direction_of(const std::vector<double>& gradient, const std::vector<Step>& history, const Preconditioner& solver,
                  std::vector<double>& q, std::vector<double>& out) {
  q = gradient;
  std::vector<double> share(history.size());
  for (size_t h = history.size(); h-- > 0;) {
    share[h] = history[h].inverse * inner(history[h].moved, q);
    for (size_t j = 0; j < q.size(); ++j) q[j] -= share[h] * history[h].bend[j];
  }
  precondition(solver, q.data(), out.data());
  for (size_t h = 0; h < history.size(); ++h) {
    const double a = share[h] - history[h].inverse * inner(history[h].bend, out);
    for (size_t j = 0; j < q.size(); ++j) out[j] += a * history[h].moved[j];
  }
}

}  // namespace

void precondition(const Preconditioner& solver, const double* x, double* out) {
  const int K = solver.n_logits;
  for (int64_t j = solver.old; j < solver.p; ++j)
    for (int k = 0; k < K; ++k) out[j * K + k] = x[j * K + k] * solver.ratio[j] / solver.tail[(j - solver.old) * K + k] * solver.ratio[j];
  std::vector<float> all(solver.old), some(solver.old), solved(solver.old), between;
  for (size_t k = 0; k < solver.factors.size(); ++k) {
    const FactorView& f = solver.factors[k];
    for (int64_t j = 0; j < solver.old; ++j) {
      all[j] = float(x[j * K + k] * solver.ratio[j]);
      if (f.kept) out[j * K + k] = all[j] * solver.variance[j * K + k] * solver.ratio[j];
    }
    for (int64_t c = 0; c < f.columns; ++c) some[c] = all[f.kept ? f.kept[c] : c];
    between.resize(f.rows);
    apply(f, some.data(), between.data(), solved.data());
    for (int64_t c = 0; c < f.columns; ++c) {
      const int64_t j = f.kept ? f.kept[c] : c;
      out[j * K + k] = double(f.dual ? some[c] - solved[c] : solved[c]) * solver.ratio[j];
    }
  }
}

namespace {

// One search: where it stands, and room for where it might go.
struct Descent {
  const DenseProblem& problem;
  const Preconditioner& solver;
  double *u, *logits, *residual;
  const size_t size, cells;
  double loss, value, uu;
  std::vector<double> gradient, ahead, direction, scratch, along, there, left;
  std::vector<float> w;
  std::vector<Step> history;

  Descent(const DenseProblem& q, const Preconditioner& s, double begin, double* at, double* f, double* r)
      : problem(q), solver(s), u(at), logits(f), residual(r), size(size_t(q.p) * q.n_logits), cells(size_t(q.n) * q.n_logits),
        loss(begin), gradient(size), ahead(size), direction(size), scratch(size), along(cells), there(cells), left(cells), w(size) {
    uu = with_u(u);
    value = loss + 0.5 * uu;
    gradient_at(problem, residual, u, w, gradient.data());
  }

  double with_u(const double* x) const {
    double total = 0.0;
    for (size_t j = 0; j < size; ++j) total += u[j] * x[j];
    return total;
  }

  // the first step along the direction that decreases enough, 0 if there is none; moves logits only
  double line_search(double slope) {
    const double ud = with_u(direction.data()), dd = inner(direction, direction);
    double step = 1.0;
    for (int t = 0; t < kShrinks; ++t) {
      for (size_t i = 0; i < cells; ++i) there[i] = logits[i] - step * along[i];
      const double loss_there = softmax_loss(there.data(), problem.n, problem.n_logits, problem.label, problem.weight, left.data());
      const double value_there = loss_there + 0.5 * (uu - 2.0 * step * ud + step * step * dd);
      if (value_there <= value - kEnough * step * slope + kRounding * std::fabs(value)) {
        std::copy(there.begin(), there.end(), logits);
        std::copy(left.begin(), left.end(), residual);
        loss = loss_there;
        value = value_there;
        return step;
      }
      const double parabola = 0.5 * slope * step * step / std::max(value_there - value + step * slope, 1e-30);
      step = std::max(0.15 * step, std::min(0.6 * step, parabola));
    }
    return 0.0;
  }

  bool go(double tolerance) {
    direction_of(gradient, history, solver, scratch, direction);
    const double slope = inner(gradient, direction);
    if (!(slope > tolerance)) return false;
    times(problem, direction.data(), w, along.data());
    const double step = line_search(slope);
    if (step == 0.0) return false;
    Step taken{std::vector<double>(size), std::vector<double>(size), 0.0};
    for (size_t j = 0; j < size; ++j) u[j] += taken.moved[j] = -step * direction[j];
    uu = with_u(u);
    gradient_at(problem, residual, u, w, ahead.data());
    for (size_t j = 0; j < size; ++j) taken.bend[j] = ahead[j] - gradient[j];
    const double curvature = inner(taken.moved, taken.bend);
    gradient.swap(ahead);
    if (curvature > 0) {
      taken.inverse = 1.0 / curvature;
      history.push_back(std::move(taken));
    }
    return true;
  }
};

}  // namespace

double dense_mode(const DenseProblem& problem, const Preconditioner& solver, int max_steps, double tolerance, double loss, double* u,
                  double* logits, double* residual) {
  Descent descent(problem, solver, loss, u, logits, residual);
  for (int s = 0; s < max_steps && descent.go(tolerance); ++s) {
  }
  return descent.loss;
}

PARTITA_CLONES void column_information(const float* design, int64_t n, int64_t p, const double* information, int n_logits, double* out) {
  std::vector<float> sums(size_t(p) * n_logits), squares(p);
  std::fill_n(out, p * n_logits, 0.0);
  for (int64_t from = 0; from < n; from += kRowsAtATime) {
    const int64_t to = std::min(n, from + kRowsAtATime);
    std::fill(sums.begin(), sums.end(), 0.0f);
    for (int64_t i = from; i < to; ++i) {
      for (int64_t j = 0; j < p; ++j) squares[j] = design[i * p + j] * design[i * p + j];
      for (int k = 0; k < n_logits; ++k)
        add_times(sums.data() + size_t(k) * p, float(information[i * n_logits + k]), squares.data(), p);
    }
    for (int64_t j = 0; j < p; ++j)
      for (int k = 0; k < n_logits; ++k) out[j * n_logits + k] += sums[size_t(k) * p + j];
  }
}

PARTITA_CLONES void informed_rows(const float* design, int64_t p, const double* scale, const int64_t* rows, int64_t n_rows,
                                  const int64_t* columns, int64_t n_columns, const double* root, float* out) {
  std::vector<float> by(n_columns);
  for (int64_t j = 0; j < n_columns; ++j) by[j] = float(scale[columns ? columns[j] : j]);
  for (int64_t i = 0; i < n_rows; ++i) {
    const float* from = design + (rows ? rows[i] : i) * p;
    float* to = out + i * n_columns;
    const float a = float(root[i]);
    if (columns)
      for (int64_t j = 0; j < n_columns; ++j) to[j] = from[columns[j]] * by[j] * a;
    else
      for (int64_t j = 0; j < n_columns; ++j) to[j] = from[j] * by[j] * a;
  }
}

}  // namespace partita
