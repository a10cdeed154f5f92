// Where nodes stand among the candidates of others, and before them in an order.
#include "net_orders.hpp"

namespace partita {

Places::Places(const CandidateSets& known) : known_(known), n_(known.n), bit_(size_t(known.n) * known.n, 0) {
  for (int j = 0; j < n_; ++j)
    for (int c = 0; c < known.width; ++c)
      if (known.nodes[j * known.width + c] >= 0) bit_[size_t(j) * n_ + known.nodes[j * known.width + c]] = int32_t(1) << c;
}

void Places::find_before(Order& order, int start, int size) const {
  std::vector<int> at(static_cast<size_t>(n_));
  for (int t = 0; t < n_; ++t) at[order.nodes[t]] = t;
  order.before.resize(size_t(n_));
  for (int t = start; t < start + size; ++t) {
    const int j = order.nodes[t];
    order.before[j] = 0;
    for (int c = 0; c < known_.width; ++c) {
      const int i = known_.nodes[j * known_.width + c];
      if (i >= 0 && at[i] < t) order.before[j] |= int32_t(1) << c;
    }
  }
}

}  // namespace partita
