// Sequentially allocated split-merge (Dahl 2005): a row is drawn and, with even odds, another of its group, which is split by
// dealing its other rows between the two one after the other, or one of another group, and the groups are merged;
// Metropolis-Hastings makes the move exact. Two rows drawn at random would hardly ever share one of many groups.
#include <algorithm>
#include <cmath>
#include <utility>

#include "correlated.hpp"
#include "kernels.hpp"

namespace partita {

namespace {

// Groups of our own to build a proposal in: 0 and 1 are the two halves.
struct Workbench {
  std::vector<double> stats, table, acc;
  Groups groups;
  explicit Workbench(const Layout& layout, const double* hyper)
      : stats(size_t(8) * layout.n_stats), table(size_t(8) * layout.n_table), acc(8),
        groups{&layout, hyper, stats.data(), table.data(), 8} {}
};

constexpr double kSlack = 1e-6, kSplits = 0.5;

struct Proposal {
  double log_split, log_q;  // marginal likelihood of the halves, and the probability of dealing the rows so
  double n0, n1;
};

// log marginal likelihood of a group: of its statistics, in the columns of the view
double group_evidence(const Layout& layout, const double* hyper, const Columns& columns, const double* stats) {
  double sum = 0.0;
  for (const auto* kind : {&columns.categorical, &columns.count, &columns.real, &columns.correlated})
    for (const auto& one : *kind)
      sum += log_marginal(layout, one.column, hyper + 4 * one.column, stats + layout.stat_first[one.column]);
  const size_t n = columns.binary.size();
  std::vector<double> gammas(6 * n);  // all at once: of a + ones, b + zeros, a + b; of a, b, a + b + ones + zeros
  for (size_t m = 0; m < n; ++m) {
    const int d = columns.binary[m].column;
    const double *h = hyper + 4 * d, *s = stats + layout.stat_first[d];
    const double six[6] = {h[0] + s[0], h[1] + s[1], h[0] + h[1], h[0], h[1], h[0] + h[1] + s[0] + s[1]};
    for (int k = 0; k < 6; ++k) gammas[k * n + m] = six[k];
  }
  lgamma_in_place(gammas.data(), int(gammas.size()));
  for (size_t m = 0; m < 6 * n; ++m) sum += m < 3 * n ? gammas[m] : -gammas[m];
  return sum;
}

// Deals rows (the first two are the anchors) between groups 0 and 1. side[k] is drawn where forced is null, else followed.
Proposal deal(Workbench& bench, const Layout& layout, const Rows& rows, const Columns& columns, Cells& cells,
              const std::vector<int64_t>& chosen, std::vector<uint8_t>& side, bool forced, Stream& stream) {
  for (int g = 0; g < 2; ++g) clean(bench.groups, columns, g);
  Proposal p{0.0, 0.0, 1.0, 1.0};
  for (size_t k = 0; k < chosen.size(); ++k) {
    cells.gather(layout, columns, rows, chosen[k]);
    score(bench.groups, cells, 2, bench.acc.data());
    const double to0 = bench.acc[0], to1 = bench.acc[1];
    if (k < 2) {
      side[k] = uint8_t(k);
    } else {
      const double log_odds = to1 + fast_log(p.n1) - to0 - fast_log(p.n0);
      const double log_p0 = log_odds > 0 ? -log_odds - std::log1p(std::exp(-log_odds)) : -std::log1p(std::exp(log_odds));
      const double log_p1 = log_odds > 0 ? -std::log1p(std::exp(-log_odds)) : log_odds - std::log1p(std::exp(log_odds));
      if (!forced) side[k] = stream.uniform() < std::exp(log_p1);
      p.log_q += side[k] ? log_p1 : log_p0;
      (side[k] ? p.n1 : p.n0) += 1.0;
    }
    update(bench.groups, cells, side[k], 1.0);
  }
  for (int g = 0; g < 2; ++g)
    p.log_split += group_evidence(layout, bench.groups.hyper, columns, bench.stats.data() + g * size_t(layout.n_stats));
  return p;
}

// the members of two groups, in their order
void gather(const int32_t* z, const int64_t* members, int64_t n, int one, int other, std::vector<int64_t>& out) {
  out.resize(n + 1);
  size_t found = 0;
  for (int64_t k = 0; k < n; ++k) {
    out[found] = members[k];
    found += (z[members[k]] == one) | (z[members[k]] == other);
  }
  out.resize(found);
}

}  // namespace

int64_t split_merge(const Layout& layout, const Rows& rows, Chain& chain, int restaurant, int c, const int64_t* members,
                    int64_t n_members, int n_proposals, uint64_t seed) {
  if (n_members < 2) return 0;
  Stream seeds{seed};  // each proposal has its own numbers, so that one can be dropped early
  Seating room(layout, chain, restaurant, c, false);
  Workbench bench(layout, chain.hyper);
  Cells cells(layout.n_columns);
  cells.block.filled = chain.filled;
  cells.block.whole = true;  // given the missing cells as they are now every row is complete: they stay
  int64_t accepted = 0;
  std::vector<int64_t> chosen;
  std::vector<uint8_t> side;
  std::vector<double> together(layout.n_stats), known(chain.capacity, std::nan(""));
  auto evidence = [&](int g) {  // most groups stay as they are from one proposal to the next
    if (std::isnan(known[g]))
      known[g] = group_evidence(layout, chain.hyper, room.columns, room.groups.stats + g * int64_t(layout.n_stats));
    return known[g];
  };
  for (int t = 0; t < n_proposals; ++t) {
    Stream stream{seeds.next()};
    const int64_t i = members[stream.below(n_members)];
    const bool split = stream.uniform() < kSplits;
    const double log_u = std::log(1.0 - stream.uniform());
    const int gi = room.z[i];
    const int64_t in_group = int64_t(room.size[gi]);
    if (in_group == (split ? 1 : n_members)) continue;
    int64_t j = i;
    if (split) {
      gather(room.z, members, n_members, gi, gi, chosen);
      chosen.erase(std::find(chosen.begin(), chosen.end(), i));
      const auto second = chosen.begin() + stream.below(in_group - 1);
      j = *second;
      chosen.erase(second);
    } else {
      while (room.z[j] == gi) j = members[stream.below(n_members)];
    }
    const int gj = room.z[j];
    double log_union;
    if (split) {
      log_union = evidence(gi);
    } else {  // statistics add up; of a correlated block the factor is made anew
      const double *one = room.groups.stats + gi * int64_t(layout.n_stats), *other = room.groups.stats + gj * int64_t(layout.n_stats);
      for (int k = 0; k < layout.n_stats; ++k) together[k] = one[k] + other[k];
      for (const auto& block : room.columns.correlated)
        factor_block(layout.levels[block.column], chain.hyper + 4 * block.column,
                     together.data() + layout.stat_first[block.column]);
      log_union = group_evidence(layout, chain.hyper, room.columns, together.data());
    }
    // log of P(split) L(split) Q(i, j | split) / P(union) L(union) Q(i, j | union), the union being the reference
    const double less = room.discount, one = fast_lgamma(1.0 - less);
    auto ratio = [&](double n0, double n1, double log_split) {
      return room.log_opening(room.occupied - !split) + fast_lgamma(n0 - less) + fast_lgamma(n1 - less) -
             fast_lgamma(n0 + n1 - less) - one + log_split - log_union +
             std::log((n0 + n1 - 1.0) / (double(n_members) - n0));
    };
    if (!split) {  // log_q can only speak against merging: most proposals fall before it is known (up to rounding, which may not decide)
      if (log_u > -ratio(room.size[gi], room.size[gj], evidence(gi) + evidence(gj)) + kSlack) continue;
      gather(room.z, members, n_members, gi, gj, chosen);
      chosen.erase(std::find(chosen.begin(), chosen.end(), i));
      chosen.erase(std::find(chosen.begin(), chosen.end(), j));
    }
    chosen.insert(chosen.begin(), {i, j});
    for (size_t k = chosen.size() - 1; k > 2; --k) std::swap(chosen[k], chosen[2 + stream.below(int64_t(k) - 1)]);
    side.assign(chosen.size(), 0);
    if (!split)
      for (size_t k = 0; k < chosen.size(); ++k) side[k] = room.z[chosen[k]] == gj;
    const Proposal p = deal(bench, layout, rows, room.columns, cells, chosen, side, !split, stream);
    const double gain = ratio(p.n0, p.n1, p.log_split) - p.log_q;
    if (split) {
      if (!(log_u < gain)) continue;
      if (!room.offer_fresh()) continue;  // no more groups than the cap
      const int to = room.fresh;
      known[to] = std::nan("");
      for (size_t k = 0; k < chosen.size(); ++k)
        if (side[k]) {
          cells.gather(layout, room.columns, rows, chosen[k]);
          room.leave(cells, gi);
          room.join(cells, to);
          room.z[chosen[k]] = to;
        }
    } else {
      if (!(log_u < -gain)) continue;
      for (size_t k = 0; k < chosen.size(); ++k)
        if (side[k]) {
          cells.gather(layout, room.columns, rows, chosen[k]);
          room.leave(cells, gj);
          room.join(cells, gi);
          room.z[chosen[k]] = gi;
        }
    }
    known[gi] = known[gj] = std::nan("");
    ++accepted;
  }
  room.compact(chain.label, chain.n_rows, c);
  return accepted;
}

}  // namespace partita
