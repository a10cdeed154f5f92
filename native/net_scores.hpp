// Local scores of a discrete network by counting bit planes. The plain twin: kernels/reference/net_scores.py.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

namespace partita {

constexpr double kNoScore = -1e300;  // log of zero: a set that is not allowed

// A complete table of levels, twice: as bit planes (planes[first[j] + v] marks the rows in which column j shows level v) and by
// columns (cells[j * n_rows + s]). words = ceil(n_rows / 64).
struct NetData {
  const uint64_t* planes;
  const int64_t* first;
  const int32_t* levels;
  const int32_t* cells;
  int n_columns;
  int64_t n_rows, words;
  bool bdeu;      // pseudo is the equivalent sample size; else the pseudo-count of a cell
  double pseudo;
  const double *rise_cell, *rise_row;  // log Gamma(a + m) - log Gamma(a), a = pseudo; rows of rise_row: a = levels * pseudo
  const int32_t* row_of;               // which row of rise_row a column uses
};

// The rows of a table apart by the levels of some columns: as masks where parts are few, else as one number a row.
class Parting {
 public:
  explicit Parting(const NetData& data);  // all rows together
  Parting(const Parting& whole, int column);

 private:
  friend class PartCounts;
  const NetData* data_;
  bool masks_;
  double n_configurations_;
  int64_t n_parts_;
  std::unique_ptr<uint64_t[]> mask_;  // n_parts x words
  std::vector<int64_t> total_;
  std::vector<int32_t> part_;    // n_rows
  void split_masks(const Parting& whole, int column);
  void split_numbers(const Parting& whole, int column);
};

// How often a column, the child, shows each of its levels in every part; a parting outlives its counts.
class PartCounts {
 public:
  PartCounts(const Parting& parts, int child);
  double score() const;                 // log marginal likelihood of the child given the parts
  double score_with(int column) const;  // the same of parts that one more column splits, which are not kept

 private:
  const Parting& parts_;
  const NetData& data_;
  int child_, levels_;
  std::vector<int64_t> count_, total_;  // (n_parts, levels) and n_parts
  void count_masks();
  void count_numbers();
  void count_split(const uint64_t* mask, int column, uint64_t* room, int64_t* count, int64_t* total) const;
};

double net_score(const NetData& data, int child, const int32_t* parents, int n_parents);
// every set of parents as a bit mask: out[2^n_columns], kNoScore where the child is among them or they are too many
void net_score_table(const NetData& data, int child, int max_parents, double* out);
// sets of at most max_parents candidates, a set before those that extend it, candidates ascending; returns how many
int64_t net_score_sets(const NetData& data, int child, const int32_t* candidates, int n_candidates, int max_parents, double* out);

}  // namespace partita
