// Components side by side: every number of the gates is a vector V of as many components as the processor holds in a register.
#pragma once
#include <cstdlib>
#include <memory>
#include <new>

#include "arithmetic.hpp"

#pragma GCC diagnostic ignored "-Wpsabi"  // vectors are handed to inlined functions only

#define PARTITA_UNROLL _Pragma("GCC unroll 8")  // a tile must stay in registers

namespace partita {

typedef double Two __attribute__((vector_size(16)));
typedef double Four __attribute__((vector_size(32)));
typedef double Eight __attribute__((vector_size(64)));

// Like PARTITA_CLONES, but with the width that is natural to each generation, since vectors wider than a register are kept in
// memory. PARTITA_WIDTHS defines `void name parameters` that calls the inline name##_of<V> arguments with the widest V there is.
// PARTITA_APART defines name<V>::run parameters, which calls it with this V: one copy of the code, however often it is used, so
// that what is used for a row stays in the processor's cache of instructions.
#if defined(PARTITA_HAS_CLONES) && defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__)
#define PARTITA_WIDTHS(name, parameters, arguments)                                                 \
  __attribute__((target("arch=x86-64-v4"))) void name parameters { name##_of<Eight> arguments; }    \
  __attribute__((target("arch=x86-64-v3"))) void name parameters { name##_of<Four> arguments; }     \
  __attribute__((target("default"))) void name parameters { name##_of<Two> arguments; }
#define PARTITA_TARGET_Eight target("arch=x86-64-v4"),
#define PARTITA_TARGET_Four target("arch=x86-64-v3"),
#define PARTITA_TARGET_Two
#else
#if defined(__AVX512F__)
#define PARTITA_WIDEST Eight
#elif defined(__AVX2__)
#define PARTITA_WIDEST Four
#else
#define PARTITA_WIDEST Two
#endif
#define PARTITA_WIDTHS(name, parameters, arguments) \
  void name parameters { name##_of<PARTITA_WIDEST> arguments; }
#define PARTITA_TARGET_Eight
#define PARTITA_TARGET_Four
#define PARTITA_TARGET_Two
#endif
#define PARTITA_APART_AT(width, name, parameters, arguments)                                                    \
  template <>                                                                                                   \
  struct name<width> {                                                                                          \
    using V = width;                                                                                            \
    __attribute__((PARTITA_TARGET_##width noinline)) static void run parameters { name##_of<V> arguments; }     \
  };
#define PARTITA_APART(name, parameters, arguments)        \
  template <class V>                                      \
  struct name;                                            \
  PARTITA_APART_AT(Eight, name, parameters, arguments)    \
  PARTITA_APART_AT(Four, name, parameters, arguments)     \
  PARTITA_APART_AT(Two, name, parameters, arguments)

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

template <class V>
PARTITA_INLINE V square_root(const V& x) {
  V y;
  for (int h = 0; h < kLanes<V>; ++h) y[h] = __builtin_sqrt(x[h]);
  return y;
}

// 1 / weight, and 1 where there is none
template <class V>
PARTITA_INLINE V share_of(const V& weight) {
  return 1.0 / (weight > 0.0 ? weight : V{} + 1.0);
}

// Memory that a thread keeps from call to call: fresh pages would cost a tenth of the time of a call. The first call finds out
// how much is needed; tables too wide for `kKept` bytes get fresh memory each time.
class Desk {
 public:
  ~Desk() { std::free(data_); }
  void* take(size_t bytes) {
    wanted_ += bytes;
    if (wanted_ > size_) return nullptr;
    return data_ + wanted_ - bytes;
  }
  void clear() {
    if (wanted_ > size_ && wanted_ <= kKept) {
      std::free(data_);
      data_ = static_cast<char*>(std::aligned_alloc(64, wanted_));
      size_ = data_ ? wanted_ : 0;
    }
    wanted_ = 0;
  }
  static Desk& of_thread() {
    static thread_local Desk desk;
    return desk;
  }

 private:
  static constexpr size_t kKept = size_t(1) << 24;
  char* data_ = nullptr;
  size_t size_ = 0, wanted_ = 0;
};

// Lasts for one call; made before the rooms of the call.
struct Call {
  ~Call() { Desk::of_thread().clear(); }
};

// n vectors on whole cache lines
template <class V>
class Room {
 public:
  explicit Room(int64_t n) {
    const size_t bytes = (size_t(n) * sizeof(V) + 127) / 64 * 64;
    data_ = static_cast<V*>(Desk::of_thread().take(bytes));
    if (data_) return;
    own_.reset(static_cast<V*>(std::aligned_alloc(64, bytes)));
    data_ = own_.get();
    if (!data_) throw std::bad_alloc();
  }
  operator V*() const { return data_; }

 private:
  struct Free {
    void operator()(V* p) const { std::free(p); }
  };
  V* data_;
  std::unique_ptr<V, Free> own_;
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

// the sum of the logarithms of n vectors, four to a logarithm: far from under- and overflow
template <class V>
PARTITA_INLINE V sum_of_logs(const V* x, int n) {
  V sum = {};
  for (int j = 0; j < n; j += 4) {
    V product = x[j];
    for (int e = j + 1; e < j + 4 && e < n; ++e) product *= x[e];
    for (int h = 0; h < kLanes<V>; ++h) sum[h] += fast_log(product[h]);
  }
  return sum;
}

}  // namespace partita
