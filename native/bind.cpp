// The extension module: the bindings of every family of kernels (bind_*.cpp; no other file knows Python).
#define PARTITA_IMPORTS_NUMPY
#include "bind.hpp"

NB_MODULE(_native, m) {
  if (PyArray_ImportNumPyAPI() < 0) throw nanobind::python_error();
  partita::bind_coding(m);
  partita::bind_cones(m);
  partita::bind_gates(m);
  partita::bind_interactions(m);
  partita::bind_mixture(m);
  partita::bind_net(m);
  partita::bind_net_walk(m);
  partita::bind_regions(m);
  partita::bind_svd(m);
  partita::bind_svd_links(m);
}
