// Tables of log Gamma(a + m) - log Gamma(a): those of a constant pseudo-count come with the data, those of BDeu are kept as they are asked for.
#include "net_rises.hpp"

#include <algorithm>
#include <cstring>

#include "arithmetic.hpp"

namespace partita {

namespace {

// Sets of few parents have few different pseudo-counts; tables are short and their number is bounded, and what finds no place is
// computed. One for each thread, so nothing is shared.
class Rises {
 public:
  Rise of(double pseudo) {
    uint64_t bits;
    std::memcpy(&bits, &pseudo, sizeof bits);
    size_t at = size_t((bits * 0x9e3779b97f4a7c15ULL) >> 56);
    for (int tries = 0; tries < 4; ++tries, at = (at + 1) % kTables) {
      Table& table = tables_[at];
      if (!table.value) {
        table.pseudo = pseudo;
        table.start = fast_lgamma(pseudo);
        table.value.reset(new double[kLongest]);
        std::fill(table.value.get(), table.value.get() + kLongest, 2.0 * Rise::kUnknown);
        table.value[0] = 0.0;
      }
      if (table.pseudo == pseudo) return {table.value.get(), table.value.get(), kLongest, pseudo, table.start};
    }
    return {nullptr, nullptr, 0, pseudo, fast_lgamma(pseudo)};
  }

 private:
  static constexpr int64_t kLongest = 1 << 14;
  static constexpr size_t kTables = 256;
  struct Table {
    double pseudo = 0.0, start = 0.0;
    std::unique_ptr<double[]> value;
  };
  Table tables_[kTables];
};

thread_local Rises rises;

}  // namespace

double Rise::find(int64_t count) const {
  if (!count) return 0.0;
  const double value = fast_lgamma(pseudo + double(count)) - start;
  if (count < length) room[count] = value;
  return value;
}

RowWeight::RowWeight(const NetData& data, int child, double n_configurations) : levels_(data.levels[child]) {
  if (data.bdeu) {
    const double row = data.pseudo / n_configurations;
    cell_ = rises.of(row / levels_);
    row_ = rises.of(row);
    return;
  }
  const int64_t length = data.n_rows + 1;  // every count is known
  cell_.known = data.rise_cell;
  row_.known = data.rise_row + int64_t(data.row_of[child]) * length;
  cell_.length = row_.length = length;
}

}  // namespace partita
