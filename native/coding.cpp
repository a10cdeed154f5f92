// Cut points of numeric columns.
#include "coding.hpp"

#include "cutting.hpp"

namespace partita {

namespace {

using namespace cutting;

// One side of a cut: rows, classes present, sum of k log2 k over classes.
struct Side {
  int64_t count = 0, sum = 0;
  int classes = 0;
  int64_t entropy(const Exact& exact) const { return exact.x_log_x(count) - sum; }  // times the number of rows
};

struct Cut {
  int64_t at = -1, left = 0, right = 0, whole = 0;  // entropies times rows
  Side l, r, all;
  int64_t gain() const { return whole - left - right; }
};

constexpr int64_t kMarksApart = 8;

struct Search {
  const Blocks& blocks;
  const Exact& exact;
  const int64_t n_classes, n_blocks, stride;
  std::vector<int64_t> marks;  // counts of all classes before every stride-th block
  std::vector<int64_t> left, right, total, before;

  Search(const Blocks& blocks_, const Exact& exact_, int n_classes_)
      : blocks(blocks_), exact(exact_), n_classes(n_classes_), n_blocks(int64_t(blocks_.block.size()) - 1),
        stride(std::clamp<int64_t>(int64_t(std::sqrt(double(n_blocks)) / 3.0), 32, 512)), left(n_classes, 0),
        right(n_classes, 0), total(n_classes, 0), before(n_classes, 0) {
    if (!marked()) return;
    for (int64_t j = 0; j < n_blocks; ++j) {
      if (j % stride == 0) marks.insert(marks.end(), total.begin(), total.end());
      add(j, j + 1, total.data());
    }
    marks.insert(marks.end(), total.begin(), total.end());
  }

  // Marks pay where a column has many places to cut and few classes.
  bool marked() const { return n_blocks >= 4 * stride && n_classes <= stride / 2; }

  void add(int64_t a, int64_t b, int64_t* to) const {
    for (int64_t e = blocks.block[a].first; e < blocks.block[b].first; ++e) to[blocks.entry[e].label] += blocks.entry[e].count;
  }

  // The first of the best cuts of blocks a .. b - 1, and both sides of it.
  Cut best(int64_t a, int64_t b) {
    std::fill(total.begin(), total.end(), 0);
    const bool few = !marked() || b - a < 4 * stride;
    if (few) {
      add(a, b, total.data());
    } else {
      std::copy_n(marks.begin() + a / stride * n_classes, n_classes, before.begin());
      add(a / stride * stride, a, before.data());
      std::copy_n(marks.begin() + b / stride * n_classes, n_classes, total.begin());
      add(b / stride * stride, b, total.data());
      for (int64_t c = 0; c < n_classes; ++c) total[c] -= before[c];
    }
    Cut cut;
    cut.all = side_of(total.data());
    cut.whole = cut.all.entropy(exact);
    if (few) scan(a, a, b, cut);
    else scan_promising(a, b, cut);
    return cut;
  }

  Side side_of(const int64_t* counts) const {
    Side side;
    for (int64_t c = 0; c < n_classes; ++c) {
      side.count += counts[c];
      side.sum += exact.x_log_x(counts[c]);
      side.classes += counts[c] > 0;
    }
    return side;
  }

  // Try the cuts after blocks from .. to - 1 of a range that starts at a; to is the end of the range, or a cut is tried there too.
  void scan(int64_t a, int64_t from, int64_t to, Cut& cut, bool last = true) {
    if (from == a) std::fill(left.begin(), left.end(), 0);
    for (int64_t c = 0; c < n_classes; ++c) right[c] = total[c] - left[c];
    Side l = side_of(left.data()), r = side_of(right.data());
    for (int64_t j = from; j + last < to; ++j) {
      for (int64_t e = blocks.block[j].first; e < blocks.block[j + 1].first; ++e) move(blocks.entry[e], l, r);
      const int64_t el = l.entropy(exact), er = r.entropy(exact);
      if (cut.at >= 0 && el + er >= cut.left + cut.right) continue;
      cut.at = j + 1;
      cut.left = el, cut.right = er;
      cut.l = l, cut.r = r;
    }
  }

  // The same for a long range: stretches between marks that cannot hold the best cut are passed over.
  void scan_promising(int64_t a, int64_t b, Cut& cut) {
    const int64_t first = a / stride + 1, last = (b - 1) / stride;  // marks inside: first .. last
    int64_t sure = 0;  // a gain that some mark reaches; looking at a few of them is enough
    for (int64_t m = first; m <= last; m += kMarksApart) {
      left_at(m);
      for (int64_t c = 0; c < n_classes; ++c) right[c] = total[c] - left[c];
      sure = std::max(sure, cut.whole - side_of(left.data()).entropy(exact) - side_of(right.data()).entropy(exact));
    }
    scan(a, a, first * stride, cut, false);
    for (int64_t m = first; m < last; ++m) {
      if (cannot_gain(m, exact.bits(std::max(sure, cut.gain()) - 8 * (n_classes + 1)))) continue;
      left_at(m);
      scan(a, m * stride, (m + 1) * stride, cut, false);
    }
    left_at(last);
    scan(a, last * stride, b, cut);
  }

