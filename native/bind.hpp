// What the bindings share: the caller's arrays as pointers, never as converted copies.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <stdexcept>
#include <string>

namespace partita {

namespace nb = nanobind;

template <class T>
using Array = nb::ndarray<T, nb::c_contig, nb::device::cpu>;

// The array stays alive through the Python object that holds it, which the caller holds.
template <class T>
T* pointer(nb::handle object, const char* name) {
  try {
    return nb::cast<Array<T>>(object.attr(name), false).data();
  } catch (const nb::cast_error&) {
    throw std::invalid_argument(std::string("kernel array '") + name + "' has the wrong dtype or is not contiguous");
  }
}

inline int shape(nb::handle object, const char* name, int axis) {
  return int(nb::cast<nb::ndarray<nb::ro>>(object.attr(name)).shape(axis));
}

inline int number(nb::handle object, const char* name) { return nb::cast<int>(object.attr(name)); }

using Doubles = Array<double>;
using Longs = Array<int64_t>;

// An array to write to: never a converted copy, whose contents would be lost.
template <class T>
T* written(nb::handle array) {
  try {
    return nb::cast<Array<T>>(array, false).data();
  } catch (const nb::cast_error&) {
    throw std::invalid_argument("an array to write to has the wrong dtype or is not contiguous");
  }
}

// one function per family of kernels, each in a file of its own
void bind_coding(nb::module_& m);
void bind_gates(nb::module_& m);
void bind_mixture(nb::module_& m);
void bind_net(nb::module_& m);
void bind_regions(nb::module_& m);
void bind_svd(nb::module_& m);
void bind_interactions(nb::module_& m);
void bind_svd_links(nb::module_& m);

}  // namespace partita
