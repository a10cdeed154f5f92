// Missing cells of a network's table drawn given the graph. The plain twin: kernels/reference/net_fill.py.
#pragma once
#include <cstdint>

namespace partita {

// codes (n_rows x n_columns) without holes; cells (n_cells pairs of row and column) are drawn anew one by one, each given all other
// cells of the table, probabilities integrated out. edge is n x n, parent row and child column; uniforms one a cell.
void net_fill(int32_t* codes, int64_t n_rows, int n_columns, const int32_t* levels, const uint8_t* edge, bool bdeu, double pseudo,
              const int32_t* cells, int64_t n_cells, const double* uniforms);

}  // namespace partita
