// The state of one chain of Chinese-restaurant mixtures, as plain pointers into the caller's arrays.
//
// Columns are split into views. View 0 ("background") has one group for all rows, view 1 ("class only") one group per class;
// views 2, 3, .. are restaurants: in each, the rows of each class are partitioned into groups. A column sits in one view.
// The statistics of column d in group g of class c stand in stats[c][g][..], g counted within the view of d.
#pragma once
#include <cstdint>
#include <vector>

#include "arithmetic.hpp"
#include "correlated.hpp"

namespace partita {

enum Kind : uint8_t { BINARY = 0, CATEGORICAL = 1, COUNT = 2, REAL = 3, CORRELATED = 4 };
constexpr int BACKGROUND = 0, CLASS_ONLY = 1, FIRST_RESTAURANT = 2;

// What the columns are. Statistics and predictive tables by kind (hyper-parameters h):
//   BINARY       stats: ones, zeros                 table: log p(1), log p(0)                        h: a, b
//   CATEGORICAL  stats: n, count of each level      table: -log(h + n), log(h base + count) ..       h: strength
//   COUNT        stats: n, sum                      table: r, constant, log q (negative binomial)    h: shape, rate
//   REAL         stats: n, sum, sum of squares      table: constant, centre, inverse, power (t)      h: kappa, nu, sigma^2, mean
//   CORRELATED   stats: see correlated.hpp          table: none                                      h: kappa, nu, sigma^2, mean
struct Layout {
  int n_columns, n_stats, n_table;
  const uint8_t* kind;
  const int32_t *source, *levels, *stat_first, *table_first, *base_first;
  const double* base;  // the Dirichlet mean of a categorical column
};

struct Rows {
  int64_t n;
  int n_codes, n_reals;
  const int32_t* codes;  // -1: missing
  const double* reals;   // NaN: missing
  // where many cells are missing: row i has observed codes in columns cells[first[i]] .. cells[first[i + 1] - 1], namely the
  // listed ones; else null
  const int64_t* first = nullptr;
  const int32_t *cells = nullptr, *listed = nullptr;
  // where all columns are binary: the table entries of row i are entries[entry_first[i]] .. entries[entry_first[i + 1] - 1]
  const int64_t* entry_first = nullptr;
  const int32_t* entries = nullptr;
};

struct Chain {
  int n_classes, n_restaurants, capacity, cap;
  int64_t n_rows;
  double* hyper;      // [column][4]
  int32_t* at;        // [column][4] position of the hyper-parameters on their grids
  int32_t* view;      // [column]
  int32_t* label;     // [row]
  int32_t* z;         // [restaurant][row]
  int32_t* used;      // [restaurant][class]
  double* size;       // [restaurant][class][capacity]
  double* alpha;      // [restaurant][class]
  double* discount;   // [restaurant][class] <= 0
  double* stats;      // [class][capacity][n_stats]
  double* table;      // [class][n_table][capacity]
  double* filled;     // [row][width of the correlated block], the current values of its cells
};

// The groups of one class: where a row is scored, added and removed.
struct Groups {
  const Layout* layout;
  const double* hyper;
  double *stats, *table;
  int64_t capacity;
  // [group][table entry], binary columns only: p(value | group without one row of that value); null where it is not kept
  double* left = nullptr;
  double* at(int d, int g) const { return stats + g * int64_t(layout->n_stats) + layout->stat_first[d]; }
  double* row(int d, int k) const { return table + (layout->table_first[d] + k) * capacity; }
};

inline Groups groups_of(const Layout& layout, const Chain& chain, int c) {
  return {&layout, chain.hyper, chain.stats + int64_t(c) * chain.capacity * layout.n_stats,
          chain.table + int64_t(c) * chain.capacity * layout.n_table, chain.capacity};
}

// Columns of one view by kind, with what a row's cell needs at hand: where it stands and which table entries it means.
struct Columns {
  struct One {
    int32_t column, source, entry;
  };
  struct Source {  // what a column of codes means in this view: nothing, a binary or a categorical column
    int32_t column = 0, entry = 0, binary = 0, categorical = 0;
  };
  std::vector<int> all;
  std::vector<One> binary, categorical, count, real, correlated;
  std::vector<Source> by_source;
  void add(const Layout& layout, int d) {
    const One one{d, layout.source[d], layout.table_first[d]};
    all.push_back(d);
    if (layout.kind[d] == BINARY || layout.kind[d] == CATEGORICAL) {
      if (int(by_source.size()) <= one.source) by_source.resize(one.source + 1);
      by_source[one.source] = {d, one.entry, layout.kind[d] == BINARY, layout.kind[d] == CATEGORICAL};
    }
    switch (layout.kind[d]) {
      case BINARY: binary.push_back(one); break;
      case CATEGORICAL: categorical.push_back(one); break;
      case COUNT: count.push_back(one); break;
      case REAL: real.push_back(one); break;
      default: correlated.push_back(one);
    }
  }
  bool empty() const { return all.empty(); }
};

inline Columns columns_of(const Layout& layout, const int32_t* view, int which) {
  Columns columns;
  for (int d = 0; d < layout.n_columns; ++d)
    if (view[d] == which) columns.add(layout, d);
  return columns;
}

inline int padded(int n) { return (n + 7) & ~7; }

// The observed cells of one row in one view: what every score and update needs, gathered once.
struct Cells {
  std::vector<int32_t> entries;        // rows of the table that add up to the discrete score
  std::vector<int32_t> binary, codes;  // binary columns and their values
  std::vector<int32_t> categorical, levels;
  std::vector<int32_t> count, real;
  std::vector<double> counts, reals;
  std::vector<double> scratch;
  int n_entries = 0, n_binary = 0, n_categorical = 0, n_count = 0, n_real = 0;
  const int32_t* entry_of = nullptr;
  Block block;  // cells of the correlated block
  explicit Cells(int n_columns)
      : entries(2 * n_columns + 1), binary(n_columns + 1), codes(n_columns + 1), categorical(n_columns + 1),
        levels(n_columns + 1), count(n_columns + 1), real(n_columns + 1), counts(n_columns + 1), reals(n_columns + 1),
        scratch(3 * n_columns + 8) {}
  void gather(const Layout& layout, const Columns& columns, const Rows& rows, int64_t i);
  void enter(const int32_t* of_row, int n);  // the same of a row whose table entries are known, all columns being binary

