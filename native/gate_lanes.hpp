// Components side by side: every number of the gates is a vector V of as many components as the processor holds in a register.
#pragma once
#include <cstdlib>
#include <memory>
#include <new>

#include "arithmetic.hpp"

#pragma GCC diagnostic ignored "-Wpsabi"  // vectors are handed to inlined functions only

namespace partita {

typedef double Two __attribute__((vector_size(16)));
typedef double Four __attribute__((vector_size(32)));
typedef double Eight __attribute__((vector_size(64)));

// Defines `void name parameters` that calls `name##_of<V> arguments`: like PARTITA_CLONES, but with the width that is natural
// to each generation, since vectors wider than a register are kept in memory.
#if defined(PARTITA_HAS_CLONES) && defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__)
#define PARTITA_WIDTHS(name, parameters, arguments)                                                 \
  __attribute__((target("arch=x86-64-v4"))) void name parameters { name##_of<Eight> arguments; }    \
  __attribute__((target("arch=x86-64-v3"))) void name parameters { name##_of<Four> arguments; }     \
  __attribute__((target("default"))) void name parameters { name##_of<Two> arguments; }
#else
#define PARTITA_WIDTHS(name, parameters, arguments) \
  void name parameters { name##_of<Two> arguments; }
#endif

template <class V>
constexpr int kLanes = int(sizeof(V) / sizeof(double));

// The caller's arrays may start anywhere.
template <class V>
PARTITA_INLINE V load(const double* p) {
  V v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <class V>
PARTITA_INLINE void store(double* p, const V& v) {
  std::memcpy(p, &v, sizeof v);
}

// n vectors on whole cache lines
template <class V>
class Room {
 public:
  explicit Room(int64_t n) : data_(static_cast<V*>(std::aligned_alloc(64, size_t(n + 8) * sizeof(V) / 64 * 64 + 64))) {
    if (!data_) throw std::bad_alloc();
  }
  operator V*() const { return data_.get(); }

 private:
  struct Free {
    void operator()(V* p) const { std::free(p); }
  };
  std::unique_ptr<V, Free> data_;
};

// n numbers of some components out of an array of H
template <class V>
PARTITA_INLINE void pack(const double* from, int64_t n, int H, V* to) {
  for (int64_t e = 0; e < n; ++e) to[e] = load<V>(from + e * H);
}

template <class V>
PARTITA_INLINE void clear(V* a, int64_t n) {
  for (int64_t e = 0; e < n; ++e) a[e] = V{};
}

// the sum of the logarithms of n vectors, `step` apart; four to a logarithm: far from under- and overflow
template <class V>
PARTITA_INLINE V sum_of_logs(const V* x, int n) {
  double sum[kLanes<V>] = {0}, product[kLanes<V>];
  for (int j = 0; j < n; j += 4) {
    V p = x[j];
    for (int e = j + 1; e < j + 4 && e < n; ++e) p *= x[e];
    store(product, p);
    for (int h = 0; h < kLanes<V>; ++h) sum[h] += fast_log(product[h]);
  }
  return load<V>(sum);
}

}  // namespace partita
