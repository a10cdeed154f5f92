// Bindings of the kernels of matrices with holes.
#include "bind.hpp"
#include "svd.hpp"

namespace partita {

namespace {

SideCells cells_of(nb::handle side) {
  return {pointer<int64_t>(side, "first"), pointer<int32_t>(side, "other"), pointer<double>(side, "y")};
}

double real(nb::handle object, const char* name) { return nb::cast<double>(object.attr(name)); }

RowDraw row_draw(nb::handle d) {
  const bool single = nb::isinstance<Array<float>>(d.attr("Z"));
  RowDraw draw{cells_of(d.attr("cells")), single ? nullptr : pointer<double>(d, "Z"), single ? pointer<float>(d, "Z") : nullptr,
               pointer<double>(d, "root"), pointer<double>(d, "shift"),
               pointer<double>(d, "weight"), pointer<double>(d, "gain"), pointer<double>(d, "precision"),
               pointer<double>(d, "prior"), pointer<double>(d, "noise"), real(d, "alpha"), shape(d, "gain", 0),
               shape(d, "Z", 1), shape(d, "precision", 0), pointer<double>(d, "out"), nullptr, nullptr, nullptr, nullptr};
  if (!d.attr("residual").is_none()) draw.residual = pointer<double>(d, "residual");
  if (draw.W % 8 || draw.W < draw.K || draw.n < draw.K || draw.n > draw.K + 1)
    throw std::invalid_argument("kernel array 'Z' has the wrong width, or 'precision' the wrong length");
  return draw;
}

ResidualPass residual_pass(nb::handle t) {
  ResidualPass pass{cells_of(t.attr("cells")), pointer<double>(t, "U"), pointer<double>(t, "V"), shape(t, "V", 1),
                    pointer<double>(t, "row_offset"), pointer<double>(t, "shift")};
  if (pass.W % 8 || !pass.W || shape(t, "U", 1) != pass.W) throw std::invalid_argument("kernel arrays 'U' and 'V' have the wrong width");
  return pass;
}

ScaleSteps scale_steps(nb::handle g) {
  const ScaleSteps scales{pointer<double>(g, "theta"), pointer<double>(g, "steps"), pointer<double>(g, "log_uniform"),
                          shape(g, "theta", 0), shape(g, "steps", 0), real(g, "alpha"), real(g, "shape"), real(g, "rate"),
                          real(g, "most")};
  if (shape(g, "steps", 1) != scales.K || shape(g, "log_uniform", 0) != scales.rounds || shape(g, "log_uniform", 1) != scales.K)
    throw std::invalid_argument("kernel arrays 'steps' and 'log_uniform' are not (rounds, K)");
  return scales;
}

}  // namespace

void bind_svd(nb::module_& m) {
  m.def("svd_draw_rows", [](int64_t begin, int64_t end, nb::object given, nb::object sums) {
    RowDraw draw = row_draw(given);
    if (!sums.is_none()) {
      draw.gram = pointer<double>(sums, "gram");
      draw.linear = pointer<double>(sums, "linear");
      draw.square = pointer<double>(sums, "square");
    }
    nb::gil_scoped_release free;
    svd_draw_rows(begin, end, draw);
  }, nb::arg("begin"), nb::arg("end"), nb::arg("given"), nb::arg("sums").none());
  m.def("svd_squares", [](int64_t begin, int64_t end, nb::object given, Doubles column_noise, nb::object squares,
                          nb::object row_sum) {
    const ResidualPass pass = residual_pass(given);
    double *to = written<double>(squares), *sums = written<double>(row_sum);
    nb::gil_scoped_release free;
    svd_squares(begin, end, pass, column_noise.data(), to, sums);
  });
  m.def("svd_column_sums", [](int64_t begin, int64_t end, nb::object side, Doubles row_noise, Doubles squares,
                              nb::object column_sum) {
    const SideCells cells = cells_of(side);
    double* to = written<double>(column_sum);
    nb::gil_scoped_release free;
    svd_column_sums(begin, end, cells, row_noise.data(), squares.data(), to);
  });
  m.def("svd_fitted", [](int64_t begin, int64_t end, nb::object given, nb::object out) {
    const ResidualPass pass = residual_pass(given);
    double* to = written<double>(out);
    nb::gil_scoped_release free;
    svd_fitted(begin, end, pass, to);
  });
  m.def("svd_gather_sums", [](int64_t begin, int64_t end, nb::object side, Doubles X, nb::object out) {
    const SideCells cells = cells_of(side);
    double* to = written<double>(out);
    const int W = int(X.shape(1));
    if (W % 8) throw std::invalid_argument("kernel array 'X' has the wrong width");
    nb::gil_scoped_release free;
    svd_gather_sums(begin, end, cells, X.data(), W, to);
  });
  m.def("svd_noise_law", [](Doubles counts, Doubles halves, Doubles nu, nb::object law) {
    double* to = written<double>(law);
    if (counts.size() != halves.size()) throw std::invalid_argument("kernel arrays 'counts' and 'halves' have different lengths");
    nb::gil_scoped_release free;
    svd_noise_law(counts.data(), halves.data(), int64_t(counts.size()), nu.data(), int(nu.size()), to);
  });
  m.def("svd_rotate", [](nb::object Q, double shape, double rate, Doubles uniform, Doubles cosine, Doubles sine, nb::object R) {
    double *q = written<double>(Q), *r = written<double>(R);
    const int K = int(nb::cast<Doubles>(Q, false).shape(0)), angles = int(cosine.shape(0));
    if (angles > 256 || int64_t(uniform.size()) < int64_t(K) * (K - 1) / 2)
      throw std::invalid_argument("at most 256 angles, and one uniform number for every pair");
    nb::gil_scoped_release free;
    svd_rotate(q, K, shape, rate, uniform.data(), cosine.data(), sine.data(), angles, r);
  });
  m.def("svd_scale_steps", [](Doubles gram, Doubles linear, nb::object given, nb::object gain) {
    const ScaleSteps scales = scale_steps(given);
    double* to = written<double>(gain);
    if (int64_t(gram.size()) != int64_t(scales.K) * scales.K || int(linear.size()) != scales.K)
      throw std::invalid_argument("kernel array 'gram' is not (K, K), or 'linear' not (K,)");
    nb::gil_scoped_release free;
    svd_scale_steps(gram.data(), linear.data(), scales, to);
  });
}

}  // namespace partita
