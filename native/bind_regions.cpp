// Bindings of the kernels of Kikuchi-Bayes regions.
#include "bind.hpp"
#include "regions.hpp"

namespace partita {

namespace {

CodedRows rows_from(nb::handle rows) {
  return {pointer<int32_t>(rows, "codes"), pointer<int32_t>(rows, "levels"), shape(rows, "codes", 1)};
}

Regions regions_from(nb::handle regions) {
  return {pointer<int32_t>(regions, "members"), pointer<int64_t>(regions, "offset"), shape(regions, "members", 0),
          shape(regions, "members", 1)};
}

}  // namespace

void bind_regions(nb::module_& m) {
  m.def("region_sums", [](nb::object rows, nb::object regions, Doubles vectors, nb::object out) {
    const CodedRows x = rows_from(rows);
    const Regions s = regions_from(regions);
    double* to = written<double>(out);
    nb::gil_scoped_release free;
    region_sums(x, s, vectors.data(), int(vectors.shape(1)), to);
  });
  m.def("region_sums_of_moments", [](nb::object rows, nb::object regions, nb::object moments, nb::object out) {
    const CodedRows x = rows_from(rows);
    const Regions s = regions_from(regions);
    const Moments given{pointer<int32_t>(moments, "first"), pointer<double>(moments, "zero"), pointer<double>(moments, "one"),
                        pointer<double>(moments, "two"),    pointer<double>(moments, "three"), shape(moments, "one", 0),
                        shape(moments, "one", 1)};
    double* to = written<double>(out);
    nb::gil_scoped_release free;
    region_sums_of_moments(x.levels, s, given, to);
  });
  m.def("region_potentials", [](nb::object rows, nb::object regions, Array<const uint32_t> fresh, Doubles counts, double theta,
                                nb::object out) {
    const CodedRows x = rows_from(rows);
    const Regions s = regions_from(regions);
    double* to = written<double>(out);
    nb::gil_scoped_release free;
    region_potentials(x.levels, s, fresh.data(), counts.data(), int(counts.shape(1)), theta, to);
  });
  m.def("region_normalisers", [](nb::object rows, Doubles weight, Doubles proba, nb::object regions, Doubles potentials,
                                 nb::object out) {
    const CodedRows x = rows_from(rows);
    const Regions s = regions_from(regions);
    double* to = written<double>(out);
    nb::gil_scoped_release free;
    region_normalisers(x, weight.data(), proba.data(), int(proba.shape(1)), s, potentials.data(), to);
  });
}

}  // namespace partita