  void left_at(int64_t mark) {
    for (int64_t c = 0; c < n_classes; ++c) left[c] = marks[mark * n_classes + c] - before[c];
  }

  // Whether every cut between two marks gains less than so many bits. With n rows, n_c of class c, t of them left and d_c the rows
  // of class c that are left beyond t n_c / n, log x <= x - 1 gives: gain <= log2(e) sum of d_c^2 n^2 / (t (n - t) n_c). Class counts
  // only rise from mark to mark, which bounds d_c, and t (n - t) is least at an end.
  bool cannot_gain(int64_t mark, double bits) const {
    const int64_t *low = marks.data() + mark * n_classes, *high = low + n_classes;
    double n = 0.0, t_low = 0.0, t_high = 0.0, sum = 0.0;
    for (int64_t c = 0; c < n_classes; ++c) {
      n += exact.rows(total[c]);
      t_low += exact.rows(low[c] - before[c]);
      t_high += exact.rows(high[c] - before[c]);
    }
    for (int64_t c = 0; c < n_classes; ++c) {
      if (total[c] == 0) continue;
      const double n_c = exact.rows(total[c]), share = n_c / n;
      const double own_low = exact.rows(low[c] - before[c]), own_high = exact.rows(high[c] - before[c]);
      const double most = own_high - share * (own_high + t_low - own_low), least = own_low - share * (own_low + t_high - own_high);
      const double d = std::max(std::fabs(most), std::fabs(least));
      sum += d * d / n_c;
    }
    const double bound = 1.4426950408889634 * sum * n * n / std::min(t_low * (n - t_low), t_high * (n - t_high));
    return bound * (1.0 + 1e-9) < bits;
  }

  void move(const Entry& entry, Side& l, Side& r) {
    int64_t &from = right[entry.label], &to = left[entry.label];
    l.classes += to == 0;
    l.sum -= exact.x_log_x(to);
    r.sum -= exact.x_log_x(from);
    to += entry.count, from -= entry.count;
    l.sum += exact.x_log_x(to);
    r.sum += exact.x_log_x(from);
    r.classes -= from == 0;
    l.count += entry.count, r.count -= entry.count;
  }

  // The minimum description length criterion: gain > (log2(N - 1) + delta) / N, both sides times N.
  bool pays(const Cut& cut) const {
    const int k = cut.all.classes;
    const double rows = exact.rows(cut.all.count);
    const double labels = k < 600 ? std::log2(std::pow(3.0, double(k)) - 2.0) : double(k) * std::log2(3.0);
    const double before = double(k) * exact.bits(cut.whole) / rows;
    const double in_left = double(cut.l.classes) * exact.bits(cut.left) / exact.rows(cut.l.count);
    const double in_right = double(cut.r.classes) * exact.bits(cut.right) / exact.rows(cut.r.count);
    const double delta = labels - (before - in_left - in_right);
    return exact.bits(cut.gain()) > std::log2(std::max(rows - 1.0, 1.0)) + delta;
  }
};

// Midway between two neighbouring values, so that low <= cut < high also where doubles are scarce, huge or tiny.
double between(double low, double high) {
  const bool huge = std::fabs(low) > 1e300 || std::fabs(high) > 1e300;
  const double middle = huge ? 0.5 * low + 0.5 * high : 0.5 * (low + high);
  return low <= middle && middle < high ? middle : low;
}

struct Range {
  int64_t a, b;
  bool whole;
};

}  // namespace

int64_t mdlp_cut_points(const double* value, const int32_t* label, const double* weight, int64_t n, int n_classes, bool force,
                        double* cuts) {
  if (n == 0) return 0;
  Exact exact(weight, n);
  const Blocks blocks(value, label, weight, n, n_classes, exact);
  int64_t total = 0, found = 0;
  for (const Entry& entry : blocks.entry) total += entry.count;
  exact.set_total(total);
  Search search(blocks, exact, n_classes);
  const int64_t rounding = 4 * int64_t(n_classes + 1);
  std::vector<Range> open{{0, int64_t(blocks.block.size()) - 1, true}};
  while (!open.empty()) {
    const Range range = open.back();
    open.pop_back();
    if (range.b - range.a < 2) continue;
    const Cut cut = search.best(range.a, range.b);
    const bool pays = search.pays(cut);
    if (!pays && !(range.whole && force && cut.gain() > rounding)) continue;
    cuts[found++] = between(blocks.block[cut.at - 1].high, blocks.block[cut.at].low);
    if (!pays) continue;
    open.push_back({range.a, cut.at, false});
    open.push_back({cut.at, range.b, false});
  }
  std::sort(cuts, cuts + found);
  return found;
}

}  // namespace partita
