// What a chain says of its own rows, each left out in turn.
#include <algorithm>
#include <stdexcept>

#include "kernels.hpp"
#include "side_by_side.hpp"
#include "within.hpp"

namespace partita {

namespace {

// One restaurant: the weights of its groups in every class, a new one among them, and the scores of a row in all of them.
class LeftOut {
 public:
  LeftOut(const Layout& layout_, const Chain& chain_, const Columns& columns_, int restaurant)
      : layout(layout_), chain(chain_), columns(columns_), r(restaurant), total(chain_.n_classes), weight(chain_.n_classes) {
    const int C = chain.n_classes;
    for (int c = 0; c < C; ++c) {
      const int n = used(c);
      if (n >= chain.capacity) throw std::invalid_argument("leave_one_out needs room for one more group");
      for (int g = 0; g < n; ++g) {
        weight[c].push_back(fast_log(size(c)[g] - discount(c)));
        total[c] += size(c)[g];
      }
      const Opening open = opening(c, n, total[c]);
      weight[c].push_back(open.log_weight);
      log_total.push_back(open.log_total);
    }
    if (only_binary(columns) && C <= kMostParts) pack();
    acc.resize(packed ? packed->wide : padded(chain.capacity));
  }

  // to[c] += log p(cells of row i in this restaurant | class c, the other rows); the cells are gathered. A row that sits nowhere
  // has the label -1.
  void add(const Cells& cells, int64_t i, double* to) {
    const int own = chain.label[i];
    if (!packed) {
      for (int c = 0; c < chain.n_classes; ++c) {
        score(groups_of(layout, chain, c), cells, used(c) + 1, acc.data());
        double log_all = log_total[c];
        double* w = weight[c].data();
        const Change change = c == own ? take_out(cells, i, c, w, acc.data(), &log_all) : Change{};
        for (int g = 0; g <= used(c); ++g) acc[g] += w[g];
        to[c] += log_sum_exp(acc.data(), used(c) + 1) - log_all;
        if (c == own) change.undo(w);
      }
      return;
    }
    entries.assign(cells.entries.begin(), cells.entries.begin() + cells.n_entries);
    packed->score(entries.data(), cells.n_entries, acc.data());
    const int at = own < 0 ? 0 : packed->first[own];
    double log_own = 0.0, *w = base.data() + at;
    const Change change = own < 0 ? Change{} : take_out(cells, i, own, w, acc.data() + at, &log_own);
    std::fill(out.begin(), out.end(), 0.0);
    log_sum_exp_parts(acc.data(), base.data(), packed->wide, packed->first.data(), packed->classes(), out.data());
    for (int c = 0; c < chain.n_classes; ++c) to[c] += out[c] - (c == own ? log_own : log_total[c]);
    if (own >= 0) change.undo(w);
  }

 private:
  const Layout& layout;
  const Chain& chain;
  const Columns& columns;
  const int r;
  std::vector<double> total, log_total;     // rows of each class; log of all weights together
  std::vector<std::vector<double>> weight;  // [class][group]
  std::unique_ptr<SideBySide> packed;       // where the groups of all classes are scored in one pass, their weights in base
  std::vector<double> base, out, acc;
  std::vector<int32_t> entries;

  struct Opening {
    double log_weight, log_total;  // of a new group; of all groups together
  };
  struct Change {  // what a row left out does to the weights of its class
    int own = 0, fresh = 0;
    double own_weight = 0.0, fresh_weight = 0.0;  // before
    void undo(double* w) const {
      w[own] = own_weight;
      w[fresh] = fresh_weight;
    }
  };

  int used(int c) const { return chain.used[r * chain.n_classes + c]; }
  double discount(int c) const { return chain.discount[r * chain.n_classes + c]; }
  const double* size(int c) const { return chain.size + (int64_t(r) * chain.n_classes + c) * chain.capacity; }

