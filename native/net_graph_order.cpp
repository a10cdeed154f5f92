// Moves over a graph whose classes have an order: without them an edge turns round only by way of graphs that lack it.
#include <algorithm>
#include <cmath>

#include "net_graph.hpp"

namespace partita {

double GraphChain::log_template() const {
  double total = 0.0;
  for (int a = 0; a < n_classes_; ++a)
    for (int b = a + 1; b < n_classes_; ++b) total += ratio(count_[a * n_ + b], pairs(a, b));
  return total;
}

// The two ends of an edge change places in the order, and the edge turns round.
void GraphChain::exchanges(Stream& stream) {
  for (int a = 0; a < n_; ++a)
    for (int b = a + 1; b < n_; ++b) {
      if (!edge_[a * n_ + b] && !edge_[b * n_ + a]) continue;
      const int i = edge_[a * n_ + b] ? a : b, j = edge_[a * n_ + b] ? b : a;
      if (task_.required[i * n_ + j] || !task_.allowed[j * n_ + i] || n_parents_[i] >= task_.max_parents) continue;
      const double limit = std::log(stream.uniform());
      bool fits = true;  // other parents of j come before i's place, other children of i after j's
      for (int u = 0; u < n_ && fits; ++u)
        fits = !(edge_[u * n_ + j] && u != i && z_[u] >= z_[i]) && !(edge_[i * n_ + u] && u != j && z_[u] <= z_[j]);
      if (!fits) continue;
      const double without = score_with(j, &i, 1), with = score_with(i, &j, 1), before_i = score_[i], before_j = score_[j];
      const double before = log_template();
      toggle(i, j, without);
      std::swap(z_[i], z_[j]);
      count_edges();
      toggle(j, i, with);
      if (limit < task_.heat * (without + with - before_i - before_j + log_template() - before)) continue;
      toggle(j, i, before_i);
      std::swap(z_[i], z_[j]);
      count_edges();
      toggle(i, j, before_j);
    }
}

// Two classes that follow each other change places, and all edges between them turn round: the template keeps its weight.
void GraphChain::reorder(Stream& stream) {
  for (int a = 0; a + 1 < n_classes_; ++a) {
    std::vector<std::vector<int>> turned(static_cast<size_t>(n_));  // for every node, the other ends of its edges to the other class
    double change = 0.0;
    bool fits = true;
    for (int u = 0; u < n_; ++u)
      for (int v = 0; v < n_; ++v)
        if (z_[u] == a && z_[v] == a + 1 && edge_[u * n_ + v]) {
          turned[u].push_back(v);
          turned[v].push_back(u);
          fits = fits && !task_.required[u * n_ + v] && task_.allowed[v * n_ + u];
        }
    for (int u = 0; u < n_; ++u) fits = fits && !(z_[u] == a && n_parents_[u] + int(turned[u].size()) > task_.max_parents);
    const double limit = std::log(stream.uniform());
    if (!fits) continue;
    std::vector<double> score(score_);
    for (int u = 0; u < n_; ++u)
      if (!turned[u].empty()) {
        score[u] = score_with(u, turned[u].data(), int(turned[u].size()));
        change += score[u] - score_[u];
      }
    if (!(limit < task_.heat * change)) continue;
    for (int u = 0; u < n_; ++u)
      for (int v : turned[u])
        if (z_[u] == a) {
          toggle(u, v, score[v]);
          toggle(v, u, score[u]);
        }
    for (int u = 0; u < n_; ++u) z_[u] += z_[u] == a ? 1 : z_[u] == a + 1 ? -1 : 0;
    std::swap(task_.seating.share[a], task_.seating.share[a + 1]);
    count_edges();
  }
}

}  // namespace partita
