// Bindings of the mixture kernels: the caller's dataclasses (src/partita/kernels/contract.py) become structs of pointers.
#include "bind.hpp"
#include "kernels.hpp"

namespace partita {

using namespace nb::literals;

namespace {

Layout layout_from(nb::handle o) {
  return {shape(o, "kind", 0), number(o, "n_stats"), number(o, "n_table"), pointer<const uint8_t>(o, "kind"),
          pointer<const int32_t>(o, "source"), pointer<const int32_t>(o, "levels"), pointer<const int32_t>(o, "stat_first"),
          pointer<const int32_t>(o, "table_first"), pointer<const int32_t>(o, "base_first"), pointer<const double>(o, "base")};
}

Rows rows_from(nb::handle o) {
  Rows rows{shape(o, "codes", 0), shape(o, "codes", 1), shape(o, "reals", 1), pointer<const int32_t>(o, "codes"),
            pointer<const double>(o, "reals")};
  if (!field(o, "first").is_none()) {
    rows.first = pointer<const int64_t>(o, "first");
    rows.cells = pointer<const int32_t>(o, "cells");
    rows.listed = pointer<const int32_t>(o, "listed_codes");
  }
  if (!field(o, "entries").is_none()) {
    rows.entry_first = pointer<const int64_t>(o, "entry_first");
    rows.entries = pointer<const int32_t>(o, "entries");
  }
  return rows;
}

Chain chain_from(nb::handle o) {
  return {shape(o, "stats", 0), shape(o, "z", 0), shape(o, "stats", 1), number(o, "cap"), shape(o, "z", 1),
          pointer<double>(o, "hyper"), pointer<int32_t>(o, "at"), pointer<int32_t>(o, "view"),
          pointer<int32_t>(o, "label"), pointer<int32_t>(o, "z"), pointer<int32_t>(o, "used"),
          pointer<double>(o, "size"), pointer<double>(o, "alpha"), pointer<double>(o, "discount"),
          pointer<double>(o, "stats"), pointer<double>(o, "table"), pointer<double>(o, "filled")};
}

Predictive predictive_from(nb::handle o) {
  return {shape(o, "table", 0), shape(o, "log_weight", 0), shape(o, "table", 2), pointer<const int32_t>(o, "view"),
          pointer<const int32_t>(o, "used"), pointer<const double>(o, "hyper"), pointer<const double>(o, "stats"),
          pointer<const double>(o, "table"), pointer<const double>(o, "log_weight")};
}

Grids grids_from(nb::handle o) {
  return {shape(o, "beta", 0), shape(o, "strength", 0), shape(o, "shape", 0), shape(o, "scale", 0),
          shape(o, "kappa", 0), shape(o, "nu", 0), shape(o, "sigma", 0), shape(o, "rise", 0),
          pointer<const double>(o, "beta"), pointer<const double>(o, "strength"), pointer<const double>(o, "shape"),
          pointer<const double>(o, "scale"), pointer<const double>(o, "kappa"), pointer<const double>(o, "nu"),
          pointer<const double>(o, "sigma"), pointer<const double>(o, "sums"), pointer<const double>(o, "rise"),
          pointer<const double>(o, "rise_sum")};
}

Filter filter_from(nb::handle o) {
  return {shape(o, "seats", 0), shape(o, "stats", 0), shape(o, "seats", 1), number(o, "cap"), shape(o, "history", 1),
          pointer<double>(o, "stats"), pointer<double>(o, "table"), pointer<double>(o, "size"),
          pointer<int32_t>(o, "refs"), pointer<int32_t>(o, "seats"), pointer<int32_t>(o, "used"),
          pointer<double>(o, "log_weight"), pointer<double>(o, "alpha"), pointer<int32_t>(o, "history"),
          pointer<double>(o, "totals"), shape(o, "filled", 2), pointer<double>(o, "filled")};
}

Laws laws_from(nb::handle o) {
  return {shape(o, "alpha", 0), pointer<const double>(o, "alpha"), pointer<const double>(o, "discount"),
          pointer<const double>(o, "log_prior")};
}

// Moves whose laws and grids lie beside them.
struct HeldMoves {
  Laws laws;
  Grids grids;
  Moves moves;
  explicit HeldMoves(nb::handle o)
      : moves{pointer<int64_t>(o, "order"), pointer<const int64_t>(o, "offset"), pointer<const double>(o, "shuffle"),
              pointer<const double>(o, "seats"), optional<const uint64_t>(o, "seeds"), number(o, "n_proposals"), nullptr,
              optional<const double>(o, "concentrations"), optional<const double>(o, "views"), nullptr,
              optional<const double>(o, "hyper"), nb::cast<double>(field(o, "cells_per_call"))} {
    if (moves.concentrations) {
      laws = laws_from(field(o, "laws"));
      moves.laws = &laws;
    }
    if (moves.hyper) {
      grids = grids_from(field(o, "grids"));
      moves.grids = &grids;
    }
  }
  HeldMoves(const HeldMoves&) = delete;