  Opening opening(int c, double groups, double rows) const {
    const double open = groups < chain.cap ? std::max(chain.alpha[r * chain.n_classes + c] + discount(c) * groups, 0.0) : 0.0;
    return {open > 0 ? fast_log(open) : kNever, fast_log(rows - discount(c) * groups + open)};
  }

  void pack() {
    std::vector<int32_t> n_groups;
    for (const auto& w : weight) {
      n_groups.push_back(int32_t(w.size()));
      base.insert(base.end(), w.begin(), w.end());
    }
    packed.reset(new SideBySide(layout, columns, n_groups));
    for (int c = 0; c < chain.n_classes; ++c) packed->put(groups_of(layout, chain, c), columns, c);
    base.resize(packed->wide, kNever);
    out.resize(chain.n_classes);
  }

  // Takes row i out of its group in class c: its score there, the weights of that group and of a new one, the log of their total.
  Change take_out(const Cells& cells, int64_t i, int c, double* w, double* scores, double* log_all) const {
    const int own = chain.z[int64_t(r) * chain.n_rows + i], n = used(c);
    const bool alone = size(c)[own] < 1.5;
    const Opening open = opening(c, n - alone, total[c] - 1.0);
    const Change before{own, n, w[own], w[n]};
    w[own] = alone ? kNever : fast_log(size(c)[own] - 1.0 - discount(c));
    w[n] = open.log_weight;
    if (!alone) scores[own] = score_without(groups_of(layout, chain, c), cells, own);
    *log_all = open.log_total;
    return before;
  }
};

// to[i][c] = log p(cells of row i in the background | the other rows)
void start_with_background(const Layout& layout, const Rows& rows, const Chain& chain, const Columns& columns, double* to) {
  const int C = chain.n_classes;
  std::fill_n(to, rows.n * C, 0.0);
  if (columns.empty()) return;
  const Within within(layout, rows, chain.view, BACKGROUND);
  const Groups all = groups_of(layout, chain, 0);
  Cells cells(layout.n_columns);
  std::vector<double> acc(padded(chain.capacity));
  for (int64_t i = 0; i < rows.n; ++i) {
    within.gather(layout, columns, i, cells);
    if (chain.label[i] < 0) score(all, cells, 1, acc.data());
    else acc[0] = score_without(all, cells, 0);
    std::fill_n(to + i * C, C, acc[0]);
  }
}

void add_class_only(const Layout& layout, const Rows& rows, const Chain& chain, const Columns& columns, double* to) {
  if (columns.empty()) return;
  const Within within(layout, rows, chain.view, CLASS_ONLY);
  Cells cells(layout.n_columns);
  std::vector<double> acc(padded(chain.capacity));
  for (int64_t i = 0; i < rows.n; ++i) {
    within.gather(layout, columns, i, cells);
    for (int c = 0; c < chain.n_classes; ++c) {
      const Groups groups = groups_of(layout, chain, c);
      if (c == chain.label[i]) acc[0] = score_without(groups, cells, 0);
      else score(groups, cells, 1, acc.data());
      to[i * chain.n_classes + c] += acc[0];
    }
  }
}

void add_restaurant(const Layout& layout, const Rows& rows, const Chain& chain, const Columns& columns, int r, double* to) {
  if (columns.empty()) return;
  const Within within(layout, rows, chain.view, FIRST_RESTAURANT + r);
  Cells cells(layout.n_columns);
  cells.block.filled = chain.filled;
  LeftOut left_out(layout, chain, columns, r);
  for (int64_t i = 0; i < rows.n; ++i) {
    within.gather(layout, columns, i, cells);
    left_out.add(cells, i, to + i * chain.n_classes);
  }
}

}  // namespace

void leave_one_out(const Layout& layout, const Rows& rows, const Chain& chain, double* out) {
  const Views views(layout, chain.view, chain.n_restaurants);
  start_with_background(layout, rows, chain, views.background, out);
  add_class_only(layout, rows, chain, views.class_only, out);
  for (int r = 0; r < chain.n_restaurants; ++r) add_restaurant(layout, rows, chain, views.restaurants[r], r, out);
}

}  // namespace partita
