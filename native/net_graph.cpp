// One sweep over graphs: single edges, reversals, sets of parents; classes in net_graph_classes.cpp.
#include "net_graph.hpp"

#include <algorithm>
#include <cmath>

namespace partita {

constexpr double kRare = 0.01;  // chance of a change below which what is drawn counts, not the chance

GraphChain::GraphChain(const GraphTask& task, int32_t* z, uint8_t* edge)
    : task_(task), n_(task.seating.first[task.seating.n_sets]), words_((n_ + 63) / 64), z_(z), edge_(edge) {
  home_.resize(size_t(n_));
  for (int t = 0; t < task.seating.n_sets; ++t) std::fill(&home_[task.seating.first[t]], &home_[0] + task.seating.first[t + 1], t);
  child_.assign(size_t(n_) * words_, 0);
  seen_.resize(size_t(words_));
  front_.resize(size_t(words_));
  hash_.resize(size_t(n_));
  score_.resize(size_t(n_));
  n_parents_.assign(size_t(n_), 0);
  for (int j = 0; j < n_; ++j) hash_[j] = mark(n_, j);
  for (int i = 0; i < n_; ++i)
    for (int j = 0; j < n_; ++j)
      if (edge_[i * n_ + j]) {
        child_[i * words_ + j / 64] |= uint64_t(1) << (j % 64);
        hash_[j] ^= mark(i, j);
        ++n_parents_[j];
      }
  for (int j = 0; j < n_; ++j) score_[j] = score_with(j, nullptr, 0);
  for (int i = 0; i < n_; ++i) n_classes_ = std::max(n_classes_, z_[i] + 1);
  for (int m = 0; m <= n_ * n_; ++m) {
    below_.push_back(std::lgamma(task.beta1 + m));
    above_.push_back(std::lgamma(task.beta2 + m));
    both_.push_back(std::lgamma(task.beta1 + task.beta2 + m));
  }
}

double GraphChain::score_with(int j, const int* toggled, int n_toggled) {
  uint64_t key = hash_[j];
  for (int t = 0; t < n_toggled; ++t) key ^= mark(toggled[t], j);
  key |= 1;
  const uint64_t at = key >> 20 & task_.cache.mask;
  if (task_.cache.key[at] == key) return task_.cache.value[at];
  std::vector<int32_t> parents;
  const int start = task_.seating.first[home_[j]], end = task_.seating.first[home_[j] + 1];
  for (int i = start; i < end; ++i) {
    bool in = edge_[i * n_ + j];
    for (int t = 0; t < n_toggled; ++t) in ^= toggled[t] == i;
    if (in) parents.push_back(i - start);
  }
  task_.cache.key[at] = key;
  return task_.cache.value[at] = net_score(task_.data[home_[j]], j - start, parents.data(), int(parents.size()));
}

bool GraphChain::reaches(int from, int to) {
  std::fill(seen_.begin(), seen_.end(), 0);
  std::fill(front_.begin(), front_.end(), 0);
  front_[from / 64] |= uint64_t(1) << (from % 64);
  for (bool more = true; more;) {
    more = false;
    for (int w = 0; w < words_; ++w)
      while (front_[w]) {
        const int v = w * 64 + __builtin_ctzll(front_[w]);
        front_[w] &= front_[w] - 1;
        seen_[w] |= uint64_t(1) << (v % 64);
        if (v == to) return true;
        for (int u = 0; u < words_; ++u) front_[u] |= child_[v * words_ + u] & ~seen_[u];
        more = true;
      }
  }
  return false;
}

void GraphChain::toggle(int i, int j, double score) {
  uint8_t& present = edge_[i * n_ + j];
  present ^= 1;
  child_[i * words_ + j / 64] ^= uint64_t(1) << (j % 64);
  hash_[j] ^= mark(i, j);
  n_parents_[j] += present ? 1 : -1;
  count_[z_[i] * n_ + z_[j]] += present ? 1 : -1;
  score_[j] = score;
}

int GraphChain::pairs(int a, int b) const {
  int total = 0;
  for (int t = 0; t < task_.seating.n_sets; ++t)
    total += size_[t * n_ + a] * size_[t * n_ + b] - (a == b ? size_[t * n_ + a] : 0);
  return total;
}

double GraphChain::gain(int i, int j, int more) const {
  if (task_.prior == kGivenOdds) return task_.log_odds[i * n_ + j];
  const int a = z_[i], b = z_[j], present = count_[a * n_ + b] + more;
  return std::log((task_.beta1 + present) / (task_.beta2 + pairs(a, b) - 1 - present));
}

void GraphChain::edges(Stream& stream) {
  for (int i = 0; i < n_; ++i)
    for (int j = 0; j < n_; ++j) {
      const int at = i * n_ + j, present = edge_[at];
      if (!task_.allowed[at] || task_.required[at] || (!present && n_parents_[j] >= task_.max_parents) || (ordered() && z_[i] >= z_[j])) {
        if (task_.chances) task_.chances[at] += present;
        continue;
      }
      const double other = score_with(j, &i, 1);
      const double odds = task_.heat * ((present ? score_[j] - other : other - score_[j]) + gain(i, j, -present));
      const double chance = 1.0 / (1.0 + std::exp(-odds));
      const int next = stream.uniform() < chance;
      const bool rare = present ? chance > 1.0 - kRare : chance < kRare;
      // a new edge must not close a cycle; of rare ones that is asked only where they are drawn
      const bool shut = !present && !ordered() && (next || (task_.chances && !rare)) && reaches(j, i);
      if (task_.chances) task_.chances[at] += shut ? 0.0 : rare ? double(next) : chance;
      if (next != present && !shut) toggle(i, j, other);
    }
}

void GraphChain::reversals(Stream& stream) {
  for (int a = 0; a < n_; ++a)
    for (int b = a + 1; b < n_; ++b) {
      if (!edge_[a * n_ + b] && !edge_[b * n_ + a]) continue;
      const int i = edge_[a * n_ + b] ? a : b, j = edge_[a * n_ + b] ? b : a;
      if (task_.required[i * n_ + j] || !task_.allowed[j * n_ + i] || n_parents_[i] >= task_.max_parents) continue;
      const double without = score_with(j, &i, 1), with = score_with(i, &j, 1), before_i = score_[i], before_j = score_[j];
      const double taken = gain(i, j, -1);
      toggle(i, j, without);
      const double change = task_.heat * (without + with - before_i - before_j + gain(j, i, 0) - taken);
      const bool accepted = std::log(stream.uniform()) < change && !reaches(i, j);
      if (accepted)
        toggle(j, i, with);
      else
        toggle(i, j, before_j);
    }
}

// Gibbs over all sets that differ in a few candidates: gets past pairs of parents that only matter together.
void GraphChain::parent_sets(Stream& stream) {
  constexpr int kCandidates = 3;
  for (int j = 0; j < n_; ++j) {
    int candidates[kCandidates], m = 0;
    for (int turn = 0; turn < kCandidates; ++turn) {
      const int i = int(stream.below(n_)), at = i * n_ + j;
      if (!task_.allowed[at] || task_.required[at] || std::count(candidates, candidates + m, i)) continue;
      if (ordered() ? z_[i] >= z_[j] : reaches(j, i)) continue;
      candidates[m++] = i;
    }
    if (m < 2) continue;
    int now = 0;
    for (int k = 0; k < m; ++k) now |= int(edge_[candidates[k] * n_ + j]) << k;
    for (int k = 0; k < m; ++k)
      if (now >> k & 1) toggle(candidates[k], j, score_[j]);  // all out; scores are set again below
    double weight[1 << kCandidates], score[1 << kCandidates], top = kNoScore, total = 0.0;
    for (int set = 0; set < 1 << m; ++set) {
      int chosen[kCandidates], size = 0;
      double prior = 0.0;
      for (int k = 0; k < m; ++k)
        if (set >> k & 1) {
          int alike = 0;  // edges of the same two classes already added
          for (int t = 0; t < size; ++t) alike += z_[chosen[t]] == z_[candidates[k]];
          prior += gain(candidates[k], j, alike);
          chosen[size++] = candidates[k];
        }
      const bool fits = n_parents_[j] + size <= task_.max_parents;
      score[set] = fits ? score_with(j, chosen, size) : kNoScore;
      weight[set] = fits ? task_.heat * (score[set] + prior) : kNoScore;
      top = std::max(top, weight[set]);
    }
    for (int set = 0; set < 1 << m; ++set) total += weight[set] = std::exp(weight[set] - top);
    const int set = pick(weight, 1 << m, total, stream.uniform());
    score_[j] = score[0];
    for (int k = 0; k < m; ++k)
      if (set >> k & 1) toggle(candidates[k], j, score[set]);
  }
}

double GraphChain::log_joint() const {
  double total = 0.0;
  for (double score : score_) total += score;
  if (task_.prior != kGivenOdds) return total + log_classes();
  for (int at = 0; at < n_ * n_; ++at)
    if (edge_[at]) total += task_.log_odds[at];
  return total;
}

double GraphChain::sweep(Stream& stream) {
  count_edges();
  edges(stream);
  if (!task_.single_edges) {
    if (!ordered())
      reversals(stream);
    else if (task_.move_classes)
      exchanges(stream);
    parent_sets(stream);
  }
  // classes that are given keep their nodes: their order has to move by itself
  if (ordered() && (!task_.single_edges || !task_.move_classes)) reorder(stream);
  if (task_.move_classes) {
    classes(stream);
    for (int turn = 0; turn < task_.n_splits; ++turn) split_or_merge(stream);
    for (int turn = 0; turn < task_.n_nodes && !ordered() && n_ > 1; ++turn) move_node(stream);
  }
  return log_joint();
}

}  // namespace partita
