// Griddy Gibbs on hyper-parameters, from group statistics alone: no row is looked at.
#include <algorithm>

#include "kernels.hpp"

namespace partita {

namespace {

// Calls what(statistics) for every group that holds column d.
template <class What>
void for_each_group(const Layout& layout, const Chain& chain, int d, What what) {
  const int view = chain.view[d];
  const int classes = view == BACKGROUND ? 1 : chain.n_classes;
  for (int c = 0; c < classes; ++c) {
    const int n = view < FIRST_RESTAURANT ? 1 : chain.used[(view - FIRST_RESTAURANT) * chain.n_classes + c];
    Groups groups = groups_of(layout, chain, c);
    for (int g = 0; g < n; ++g) what(static_cast<const double*>(groups.at(d, g)));
  }
}

void refresh_column(const Layout& layout, const Chain& chain, int d) {
  const int view = chain.view[d];
  for (int c = 0; c < chain.n_classes; ++c) {
    const int n = view < FIRST_RESTAURANT ? 0 : chain.used[(view - FIRST_RESTAURANT) * chain.n_classes + c];
    refresh_all(groups_of(layout, chain, c), d, std::min(n + 1, chain.capacity));
  }
}

// The prior of a grid point is a Dirichlet process over the columns of a kind: those that sit there already, and 1 / size.
struct Seats {
  std::vector<double> count, log_prior, logp, weight;
  explicit Seats(int size) : count(size, 0.0), log_prior(size, -std::log(double(size))), logp(size), weight(size) {}
  void change(int k, double by) {
    count[k] += by;
    log_prior[k] = fast_log(count[k] + 1.0 / double(count.size()));
  }
  int draw(double u) {
    const int n = int(count.size());
    for (int k = 0; k < n; ++k) logp[k] += log_prior[k];
    double top, total = exponentiate(logp.data(), n, weight.data(), &top);
    return pick(weight.data(), n, total, u);
  }
};

// sums over groups of log Gamma(a + k) - log Gamma(a) on the grid of a (or of a + b): one table row per count
struct Rises {
  std::vector<int32_t> tabulated;
  std::vector<double> beyond;  // counts past the end of the table: rare, large groups
  void clear() {
    tabulated.clear();
    beyond.clear();
  }
  void add(double count, int n_counts) {
    if (count <= 0) return;
    if (count < n_counts) tabulated.push_back(int32_t(count + 0.5));
    else beyond.push_back(count);
  }
  template <class Point>
  void sum(const double* table, int stride, int width, Point point, double* out) const {
    accumulate(table, stride, tabulated.data(), int(tabulated.size()), stride, out);
    for (double count : beyond)
      for (int a = 0; a < width; ++a) out[a] += fast_lgamma(point(a) + count) - fast_lgamma(point(a));
  }
};

// what a move of a binary column is computed in, one after the other
struct Bench {
  Rises ones, zeros, totals;
  std::vector<double> one, nil, both;
  std::vector<int32_t> pair;  // of (a, b): where a + b stands among the sums, the same both ways round
  explicit Bench(int A) : one(padded(A)), nil(padded(A)), both(padded(A * (A + 1) / 2)) {
    for (int a = 0; a < A; ++a)
      for (int b = 0; b < A; ++b) {
        const int low = a < b ? a : b, high = a < b ? b : a;
        pair.push_back(low * A - low * (low - 1) / 2 + high - low);
      }
  }
};

void move_binary(const Layout& layout, Chain& chain, const Grids& grids, int d, Seats& seats, Bench& bench, double u) {
  const int A = grids.n_beta, pairs = A * (A + 1) / 2, wide = padded(A), wide_pairs = padded(pairs);
  auto &ones = bench.ones, &zeros = bench.zeros, &totals = bench.totals;
  auto &one = bench.one, &nil = bench.nil, &both = bench.both;
  for (Rises* each : {&ones, &zeros, &totals}) each->clear();
  for_each_group(layout, chain, d, [&](const double* s) {
    ones.add(s[0], grids.n_counts);
    zeros.add(s[1], grids.n_counts);
    totals.add(s[0] + s[1], grids.n_counts);
  });
  ones.sum(grids.rise, wide, A, [&](int a) { return grids.beta[a]; }, one.data());
  zeros.sum(grids.rise, wide, A, [&](int a) { return grids.beta[a]; }, nil.data());
  totals.sum(grids.rise_sum, wide_pairs, pairs, [&](int p) { return grids.sums[p]; }, both.data());
  int32_t* at = chain.at + 4 * d;
  seats.change(at[0] * A + at[1], -1.0);
  for (int a = 0; a < A; ++a)
    for (int b = 0; b < A; ++b) seats.logp[a * A + b] = one[a] + nil[b] - both[bench.pair[a * A + b]];
  const int k = seats.draw(u);
  at[0] = k / A;
  at[1] = k % A;
  seats.change(k, 1.0);
  chain.hyper[4 * d] = grids.beta[at[0]];
  chain.hyper[4 * d + 1] = grids.beta[at[1]];
}

void move_categorical(const Layout& layout, Chain& chain, const Grids& grids, int d, Seats& seats, double u) {
  const int H = grids.n_strength;
  const double* base = layout.base + layout.base_first[d];
  std::fill(seats.logp.begin(), seats.logp.end(), 0.0);
  std::vector<double> buffer(H), start(H), total(H);
  for (int h = 0; h < H; ++h) total[h] = grids.strength[h];
  lgamma_in_place(total.data(), H);
  std::vector<double> level_start(size_t(layout.levels[d]) * H);
  for (int l = 0; l < layout.levels[d]; ++l)
    for (int h = 0; h < H; ++h) level_start[l * H + h] = grids.strength[h] * base[l];
  lgamma_in_place(level_start.data(), int(level_start.size()));
  for_each_group(layout, chain, d, [&](const double* s) {
    if (s[0] <= 0) return;
    for (int h = 0; h < H; ++h) buffer[h] = grids.strength[h] + s[0];
    lgamma_in_place(buffer.data(), H);
    for (int h = 0; h < H; ++h) seats.logp[h] += total[h] - buffer[h];
    for (int l = 0; l < layout.levels[d]; ++l) {
      if (s[1 + l] <= 0) continue;
      for (int h = 0; h < H; ++h) buffer[h] = grids.strength[h] * base[l] + s[1 + l];
      lgamma_in_place(buffer.data(), H);
      for (int h = 0; h < H; ++h) seats.logp[h] += buffer[h] - level_start[l * H + h];
    }
  });
  int32_t* at = chain.at + 4 * d;
  seats.change(at[0], -1.0);
  at[0] = seats.draw(u);
  seats.change(at[0], 1.0);
  chain.hyper[4 * d] = grids.strength[at[0]];
}

void move_count(const Layout& layout, Chain& chain, const Grids& grids, int d, Seats& seats, double u) {
  const int A = grids.n_shape, B = grids.n_scale;
  const double mean = layout.base[layout.base_first[d]];
  std::fill(seats.logp.begin(), seats.logp.end(), 0.0);
  for_each_group(layout, chain, d, [&](const double* s) {
    if (s[0] <= 0) return;
    for (int a = 0; a < A; ++a) {
      const double shape = grids.shape[a], gain = fast_lgamma(shape + s[1]) - fast_lgamma(shape);
      for (int b = 0; b < B; ++b) {
        const double rate = shape / (mean * grids.scale[b]);
        seats.logp[a * B + b] += gain + shape * fast_log(rate) - (shape + s[1]) * fast_log(rate + s[0]);
      }
    }
  });
  int32_t* at = chain.at + 4 * d;
  seats.change(at[0] * B + at[1], -1.0);
  const int k = seats.draw(u);
  seats.change(k, 1.0);
  at[0] = k / B;
  at[1] = k % B;
  chain.hyper[4 * d] = grids.shape[at[0]];
  chain.hyper[4 * d + 1] = grids.shape[at[0]] / (mean * grids.scale[at[1]]);
}

// kappa, nu and sigma^2 in turn
void move_real(const Layout& layout, Chain& chain, const Grids& grids, int d, Seats* seats, const double* uniforms) {
  const double* grid[3] = {grids.kappa, grids.nu, grids.sigma};
  double* h = chain.hyper + 4 * d;
  int32_t* at = chain.at + 4 * d;
  std::vector<double> count, sum, squares;
  for_each_group(layout, chain, d, [&](const double* s) {
    if (s[0] <= 0) return;
    count.push_back(s[0]);
    sum.push_back(s[1]);
    squares.push_back(s[2]);
  });
  for (int j = 0; j < 3; ++j) {
    Seats& here = seats[j];
    const int n = int(here.count.size());
    for (int k = 0; k < n; ++k) {
      h[j] = grid[j][k];
      here.logp[k] = real_evidence(count.data(), sum.data(), squares.data(), int(count.size()), h);
    }
    here.change(at[j], -1.0);
    at[j] = here.draw(uniforms[j]);
    here.change(at[j], 1.0);
    h[j] = grid[j][at[j]];
  }
}

}  // namespace

void move_hyper(const Layout& layout, Chain& chain, const Grids& grids, const double* uniforms) {
  Seats binary(grids.n_beta * grids.n_beta), categorical(grids.n_strength), count(grids.n_shape * grids.n_scale);
  Bench bench(grids.n_beta);
  Seats real[3] = {Seats(grids.n_kappa), Seats(grids.n_nu), Seats(grids.n_sigma)};
  for (int d = 0; d < layout.n_columns; ++d) {
    const int32_t* at = chain.at + 4 * d;
    switch (layout.kind[d]) {
      case BINARY: binary.change(at[0] * grids.n_beta + at[1], 1.0); break;
      case CATEGORICAL: categorical.change(at[0], 1.0); break;
      case COUNT: count.change(at[0] * grids.n_scale + at[1], 1.0); break;
      case REAL:
        for (int j = 0; j < 3; ++j) real[j].change(at[j], 1.0);
        break;
      default: break;
    }
  }
  for (int d = 0; d < layout.n_columns; ++d) {
    const double* u = uniforms + 3 * d;
    switch (layout.kind[d]) {
      case BINARY: move_binary(layout, chain, grids, d, binary, bench, u[0]); break;
      case CATEGORICAL: move_categorical(layout, chain, grids, d, categorical, u[0]); break;
      case COUNT: move_count(layout, chain, grids, d, count, u[0]); break;
      case REAL: move_real(layout, chain, grids, d, real, u); break;
      default: {
        std::vector<const double*> held;
        for_each_group(layout, chain, d, [&](const double* s) { if (s[0] > 0) held.push_back(s); });
        move_block(layout.levels[d], chain.hyper + 4 * d, chain.at + 4 * d, grids, held, u);
      }
    }
    refresh_column(layout, chain, d);
  }
}

void refresh_tables(const Layout& layout, Chain& chain) {
  for (int d = 0; d < layout.n_columns; ++d) refresh_column(layout, chain, d);
}

double log_likelihood(const Layout& layout, const Chain& chain) {
  double sum = 0.0;
  for (int d = 0; d < layout.n_columns; ++d)
    for_each_group(layout, chain, d, [&](const double* s) { sum += log_marginal(layout, d, chain.hyper + 4 * d, s); });
  return sum;
}

// alpha and discount of every restaurant and class on a grid: prior times the probability of the partition,
//   product over k < K of (alpha + discount k) * Gamma(alpha) / Gamma(alpha + n) * product over groups of Gamma(size - discount) / Gamma(1 - discount)
void move_concentration(Chain& chain, const Laws& laws, const double* uniforms) {
  const int P = laws.n;
  std::vector<double> fixed(P), places(P), ahead(P), unit(P), room(P), logp(P), weight(P), sizes(padded(chain.capacity));
  // with a negative discount the product is that of alpha / -discount places for groups, each taken at most once
  for (int p = 0; p < P; ++p) {
    fixed[p] = laws.alpha[p];
    places[p] = laws.discount[p] < 0 ? -laws.alpha[p] / laws.discount[p] : 0.0;
    ahead[p] = places[p] + 1.0;
    unit[p] = laws.discount[p] < 0 ? -laws.discount[p] : laws.alpha[p];
  }
  lgamma_in_place(fixed.data(), P);
  lgamma_in_place(ahead.data(), P);
  log_in_place(unit.data(), P);
  for (int q = 0; q < chain.n_restaurants * chain.n_classes; ++q) {
    const int K = chain.used[q];
    const double* size = chain.size + int64_t(q) * chain.capacity;
    double n = 0.0, of_sizes = 0.0;
    for (int g = 0; g < K; ++g) n += size[g];
    for (int p = 0; p < P; ++p) {
      logp[p] = laws.alpha[p] + n;
      room[p] = places[p] < K ? 1.0 : places[p] - K + 1.0;
    }
    lgamma_in_place(logp.data(), P);
    lgamma_in_place(room.data(), P);
    for (int p = 0; p < P; ++p) {
      const double less = laws.discount[p];
      if (p == 0 || less != laws.discount[p - 1]) {
        for (int g = 0; g < K; ++g) sizes[g] = size[g] - less;
        lgamma_in_place(sizes.data(), K);
        of_sizes = -K * fast_lgamma(1.0 - less);
        for (int g = 0; g < K; ++g) of_sizes += sizes[g];
      }
      const double opened = K * unit[p] + (less < 0 ? ahead[p] - room[p] : 0.0);
      logp[p] = less < 0 && places[p] < K ? kNever : laws.log_prior[p] + opened + fixed[p] - logp[p] + of_sizes;
    }
    double top, total = exponentiate(logp.data(), P, weight.data(), &top);
    const int p = pick(weight.data(), P, total, uniforms[q]);
    chain.alpha[q] = laws.alpha[p];
    chain.discount[q] = laws.discount[p];
  }
}

}  // namespace partita
