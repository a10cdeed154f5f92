// Bindings of the cones of class labels.
#include "bind.hpp"
#include "cones.hpp"

namespace partita {

void bind_cones(nb::module_& m) {
  m.def("cone", [](Doubles mean, Longs label, Doubles nodes, Doubles log_weights, nb::object log_p, nb::object expected) {
    const int64_t n = label.size();
    const int K = n ? int(mean.size() / n) : 1;
    if (int64_t(mean.size()) != n * K || K < 2 * (n > 0) || nodes.size() != log_weights.size())
      throw std::invalid_argument("kernel arrays of a cone have the wrong shape");
    for (int64_t i = 0; i < n; ++i)
      if (label.data()[i] < 0 || label.data()[i] >= K) throw std::invalid_argument("kernel array 'label' is out of range");
    double *to = written<double>(log_p), *moved = written<double>(expected);
    const int n_nodes = int(nodes.size());
    nb::gil_scoped_release free;
    cone(mean.data(), label.data(), n, K, nodes.data(), log_weights.data(), n_nodes, to, moved);
  });
  m.def("cone_probabilities", [](Doubles mean, Doubles sd, Doubles nodes, Doubles log_weights, nb::object log_p) {
    const int64_t n = mean.ndim() == 2 ? int64_t(mean.shape(0)) : -1;
    if (n < 0 || sd.ndim() != 2 || sd.size() != mean.size() || mean.shape(1) < 2 || nodes.size() != log_weights.size())
      throw std::invalid_argument("kernel arrays of a cone have the wrong shape");
    const int K = int(mean.shape(1)), n_nodes = int(nodes.size());
    double* to = written<double>(log_p);
    nb::gil_scoped_release free;
    cone_probabilities(mean.data(), sd.data(), n, K, nodes.data(), log_weights.data(), n_nodes, to);
  });
}

}  // namespace partita
