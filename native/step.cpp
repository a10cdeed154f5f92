// One step of a chain: all its moves in one call, which can be cut anywhere and gone on with.
#include <algorithm>
#include <utility>

#include "kernels.hpp"

namespace partita {

namespace {

// One move after another, until all are done, room is wanted, or the call has lasted long enough.
class Walk {
 public:
  Walk(const Layout& layout_, const Rows& rows_, Chain& chain_, const Moves& moves_, int64_t* place, double* found_)
      : layout(layout_), rows(rows_), chain(chain_), moves(moves_), stage(place[0]), at(place[1]), found(found_) {}

  // the capacity that is wanted: more than there is where room must be made before going on
  int go(int64_t until) {
    while (stage < until && spent < moves.cells_per_call) {
      const int room = move();
      if (room > chain.capacity) return room;
    }
    return chain.capacity;
  }

 private:
  const Layout& layout;
  const Rows& rows;
  Chain& chain;
  const Moves& moves;
  int64_t &stage, &at;
  double *found, spent = 0.0;

  void next() {
    ++stage;
    at = 0;
  }

  // how many jobs of so many cells there is time for; one at least
  int64_t time_for(double cells) const { return std::max(int64_t((moves.cells_per_call - spent) / std::max(cells, 1.0)), int64_t(1)); }

  int most_used() const { return *std::max_element(chain.used, chain.used + chain.n_restaurants * chain.n_classes); }

  int move() {
    switch (stage) {
      case SHUFFLE: shuffle(); return 0;
      case SEATS: return seat();
      case PROPOSALS: return propose();
      case CONCENTRATIONS:
        if (moves.laws) move_concentration(chain, *moves.laws, moves.concentrations);
        next();
        return 0;
      case VIEWS: move_columns(); return 0;
      default:
        if (moves.grids) move_hyper(layout, chain, *moves.grids, moves.hyper);
        next();
        return 0;
    }
  }

  // the rows of each class in random order (Fisher and Yates)
  void shuffle() {
    for (int c = 0; c < chain.n_classes; ++c)
      for (int64_t first = moves.offset[c], k = moves.offset[c + 1] - 1; k > first; --k)
        std::swap(moves.order[k], moves.order[first + int64_t(moves.shuffle[k] * double(k - first + 1))]);
    next();
  }

  int seat() {
    const int64_t end = chain.n_restaurants * moves.offset[chain.n_classes];
    const double cells = double(layout.n_columns) * chain.capacity;
    const int64_t until = std::min(at + time_for(cells), end);
    int64_t moved = 0;
    const int64_t reached = gibbs_sweeps(layout, rows, chain, moves.order, moves.offset, moves.seats, &moved, at, until);
    spent += cells * double(reached - at);
    found[0] += double(moved);
    at = reached;
    if (reached < until) return 2 * chain.capacity;
    if (at < end) return 0;
    next();
    return most_used() + 1;  // the empty group after those in use has a table of its own
  }

  int propose() {
    const int C = chain.n_classes, R = chain.n_restaurants;
    for (; moves.seeds && at < int64_t(C) * R && spent < moves.cells_per_call; ++at) {
      const int c = int(at) / R, r = int(at) % R, q = r * C + c;
      const int room = std::min(chain.used[q] + moves.n_proposals, chain.cap) + 1;  // a split without room for it would be lost
      if (room > chain.capacity) return room;
      std::vector<int64_t> members;
      for (int64_t i = 0; i < chain.n_rows; ++i)
        if (chain.label[i] == c) members.push_back(i);
      found[1] += double(split_merge(layout, rows, chain, r, c, members.data(), int64_t(members.size()), moves.n_proposals, moves.seeds[q]));
      spent += 2.0 * moves.n_proposals * double(members.size()) * layout.n_columns;
    }
    if (!moves.seeds || at == int64_t(C) * R) next();
    return 0;
  }

  void move_columns() {
    constexpr double kCellsPerRow = 10.0;  // a row in a view takes as long as so many cells in a sweep
    const double cells = kCellsPerRow * double(rows.n) * (FIRST_RESTAURANT + chain.n_restaurants);
    if (moves.views && at < layout.n_columns) {
      const int last = int(std::min(at + time_for(cells), int64_t(layout.n_columns)));
      move_views(layout, rows, chain, moves.views, int(at), last);
      spent += cells * double(last - at);
      at = last;
    }
    if (!moves.views || at == layout.n_columns) next();
  }
};

}  // namespace

int chain_step(const Layout& layout, const Rows& rows, Chain& chain, const Moves& moves, int64_t* place, double* found, int64_t until) {
  return Walk(layout, rows, chain, moves, place, found).go(until);
}

}  // namespace partita
