// Local scores by AND and popcount over bit planes, one split of the rows for every set of parents.
#include "net_scores.hpp"

#include <algorithm>
#include <cstring>

#include "arithmetic.hpp"

#if defined(PARTITA_HAS_CLONES) && defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__)
// popcount of vectors came later than the other vector instructions
#define PARTITA_COUNT_CLONES __attribute__((target_clones("arch=icelake-server", "arch=x86-64-v3", "default")))
#define PARTITA_WIDE_COUNTS
#include <immintrin.h>
#else
#define PARTITA_COUNT_CLONES
#endif

namespace partita {

namespace {

PARTITA_COUNT_CLONES int64_t split_word(const uint64_t* mask, const uint64_t* plane, int64_t words, uint64_t* out) {
  int64_t total = 0;
  for (int64_t w = 0; w < words; ++w) {
    out[w] = mask[w] & plane[w];
    total += __builtin_popcountll(out[w]);
  }
  return total;
}

PARTITA_COUNT_CLONES int64_t count_common(const uint64_t* mask, const uint64_t* plane, int64_t words) {
  int64_t total = 0;
  for (int64_t w = 0; w < words; ++w) total += __builtin_popcountll(mask[w] & plane[w]);
  return total;
}

#ifdef PARTITA_WIDE_COUNTS
// One pass: rows of the mask in which the column shows a level, and how many of them show each of the first C levels of the child
// (whose planes lie one after the other). The compiler's own vector code needs several times as long.
template <int C>
__attribute__((target("avx512f,avx512vpopcntdq"))) int64_t count_levels(const uint64_t* mask, const uint64_t* plane,
                                                                       const uint64_t* child, int64_t words, int64_t* count) {
  __m512i total = _mm512_setzero_si512(), sums[C];
  for (int c = 0; c < C; ++c) sums[c] = _mm512_setzero_si512();
  for (int64_t w = 0; w < words; w += 8) {
    const __mmask8 here = words - w >= 8 ? 0xff : __mmask8((1u << (words - w)) - 1);
    const __m512i part = _mm512_and_si512(_mm512_maskz_loadu_epi64(here, mask + w), _mm512_maskz_loadu_epi64(here, plane + w));
    total = _mm512_add_epi64(total, _mm512_popcnt_epi64(part));
    for (int c = 0; c < C; ++c) {
      const __m512i level = _mm512_maskz_loadu_epi64(here, child + c * words + w);
      sums[c] = _mm512_add_epi64(sums[c], _mm512_popcnt_epi64(_mm512_and_si512(part, level)));
    }
  }
  for (int c = 0; c < C; ++c) count[c] = _mm512_reduce_add_epi64(sums[c]);
  return _mm512_reduce_add_epi64(total);
}

using CountLevels = int64_t (*)(const uint64_t*, const uint64_t*, const uint64_t*, int64_t, int64_t*);

CountLevels level_counter(int levels) {
  static const bool wide = __builtin_cpu_supports("avx512vpopcntdq");
  if (!wide) return nullptr;
  return levels == 2 ? count_levels<1> : levels == 3 ? count_levels<2> : levels == 4 ? count_levels<3> : nullptr;
}
#endif

// log Gamma(a + m) - log Gamma(a) for the pseudo-counts a of BDeu, kept as they are asked for. Sets of few parents have few different
// a; tables are short and their number is bounded, and what finds no place is computed. One for each thread, so nothing is shared.
class Rises {
 public:
  struct Of {
    double pseudo = 0.0;
    double* kept = nullptr;  // zero where not yet known
    double operator()(int64_t count) const {
      if (!count) return 0.0;
      if (kept && count < kLongest && kept[count] != 0.0) return kept[count];
      const double value = fast_lgamma(pseudo + double(count)) - fast_lgamma(pseudo);
      if (kept && count < kLongest) kept[count] = value;
      return value;
    }
  };
  Of cell, row;  // those of the set that was asked for last

  void turn_to(double of_cell, double of_row) {
    if (of_cell != cell.pseudo) cell = {of_cell, table(of_cell)};
    if (of_row != row.pseudo) row = {of_row, table(of_row)};
  }

 private:
  static constexpr int64_t kLongest = 1 << 14;
  static constexpr size_t kTables = 256;
  struct Table {
    double pseudo = 0.0;
    std::unique_ptr<double[]> value;
  };
  Table tables_[kTables];

