// Local scores by AND and popcount over bit planes, one split of the rows for every set of parents.
#include "net_scores.hpp"

#include <algorithm>

#include "net_counts.hpp"
#include "net_rises.hpp"

namespace partita {

namespace {

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
      const int64_t n = split_rows(mask, data_->planes + (data_->first[column] + v) * words, words, mask_.get() + n_parts_ * words);
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

PartCounts::PartCounts(const Parting& parts, int child)
    : parts_(parts), data_(*parts.data_), child_(child), levels_(parts.data_->levels[child]), count_(size_t(parts.n_parts_ * levels_), 0) {
  if (parts.masks_)
    count_masks();
  else
    count_numbers();
}

void PartCounts::count_masks() {
  const int64_t words = data_.words;
  total_.assign(parts_.total_.begin(), parts_.total_.begin() + parts_.n_parts_);
  for (int64_t p = 0; p < parts_.n_parts_; ++p) {
    int64_t* count = &count_[p * levels_];
    count_levels(parts_.mask_.get() + p * words, data_.planes + data_.first[child_] * words, levels_ - 1, words, count);
    count[levels_ - 1] = total_[p];
    for (int v = 0; v + 1 < levels_; ++v) count[levels_ - 1] -= count[v];
  }
}

void PartCounts::count_numbers() {
  const int64_t n = data_.n_rows;
  const int32_t* cell = data_.cells + child_ * n;
  total_.assign(size_t(parts_.n_parts_), 0);
  for (int64_t s = 0; s < n; ++s) {
    ++count_[int64_t(parts_.part_[s]) * levels_ + cell[s]];
    ++total_[parts_.part_[s]];
  }
}

double PartCounts::score() const {
  const RowWeight weight(data_, child_, parts_.n_configurations_);
  double sum = 0.0;
  for (int64_t p = 0; p < parts_.n_parts_; ++p) sum += weight(&count_[p * levels_], total_[p]);
  return sum;
}

// The child's counts in the parts of a mask but the last, by levels of a column, without the child's last level; and the rows of each.
void PartCounts::count_split(const uint64_t* mask, int column, uint64_t* room, int64_t* count, int64_t* total) const {
  const int64_t words = data_.words;
  for (int v = 0; v + 1 < data_.levels[column]; ++v) {
    total[v] = split_rows(mask, data_.planes + (data_.first[column] + v) * words, words, room);
    if (total[v]) count_levels(room, data_.planes + data_.first[child_] * words, levels_ - 1, words, count + v * (levels_ - 1));
  }
}

double PartCounts::score_with(int column) const {
  const int levels = data_.levels[column];
  if (!parts_.masks_ || !few(data_, double(parts_.n_parts_) * levels)) return PartCounts(Parting(parts_, column), child_).score();
  const int64_t words = data_.words;
  const RowWeight weight(data_, child_, parts_.n_configurations_ * levels);
  const TableCounter counter = table_counter(levels, levels_);
  std::vector<uint64_t> room(size_t(counter ? 0 : words));
  std::vector<int64_t> of(size_t((levels + 2) * levels_));
  int64_t *count = of.data(), *total = count + levels * (levels_ - 1), *row = total + levels, *rest = row + levels_;
  double sum = 0.0;
  for (int64_t p = 0; p < parts_.n_parts_; ++p) {
    const uint64_t* mask = parts_.mask_.get() + p * words;
    if (counter)
      counter(mask, data_.planes + data_.first[column] * words, data_.planes + data_.first[child_] * words, words, count, total);
    else
      count_split(mask, column, room.data(), count, total);
    int64_t left = total_[p];
    std::copy(&count_[p * levels_], &count_[p * levels_] + levels_, rest);
    for (int v = 0; v + 1 < levels; ++v) {
      if (!total[v]) continue;  // parts without rows add nothing to a score
      row[levels_ - 1] = total[v];
      for (int c = 0; c + 1 < levels_; ++c) row[levels_ - 1] -= row[c] = count[v * (levels_ - 1) + c];
      for (int c = 0; c < levels_; ++c) rest[c] -= row[c];
      left -= total[v];
      sum += weight(row, total[v]);
    }
    if (left) sum += weight(rest, left);  // what no other level has
  }
  return sum;
}

double net_score(const NetData& data, int child, const int32_t* parents, int n_parents) {
  Parting rows(data);
  for (int k = 0; k + 1 < n_parents; ++k) rows = Parting(rows, parents[k]);
  const PartCounts counts(rows, child);
  return n_parents ? counts.score_with(parents[n_parents - 1]) : counts.score();
}

namespace {

void fill_table(const Parting& rows, int n_columns, int child, int from, int left, uint64_t set, double* out) {
  const PartCounts counts(rows, child);
  out[set] = counts.score();
  for (int i = from; i < n_columns && left; ++i)
    if (i != child && (left == 1 || i + 1 >= n_columns - (child == n_columns - 1)))
      out[set | uint64_t(1) << i] = counts.score_with(i);  // nothing extends this set
    else if (i != child)
      fill_table(Parting(rows, i), n_columns, child, i + 1, left - 1, set | uint64_t(1) << i, out);
}

double* fill_sets(const Parting& rows, int child, const int32_t* candidates, int from, int n, int left, double* out) {
  const PartCounts counts(rows, child);
  *out++ = counts.score();
  for (int i = from; i < n && left; ++i)
    if (left == 1 || i + 1 == n)
      *out++ = counts.score_with(candidates[i]);
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
