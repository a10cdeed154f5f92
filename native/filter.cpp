// The conditional-posterior particle filter of a Chinese-restaurant mixture (AClass, figure 3), with shared groups.
//
// A row is scored once against every distinct group. Particles that hold the same group and seat the row there go on sharing
// it; where they part, the group is copied once for all that chose it.
#include <algorithm>

#include "kernels.hpp"

namespace partita {

void resample(const double* weight, int n, int scheme, double first, int32_t* parents) {
  double total = 0.0;
  for (int p = 0; p < n; ++p) total += weight[p];
  Stream stream{uint64_t(first * 0x1.0p53)};
  std::vector<double> left(weight, weight + n), points;
  int filled = 0, need = n;
  if (scheme == RESIDUAL) {  // whole copies first, the rest by chance
    for (int p = 0; p < n; ++p) {
      const double expected = n * weight[p] / total, whole = std::floor(expected);
      for (int k = 0; k < int(whole); ++k) parents[filled++] = p;
      left[p] = expected - whole;
    }
    need = n - filled;
    total = 0.0;
    for (double w : left) total += w;
  }
  for (int k = 0; k < need; ++k) {
    if (scheme == SYSTEMATIC) points.push_back((k + first) / need);
    else if (scheme == STRATIFIED) points.push_back((k + stream.uniform()) / need);
    else points.push_back(stream.uniform());
  }
  std::sort(points.begin(), points.end());
  double reached = left[0];
  int p = 0;
  for (double u : points) {
    while (p < n - 1 && u * total >= reached) reached += left[++p];
    parents[filled++] = p;
  }
}

namespace {

struct Bank {
  const Layout& layout;
  Filter& f;
  Groups groups;
  Columns columns;
  std::vector<int32_t> free;
  std::vector<double> log_size;
  int bound;

