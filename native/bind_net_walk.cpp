// Bindings of the kernels that redraw networks by orders of their nodes.
#include "bind.hpp"
#include "net_tempered.hpp"

namespace partita {

namespace {

CandidateSets candidates_from(nb::handle known) {
  const int n = shape(known, "nodes", 0), width = shape(known, "nodes", 1);
  if (width > 20 || shape(known, "first", 0) != n + 1) throw std::invalid_argument("sets of candidates have another form");
  return {n, width, pointer<int32_t>(known, "nodes"), pointer<int64_t>(known, "first"), pointer<int32_t>(known, "sets"),
          pointer<double>(known, "scores")};
}

}  // namespace

void bind_net_walk(nb::module_& m) {
  m.def("net_set_sums", [](nb::object known, Doubles log_odds, Doubles heats, Array<double> prior, Array<double> out) {
    const CandidateSets sets = candidates_from(known);
    const size_t size = size_t(sets.n) << sets.width, n_sets = size_t(sets.first[sets.n]);
    if (log_odds.size() != size_t(sets.n) * sets.n || out.size() != heats.size() * size || prior.size() != n_sets)
      throw std::invalid_argument("sums of sets have another shape than their candidates");
    nb::gil_scoped_release free;
    for (size_t r = 0; r < heats.size(); ++r) {
      const SetSums sums(sets, log_odds.data(), heats.data()[r]);
      for (size_t s = 0; s < n_sets; ++s) prior.data()[s] = sums.log_odds(int64_t(s));
      for (size_t at = 0; at < size; ++at)
        out.data()[r * size + at] = sums.log_sum(int(at >> sets.width), int32_t(at & ((size_t(1) << sets.width) - 1)));
    }
  });
  m.def("net_order_walk", [](nb::object known, Doubles log_odds, double heat, Array<uint8_t> edge, int n_turns, uint64_t seed) {
    const CandidateSets sets = candidates_from(known);
    if (edge.size() != size_t(sets.n) * sets.n || log_odds.size() != edge.size())
      throw std::invalid_argument("a graph and its candidates differ in size");
    nb::gil_scoped_release free;
    Stream stream{seed};
    return order_walk(stream, sets, log_odds.data(), heat, edge.data(), n_turns);
  });
  m.def("net_graph_ladder", [](nb::object known, Doubles prior, Doubles sums, Doubles heats, Array<uint8_t> graphs, int n_rounds,
                               uint64_t seed) {
    const CandidateSets sets = candidates_from(known);
    const LadderTask task{sets, prior.data(), sums.data(), int(heats.size()), heats.data(), graphs.data()};
    const size_t n = size_t(sets.n);
    if (int64_t(prior.size()) != sets.first[sets.n] || sums.size() != heats.size() * (n << sets.width) ||
        graphs.size() != heats.size() * n * n)
      throw std::invalid_argument("a ladder has another shape than its candidates");
    nb::gil_scoped_release free;
    Stream stream{seed};
    GraphLadder ladder(task);
    for (int k = 0; k < n_rounds; ++k) ladder.round(stream);
    ladder.store();
  });
}

}  // namespace partita
