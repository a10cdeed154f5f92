// Rows whose label is missing: the class is drawn with the groups summed out, then a group in every restaurant.
#include "kernels.hpp"

namespace partita {

int64_t relabel_sweep(const Layout& layout, const Rows& rows, Chain& chain, double* class_count, double gamma,
                      const int64_t* order, int64_t n_order, const double* uniforms) {
  const int C = chain.n_classes, R = chain.n_restaurants;
  std::vector<Seating> rooms;
  for (int r = 0; r < R; ++r)
    for (int c = 0; c < C; ++c) rooms.emplace_back(layout, chain, r, c);
  const Columns class_only = columns_of(layout, chain.view, CLASS_ONLY);
  std::vector<Cells> cells(R + 1, Cells(layout.n_columns));
  for (auto& each : cells) each.block.filled = chain.filled;
  const int wide = padded(chain.capacity);
  std::vector<double> logp(size_t(R) * C * wide), weight(wide), per_class(C), share(C);
  int64_t done = 0;
  for (; done < n_order; ++done) {
    bool room_left = true;
    for (auto& room : rooms) room_left = room_left && room.offer_fresh();
    if (!room_left) break;
    const int64_t i = order[done];
    const int old = chain.label[i];
    const double* u = uniforms + done * (1 + R);
    cells[R].gather(layout, class_only, rows, i);
    for (int c = 0; c < C; ++c) {
      Groups groups = groups_of(layout, chain, c);
      per_class[c] = fast_log(class_count[c] - (c == old) + gamma);
      if (!class_only.empty()) {
        score(groups, cells[R], 1, weight.data());
        per_class[c] += c == old ? score_without(groups, cells[R], 0) : weight[0];
      }
    }
    for (int r = 0; r < R; ++r) {
      cells[r].gather(layout, rooms[size_t(r) * C].columns, rows, i);
      for (int c = 0; c < C; ++c) {
        Seating& room = rooms[size_t(r) * C + c];
        double* lp = logp.data() + (size_t(r) * C + c) * wide;
        score(room.groups, cells[r], room.bound, lp);
        for (int g = 0; g < room.bound; ++g) lp[g] += room.log_size[g];
        double total = class_count[c];
        bool alone = false;
        if (c == old) {
          const int own = room.z[i];
          alone = room.size[own] < 1.5;
          lp[own] = alone ? kNever
                          : score_without(room.groups, cells[r], own) + fast_log(room.size[own] - 1.0 - room.discount);
          total -= 1.0;
        }
        // a full room still divides by n + alpha: the law is the uncapped one given that no class passes the cap
        lp[room.fresh] += room.log_opening(room.occupied - alone);
        per_class[c] += log_sum_exp(lp, room.bound) - fast_log(total + room.alpha);
      }
    }
    double top, total = exponentiate(per_class.data(), C, share.data(), &top);
    const int c = pick(share.data(), C, total, u[0]);
    for (int r = 0; r < R; ++r) {
      Seating &from = rooms[size_t(r) * C + old], &to = rooms[size_t(r) * C + c];
      total = exponentiate(logp.data() + (size_t(r) * C + c) * wide, to.bound, weight.data(), &top);
      const int g = pick(weight.data(), to.bound, total, u[1 + r]), own = from.z[i];
      if (c == old && (g == own || (g == to.fresh && from.size[own] < 1.5))) {
        redraw_holes(from.groups, cells[r], own, u[1 + r], i);
        continue;
      }
      from.leave(cells[r], own);
      draw_holes(to.groups, cells[r], g, u[1 + r], i);
      to.join(cells[r], g);
      to.z[i] = g;
    }
    if (c == old) {
      redraw_holes(groups_of(layout, chain, c), cells[R], 0, u[0], i);
    } else {
      update(groups_of(layout, chain, old), cells[R], 0, -1.0);
      draw_holes(groups_of(layout, chain, c), cells[R], 0, u[0], i);
      update(groups_of(layout, chain, c), cells[R], 0, 1.0);
      class_count[old] -= 1.0;
      class_count[c] += 1.0;
      chain.label[i] = c;
    }
  }
  for (int r = 0; r < R; ++r)
    for (int c = 0; c < C; ++c) rooms[size_t(r) * C + c].compact(chain.label, chain.n_rows, c);
  return done;
}

}  // namespace partita
