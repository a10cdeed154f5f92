// The kernels, as bind.cpp hands them out. Contract and plain twins: src/partita/kernels.
#pragma once
#include <memory>

#include "mixture.hpp"

namespace partita {

// Who sits where in one restaurant for one class; opened for a run of moves, closed by compact().
struct Seating {
  Columns columns;
  Groups groups;
  double* size;
  int32_t* used;
  int cap, capacity;
  double alpha, discount;
  int32_t* z;
  int bound, occupied, fresh;  // groups lie below bound; fresh is empty and on offer, holes are empty and not
  std::vector<int> holes;
  std::unique_ptr<double[]> left;  // what groups.left points to
  std::vector<double> log_size;  // log(size - discount); of the fresh group: 0; of a hole: never
  std::vector<double> log_less;  // the same of a group without one of its rows: never where it has one row only
  std::vector<double> log_open;  // [k] weight of a new group beside k others: log(alpha + discount k), never at the cap

  Seating(const Layout& layout, const Chain& chain, int restaurant, int c, bool keep_left = true);  // keep_left: groups.left is wanted
  bool offer_fresh();
  double log_opening(int others) const { return log_open[others]; }
  bool alone(int g) const { return size[g] < 1.5; }  // whether a row that sits in g sits there alone
  void weigh(int g);
  void join(Cells& cells, int g);
  void leave(Cells& cells, int g);
  void compact(const int32_t* label, int64_t n_rows, int c);
};

// The columns of every view.
struct Views {
  Columns background, class_only;
  std::vector<Columns> restaurants;
  Views(const Layout& layout, const int32_t* view, int n_restaurants)
      : background(columns_of(layout, view, BACKGROUND)), class_only(columns_of(layout, view, CLASS_ONLY)) {
    for (int r = 0; r < n_restaurants; ++r) restaurants.push_back(columns_of(layout, view, FIRST_RESTAURANT + r));
  }
};

// A counter-based stream (SplitMix64), for moves that cannot say beforehand how many numbers they need.
struct Stream {
  uint64_t state;
  uint64_t next() {
    uint64_t x = (state += 0x9e3779b97f4a7c15ULL);
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
  }
  double uniform() { return double(next() >> 11) * 0x1.0p-53; }
  int64_t below(int64_t n) { return int64_t(uniform() * double(n)); }
};

// moved counts the rows that changed their group
int64_t gibbs_sweep(const Layout&, const Rows&, Chain&, int restaurant, int c, const int64_t* order, int64_t n_order,
                    const double* uniforms, int64_t* moved);
// every restaurant and class in turn, all in the same order of rows: order holds the rows of class 0, then of class 1, ..; goes
// from position `from` of the (restaurant, row) pairs to `until` and returns the position reached (short of it when room ran out)
int64_t gibbs_sweeps(const Layout&, const Rows&, Chain&, const int64_t* order, const int64_t* offset, const double* uniforms,
                     int64_t* moved, int64_t from, int64_t until);
// rows without a label: class and groups of each drawn together; uniforms[row][1 + restaurants]
int64_t relabel_sweep(const Layout&, const Rows&, Chain&, double* class_count, double gamma, const int64_t* order,
                      int64_t n_order, const double* uniforms);
int64_t split_merge(const Layout&, const Rows&, Chain&, int restaurant, int c, const int64_t* members, int64_t n_members,
                    int n_proposals, uint64_t seed);
void rebuild(const Layout&, const Rows&, Chain&);  // statistics and tables from labels and assignments

struct Grids {
  int n_beta, n_strength, n_shape, n_scale, n_kappa, n_nu, n_sigma, n_counts;
  const double *beta, *strength, *shape, *scale, *kappa, *nu, *sigma;
  const double* sums;             // beta[i] + beta[j], i <= j
  const double *rise, *rise_sum;  // log Gamma(a + k) - log Gamma(a) for a in beta and in sums, k < n_counts; rows padded to eights
};
void move_hyper(const Layout&, Chain&, const Grids&, const double* uniforms);  // uniforms[column][3]
// Points of a grid of seating laws (alpha, discount) and their log prior; points of one discount lie together.
struct Laws {
  int n;
  const double *alpha, *discount, *log_prior;
};
void move_concentration(Chain&, const Laws&, const double* uniforms);  // alpha and discount of every restaurant and class
void refresh_tables(const Layout&, Chain&);  // after hyper-parameters were set from outside
double log_likelihood(const Layout&, const Chain&);  // log p(cells | groups, hyper-parameters), without the factorials of counts
void fill_column(const Layout&, const Rows&, Chain&, int d);  // statistics and table of one column from the assignments
void move_views(const Layout&, const Rows&, Chain&, const double* uniforms, int first, int last);  // columns first .. last - 1

// What a step of a chain does, and its random numbers; a null pointer: that move is left out.
struct Moves {
  int64_t* order;         // rows with a label, sorted by class: class c from offset[c] on; shuffled within the classes
  const int64_t* offset;
  const double *shuffle, *seats;  // [row]; [restaurant][row]
  const uint64_t* seeds;          // [restaurant][class] of split-merge
  int n_proposals;
  const Laws* laws;
  const double *concentrations, *views;  // [restaurant][class]; [column]
  const Grids* grids;
  const double* hyper;    // [column][3]
  double cells_per_call;  // scores of cells after which a call ends
};
enum Stage { SHUFFLE, SEATS, PROPOSALS, CONCENTRATIONS, VIEWS, HYPER, DONE };
// All moves of a step from place = {stage, position in it} on, up to the stage `until`, or until time is up: `place` says how far it
// came. Returns the capacity to make room for before going on. found: rows that changed their group, proposals accepted.
int chain_step(const Layout&, const Rows&, Chain&, const Moves&, int64_t* place, double* found, int64_t until);

// What a state says of a new row: a weighted mixture of groups in every restaurant and class.
struct Predictive {
  int n_classes, n_restaurants, capacity;
  const int32_t *view, *used;   // used[restaurant][class] counts the groups with a weight, the new one among them
  const double *hyper, *stats, *table, *log_weight;  // log_weight[restaurant][class][capacity]
};
// log_weight of a chain's state: its groups, a new one, and nothing up to `room` groups; [restaurant][class][room]
void seat_weights(const Chain&, int room, double* out);
void log_density(const Layout&, const Rows&, const Predictive&, double* out);  // out[row][class]
void group_scores(const Layout&, const Rows&, const Predictive&, int restaurant, int c, double* out);  // [row][used]
// log p(row | class, the other rows) for every training row and class, and the total weight left
void leave_one_out(const Layout&, const Rows&, const Chain&, double* out);

// together[a][b] = ordered pairs of rows, a row with itself among them, that share a group both in state a and in state b of z[state][row]
void shared_pairs(const int32_t* z, int n_states, int64_t n_rows, int n_groups, double* together);

// A filter over the rows of one class. Particles share groups: refs counts the particles that hold a group.
struct Filter {
  int n_particles, capacity, room, cap, window;  // room: groups a particle can hold; window: length of the history kept
  double *stats, *table, *size;  // [capacity][..], [..][capacity], [capacity]; group 0 is always empty
  int32_t *refs, *seats, *used;  // refs[capacity]; seats[particle][room]: the group at each seat; used[particle]
  double *log_weight, *alpha;    // [particle]
  int32_t* history;              // [particle][window]: the seat of each row in the window
  double *totals;                // rows seen, log evidence, number of resamplings
  int width;                     // of the correlated block; 0: none, or its cells are not kept
  double* filled;                // [particle][window][width]: the block's cells of the rows in the window, drawn where missing
};
enum Scheme { SYSTEMATIC = 0, STRATIFIED = 1, RESIDUAL = 2, MULTINOMIAL = 3 };
int64_t filter_rows(const Layout&, const double* hyper, const Rows&, Filter&, const int64_t* order, const int64_t* place,
                    int64_t n_order, const double* uniforms, double threshold, int scheme);
// log predictive density of each row under the weighted particles, nothing learnt from it
void filter_density(const Layout&, const double* hyper, const Rows&, Filter&, double* out);
void resample(const double* weight, int n, int scheme, double first, int32_t* parents);

}  // namespace partita
