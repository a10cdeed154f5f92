// Bindings of the kernels of discrete networks.
#include "bind.hpp"
#include "net_chains.hpp"
#include "net_fill.hpp"
#include "net_graph.hpp"
#include "net_bridge.hpp"
#include "net_listed.hpp"
#include "net_scores.hpp"

namespace partita {

namespace {

NetData data_from(nb::handle data) {
  return {pointer<uint64_t>(data, "planes"),
          pointer<int64_t>(data, "first"),
          pointer<int32_t>(data, "levels"),
          pointer<int32_t>(data, "cells"),
          shape(data, "levels", 0),
          shape(data, "cells", 1),
          shape(data, "planes", 1),
          nb::cast<bool>(data.attr("bdeu")),
          nb::cast<double>(data.attr("pseudo")),
          pointer<double>(data, "rise_cell"),
          pointer<double>(data, "rise_row"),
          pointer<int32_t>(data, "row_of")};
}

template <class Scores>
NetTables tables_from(const Scores& score) {
  if (score.ndim() != 2 || score.shape(0) > 16 || score.shape(1) != size_t(1) << score.shape(0))
    throw std::invalid_argument("a table of scores has n rows of 2^n numbers, n at most 16");
  return {int(score.shape(0)), score.data()};
}

NetTables tables_from(const Doubles& score, nb::handle weights) {
  NetTables tables = tables_from(score);
  if (shape(weights, "weight", 0)) {
    if (shape(weights, "weight", 0) != tables.n || shape(weights, "weight", 1) != 1 << tables.n || shape(weights, "shift", 0) != tables.n)
      throw std::invalid_argument("weights of scores have another shape than their table");
    tables.weight = pointer<double>(weights, "weight");
    tables.shift = pointer<double>(weights, "shift");
  }
  return tables;
}

BlockRule rule_from(nb::handle rule, int n) {
  const int stride = shape(rule, "nodes", 1);
  if (stride < n * (n - 1) / 2 + 1) throw std::invalid_argument("the rules of a block prior are too short");
  return {nb::cast<double>(rule.attr("alpha")), nb::cast<double>(rule.attr("beta1")), nb::cast<double>(rule.attr("beta2")),
          pointer<double>(rule, "nodes"), pointer<double>(rule, "weights"), stride};
}

HashedValues cache_from(nb::handle cache) {
  const uint64_t size = uint64_t(shape(cache, "keys", 0));
  if (size & (size - 1)) throw std::invalid_argument("the size of a cache is a power of two");
  return {pointer<uint64_t>(cache, "keys"), pointer<double>(cache, "values"), size - 1};
}

NodeSeats seating_from(nb::handle seating) {
  const int n_sets = shape(seating, "first", 0) - 1;
  const int32_t* first = pointer<int32_t>(seating, "first");
  const int n = first[n_sets];
  if (shape(seating, "share", 0) != n + 1 || shape(seating, "stick", 0) != n)
    throw std::invalid_argument("shares and sticks of a seating do not fit its nodes");
  double* share = pointer<double>(seating, "share");
  return {nb::cast<double>(seating.attr("alpha")), nb::cast<double>(seating.attr("top")), share, share + n,
          pointer<double>(seating, "stick"), n_sets, first};
}

std::vector<Nodes> nodes_from(const Ints& sets) { return {sets.data(), sets.data() + sets.size()}; }

}  // namespace

void bind_net(nb::module_& m) {
  m.def("net_scores", [](nb::object data, Ints child, Longs first, Ints parents, Array<double> out) {
    const NetData from = data_from(data);
    nb::gil_scoped_release free;
    for (size_t q = 0; q < child.shape(0); ++q)
      out.data()[q] = net_score(from, child.data()[q], parents.data() + first.data()[q], int(first.data()[q + 1] - first.data()[q]));
  });
  m.def("net_score_table", [](nb::object data, int child, int max_parents, Array<double> out) {
    const NetData from = data_from(data);
    if (out.size() != size_t(1) << from.n_columns) throw std::invalid_argument("kernel array 'out' has the wrong shape");
    nb::gil_scoped_release free;
    net_score_table(from, child, max_parents, out.data());
  });
  m.def("net_score_sets", [](nb::object data, int child, Ints candidates, int max_parents, Array<double> out) {
    const NetData from = data_from(data);
    nb::gil_scoped_release free;
    return net_score_sets(from, child, candidates.data(), int(candidates.shape(0)), max_parents, out.data());
  });
  m.def("net_dag_sum", [](Array<double> weight, Array<double> edges) {
    const NetTables tables = tables_from(weight);
    double* to = edges.size() ? edges.data() : nullptr;
    nb::gil_scoped_release free;
    return net_dag_sum(tables.n, weight.data(), to);
  });
  m.def("net_block_sum", [](Doubles score, nb::object rule, Array<int32_t> z, Array<double> edges) {
    const NetTables tables = tables_from(score);
    const BlockRule law = rule_from(rule, tables.n);
    nb::gil_scoped_release free;
    return net_block_sum(tables, law, z.data(), edges.data());
  });
  m.def("net_order_draws", [](Doubles score, Doubles log_odds, Array<int32_t> parents, int n_tries, uint64_t seed) {
    const NetTables tables = tables_from(score);
    nb::gil_scoped_release free;
    OrderDraws orders(tables, 1.0);
    orders.prepare(log_odds.data());
    Stream stream{seed};
    std::vector<Nodes> now(static_cast<size_t>(tables.n)), drawn(static_cast<size_t>(tables.n));
    if (parents.data()[0] < 0)
      orders.draw(stream, now.data());
    else
      now.assign(parents.data(), parents.data() + tables.n);
    double present = orders.extensions(now.data());
    for (size_t k = 0; k < parents.shape(0); ++k) {
      for (int turn = 0; turn < n_tries; ++turn) {
        orders.draw(stream, drawn.data());
        const double proposed = orders.extensions(drawn.data());
        if (stream.uniform() * proposed >= present) continue;
        now = drawn;
        present = proposed;
      }
      for (int j = 0; j < tables.n; ++j) parents.data()[k * tables.n + j] = int32_t(now[j]);
    }
  });
  m.def("net_class_sum", [](Doubles score, nb::object rule, double heat, int members, Ints from, int own, Ints within,
                            Ints hit) {
    const NetTables tables = tables_from(score);
    const BlockRule law = rule_from(rule, tables.n);
    const std::vector<Nodes> classes = nodes_from(from);
    std::vector<Allowed> allowed;
    for (int j = 0; j < tables.n; ++j) allowed.push_back({Nodes(within.data()[j]), Nodes(hit.data()[j])});
    nb::gil_scoped_release free;
    return ClassSums(tables, law, heat).log_sum(Nodes(members), classes.data(), int(classes.size()), own, allowed.data());
  });
  m.def("net_ordered_target", [](Doubles score, nb::object rule, nb::object cache, Ints z) {
    const NetTables tables = tables_from(score);
    const BlockRule law = rule_from(rule, tables.n);
    OrderedChain chain(tables, law, cache_from(cache));
    nb::gil_scoped_release free;
    const std::vector<Nodes> classes = classes_of(z.data(), tables.n);
    return chain.log_target(classes.data(), int(classes.size()));
  });
  m.def("net_ordered_sweep", [](Doubles score, nb::object rule, nb::object cache, Array<int32_t> z, bool move_classes, uint64_t seed,
                                Array<double> edges, Array<int32_t> parents, nb::object weights) {
    const NetTables tables = tables_from(score, weights);
    const BlockRule law = rule_from(rule, tables.n);
    OrderedChain chain(tables, law, cache_from(cache));
    nb::gil_scoped_release free;
    Stream stream{seed};
    return chain.sweep(stream, z.data(), move_classes, edges.data(), reinterpret_cast<Nodes*>(parents.data()));
  });
  m.def("net_block_sweep", [](Doubles score, nb::object rule, double heat, Array<int32_t> z, Array<int32_t> parents,
                              bool move_classes, int n_draws, int n_splits, uint64_t seed, Array<double> edges,
                              nb::object weights) {
    const NetTables tables = tables_from(score, weights);
    const BlockRule law = rule_from(rule, tables.n);
    nb::gil_scoped_release free;
    BlockChain chain(tables, law, heat);
    Stream stream{seed};
    return chain.sweep(stream, z.data(), reinterpret_cast<Nodes*>(parents.data()), move_classes, n_draws, n_splits, edges.data());
  });
  m.def("net_graph_sweep", [](nb::sequence data, nb::object task, nb::object cache, Array<int32_t> z, Array<uint8_t> edge,
                              uint64_t seed, Array<double> chances) {
    GraphTask given{{},
                    seating_from(task.attr("seating")),
                    cache_from(cache),
                    pointer<uint8_t>(task, "allowed"),
                    pointer<uint8_t>(task, "required"),
                    number(task, "max_parents"),
                    GraphPrior(number(task, "prior")),
                    nb::cast<bool>(task.attr("move_classes")),
                    nb::cast<double>(task.attr("beta1")),
                    nb::cast<double>(task.attr("beta2")),
                    pointer<double>(task, "log_odds"),
                    nb::cast<bool>(task.attr("single_edges")),
                    nb::cast<double>(task.attr("heat")),
                    number(task, "n_splits"),
                    number(task, "n_nodes"),
                    chances.size() ? chances.data() : nullptr};
    if (chances.size() && chances.size() != edge.size()) throw std::invalid_argument("kernel array 'chances' has the wrong shape");
    for (nb::handle one : data) given.data.push_back(data_from(one));
    if (int(given.data.size()) != given.seating.n_sets) throw std::invalid_argument("data sets and their seating differ in number");
    nb::gil_scoped_release free;
    Stream stream{seed};
    return GraphChain(given, z.data(), edge.data()).sweep(stream);
  });
  m.def("net_fill", [](Array<int32_t> codes, Ints levels, Array<const uint8_t> edge, bool bdeu, double pseudo, Ints cells,
                       Doubles uniforms) {
    nb::gil_scoped_release free;
    net_fill(codes.data(), int64_t(codes.shape(0)), int(codes.shape(1)), levels.data(), edge.data(), bdeu, pseudo, cells.data(),
             int64_t(cells.shape(0)), uniforms.data());
  });
  m.def("net_score_lists", [](nb::object data, int child, int most, Array<double> out) {
    const NetData from = data_from(data);
    if (int64_t(out.size()) != ListPlaces(from.n_columns, most).size())
      throw std::invalid_argument("kernel array 'out' has the wrong shape");
    nb::gil_scoped_release free;
    net_score_lists(from, child, most, out.data());
  });
  m.def("net_listed_sweep", [](nb::sequence weight, int most, nb::object seating, Array<int32_t> z, Array<double> eta, Doubles fresh,
                               bool move_classes, int n_swaps, uint64_t seed, Array<double> edges, Array<uint8_t> graph) {
    const NodeSeats seats = seating_from(seating);
    std::vector<const double*> lists;
    for (nb::handle one : weight) lists.push_back(written<double>(one));
    if (int(lists.size()) != seats.n_sets) throw std::invalid_argument("lists and their seating differ in number");
    nb::gil_scoped_release free;
    Stream stream{seed};
    ListedChain chain(seats, most, lists.data(), z.data(), eta.data(), fresh.data());
    chain.sweep(stream, move_classes, n_swaps);
    chain.draw(stream, edges.data(), graph.data());
    return chain.log_sum();
  });
  m.def("net_bridge_sweep", [](Doubles rise, Doubles rest, Doubles whole, double log_room, nb::object seating, Array<const uint8_t> graph,
                               bool move_nodes, Array<int32_t> z, uint64_t seed) {
    const NodeSeats seats = seating_from(seating);
    const int n = seats.first[seats.n_sets], most = int(rest.size()) - 1;
    if (int(z.size()) != n || int(graph.size()) != n * n || most < n * (n - 1) || int(rise.size()) != 2 * (most + 1) ||
        rise.size() != whole.size())
      throw std::invalid_argument("arrays of a bridge do not fit its nodes");
    nb::gil_scoped_release free;
    Stream stream{seed};
    const BridgeLaw law{rise.data(), rest.data(), whole.data(), most, log_room};
    BridgeChain chain(law, seats, graph.data(), z.data());
    if (move_nodes) chain.nodes(stream);
    chain.classes(stream);
  });
}

}  // namespace partita
