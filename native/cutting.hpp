// A numeric column made ready for cutting: exact counts, rows in order, blocks between which a cut may lie.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace partita::cutting {

// Counts are whole multiples of 2^-unit and k log2 k whole multiples of 2^-grain, both kept as integers: sums of integers are the
// same in any order, so neither the order of the rows nor the names of the classes can change a cut.
struct Exact {
  double per_row, per_bit, row, bit;  // powers of two: 2^unit, 2^grain and their inverses
  Exact(const double* weight, int64_t n) {
    double most = 0.0;
    for (int64_t i = 0; i < n; ++i) most = std::max(most, weight[i]);
    const int unit = 52 - std::ilogb(std::max(most * double(n), 1e-200)) - 1;
    per_row = std::ldexp(1.0, unit), row = std::ldexp(1.0, -unit);
  }
  void set_total(int64_t total) {
    const double w = rows(total);
    const int grain = 51 - std::ilogb(std::max(w, 1.0) * std::log2(std::max(w, 2.0))) - 1;
    per_bit = std::ldexp(1.0, grain), bit = std::ldexp(1.0, -grain);
  }
  int64_t count(double weight) const { return std::llrint(weight * per_row); }
  double rows(int64_t count) const { return double(count) * row; }
  int64_t x_log_x(int64_t count) const {
    if (count == 0) return 0;
    const double x = rows(count);
    return std::llrint(x * std::log2(x) * per_bit);
  }
  double bits(int64_t x_log_x) const { return double(x_log_x) * bit; }
};

struct Place {
  uint64_t key;  // ordered as the values are
  int64_t row;
};

// The rows by rising value: eleven bits of the keys at a time, each pass keeping the order of the last.
inline std::vector<Place> sorted(const double* value, int64_t n) {
  constexpr int kBits = 11, kPasses = 6;
  constexpr uint64_t kMask = (uint64_t(1) << kBits) - 1;
  std::vector<Place> from(n), to(n);
  std::vector<int64_t> count(kPasses << kBits, 0);
  for (int64_t i = 0; i < n; ++i) {
    const double x = value[i] + 0.0;  // one zero
    uint64_t key;
    std::memcpy(&key, &x, 8);
    key = key >> 63 ? ~key : key | uint64_t(1) << 63;
    from[i] = {key, i};
    for (int p = 0; p < kPasses; ++p) ++count[(p << kBits) + (key >> (p * kBits) & kMask)];
  }
  for (int p = 0; p < kPasses; ++p) {
    int64_t *own = count.data() + (p << kBits), first = 0;
    if (own[from.empty() ? 0 : from[0].key >> (p * kBits) & kMask] == n) continue;  // all alike
    for (uint64_t k = 0; k <= kMask; ++k) first += std::exchange(own[k], first);
    for (const Place& place : from) to[own[place.key >> (p * kBits) & kMask]++] = place;
    from.swap(to);
  }
  return from;
}

// Rows of one value, or of neighbouring values that all are of one class: the best cut never lies inside (Fayyad and Irani 1992).
struct Block {
  double low, high;
  int64_t first;  // entry
};

struct Entry {
  int32_t label;
  int64_t count;
};

struct Blocks {
  std::vector<Block> block;  // one more at the end, for its first entry
  std::vector<Entry> entry;

  Blocks(const double* value, const int32_t* label, const double* weight, int64_t n, int n_classes, const Exact& exact) {
    const std::vector<Place> order = sorted(value, n);
    std::vector<int64_t> count(n_classes, 0);
    std::vector<int32_t> touched;
    for (int64_t i = 0, end; i < n; i = end) {
      for (end = i; end < n && order[end].key == order[i].key; ++end) {
        const int64_t row = order[end].row, more = exact.count(weight[row]);
        if (more && !count[label[row]]) touched.push_back(label[row]);
        count[label[row]] += more;
      }
      add(value[order[i].row], touched, count.data());
    }
    block.push_back({0.0, 0.0, int64_t(entry.size())});
  }

  void add(double value, std::vector<int32_t>& touched, int64_t* count) {
    if (touched.empty()) return;  // weights that vanish beside the others
    const bool pure = touched.size() == 1 && !block.empty() && int64_t(entry.size()) - block.back().first == 1;
    if (pure && entry.back().label == touched[0]) {
      entry.back().count += count[touched[0]];
      block.back().high = value;
    } else {
      block.push_back({value, value, int64_t(entry.size())});
      for (int32_t c : touched) entry.push_back({c, count[c]});
    }
    for (int32_t c : touched) count[c] = 0;
    touched.clear();
  }
};

}  // namespace partita::cutting
