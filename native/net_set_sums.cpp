// Sums over listed sets of parents within every set of candidates.
#include "net_set_sums.hpp"

namespace partita {

namespace {

constexpr int64_t kNothing = -(int64_t(1) << 40);  // the exponent of zero

// 2^k for k <= 0; zero below the range of doubles
PARTITA_INLINE double power_of_two(int64_t k) {
  const int64_t e = k + 1023;
  return double_of((e > 0 ? e : 0) << 52);
}

// what stands without a candidate is added to what stands with it
PARTITA_CLONES void add_without(const double* part0, const int64_t* power0, double* part1, int64_t* power1, int n) {
  for (int k = 0; k < n; ++k) {
    const int64_t a = power0[k], b = power1[k], top = a > b ? a : b;
    part1[k] = part1[k] * power_of_two(b - top) + part0[k] * power_of_two(a - top);
    power1[k] = top;
  }
}

}  // namespace

SetSums::SetSums(const CandidateSets& known, const double* log_odds, double heat)
    : width_(known.width), weight_(static_cast<size_t>(known.first[known.n])), odds_(weight_), part_(size_t(known.n) << known.width, 0.0),
      power_(size_t(known.n) << known.width, kNothing) {
  const int size = 1 << width_;
  std::vector<double> odds(static_cast<size_t>(width_));
  for (int j = 0; j < known.n; ++j) {
    double* part = &part_[size_t(j) << width_];
    int64_t* power = &power_[size_t(j) << width_];
    for (int c = 0; c < width_; ++c) {
      const int i = known.nodes[j * width_ + c];
      odds[c] = i < 0 ? 0.0 : log_odds[i * known.n + j];
    }
    for (int64_t s = known.first[j]; s < known.first[j + 1]; ++s) {
      for (uint32_t left = uint32_t(known.sets[s]); left; left &= left - 1) odds_[s] += odds[__builtin_ctz(left)];
      weight_[s] = heat * known.scores[s] + odds_[s];
      const int64_t e = int64_t(std::floor(weight_[s] / std::log(2.0)));
      power[known.sets[s]] = e;
      part[known.sets[s]] = std::exp(weight_[s] - double(e) * std::log(2.0));
    }
    for (int bit = 1; bit < size; bit <<= 1)
      for (int base = 0; base < size; base += 2 * bit)
        add_without(part + base, power + base, part + base + bit, power + base + bit, bit);
  }
}

double SetSums::log_sum(int j, int32_t within) const {
  const size_t at = (size_t(j) << width_) + size_t(within);
  return part_[at] > 0.0 ? std::log(part_[at]) + double(power_[at]) * std::log(2.0) : kNoScore;
}

}  // namespace partita
