// Where to cut a numeric column. The plain twin: kernels/reference/coding.py.
#pragma once
#include <cstdint>

namespace partita {

// Cut points of one column by entropy and minimum description length (Fayyad and Irani 1993), ascending.
// value, label (0 .. n_classes - 1) and weight (> 0, finite) of n observed cells; room for n cuts. Returns their number.
int64_t mdlp_cut_points(const double* value, const int32_t* label, const double* weight, int64_t n, int n_classes, bool force,
                        double* cuts);

}  // namespace partita