  Bank(const Layout& layout_, const double* hyper, Filter& filter)
      : layout(layout_), f(filter), groups{&layout, hyper, filter.stats, filter.table, filter.capacity},
        log_size(filter.capacity, kNever), bound(1) {
    for (int d = 0; d < layout.n_columns; ++d) columns.add(layout, d);
    for (int g = 1; g < f.capacity; ++g)
      if (f.refs[g] > 0) {
        bound = g + 1;
        log_size[g] = fast_log(f.size[g]);
      }
    for (int g = f.capacity - 1; g > 0; --g)
      if (f.refs[g] == 0) free.push_back(g);
  }
  int take() {
    const int g = free.back();
    free.pop_back();
    bound = std::max(bound, g + 1);
    return g;
  }
  void release(int g, int by) {
    f.refs[g] -= by;
    if (f.refs[g] == 0) free.push_back(g);
  }
  // A row with missing cells in the correlated block is completed by each particle for itself, in a group that it alone holds.
  int seat_apart(Cells& cells, int g, double uniform, int64_t number) {
    int to = g;
    if (g == 0 || f.refs[g] > 1) {
      to = take();
      copy_group(groups, columns, g, to);
      f.size[to] = f.size[g];
      f.refs[to] = 1;
      if (g != 0) --f.refs[g];
    }
    draw_holes(groups, cells, to, uniform, number);
    update(groups, cells, to, 1.0);
    f.size[to] += 1.0;
    log_size[to] = fast_log(f.size[to]);
    return to;
  }
  void keep_cells(const Block& row, int p, int64_t place) {
    if (f.width && place >= 0) std::copy_n(row.x, f.width, f.filled + (int64_t(p) * f.window + place) * f.width);
  }
  void resample_particles(double first, int scheme) {
    const int P = f.n_particles;
    std::vector<double> weight(P);
    double top;
    exponentiate(f.log_weight, P, weight.data(), &top);
    std::vector<int32_t> parents(P);
    resample(weight.data(), P, scheme, first, parents.data());
    std::vector<int32_t> seats(f.seats, f.seats + int64_t(P) * f.room), used(f.used, f.used + P);
    std::vector<int32_t> history(f.history, f.history + int64_t(P) * f.window);
    std::vector<double> alpha(f.alpha, f.alpha + P);
    const int64_t cells = int64_t(f.window) * f.width;
    std::vector<double> filled(f.filled, f.filled + P * cells);
    for (int p = 0; p < P; ++p) {
      const int from = parents[p];
      for (int k = 0; k < used[from]; ++k) ++f.refs[seats[int64_t(from) * f.room + k]];
      std::copy_n(seats.begin() + int64_t(from) * f.room, used[from], f.seats + int64_t(p) * f.room);
      std::copy_n(history.begin() + int64_t(from) * f.window, f.window, f.history + int64_t(p) * f.window);
      std::copy_n(filled.begin() + from * cells, cells, f.filled + p * cells);
      f.used[p] = used[from];
      f.alpha[p] = alpha[from];
    }
    for (int p = 0; p < P; ++p)
      for (int k = 0; k < used[p]; ++k) release(seats[int64_t(p) * f.room + k], 1);
    for (int p = 0; p < P; ++p) f.log_weight[p] = 0.0;
    f.totals[2] += 1.0;
  }
};

}  // namespace

int64_t filter_rows(const Layout& layout, const double* hyper, const Rows& rows, Filter& f, const int64_t* order,
                    const int64_t* place, int64_t n_order, const double* uniforms, double threshold, int scheme) {
  Bank bank(layout, hyper, f);
  const int P = f.n_particles;
  Cells cells(layout.n_columns);
  std::vector<double> acc(padded(f.capacity)), logp(padded(f.room + 1)), weight(padded(f.room + 1));
  std::vector<int32_t> choice(P), chosen_by(f.capacity, 0), successor(f.capacity, -1);
  std::vector<int32_t> touched;
  clean(bank.groups, bank.columns, 0);
  f.size[0] = 0;
  int64_t done = 0;
  for (; done < n_order; ++done) {
    // at worst every particle needs a group of its own: stop here if there may be too few, the caller makes room
    if (int(bank.free.size()) < P + 1) break;
    bool full = false;
    for (int p = 0; p < P; ++p) full = full || (f.used[p] >= f.room && f.room < f.cap);
    if (full) break;
    cells.gather(layout, bank.columns, rows, order[done]);
    score(bank.groups, cells, bank.bound, acc.data());
    const double* u = uniforms + done * (P + 1);
    const double n_seen = f.totals[0];
    touched.clear();
    int n = 0, previous = -1;
    double top = 0.0, total = 0.0, gained = 0.0;
    for (int p = 0; p < P; ++p) {
      const int32_t* seats = f.seats + int64_t(p) * f.room;
      // after resampling copies of a particle stand side by side: what the row means to one it means to all
      const bool same = previous >= 0 && f.used[p] == f.used[previous] && f.alpha[p] == f.alpha[previous] &&
                        std::equal(seats, seats + f.used[p], f.seats + int64_t(previous) * f.room);
      if (!same) {
        previous = p;
        n = f.used[p];
        for (int k = 0; k < n; ++k) logp[k] = acc[seats[k]] + bank.log_size[seats[k]];
        // the restaurant process itself, cut off at the cap: a full particle pays for the group it may not open
        if (n < f.cap) logp[n++] = acc[0] + fast_log(f.alpha[p]);
        total = exponentiate(logp.data(), n, weight.data(), &top);
        gained = top + fast_log(total) - fast_log(n_seen + f.alpha[p]);
      }
      f.log_weight[p] += gained;
      choice[p] = pick(weight.data(), n, total, u[p]);
      const int g = choice[p] < f.used[p] ? seats[choice[p]] : 0;
      if (chosen_by[g]++ == 0) touched.push_back(g);
    }
    const bool apart = cells.block.has_holes();
    for (int g : touched) {
      if (apart) {
        chosen_by[g] = 0;
        continue;
      }
      if (g != 0 && chosen_by[g] == f.refs[g]) {
        successor[g] = g;
      } else {
        const int to = bank.take();
        copy_group(bank.groups, bank.columns, g, to);
        f.size[to] = f.size[g];
        f.refs[to] = chosen_by[g];
        if (g != 0) f.refs[g] -= chosen_by[g];
        successor[g] = to;
      }
      const int to = successor[g];
      update(bank.groups, cells, to, 1.0);
      f.size[to] += 1.0;
      bank.log_size[to] = fast_log(f.size[to]);
      chosen_by[g] = 0;
    }
    for (int p = 0; p < P; ++p) {
      int32_t* seats = f.seats + int64_t(p) * f.room;
      if (apart) {
        const bool opens = choice[p] == f.used[p];
        // numbered by the rows seen, not by its place in this call: how a stream is cut into calls changes nothing
        seats[choice[p]] = bank.seat_apart(cells, opens ? 0 : seats[choice[p]], u[p], int64_t(n_seen));
        f.used[p] += opens;
      } else if (choice[p] == f.used[p]) {
        seats[choice[p]] = successor[0];
        ++f.used[p];
      } else {
        seats[choice[p]] = successor[seats[choice[p]]];
      }
      if (place[done] >= 0) f.history[int64_t(p) * f.window + place[done]] = choice[p];
      if (cells.block.n_seen) bank.keep_cells(cells.block, p, place[done]);
    }
    f.totals[0] += 1.0;
    // the average weight is this row's evidence; weights go on as factors around it
    const double mean = log_sum_exp(f.log_weight, P) - fast_log(double(P));
    f.totals[1] += mean;
    double sum = 0.0, squares = 0.0;
    for (int p = 0; p < P; ++p) {
      f.log_weight[p] -= mean;
      const double w = fast_exp(f.log_weight[p]);
      sum += w;
      squares += w * w;
    }
    if (P > 1 && sum * sum < threshold * P * squares) bank.resample_particles(u[P], scheme);
  }
  return done;
}

void filter_density(const Layout& layout, const double* hyper, const Rows& rows, Filter& f, double* out) {
  Bank bank(layout, hyper, f);
  clean(bank.groups, bank.columns, 0);
  // particles share groups, so their mixture is one mixture over the distinct groups with the weights added up
  std::vector<double> weight(f.capacity, 0.0), particle(f.n_particles), acc(padded(f.capacity)), log_weight(f.capacity);
  double top;
  const double total = exponentiate(f.log_weight, f.n_particles, particle.data(), &top);
  for (int p = 0; p < f.n_particles; ++p) {
    const bool open = f.used[p] < f.cap;
    // a full particle pays for the group it may not open here too: what it says of a row is what seating the row costs it
    const double share = particle[p] / total / (f.totals[0] + f.alpha[p]);
    for (int k = 0; k < f.used[p]; ++k) {
      const int g = f.seats[int64_t(p) * f.room + k];
      weight[g] += share * f.size[g];
    }
    if (open) weight[0] += share * f.alpha[p];
  }
  for (int g = 0; g < bank.bound; ++g) log_weight[g] = weight[g] > 0 ? fast_log(weight[g]) : kNever;
  Cells cells(layout.n_columns);
  for (int64_t i = 0; i < rows.n; ++i) {
    cells.gather(layout, bank.columns, rows, i);
    score(bank.groups, cells, bank.bound, acc.data());
    for (int g = 0; g < bank.bound; ++g) acc[g] = log_weight[g] > kNever ? acc[g] + log_weight[g] : kNever;
    out[i] = log_sum_exp(acc.data(), bank.bound);
  }
}

}  // namespace partita
