// Collapsed Gibbs sampling of the groups of one class in one restaurant (Neal 2000, algorithm 3).
#include <algorithm>

#include "kernels.hpp"

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
      log_open(chain.capacity + 1, kNever) {
  if (keep_left && !columns.binary.empty()) {
    left.reset(new double[size_t(capacity) * layout.n_table]);
    groups.left = left.get();
    for (int g = 0; g < bound; ++g) fill_left(groups, columns, g);
  }
  for (int g = 0; g < bound; ++g) log_size[g] = fast_log(size[g] - discount);
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

void Seating::join(Cells& cells, int g) {
  if (g == fresh) {
    ++occupied;
    fresh = -1;
  }
  update(groups, cells, g, 1.0);
  size[g] += 1.0;
  log_size[g] = fast_log(size[g] - discount);
}

void Seating::leave(Cells& cells, int g) {
  update(groups, cells, g, -1.0);
  size[g] -= 1.0;
  if (size[g] > 0.5) {
    log_size[g] = fast_log(size[g] - discount);
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

// Draws the group of a row that sits in `own` from exp(logp + log_size): its own group comes first, as nearly all rows stay. The others
// together weigh no more than n times the heaviest of them, so that most rows are known to stay before they are weighed.
int seat(const double* logp, const double* log_size, int n, int own, double u, double* sum, double* weight) {
  const double above = add_and_top(logp, log_size, n, own, sum) - sum[own];
  if (above < 0 && u * (1.0 + n * fast_exp(above)) < 1.0) return own;
  double top;
  const double left = u * exponentiate(sum, n, weight, &top) - weight[own];
  if (left < 0) return own;
  weight[own] = 0.0;
  const int g = pick_from(weight, n, left);
  return weight[g] > 0 ? g : own;
}

}  // namespace

int64_t gibbs_sweep(const Layout& layout, const Rows& rows, Chain& chain, int restaurant, int c, const int64_t* order,
                    int64_t n_order, const double* uniforms, int64_t* moved) {
  Seating room(layout, chain, restaurant, c);
  Cells cells(layout.n_columns);
  cells.block.filled = chain.filled;
  std::vector<double> logp(padded(chain.capacity)), sum(padded(chain.capacity)), weight(padded(chain.capacity));
  // where the entries of every row are at hand, its cells need not be gathered until it moves
  const bool at_hand = rows.entries && int(room.columns.binary.size()) == layout.n_columns;
  int64_t done = 0;
  for (; done < n_order; ++done) {
    if (!room.offer_fresh()) break;
    const int64_t i = order[done];
    const int own = room.z[i];
    const bool alone = room.size[own] < 1.5;
    double without = 0.0;  // log predictive of the row in its group without it
    if (at_hand) {
      const int32_t* entries = rows.entries + rows.entry_first[i];
      const int n = int(rows.entry_first[i + 1] - rows.entry_first[i]);
      accumulate(room.groups.table, room.groups.capacity, entries, n, padded(room.bound), logp.data());
      if (!alone) without = log_product(room.groups.left + own * int64_t(layout.n_table), entries, n);
    } else {
      cells.gather(layout, room.columns, rows, i);
      score(room.groups, cells, room.bound, logp.data());
      if (!alone) without = score_without(room.groups, cells, own);
    }
    // a row alone in its group may stay: the fresh group then stands for its own
    logp[room.fresh] += room.log_opening(room.occupied - alone);
    logp[own] = alone ? kNever : without + fast_log(room.size[own] - 1.0 - room.discount) - room.log_size[own];
    const int stay = alone ? room.fresh : own;
    const int g = seat(logp.data(), room.log_size.data(), room.bound, stay, uniforms[done], sum.data(), weight.data());
    if (g == stay) {
      redraw_holes(room.groups, cells, own, uniforms[done], i);
      continue;
    }
    if (at_hand) cells.gather(layout, room.columns, rows, i);
    room.leave(cells, own);
    draw_holes(room.groups, cells, g, uniforms[done], i);
    room.join(cells, g);
    room.z[i] = g;
    ++*moved;
  }
  room.compact(chain.label, chain.n_rows, c);
  return done;
}

int64_t gibbs_sweeps(const Layout& layout, const Rows& rows, Chain& chain, const int64_t* order, const int64_t* offset,
                     const double* uniforms, int64_t* moved, int64_t from, int64_t until) {
  const int64_t n = offset[chain.n_classes];
  for (int r = 0; r < chain.n_restaurants; ++r)
    for (int c = 0; c < chain.n_classes; ++c) {
      const int64_t first = std::max(from - r * n, offset[c]), last = std::min(until - r * n, offset[c + 1]);
      if (first >= last) continue;
      const int64_t done =
          gibbs_sweep(layout, rows, chain, r, c, order + first, last - first, uniforms + r * n + first, moved);
      if (done < last - first) return r * n + first + done;
    }
  return until;
}

}  // namespace partita
