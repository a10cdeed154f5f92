// Collapsed Gibbs sampling of the groups of one class in one restaurant (Neal 2000, algorithm 3).
#include <algorithm>

#include "kernels.hpp"
#include "within.hpp"

namespace partita {

Seating::Seating(const Layout& layout, const Chain& chain, int restaurant, int c, bool keep_left)
    : columns(columns_of(layout, chain.view, FIRST_RESTAURANT + restaurant)),
      groups(groups_of(layout, chain, c)),
      size(chain.size + (int64_t(restaurant) * chain.n_classes + c) * chain.capacity),
      used(chain.used + restaurant * chain.n_classes + c),
      cap(chain.cap),
      capacity(chain.capacity),
      alpha(chain.alpha[restaurant * chain.n_classes + c]),
      discount(chain.discount[restaurant * chain.n_classes + c]),
      z(chain.z + int64_t(restaurant) * chain.n_rows),
      bound(*used),
      occupied(*used),
      fresh(-1),
      log_size(chain.capacity, kNever),
      log_less(chain.capacity, kNever),
      log_open(chain.capacity + 1, kNever) {
  if (keep_left && !columns.binary.empty()) {
    left.reset(new double[size_t(capacity) * layout.n_table]);
    groups.left = left.get();
    for (int g = 0; g < bound; ++g) fill_left(groups, columns, g);
  }
  for (int g = 0; g < bound; ++g) weigh(g);
  for (int k = 0; k <= capacity && k < cap; ++k)
    if (const double weight = alpha + discount * k; weight > 0) log_open[k] = fast_log(weight);
}

// an empty group to offer; false when the caller must make room first
bool Seating::offer_fresh() {
  if (fresh >= 0) return true;
  if (!holes.empty()) {
    fresh = holes.back();
    holes.pop_back();
    clean_sums(groups, columns, fresh);
  } else if (bound < capacity) {
    fresh = bound++;
    clean(groups, columns, fresh);
  } else {
    return false;
  }
  size[fresh] = 0;
  log_size[fresh] = 0.0;
  return true;
}

void Seating::weigh(int g) {
  log_size[g] = fast_log(size[g] - discount);
  log_less[g] = size[g] > 1.5 ? fast_log(size[g] - 1.0 - discount) : kNever;
}

void Seating::join(Cells& cells, int g) {
  if (g == fresh) {
    ++occupied;
    fresh = -1;
  }
  update(groups, cells, g, 1.0);
  size[g] += 1.0;
  weigh(g);
}

void Seating::leave(Cells& cells, int g) {
  update(groups, cells, g, -1.0);
  size[g] -= 1.0;
  if (size[g] > 0.5) {
    weigh(g);
  } else {
    size[g] = 0;
    log_size[g] = kNever;
    holes.push_back(g);
    --occupied;
  }
}

// groups 0 .. used - 1 again, without holes, an empty one after them; z of the rows of this class is renamed
void Seating::compact(const int32_t* label, int64_t n_rows, int c) {
  std::vector<int32_t> name(bound + 1, -1);
  int next = 0;
  for (int g = 0; g < bound; ++g) {
    if (!(size[g] > 0)) continue;
    if (g != next) {
      copy_group(groups, columns, g, next);
      size[next] = size[g];
    }
    name[g] = next++;
  }
  for (int g = next; g < bound; ++g) size[g] = 0;
  if (next < bound)
    for (int64_t i = 0; i < n_rows; ++i)
      if (label[i] == c && z[i] >= 0) z[i] = name[z[i]];
  *used = next;
  if (next < capacity) clean(groups, columns, next);
}

namespace {

// Draws the group of a row from exp(weight), where it `stays` first, as nearly all rows do.
int seat(double* weight, int n, int stays, double u, double* share) {
  double top;
  const double left = u * exponentiate(weight, n, share, &top) - share[stays];
  if (left < 0) return stays;
  share[stays] = 0.0;
  const int g = pick_from(share, n, left);
  return share[g] > 0 ? g : stays;
}

// The rows of one class on their way through a sweep.
struct Sweep {
  const Layout& layout;
  const Rows& rows;
  Seating room;
  Cells cells;
  const int64_t* order;
  const double* uniforms;
  std::vector<double> weight, share;

  Sweep(const Layout& layout_, const Rows& rows_, const Chain& chain, int restaurant, int c, const int64_t* order_,
        const double* uniforms_)
      : layout(layout_), rows(rows_), room(layout_, chain, restaurant, c), cells(layout_.n_columns), order(order_),
        uniforms(uniforms_), weight(padded(chain.capacity)), share(padded(chain.capacity)) {
    cells.block.filled = chain.filled;
  }