  double* table(double pseudo) {
    uint64_t bits;
    std::memcpy(&bits, &pseudo, sizeof bits);
    size_t at = size_t((bits * 0x9e3779b97f4a7c15ULL) >> 56);
    for (int tries = 0; tries < 4; ++tries, at = (at + 1) % kTables) {
      if (tables_[at].pseudo == pseudo) return tables_[at].value.get();
      if (tables_[at].value) continue;
      tables_[at] = {pseudo, std::unique_ptr<double[]>(new double[kLongest]())};
      return tables_[at].value.get();
    }
    return nullptr;
  }
};

thread_local Rises rises;

// Beyond this many words of masks a pass over the rows is quicker.
bool few(const NetData& data, double parts) { return parts * double(data.words) <= 2.0 * double(data.n_rows); }

}  // namespace

Parting::Parting(const NetData& data) : data_(&data), masks_(true), n_configurations_(1.0), n_parts_(1) {
  mask_.reset(new uint64_t[size_t(data.words)]);
  std::fill(mask_.get(), mask_.get() + data.words, ~uint64_t(0));
  if (data.n_rows % 64) mask_[data.words - 1] = (uint64_t(1) << (data.n_rows % 64)) - 1;
  if (!data.n_rows) n_parts_ = 0;
  total_.assign(1, data.n_rows);
}

Parting::Parting(const Parting& whole, int column)
    : data_(whole.data_), masks_(whole.masks_ && few(*data_, double(whole.n_parts_) * data_->levels[column])),
      n_configurations_(whole.n_configurations_ * data_->levels[column]), n_parts_(0) {
  if (masks_)
    split_masks(whole, column);
  else
    split_numbers(whole, column);
}

void Parting::split_masks(const Parting& whole, int column) {
  const int64_t words = data_->words;
  const int levels = data_->levels[column];
  mask_.reset(new uint64_t[size_t(whole.n_parts_ * levels * words)]);
  total_.resize(size_t(whole.n_parts_ * levels));
  for (int64_t p = 0; p < whole.n_parts_; ++p) {
    const uint64_t* mask = whole.mask_.get() + p * words;
    int64_t left = whole.total_[p];
    for (int v = 0; v < levels && left; ++v) {
      const int64_t n = split_word(mask, data_->planes + (data_->first[column] + v) * words, words, mask_.get() + n_parts_ * words);
      if (!n) continue;  // parts without rows add nothing to a score
      total_[n_parts_++] = n;
      left -= n;
    }
  }
}

void Parting::split_numbers(const Parting& whole, int column) {
  const int64_t n = data_->n_rows, levels = data_->levels[column];
  const int32_t* cell = data_->cells + column * n;
  part_.resize(size_t(n));
  if (whole.masks_) {
    for (int64_t p = 0; p < whole.n_parts_; ++p)
      for (int64_t w = 0; w < data_->words; ++w)
        for (uint64_t left = whole.mask_[p * data_->words + w]; left; left &= left - 1)
          part_[w * 64 + __builtin_ctzll(left)] = int32_t(p);
  } else {
    part_ = whole.part_;
  }
  // numbers in order of appearance: a dense table where it is small, else an open hash table
  const int64_t dense = whole.n_parts_ * levels;
  int64_t size = 64;
  while (size < 2 * n) size *= 2;
  const bool hashed = dense > 2 * size;
  std::vector<int32_t> number(size_t(hashed ? size : dense), -1);
  std::vector<int64_t> key(size_t(hashed ? size : 0));
  for (int64_t s = 0; s < n; ++s) {
    const int64_t k = int64_t(part_[s]) * levels + cell[s];
    int64_t at = k;
    if (hashed) {
      at = int64_t((uint64_t(k) * 0x9e3779b97f4a7c15ULL) >> 20) & (size - 1);
      while (number[at] >= 0 && key[at] != k) at = (at + 1) & (size - 1);
      key[at] = k;
    }
    if (number[at] < 0) number[at] = int32_t(n_parts_++);
    part_[s] = number[at];
  }
}

double Parting::of_part(int child, const int64_t* count, int64_t total, double n_configurations) const {
  const int levels = data_->levels[child];
  double sum = 0.0;
  if (data_->bdeu) {
    const double row = data_->pseudo / n_configurations, cell = row / levels;
    Rises& rise = rises;
    rise.turn_to(cell, row);
    for (int v = 0; v < levels; ++v) sum += rise.cell(count[v]);
    return sum - rise.row(total);
  }
  for (int v = 0; v < levels; ++v) sum += data_->rise_cell[count[v]];
  return sum - data_->rise_row[int64_t(data_->row_of[child]) * (data_->n_rows + 1) + total];
}

double Parting::score_mask(int child, const uint64_t* mask, int64_t total, double n_configurations, int64_t* count) const {
  const int levels = data_->levels[child];
  int64_t left = total;
  for (int v = 0; v + 1 < levels; ++v)
    left -= count[v] = count_common(mask, data_->planes + (data_->first[child] + v) * data_->words, data_->words);
  count[levels - 1] = left;
  return of_part(child, count, total, n_configurations);
}

double Parting::score_masks(int child) const {
  std::vector<int64_t> count(size_t(data_->levels[child]), 0);
  double sum = 0.0;
  for (int64_t p = 0; p < n_parts_; ++p)
    sum += score_mask(child, mask_.get() + p * data_->words, total_[p], n_configurations_, count.data());
  return sum;
}

double Parting::score_with(int column, int child) const {
  const int levels = data_->levels[column];
  if (!masks_ || !few(*data_, double(n_parts_) * levels)) return Parting(*this, column).score(child);
  const int64_t words = data_->words;
  std::vector<int64_t> count(size_t(data_->levels[child]), 0);
  const std::unique_ptr<uint64_t[]> part(new uint64_t[size_t(words)]);
  double sum = 0.0;
#ifdef PARTITA_WIDE_COUNTS
  if (const CountLevels counter = level_counter(data_->levels[child])) {
    const uint64_t* child_planes = data_->planes + data_->first[child] * words;
    for (int64_t p = 0; p < n_parts_; ++p) {
      int64_t left = total_[p];
      for (int v = 0; v < levels && left; ++v) {
        const uint64_t* plane = data_->planes + (data_->first[column] + v) * words;
        const int64_t n = counter(mask_.get() + p * words, plane, child_planes, words, count.data());
        left -= n;
        if (!n) continue;
        count.back() = n;
        for (size_t c = 0; c + 1 < count.size(); ++c) count.back() -= count[c];
        sum += of_part(child, count.data(), n, n_configurations_ * levels);
      }
    }
    return sum;
  }
#endif
  for (int64_t p = 0; p < n_parts_; ++p) {
    int64_t left = total_[p];
    for (int v = 0; v < levels && left; ++v) {
      const int64_t n = split_word(mask_.get() + p * words, data_->planes + (data_->first[column] + v) * words, words, part.get());
      left -= n;
      if (n) sum += score_mask(child, part.get(), n, n_configurations_ * levels, count.data());
    }
  }
  return sum;
}

double Parting::score_numbers(int child) const {
  const int64_t levels = data_->levels[child], n = data_->n_rows;
  const int32_t* cell = data_->cells + child * n;
  std::vector<int64_t> count(size_t(n_parts_ * levels), 0);
  for (int64_t s = 0; s < n; ++s) ++count[part_[s] * levels + cell[s]];
  double sum = 0.0;
  for (int64_t p = 0; p < n_parts_; ++p) {
    int64_t total = 0;
    for (int64_t v = 0; v < levels; ++v) total += count[p * levels + v];
    sum += of_part(child, count.data() + p * levels, total, n_configurations_);
  }
  return sum;
}

double Parting::score(int child) const { return masks_ ? score_masks(child) : score_numbers(child); }

double net_score(const NetData& data, int child, const int32_t* parents, int n_parents) {
  Parting rows(data);
  for (int k = 0; k + 1 < n_parents; ++k) rows = Parting(rows, parents[k]);
  return n_parents ? rows.score_with(parents[n_parents - 1], child) : rows.score(child);
}

namespace {

void fill_table(const Parting& rows, int n_columns, int child, int from, int left, uint64_t set, double* out) {
  out[set] = rows.score(child);
  for (int i = from; i < n_columns && left; ++i)
    if (i != child && (left == 1 || i + 1 >= n_columns - (child == n_columns - 1)))
      out[set | uint64_t(1) << i] = rows.score_with(i, child);  // nothing extends this set
    else if (i != child)
      fill_table(Parting(rows, i), n_columns, child, i + 1, left - 1, set | uint64_t(1) << i, out);
}

double* fill_sets(const Parting& rows, int child, const int32_t* candidates, int from, int n, int left, double* out) {
  *out++ = rows.score(child);
  for (int i = from; i < n && left; ++i)
    if (left == 1 || i + 1 == n)
      *out++ = rows.score_with(candidates[i], child);
    else
      out = fill_sets(Parting(rows, candidates[i]), child, candidates, i + 1, n, left - 1, out);
  return out;
}

}  // namespace

void net_score_table(const NetData& data, int child, int max_parents, double* out) {
  std::fill(out, out + (int64_t(1) << data.n_columns), kNoScore);
  fill_table(Parting(data), data.n_columns, child, 0, max_parents, 0, out);
}

int64_t net_score_sets(const NetData& data, int child, const int32_t* candidates, int n_candidates, int max_parents, double* out) {
  return fill_sets(Parting(data), child, candidates, 0, n_candidates, max_parents, out) - out;
}

}  // namespace partita
