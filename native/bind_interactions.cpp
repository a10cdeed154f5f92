// Bindings of the kernels of log-linear models over regions.
#include "bind.hpp"
#include "interactions.hpp"
#include "modes.hpp"

#include <nanobind/stl/optional.h>

#include <optional>

namespace partita {

namespace {

FactorView view_of(nb::handle factor) {
  const bool by_columns = nb::cast<bool>(factor.attr("by_columns"));
  const auto m = nb::cast<Array<const float>>(factor.attr("stored"), false);
  const int64_t first = int64_t(m.shape(0)), second = int64_t(m.shape(1));
  const int64_t* kept = factor.attr("columns").is_none() ? nullptr : pointer<int64_t>(factor, "columns");
  return {m.data(), by_columns ? second : first, by_columns ? first : second, by_columns, nb::cast<bool>(factor.attr("dual")), kept};
}

Preconditioner solver_of(nb::handle solver) {
  Preconditioner out{shape(solver, "ratio", 0), shape(solver, "variance", 0), shape(solver, "tail", 1), pointer<double>(solver, "ratio"),
                     pointer<double>(solver, "tail"), pointer<double>(solver, "variance"), {}};
  for (nb::handle factor : nb::cast<nb::list>(solver.attr("factors"))) out.factors.push_back(view_of(factor));
  return out;
}

}  // namespace

void bind_interactions(nb::module_& m) {
  m.def("scan_regions", [](Ints columns, Ints levels, Ints candidates, Doubles fitted, Doubles moments, Doubles scales,
                           double share, double threshold, nb::object gain, nb::object occupied, nb::object best) {
    RegionScan scan{int64_t(columns.shape(1)), int(moments.shape(1) / 2), int(candidates.shape(1)), int(scales.shape(0)),
                    columns.data(), levels.data(), moments.data(), scales.data(), share, threshold};
    double* g = written<double>(gain);
    int32_t *o = written<int32_t>(occupied), *b = written<int32_t>(best);
    nb::gil_scoped_release free;
    scan_regions(scan, candidates.data(), int64_t(candidates.shape(0)), fitted.data(), g, o, b);
  });
  m.def("look_up", [](Ints cells, Doubles table, nb::object out) {
    double* to = written<double>(out);
    nb::gil_scoped_release free;
    look_up(cells.data(), int64_t(cells.shape(0)), int(cells.shape(1)), table.data(), int(table.shape(1)), to);
  });
  m.def("tally", [](Ints cells, Doubles values, nb::object out) {
    double* to = written<double>(out);
    nb::gil_scoped_release free;
    tally(cells.data(), int64_t(cells.shape(0)), int(cells.shape(1)), values.data(), int(values.shape(1)), to);
  });
  m.def("softmax_loss", [](Doubles logits, Ints label, Doubles weight, nb::object residual) {
    double* to = written<double>(residual);
    nb::gil_scoped_release free;
    return softmax_loss(logits.data(), int64_t(logits.shape(0)), int(logits.shape(1)), label.data(), weight.data(), to);
  });
  m.def("precondition", [](nb::object solver, Doubles x, nb::object out) {
    const Preconditioner view = solver_of(solver);
    double* to = written<double>(out);
    nb::gil_scoped_release free;
    precondition(view, x.data(), to);
  });
  m.def("dense_mode", [](Array<const float> design, Doubles scale, Ints label, Doubles weight, nb::object solver, int max_steps,
                         double tolerance, double loss, nb::object u, nb::object logits, nb::object residual) {
    const Preconditioner view = solver_of(solver);
    const DenseProblem problem{design.data(), int64_t(design.shape(0)), int64_t(design.shape(1)), view.n_logits,
                               scale.data(), label.data(), weight.data()};
    double *at = written<double>(u), *f = written<double>(logits), *r = written<double>(residual);
    nb::gil_scoped_release free;
    return dense_mode(problem, view, max_steps, tolerance, loss, at, f, r);
  });
  m.def("column_information", [](Array<const float> design, Doubles information, nb::object out) {
    double* to = written<double>(out);
    nb::gil_scoped_release free;
    column_information(design.data(), int64_t(design.shape(0)), int64_t(design.shape(1)), information.data(), int(information.shape(1)), to);
  });
  m.def("informed_rows", [](Array<const float> design, Doubles scale, std::optional<Longs> rows, std::optional<Longs> columns,
                            Doubles root, nb::object out) {
    float* to = written<float>(out);
    const int64_t p = int64_t(design.shape(1)), n_rows = int64_t(root.shape(0));
    nb::gil_scoped_release free;
    informed_rows(design.data(), p, scale.data(), rows ? rows->data() : nullptr, n_rows, columns ? columns->data() : nullptr,
                  columns ? int64_t(columns->shape(0)) : p, root.data(), to);
  }, nb::arg("design"), nb::arg("scale"), nb::arg("rows").none(), nb::arg("columns").none(), nb::arg("root"), nb::arg("out"));
  m.def("tempered_labels", [](Doubles against, Doubles prior, double temperature, nb::object out) {
    double* to = written<double>(out);
    nb::gil_scoped_release free;
    tempered_labels(against.data(), prior.data(), int(against.shape(0)), int64_t(against.shape(1)), int64_t(against.shape(2)),
                    temperature, to);
  });
  m.def("pool_shares", [](Doubles likelihood, Doubles weight, Doubles prior, int rounds, double tolerance, nb::object share) {
    double* to = written<double>(share);
    nb::gil_scoped_release free;
    pool_shares(likelihood.data(), int(likelihood.shape(0)), int64_t(likelihood.shape(1)), weight.data(), prior.data(), rounds,
                tolerance, to);
  });
}

}  // namespace partita