  // whether the entries of every row are at hand: then its cells need not be gathered until it moves
  bool at_hand() const { return rows.entries; }

  // Weighs the row at position `at` in every group, its own without it; a row alone in its group may stay: the fresh group then
  // stands for its own.
  void weigh(int64_t at) {
    const int64_t i = order[at];
    const int own = room.z[i];
    cells.gather(layout, room.columns, rows, i);
    score(room.groups, cells, room.bound, weight.data());
    for (int g = 0; g < room.bound; ++g) weight[g] += room.log_size[g];
    const bool alone = room.alone(own);
    weight[room.fresh] += room.log_opening(room.occupied - alone);
    weight[own] = alone ? kNever : room.log_less[own] + score_without(room.groups, cells, own);
  }

  // The first row from position `at` on that may move, weighed; all before it stay.
  int64_t weigh_first_mover(int64_t at, int64_t end) {
    room.log_size[room.fresh] = room.log_opening(room.occupied);
    const Stayers run{order, rows.entry_first, rows.entries, room.z, uniforms, room.groups.table, room.log_size.data(),
                      room.log_less.data(), room.left.get(), room.groups.capacity, layout.n_table, room.bound,
                      padded(room.bound)};
    double own_weight;
    at = pass_over_stayers(run, at, end, weight.data(), &own_weight);
    room.log_size[room.fresh] = 0.0;
    if (at == end) return end;
    const int64_t i = order[at];
    const int own = room.z[i];
    weight[own] = room.alone(own) ? kNever : own_weight;
    if (room.alone(own)) {
      weight[room.fresh] = room.log_opening(room.occupied - 1);
      for (int64_t e = rows.entry_first[i]; e < rows.entry_first[i + 1]; ++e)
        weight[room.fresh] += room.groups.table[rows.entries[e] * room.groups.capacity + room.fresh];
    }
    return at;
  }

  // Draws the group of a row that is weighed; whether it moved.
  bool draw(int64_t at, bool gathered) {
    const int64_t i = order[at];
    const int own = room.z[i], stays = room.alone(own) ? room.fresh : own;
    const int g = seat(weight.data(), room.bound, stays, uniforms[at], share.data());
    if (g == stays) {
      redraw_holes(room.groups, cells, own, uniforms[at], i);
      return false;
    }
    if (!gathered) cells.enter(rows.entries + rows.entry_first[i], int(rows.entry_first[i + 1] - rows.entry_first[i]));
    room.leave(cells, own);
    draw_holes(room.groups, cells, g, uniforms[at], i);
    room.join(cells, g);
    room.z[i] = g;
    return true;
  }
};

int64_t sweep_class(const Layout& layout, const Rows& rows, Chain& chain, int restaurant, int c, const int64_t* order, int64_t n_order,
                    const double* uniforms, int64_t* moved) {
  Sweep sweep(layout, rows, chain, restaurant, c, order, uniforms);
  const bool at_hand = sweep.at_hand();
  int64_t done = 0;
  while (done < n_order && sweep.room.offer_fresh()) {
    if (at_hand) {
      done = sweep.weigh_first_mover(done, n_order);
      if (done == n_order) break;
    } else {
      sweep.weigh(done);
    }
    *moved += sweep.draw(done++, !at_hand);
  }
  sweep.room.compact(chain.label, chain.n_rows, c);
  return done;
}

}  // namespace

int64_t gibbs_sweep(const Layout& layout, const Rows& rows, Chain& chain, int restaurant, int c, const int64_t* order,
                    int64_t n_order, const double* uniforms, int64_t* moved) {
  const Within within(layout, rows, chain.view, FIRST_RESTAURANT + restaurant);
  return sweep_class(layout, within.rows, chain, restaurant, c, order, n_order, uniforms, moved);
}

int64_t gibbs_sweeps(const Layout& layout, const Rows& rows, Chain& chain, const int64_t* order, const int64_t* offset,
                     const double* uniforms, int64_t* moved, int64_t from, int64_t until) {
  const int64_t n = offset[chain.n_classes];
  for (int r = 0; r < chain.n_restaurants; ++r) {
    if (from >= (r + 1) * n || until <= r * n) continue;
    const Within within(layout, rows, chain.view, FIRST_RESTAURANT + r);
    for (int c = 0; c < chain.n_classes; ++c) {
      const int64_t first = std::max(from - r * n, offset[c]), last = std::min(until - r * n, offset[c + 1]);
      if (first >= last) continue;
      const int64_t done = sweep_class(layout, within.rows, chain, r, c, order + first, last - first, uniforms + r * n + first, moved);
      if (done < last - first) return r * n + first + done;
    }
  }
  return until;
}

}  // namespace partita
