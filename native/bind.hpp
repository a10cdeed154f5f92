// What the bindings share: the caller's arrays as pointers, never as converted copies.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <stdexcept>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>

// NumPy's table of functions is filled by `bind.cpp` for all files
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL partita_numpy
#ifndef PARTITA_IMPORTS_NUMPY
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

namespace partita {

namespace nb = nanobind;

// An array argument of a kernel. One that is only read (const T) may be a converted copy of what the caller holds; one that
// is written to is taken in place or refused, for what is written to a copy would be lost.
template <class T>
struct Array : nb::ndarray<T, nb::c_contig, nb::device::cpu> {
  using View = nb::ndarray<T, nb::c_contig, nb::device::cpu>;
  using View::View;
  explicit Array(View&& view) : View(std::move(view)) {}
};

// A call takes some thirty arrays by name, and small tables need hundreds of short calls: names are made once, and arrays of
// NumPy are read in place rather than through an exchange protocol.
inline nb::object field(nb::handle object, const char* name) {
  static std::unordered_map<const char*, PyObject*> interned;  // by address of the literal; the interpreter lock is held
  PyObject*& key = interned[name];
  if (key == nullptr) key = PyUnicode_InternFromString(name);
  PyObject* value = key == nullptr ? nullptr : PyObject_GetAttr(object.ptr(), key);
  if (value == nullptr) throw nb::python_error();
  return nb::steal(value);
}

// Whether an object is a NumPy array that a kernel may read (and write, unless T is const) as C-contiguous T.
template <class T>
bool is_plain_array(nb::handle object) {
  using V = std::remove_const_t<T>;
  if (!PyArray_Check(object.ptr())) return false;
  auto* array = reinterpret_cast<PyArrayObject*>(object.ptr());
  const char kind = std::is_same_v<V, bool> ? 'b' : std::is_floating_point_v<V> ? 'f' : std::is_signed_v<V> ? 'i' : 'u';
  return PyArray_DESCR(array)->kind == kind && PyArray_ITEMSIZE(array) == npy_intp(sizeof(V)) &&
         PyArray_ISCARRAY_RO(array) && (std::is_const_v<T> || PyArray_ISWRITEABLE(array));
}

template <class T>
T* data_of(nb::handle object) {
  if (is_plain_array<T>(object)) return static_cast<T*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(object.ptr())));
  return nb::cast<Array<T>>(object, false).data();
}

// The array stays alive through the Python object that holds it, which the caller holds.
template <class T>
T* pointer(nb::handle object, const char* name) {
  try {
    return data_of<T>(field(object, name));
  } catch (const nb::cast_error&) {
    throw std::invalid_argument(std::string("kernel array '") + name + "' has the wrong dtype or is not contiguous");
  }
}

inline int shape(nb::handle object, const char* name, int axis) {
  const nb::object array = field(object, name);
  if (PyArray_Check(array.ptr())) {
    auto* held = reinterpret_cast<PyArrayObject*>(array.ptr());
    if (axis < PyArray_NDIM(held)) return int(PyArray_DIM(held, axis));
  }
  return int(nb::cast<nb::ndarray<nb::ro>>(array).shape(axis));
}

inline int number(nb::handle object, const char* name) { return nb::cast<int>(field(object, name)); }

using Doubles = Array<const double>;
using Ints = Array<const int32_t>;
using Longs = Array<const int64_t>;

// An array to write to: never a converted copy, whose contents would be lost.
template <class T>
T* written(nb::handle array) {
  try {
    return data_of<T>(array);
  } catch (const nb::cast_error&) {
    throw std::invalid_argument("an array to write to has the wrong dtype or is not contiguous");
  }
}

// one function per family of kernels, each in a file of its own
void bind_coding(nb::module_& m);
void bind_cones(nb::module_& m);
void bind_gates(nb::module_& m);
void bind_mixture(nb::module_& m);
void bind_net(nb::module_& m);
void bind_net_walk(nb::module_& m);
void bind_regions(nb::module_& m);
void bind_svd(nb::module_& m);
void bind_interactions(nb::module_& m);
void bind_svd_links(nb::module_& m);

}  // namespace partita

namespace nanobind::detail {

template <class T>
struct type_caster<partita::Array<T>> {
  using View = typename partita::Array<T>::View;
  NB_TYPE_CASTER(partita::Array<T>, make_caster<View>::Name)

  template <class Flags>
  bool from_python(handle source, Flags flags, cleanup_list* cleanup) noexcept {
    make_caster<View> view;
    if constexpr (!std::is_const_v<T>) flags = Flags(flags & ~Flags(cast_flags::convert));
    if (!view.from_python(source, flags, cleanup)) return false;
    value = partita::Array<T>(std::move(view.value));
    return true;
  }
};

}  // namespace nanobind::detail
