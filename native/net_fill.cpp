// Missing cells of a network's table, one by one, given all others: collapsed Gibbs sampling.
#include "net_fill.hpp"

#include <unordered_map>
#include <vector>

#include "arithmetic.hpp"
#include "net_chains.hpp"

namespace partita {

namespace {

// Counts of one column for every combination of its parents that occurs.
struct Family {
  int column, levels;
  std::vector<int> parents;
  double cell;  // pseudo-count
  std::unordered_map<uint64_t, std::vector<double>> counts;  // one a level, then their sum

  uint64_t key(const int32_t* row) const {
    uint64_t k = 1;
    for (int p : parents) k = mixed(k ^ uint64_t(row[p]));
    return k;
  }
  void add(const int32_t* row, double amount) {
    auto& to = counts[key(row)];
    if (to.empty()) to.assign(size_t(levels) + 1, 0.0);
    to[row[column]] += amount;
    to[levels] += amount;
  }
  double predictive(const int32_t* row) const {
    const auto found = counts.find(key(row));
    if (found == counts.end()) return 1.0 / levels;
    return (found->second[row[column]] + cell) / (found->second[levels] + cell * levels);
  }
};

}  // namespace

void net_fill(int32_t* codes, int64_t n_rows, int n_columns, const int32_t* levels, const uint8_t* edge, bool bdeu, double pseudo,
              const int32_t* cells, int64_t n_cells, const double* uniforms) {
  std::vector<Family> family(static_cast<size_t>(n_columns));
  std::vector<std::vector<int>> touched(static_cast<size_t>(n_columns));  // the families a column is in
  for (int j = 0; j < n_columns; ++j) {
    family[j].column = j;
    family[j].levels = levels[j];
    double size = levels[j];
    touched[j].push_back(j);
    for (int i = 0; i < n_columns; ++i)
      if (edge[i * n_columns + j]) {
        family[j].parents.push_back(i);
        size *= levels[i];
      }
    family[j].cell = bdeu ? pseudo / size : pseudo;
  }
  for (int j = 0; j < n_columns; ++j)
    for (int p : family[j].parents) touched[p].push_back(j);
  for (int j = 0; j < n_columns; ++j)
    for (int64_t s = 0; s < n_rows; ++s) family[j].add(codes + s * n_columns, 1.0);
  std::vector<double> weight;
  for (int64_t c = 0; c < n_cells; ++c) {
    int32_t* row = codes + int64_t(cells[2 * c]) * n_columns;
    const int j = cells[2 * c + 1];
    for (int f : touched[j]) family[f].add(row, -1.0);
    weight.assign(size_t(levels[j]), 1.0);
    double total = 0.0;
    for (int v = 0; v < levels[j]; ++v) {
      row[j] = v;
      for (int f : touched[j]) weight[v] *= family[f].predictive(row);
      total += weight[v];
    }
    row[j] = pick(weight.data(), levels[j], total, uniforms[c]);
    for (int f : touched[j]) family[f].add(row, 1.0);
  }
}

}  // namespace partita