 private:
  template <class T>
  static T* optional(nb::handle o, const char* name) {
    return field(o, name).is_none() ? nullptr : pointer<T>(o, name);
  }
};

}  // namespace

void bind_mixture(nb::module_& m) {
  m.def("gibbs_sweep", [](nb::object layout, nb::object rows, nb::object chain, int restaurant, int c, Longs order,
                          Doubles uniforms) {
    Layout l = layout_from(layout);
    Rows x = rows_from(rows);
    Chain s = chain_from(chain);
    nb::gil_scoped_release free;
    int64_t moved = 0;
    return gibbs_sweep(l, x, s, restaurant, c, order.data(), int64_t(order.shape(0)), uniforms.data(), &moved);
  });
  m.def("gibbs_sweeps", [](nb::object layout, nb::object rows, nb::object chain, Longs order, Longs offset,
                           Doubles uniforms, nb::object moved, int64_t from, int64_t until) {
    Layout l = layout_from(layout);
    Rows x = rows_from(rows);
    Chain s = chain_from(chain);
    int64_t* count = written<int64_t>(moved);
    nb::gil_scoped_release free;
    const int64_t end = s.n_restaurants * int64_t(order.shape(0));
    return gibbs_sweeps(l, x, s, order.data(), offset.data(), uniforms.data(), count, from,
                        until < 0 ? end : until);
  }, "layout"_a, "rows"_a, "chain"_a, "order"_a, "offset"_a, "uniforms"_a, "moved"_a, "start"_a, "until"_a = -1);
  m.def("relabel_sweep", [](nb::object layout, nb::object rows, nb::object chain, nb::object class_count, double gamma,
                            Longs order, Doubles uniforms) {
    Layout l = layout_from(layout);
    Rows x = rows_from(rows);
    Chain s = chain_from(chain);
    double* counts = written<double>(class_count);
    nb::gil_scoped_release free;
    return relabel_sweep(l, x, s, counts, gamma, order.data(), int64_t(order.shape(0)), uniforms.data());
  });
  m.def("split_merge", [](nb::object layout, nb::object rows, nb::object chain, int restaurant, int c, Longs members,
                          int n_proposals, uint64_t seed) {
    Layout l = layout_from(layout);
    Rows x = rows_from(rows);
    Chain s = chain_from(chain);
    nb::gil_scoped_release free;
    return split_merge(l, x, s, restaurant, c, members.data(), int64_t(members.shape(0)), n_proposals, seed);
  });
  m.def("rebuild", [](nb::object layout, nb::object rows, nb::object chain) {
    Layout l = layout_from(layout);
    Rows x = rows_from(rows);
    Chain s = chain_from(chain);
    nb::gil_scoped_release free;
    rebuild(l, x, s);
  });
  m.def("move_hyper", [](nb::object layout, nb::object chain, nb::object grids, Doubles uniforms) {
    Layout l = layout_from(layout);
    Chain s = chain_from(chain);
    Grids g = grids_from(grids);
    nb::gil_scoped_release free;
    move_hyper(l, s, g, uniforms.data());
  });
  m.def("refresh_tables", [](nb::object layout, nb::object chain) {
    Layout l = layout_from(layout);
    Chain s = chain_from(chain);
    nb::gil_scoped_release free;
    refresh_tables(l, s);
  });
  m.def("log_likelihood", [](nb::object layout, nb::object chain) {
    Layout l = layout_from(layout);
    Chain s = chain_from(chain);
    nb::gil_scoped_release free;
    return log_likelihood(l, s);
  });
  m.def("move_concentration", [](nb::object chain, nb::object laws, Doubles uniforms) {
    Chain s = chain_from(chain);
    const Laws l = laws_from(laws);
    nb::gil_scoped_release free;
    move_concentration(s, l, uniforms.data());
  });
  m.def("move_views", [](nb::object layout, nb::object rows, nb::object chain, Doubles uniforms, int first, int last) {
    Layout l = layout_from(layout);
    Rows x = rows_from(rows);
    Chain s = chain_from(chain);
    nb::gil_scoped_release free;
    move_views(l, x, s, uniforms.data(), first, last < 0 ? l.n_columns : last);
  }, "layout"_a, "rows"_a, "chain"_a, "uniforms"_a, "first"_a = 0, "last"_a = -1);
  m.def("chain_step", [](nb::object layout, nb::object rows, nb::object chain, nb::object moves, nb::object place,
                         nb::object found, int64_t until) {
    Layout l = layout_from(layout);
    Rows x = rows_from(rows);
    Chain s = chain_from(chain);
    const HeldMoves held(moves);
    int64_t* at = written<int64_t>(place);
    double* counts = written<double>(found);
    nb::gil_scoped_release free;
    return chain_step(l, x, s, held.moves, at, counts, until);
  });
  m.def("log_density", [](nb::object layout, nb::object rows, nb::object state, nb::object out) {
    Layout l = layout_from(layout);
    Rows x = rows_from(rows);
    Predictive p = predictive_from(state);
    double* to = written<double>(out);
    nb::gil_scoped_release free;
    log_density(l, x, p, to);
  });
  m.def("seat_weights", [](nb::object chain, nb::object out) {
    Chain s = chain_from(chain);
    const int room = int(nb::cast<nb::ndarray<nb::ro>>(out).shape(2));
    seat_weights(s, room, written<double>(out));
  });
  m.def("group_scores", [](nb::object layout, nb::object rows, nb::object state, int restaurant, int c, nb::object out) {
    Layout l = layout_from(layout);
    Rows x = rows_from(rows);
    Predictive p = predictive_from(state);
    double* to = written<double>(out);
    nb::gil_scoped_release free;
    group_scores(l, x, p, restaurant, c, to);
  });
  m.def("leave_one_out", [](nb::object layout, nb::object rows, nb::object chain, nb::object out) {
    Layout l = layout_from(layout);
    Rows x = rows_from(rows);
    Chain s = chain_from(chain);
    double* to = written<double>(out);
    nb::gil_scoped_release free;
    leave_one_out(l, x, s, to);
  });
  m.def("shared_pairs", [](Ints z, int n_groups, nb::object together) {
    double* to = written<double>(together);
    nb::gil_scoped_release free;
    shared_pairs(z.data(), int(z.shape(0)), int64_t(z.shape(1)), n_groups, to);
  });
  m.def("filter_rows", [](nb::object layout, Doubles hyper, nb::object rows, nb::object filter, Longs order, Longs place,
                          Doubles uniforms, double threshold, int scheme) {
    Layout l = layout_from(layout);
    Rows x = rows_from(rows);
    Filter f = filter_from(filter);
    nb::gil_scoped_release free;
    return filter_rows(l, hyper.data(), x, f, order.data(), place.data(), int64_t(order.shape(0)), uniforms.data(),
                       threshold, scheme);
  });
  m.def("filter_density", [](nb::object layout, Doubles hyper, nb::object rows, nb::object filter, nb::object out) {
    Layout l = layout_from(layout);
    Rows x = rows_from(rows);
    Filter f = filter_from(filter);
    double* to = written<double>(out);
    nb::gil_scoped_release free;
    filter_density(l, hyper.data(), x, f, to);
  });
  m.def("resample", [](Doubles weight, int scheme, double first, nb::object parents) {
    resample(weight.data(), int(weight.shape(0)), scheme, first, written<int32_t>(parents));
  });
}

}  // namespace partita
