// Bindings of the kernels of log-linear models over regions.
#include "bind.hpp"
#include "interactions.hpp"

namespace partita {

namespace {

using Codes = Array<const int32_t>;
using Numbers = Array<const double>;

}  // namespace

void bind_interactions(nb::module_& m) {
  m.def("scan_regions", [](Codes columns, Codes levels, Codes candidates, Numbers fitted, Numbers moments, Numbers scales,
                           double share, double threshold, nb::object gain, nb::object occupied, nb::object best) {
    RegionScan scan{int64_t(columns.shape(1)), int(moments.shape(1) / 2), int(candidates.shape(1)), int(scales.shape(0)),
                    columns.data(), levels.data(), moments.data(), scales.data(), share, threshold};
    double* g = written<double>(gain);
    int32_t *o = written<int32_t>(occupied), *b = written<int32_t>(best);
    nb::gil_scoped_release free;
    scan_regions(scan, candidates.data(), int64_t(candidates.shape(0)), fitted.data(), g, o, b);
  });
  m.def("look_up", [](Codes cells, Numbers table, nb::object out) {
    double* to = written<double>(out);
    nb::gil_scoped_release free;
    look_up(cells.data(), int64_t(cells.shape(0)), int(cells.shape(1)), table.data(), int(table.shape(1)), to);
  });
  m.def("tally", [](Codes cells, Numbers values, nb::object out) {
    double* to = written<double>(out);
    nb::gil_scoped_release free;
    tally(cells.data(), int64_t(cells.shape(0)), int(cells.shape(1)), values.data(), int(values.shape(1)), to);
  });
  m.def("softmax_loss", [](Numbers logits, Codes label, Numbers weight, nb::object residual) {
    double* to = written<double>(residual);
    nb::gil_scoped_release free;
    return softmax_loss(logits.data(), int64_t(logits.shape(0)), int(logits.shape(1)), label.data(), weight.data(), to);
  });
}

}  // namespace partita