 private:
  void gather_codes(const Columns& columns, const Rows& rows, int64_t i);
  void gather_listed_codes(const Columns& columns, const Rows& rows, int64_t i);
};

// ---- one column of one group (columns.cpp) ----
void refresh(const Groups& groups, int d, int g);               // predictive table from statistics
void refresh_all(const Groups& groups, int d, int n);            // of groups 0 .. n - 1
double log_marginal(const Layout& layout, int d, const double* h, const double* stats);

// ---- one row of one class (columns.cpp) ----
void score(const Groups& groups, const Cells& cells, int n, double* acc);   // acc[g], g < padded(n): log predictive
double score_without(const Groups& groups, const Cells& cells, int g);      // of a row that sits in g, left out of it
void update(const Groups& groups, Cells& cells, int g, double by);          // add (+1) or remove (-1) the row
// missing cells of the correlated block, drawn with the seat that `uniform` drew: of a row about to join g; of one that stays in g
void draw_holes(const Groups& groups, Cells& cells, int g, double uniform, int64_t row);
void redraw_holes(const Groups& groups, Cells& cells, int g, double uniform, int64_t row);

// ---- groups that open, empty and move (groups.cpp) ----
void clean(const Groups& groups, const Columns& columns, int g);   // an empty group
void clean_sums(const Groups& groups, const Columns& columns, int g);  // of a group whose rows all left: counts are exact zeros
void fill_left(const Groups& groups, const Columns& columns, int g);  // groups.left of a group from its statistics
void copy_group(const Groups& groups, const Columns& columns, int from, int to);
void count_cell(const Layout& layout, int d, double* stats, const Rows& rows, int64_t i, double by);

}  // namespace partita
