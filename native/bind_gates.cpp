// Bindings of the kernels of Gaussian gates with missing cells.
#include <initializer_list>

#include "bind.hpp"
#include "gates.hpp"

namespace partita {

namespace {

Patterns patterns_from(nb::handle patterns) {
  return {pointer<int64_t>(patterns, "first_row"), pointer<int64_t>(patterns, "first"), pointer<int32_t>(patterns, "cells"),
          shape(patterns, "first", 0) - 1};
}

void expect(const Doubles& array, const char* name, std::initializer_list<int64_t> sizes) {
  bool same = array.ndim() == sizes.size();
  size_t axis = 0;
  for (int64_t size : sizes) same = same && int64_t(array.shape(axis++)) == size;
  if (!same) throw std::invalid_argument(std::string("kernel array '") + name + "' has the wrong shape");
}

double* room(nb::handle out, const char* name, std::initializer_list<int64_t> sizes) {
  double* data = pointer<double>(out, name);
  expect(nb::cast<Doubles>(out.attr(name), false), name, sizes);
  return data;
}

Gates gates_from(const Doubles& Q, const Doubles* S, const Doubles* logdet, const Doubles* r, int64_t n) {
  if (Q.ndim() != 3 || Q.shape(2) % 8) throw std::invalid_argument("components of gates come in multiples of eight");
  const int64_t P = Q.shape(0), H = Q.shape(2);
  expect(Q, "Q", {P, P, H});
  if (S) expect(*S, "S", {P, P, H});
  if (logdet) expect(*logdet, "logdet_Q", {H});
  const bool of_rows = r && r->ndim() == 3 && r->shape(0) != 1;
  if (r) expect(*r, "r", {of_rows ? n : 1, P, H});
  return {Q.data(), S ? S->data() : nullptr, logdet ? logdet->data() : nullptr, r ? r->data() : nullptr, int(P), int(H), of_rows};
}

// of an output that may be left out: empty
double* wanted(nb::handle out, const char* name, std::initializer_list<int64_t> sizes) {
  return shape(out, name, 0) ? room(out, name, sizes) : nullptr;
}

}  // namespace

void bind_gates(nb::module_& m) {
  m.def("gate_condition", [](nb::object patterns, Doubles x, Doubles r, Doubles Q, Doubles S, Doubles logdet_Q, Doubles w,
                             Doubles V, nb::object out) {
    const int64_t n = x.shape(0), K = w.shape(0);
    const Gates gates = gates_from(Q, &S, &logdet_Q, &r, n);
    const int64_t P = gates.P, H = gates.H;
    expect(x, "x", {n, P});
    expect(w, "w", {K, P, H});
    if (V.shape(0)) expect(V, "V", {P, P, H});
    const Patterns rows = patterns_from(patterns);
    const GateSides sides{w.data(), V.shape(0) ? V.data() : nullptr, int(K)};
    const Conditioned to{room(out, "quad", {n, H}),        room(out, "logdet", {n, H}), wanted(out, "xhat", {n, P, H}),
                         wanted(out, "cw", {n, K, P, H}),  room(out, "wx", {n, K, H}),  room(out, "wcw", {n, K, K, H}),
                         room(out, "trace", {n, H})};
    nb::gil_scoped_release free;
    gate_condition(rows, x.data(), gates, sides, to);
  });
  m.def("gate_accumulate", [](nb::object patterns, Doubles Q, Doubles S, Doubles xhat, Doubles cw, Doubles rho, Doubles f,
                              nb::object out) {
    const int64_t n = rho.shape(0), K = f.ndim() == 4 ? f.shape(1) : 0;
    const Gates gates = gates_from(Q, &S, nullptr, nullptr, n);
    const int64_t P = gates.P, H = gates.H;
    expect(xhat, "xhat", {n, P, H});
    expect(rho, "rho", {n, H});
    if (K) expect(f, "f", {n, K, K, H});
    if (K) expect(cw, "cw", {n, K, P, H});
    const Patterns rows = patterns_from(patterns);
    const GateWeights weights{xhat.data(), cw.data(), rho.data(), f.data(), int(K)};
    const GateSums to{room(out, "first", {P, H}), room(out, "second", {P, P, H}), nullptr};
    nb::gil_scoped_release free;
    gate_accumulate(rows, gates, weights, to);
  });
  m.def("gate_moments", [](nb::object patterns, Doubles x, Doubles r, Doubles Q, Doubles S, Doubles w, Doubles rho, Doubles shift,
                           Doubles f, Doubles extra, Doubles tie, nb::object out) {
    const int64_t n = x.shape(0), K = w.shape(0), E = extra.shape(1);
    const Gates gates = gates_from(Q, &S, nullptr, &r, n);
    const int64_t P = gates.P, H = gates.H;
    expect(x, "x", {n, P});
    expect(w, "w", {K, P, H});
    expect(rho, "rho", {n, H});
    expect(shift, "shift", {n, K, H});
    expect(f, "f", {n, K, K, H});
    expect(extra, "extra", {n, E, H});
    expect(tie, "tie", {n, E, K, H});
    const Patterns rows = patterns_from(patterns);
    const GateTargets given{w.data(), rho.data(), shift.data(), f.data(), extra.data(), tie.data(), int(K), int(E)};
    const GateSums to{room(out, "first", {P, H}), room(out, "second", {P, P, H}), room(out, "cross", {E, P, H})};
    nb::gil_scoped_release free;
    gate_moments(rows, x.data(), gates, given, to);
  });
  m.def("gate_draw_missing", [](nb::object patterns, Doubles x, Doubles r, Doubles Q, Ints z, Doubles noise,
                                nb::object out) {
    const int64_t n = x.shape(0);
    const Gates gates = gates_from(Q, nullptr, nullptr, &r, n);
    expect(x, "x", {n, gates.P});
    expect(noise, "noise", {n, gates.P});
    if (int64_t(z.size()) != n) throw std::invalid_argument("kernel array 'z' has the wrong shape");
    const Patterns rows = patterns_from(patterns);
    double* to = written<double>(out);
    expect(nb::cast<Doubles>(out, false), "out", {n, gates.P});
    nb::gil_scoped_release free;
    gate_draw_missing(rows, x.data(), gates, z.data(), noise.data(), to);
  });
}

}  // namespace partita
