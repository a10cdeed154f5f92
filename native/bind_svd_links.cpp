// Bindings of the Bayesian SVD's probit links and of its coordinate sampler.
#include "bind.hpp"
#include "svd_links.hpp"

namespace partita {

namespace {

Lines lines_of(nb::handle lines) {
  const bool shuffled = shape(lines, "place", 0) > 0;
  return Lines{pointer<int64_t>(lines, "first"), pointer<int32_t>(lines, "other"),
               shuffled ? pointer<int64_t>(lines, "place") : nullptr};
}

Levels levels_of(nb::handle levels) {
  const bool many = shape(levels, "line", 0) > 0;
  return Levels{shape(levels, "value", 0),           pointer<double>(levels, "value"),
                pointer<double>(levels, "fitted"),   pointer<double>(levels, "scale"),
                many ? pointer<int32_t>(levels, "line") : nullptr, pointer<double>(levels, "edges"),
                shape(levels, "edges", 1)};
}

void bind_ordinal(nb::module_& m) {
  m.def("svd_ordinal_masses", [](nb::object levels, nb::object log_mass) {
    const Levels given = levels_of(levels);
    double* to = written<double>(log_mass);
    nb::gil_scoped_release free;
    svd_ordinal_masses(given, to);
  });
  m.def("svd_ordinal_latents", [](nb::object levels, Doubles uniform, nb::object latent) {
    const Levels given = levels_of(levels);
    double* to = written<double>(latent);
    nb::gil_scoped_release free;
    svd_ordinal_latents(given, uniform.data(), to);
  });
}

void bind_binomial(nb::module_& m) {
  m.def("svd_binomial_sums", [](Doubles fitted, double shift, Doubles successes, Doubles trials, nb::object out) {
    double* to = written<double>(out);
    nb::gil_scoped_release free;
    svd_binomial_sums(fitted.data(), shift, successes.data(), trials.data(), int64_t(fitted.shape(0)), to);
  });
  m.def("svd_binomial_working", [](Doubles fitted, Doubles successes, Doubles trials, nb::object weight, nb::object score) {
    double *weight_to = written<double>(weight), *score_to = written<double>(score);
    nb::gil_scoped_release free;
    svd_binomial_working(fitted.data(), successes.data(), trials.data(), int64_t(fitted.shape(0)), weight_to, score_to);
  });
  m.def("svd_binomial_rows", [](nb::object lines, nb::object rows, int64_t begin, int64_t end) {
    const Lines where = lines_of(lines);
    const BinomialRows given{shape(rows, "own", 1),
                             nb::cast<double>(rows.attr("df")),
                             pointer<double>(rows, "successes"),
                             pointer<double>(rows, "trials"),
                             pointer<double>(rows, "base"),
                             pointer<double>(rows, "design"),
                             pointer<double>(rows, "centre"),
                             pointer<double>(rows, "precision"),
                             pointer<double>(rows, "noise"),
                             pointer<double>(rows, "stretch"),
                             pointer<double>(rows, "uniform"),
                             pointer<double>(rows, "own"),
                             pointer<uint8_t>(rows, "accepted")};
    nb::gil_scoped_release free;
    svd_binomial_rows(where, given, begin, end);
  });
}

void bind_coordinate(nb::module_& m) {
  m.def("svd_coordinate_rows", [](nb::object lines, nb::object rows, int64_t begin, int64_t end) {
    const Lines where = lines_of(lines);
    const CoordinateRows given{shape(rows, "own", 1),
                               pointer<double>(rows, "weight"),
                               pointer<double>(rows, "precision"),
                               nb::cast<double>(rows.attr("alpha")),
                               pointer<double>(rows, "others"),
                               pointer<double>(rows, "noise"),
                               pointer<double>(rows, "own"),
                               pointer<double>(rows, "residual")};
    nb::gil_scoped_release free;
    svd_coordinate_rows(where, given, begin, end);
  });
  m.def("svd_component_sums", [](Ints row, Ints column, Doubles residual, Doubles u, Doubles v, nb::object out) {
    double* to = written<double>(out);
    nb::gil_scoped_release free;
    svd_component_sums(row.data(), column.data(), residual.data(), int64_t(row.shape(0)), u.data(), v.data(), to);
  });
  m.def("svd_component_shift", [](Ints row, Ints column, nb::object residual, Doubles u, Doubles v, double amount) {
    double* to = written<double>(residual);
    nb::gil_scoped_release free;
    svd_component_shift(row.data(), column.data(), to, int64_t(row.shape(0)), u.data(), v.data(), amount);
  });
}

}  // namespace

void bind_svd_links(nb::module_& m) {
  bind_ordinal(m);
  bind_binomial(m);
  bind_coordinate(m);
}

}  // namespace partita
