// Bindings of the kernels of coded tables: cut points, statistics by class, counts of pairs.
#include "bind.hpp"
#include "coding.hpp"
#include "counting.hpp"

namespace partita {

void bind_coding(nb::module_& m) {
  m.def("mdlp_cut_points", [](Doubles value, Ints label, Doubles weight, int n_classes,
                              bool force, nb::object cuts) {
    double* to = written<double>(cuts);
    nb::gil_scoped_release free;
    return mdlp_cut_points(value.data(), label.data(), weight.data(), int64_t(value.shape(0)), n_classes, force, to);
  });
  m.def("class_statistics", [](Ints codes, Doubles reals, Ints label,
                               Doubles weight, int n_classes, Longs first, nb::object counts, nb::object sums) {
    double *count_to = written<double>(counts), *sum_to = written<double>(sums);
    nb::gil_scoped_release free;
    class_statistics(codes.data(), int64_t(codes.shape(0)), int(codes.shape(1)), reals.data(), int(reals.shape(1)),
                     label.data(), weight.data(), n_classes, first.data(), count_to, sum_to);
  });
  m.def("pair_counts", [](Ints codes, Ints levels, Ints label,
                          Doubles weight, int n_classes, Ints pairs, Longs first,
                          nb::object counts) {
    double* to = written<double>(counts);
    nb::gil_scoped_release free;
    pair_counts(codes.data(), int64_t(codes.shape(0)), int(codes.shape(1)), levels.data(), label.data(), weight.data(),
                n_classes, pairs.data(), int64_t(pairs.shape(0)), first.data(), to);
  });
}

}  // namespace partita
