// Graphs drawn by orders of their nodes: sums over sets of parents within every set of nodes, and over the orders of every set.
#include <algorithm>
#include <cmath>
#include <limits>

#include "net_scores.hpp"
#include "net_sums.hpp"

namespace partita {

namespace {

std::vector<double>& room_of_thread() {
  static thread_local std::vector<double> room;
  return room;
}

}  // namespace

OrderDraws::OrderDraws(const NetTables& tables, double heat) : tables_(tables), heat_(heat), within_(room_of_thread()) {
  const size_t cells = size_t(1) << tables.n;
  if (within_.size() < cells * size_t(tables.n)) within_.resize(cells * size_t(tables.n));
  reached_.resize(cells);
  weight_.resize(cells);
  count_.resize(cells);
  passed_.resize(linear() ? cells : 0);
  share_.resize(static_cast<size_t>(tables.n));
  sets_.resize(cells);
  odds_.resize(size_t(tables.n) * tables.n);
}

// the sum over the orders of 16 nodes may span 16 times what doubles hold: long doubles of 15 bits of exponent do
bool OrderDraws::linear() const { return tables_.weight && std::numeric_limits<long double>::max_exponent >= 16384; }

namespace {

PARTITA_CLONES void multiply(double* to, const double* by, size_t n) {
  for (size_t x = 0; x < n; ++x) to[x] *= by[x];
}

// x[S] becomes the sum of x over all subsets of S, for sets S without node j (of others nothing is asked)
PARTITA_CLONES void subset_sums(int n, int j, double* x) {
  const size_t own = j < 3 ? 0 : size_t(1) << j;
  if (n >= 3)  // steps of one, two and four within blocks of eight, where a loop over them would be all overhead
    for (size_t start = 0; start < size_t(1) << n; start = ((start | own) + 8) & ~own) {
      double* y = x + start;
      y[1] += y[0];
      y[3] += y[2];
      y[5] += y[4];
      y[7] += y[6];
      y[2] += y[0];
      y[3] += y[1];
      y[6] += y[4];
      y[7] += y[5];
      for (int k = 0; k < 4; ++k) y[4 + k] += y[k];
    }
  for (int i = n >= 3 ? 3 : 0; i < n; ++i) {
    const size_t step = size_t(1) << i, run = own && own < step ? own : step;  // runs without node j
    if (step == own) continue;
    for (size_t start = step; start < size_t(1) << n; start += 2 * step) {
      if (start & own) continue;
      for (size_t from = start; from < start + step; from += run == step ? step : 2 * run)
        for (size_t k = from; k < from + run; ++k) x[k] += x[k - step];
    }
  }
}

constexpr double kEnough = 1e-250;  // of all orders: what doubles lose of parts of them is then below their rounding

// passed[S]: the sum over orders of S of the products of share[j] * within[j][what comes before j]
PARTITA_CLONES void pass_orders(int n, const double* within, const double* share, double* passed) {
  const size_t cells = size_t(1) << n;
  const int low = n < 3 ? n : 3;  // the last three nodes of a block of eight sets one by one, all others for the block at once
  const size_t block = size_t(1) << low;
  for (size_t B = 0; B < cells; B += block) {
    double sum[8] = {B ? 0.0 : 1.0};
    for (size_t left = B; left; left &= left - 1) {
      const size_t less = B ^ (left & (0 - left)), j = size_t(__builtin_ctzll(left));
      const double *of = passed + less, *own = within + j * cells + less, by = share[j];
      for (int t = 0; t < 8; ++t) sum[t] += of[t] * own[t] * by;
    }
    for (size_t t = 1; t < block; ++t)
      for (int j = 0; j < low; ++j)
        if (t >> j & 1) sum[t] += sum[t ^ size_t(1) << j] * within[size_t(j) * cells + (B | (t ^ size_t(1) << j))] * share[j];
    for (size_t t = 0; t < block; ++t) passed[B + t] = sum[t];
  }
}

}  // namespace

void OrderDraws::prepare_sums() {
  const int n = tables_.n;
  const size_t cells = size_t(1) << n;
  for (int j = 0; j < n; ++j) {
    double* to = within_.data() + j * cells;
    to[0] = 1.0;
    for (int i = 0; i < n; ++i) {
      const double odds = std::exp(odds_[i * n + j]);
      const size_t step = size_t(1) << i;
      for (size_t S = 0; S < step; ++S) to[S + step] = to[S] * odds;
    }
    multiply(to, tables_.weight + j * cells, cells);
    subset_sums(n, j, to);
  }
  for (int j = 0; j < n; ++j) share_[j] = 1.0 / within_[j * cells + (cells - 1 - (size_t(1) << j))];
  pass_orders(n, within_.data(), share_.data(), passed_.data());
  if (passed_[cells - 1] > kEnough) {
    wide_.clear();
    return;
  }
  wide_.assign(cells, 0.0L);
  wide_[0] = 1.0L;
  for (size_t S = 1; S < cells; ++S)
    for (size_t left = S; left; left &= left - 1) {
      const size_t less = S ^ (left & (0 - left)), j = size_t(__builtin_ctzll(left));
      wide_[S] += wide_[less] * (long double)(within_[j * cells + less] * share_[j]);
    }
}

// share of the orders of a set that end with node j
double OrderDraws::last_chance(int j, size_t less, size_t set) const {
  const double own = within_[(size_t(j) << tables_.n) | less] * share_[j];
  return wide_.empty() ? passed_[less] * own / passed_[set] : double(wide_[less] * (long double)(own) / wide_[set]);
}

void OrderDraws::prepare(const double* log_odds) {
  const int n = tables_.n;
  const size_t cells = size_t(1) << n;
  odds_.assign(log_odds, log_odds + size_t(n) * n);
  if (linear()) {
    prepare_sums();
    return;
  }
  for (int j = 0; j < n; ++j) {
    double* to = within_.data() + j * cells;
    const double* score = tables_.score + j * cells;
    weight_[0] = 0.0;
    for (int i = 0; i < n; ++i)
      for (size_t S = 0; S < size_t(1) << i; ++S) weight_[S | size_t(1) << i] = weight_[S] + log_odds[i * n + j];
    for (size_t S = 0; S < cells; ++S) to[S] = heat_ * score[S] + weight_[S];
    log_subset_sums(n, to);
  }
  reached_[0] = 0.0;
  double term[16];
  for (size_t S = 1; S < cells; ++S) {
    double top = kNoScore, sum = 0.0;
    int m = 0;
    for (int j = 0; j < n; ++j)
      if (S >> j & 1) {
        const size_t less = S ^ size_t(1) << j;
        term[m] = reached_[less] + within_[j * cells + less];
        top = std::max(top, term[m++]);
      }
    for (int k = 0; k < m; ++k) sum += fast_exp(term[k] - top);
    reached_[S] = top < -1e299 ? kNoScore : top + std::log(sum);
  }
}

void OrderDraws::draw(Stream& stream, Nodes* parents) {
  const int n = tables_.n;
  const size_t cells = size_t(1) << n;
  for (size_t S = cells - 1; S;) {
    double chance[16], total = 0.0;
    for (int j = 0; j < n; ++j) {
      const size_t less = S & ~(size_t(1) << j);
      const double within = within_[j * cells + less];
      chance[j] = !(S >> j & 1) ? 0.0
                  : linear()    ? last_chance(j, less, S)
                                : fast_exp(reached_[less] + within - reached_[S]);
      total += chance[j];
    }
    const int j = pick(chance, n, total, stream.uniform());
    S ^= size_t(1) << j;
    draw_parents(stream, j, S, parents);
  }
}

// The sum over sets of parents of j that hold `in` and else come from `open`: of sets within both, by inclusion and exclusion.
double OrderDraws::sum_with(int j, Nodes in, Nodes open) const {
  const double* within = within_.data() + (size_t(j) << tables_.n);
  double total = 0.0;
  for (Nodes out = in;; out = (out - 1) & in) {
    const double value = within[(in & ~out) | open];
    total += size_of(out) & 1 ? -value : value;
    if (!out) return total;
  }
}

void OrderDraws::draw_parents(Stream& stream, int j, size_t earlier, Nodes* parents) {
  const double uniform = stream.uniform();
  if (!linear()) {
    parents[j] = pick_listed(j, 0, Nodes(earlier), uniform);
    return;
  }
  // whether the last of them is a parent, then the one before: sets that lack it come first in a list of all
  Nodes in = 0, open = Nodes(earlier);
  double mass = within_[(size_t(j) << tables_.n) | earlier], rest = uniform * mass;
  while (open && size_of(in) < size_of(open)) {
    const Nodes last = Nodes(1) << (31 - __builtin_clz(open));
    open ^= last;
    const double without = sum_with(j, in, open);
    if (rest < without) {
      mass = without;
    } else {
      rest -= without;
      mass -= without;
      in |= last;
    }
  }
  parents[j] = open ? pick_listed(j, in, open, mass > 0.0 ? std::min(std::max(rest / mass, 0.0), 1.0) : 0.5) : in;
  // what rounding might pick once in 1e15 draws
  if (!(tables_.weight[(size_t(j) << tables_.n) | parents[j]] > 0.0)) parents[j] = pick_listed(j, 0, Nodes(earlier), uniform);
}

// One of the sets of parents that hold `in` and else come from `open`.
Nodes OrderDraws::pick_listed(int j, Nodes in, Nodes open, double uniform) {
  const int n = tables_.n;
  const double* score = (linear() ? tables_.weight : tables_.score) + (size_t(j) << n);
  size_t m = 1;
  sets_[0] = in;
  weight_[0] = linear() ? 1.0 : 0.0;  // odds of the set, or their log
  for (int i = 0; i < n; ++i)
    if (open >> i & 1) {
      const double odds = linear() ? std::exp(odds_[i * n + j]) : odds_[i * n + j];
      for (size_t x = 0; x < m; ++x) {
        sets_[m + x] = sets_[x] | Nodes(1) << i;
        weight_[m + x] = linear() ? weight_[x] * odds : weight_[x] + odds;
      }
      m *= 2;
    }
  double total = 0.0;
  const double all = linear() ? 0.0 : within_[(size_t(j) << n) | in | open];
  for (size_t x = 0; x < m; ++x)
    total += weight_[x] = linear() ? weight_[x] * score[sets_[x]] : fast_exp(heat_ * score[sets_[x]] + weight_[x] - all);
  return sets_[pick(weight_.data(), int(m), total, uniform)];
}

namespace {

Nodes descendants(int n, int j, const Nodes* parents) {
  Nodes found = Nodes(1) << j;
  for (Nodes before = 0; found != before;) {
    before = found;
    for (int i = 0; i < n; ++i)
      if (parents[i] & found) found |= Nodes(1) << i;
  }
  return found;
}

}  // namespace

void OrderDraws::redraw_parents(Stream& stream, Nodes* parents) {
  const Nodes full = (Nodes(1) << tables_.n) - 1;
  for (int j = 0; j < tables_.n; ++j) draw_parents(stream, j, full & ~descendants(tables_.n, j, parents), parents);
}

double OrderDraws::log_weight(int j, Nodes set) const {
  double total = heat_ * tables_.score[(size_t(j) << tables_.n) + set];
  for (Nodes left = set; left; left &= left - 1) total += odds_[__builtin_ctz(left) * tables_.n + j];
  return total;
}

void OrderDraws::reverse_edges(Stream& stream, Nodes* parents) {
  const int n = tables_.n;
  for (int a = 0; a < n; ++a)
    for (int b = a + 1; b < n; ++b) {
      const bool there = parents[b] >> a & 1;
      if (!there && !(parents[a] >> b & 1)) continue;
      const int i = there ? a : b, j = there ? b : a;
      const Nodes of_i = parents[i], of_j = parents[j];
      const double before = log_weight(i, of_i) + log_weight(j, of_j), limit = std::log(stream.uniform());
      parents[j] &= ~(Nodes(1) << i);
      const bool circle = descendants(n, i, parents) >> j & 1;  // another way from i to j
      parents[i] |= Nodes(1) << j;
      if (circle || !(limit < log_weight(i, parents[i]) + log_weight(j, parents[j]) - before)) {
        parents[i] = of_i;
        parents[j] = of_j;
      }
    }
}

double OrderDraws::extensions(const Nodes* parents) {
  const Nodes full = (Nodes(1) << tables_.n) - 1;
  front_.assign(1, 0);  // sets of one size that hold all their parents; count_ is zero elsewhere
  count_[0] = 1.0;
  for (int size = 0; size < tables_.n; ++size) {
    next_.clear();
    for (Nodes S : front_) {
      for (Nodes left = full & ~S; left; left &= left - 1) {
        const int j = __builtin_ctz(left);
        if (parents[j] & ~S) continue;
        double& orders = count_[S | Nodes(1) << j];
        if (orders == 0.0) next_.push_back(S | Nodes(1) << j);
        orders += count_[S];
      }
      count_[S] = 0.0;
    }
    front_.swap(next_);
  }
  const double total = front_.empty() ? 0.0 : count_[full];
  count_[full] = 0.0;
  return total;
}

}  // namespace partita
