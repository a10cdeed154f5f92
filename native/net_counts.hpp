// Rows counted by AND and popcount over bit planes.
#pragma once
#include <cstdint>

namespace partita {

// out = mask & plane; how many rows that is
int64_t split_rows(const uint64_t* mask, const uint64_t* plane, int64_t words, uint64_t* out);
// rows of the mask in each of so many planes, which lie one after the other
void count_levels(const uint64_t* mask, const uint64_t* planes, int levels, int64_t words, int64_t* count);

// One pass over the rows of a mask counts a table of a column and a child, but for the last level of each, whose counts are what is
// left: count[v * (child_levels - 1) + c] and total[v]. The planes of a column lie one after the other.
using TableCounter = void (*)(const uint64_t* mask, const uint64_t* column, const uint64_t* child, int64_t words, int64_t* count, int64_t* total);
TableCounter table_counter(int column_levels, int child_levels);  // null where this machine has no such loop, or levels are many

}  // namespace partita
