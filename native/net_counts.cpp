// Loops of AND and popcount. The compiler's own vector code of the last one needs several times as long.
#include "net_counts.hpp"

#if defined(PARTITA_HAS_CLONES) && defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__)
// popcount of vectors came later than the other vector instructions
#define PARTITA_COUNT_CLONES __attribute__((target_clones("arch=icelake-server", "arch=x86-64-v3", "default")))
#define PARTITA_WIDE_COUNTS
#include <immintrin.h>
#else
#define PARTITA_COUNT_CLONES
#endif

namespace partita {

namespace {

PARTITA_COUNT_CLONES int64_t split_words(const uint64_t* mask, const uint64_t* plane, int64_t words, uint64_t* out) {
  int64_t total = 0;
  for (int64_t w = 0; w < words; ++w) {
    out[w] = mask[w] & plane[w];
    total += __builtin_popcountll(out[w]);
  }
  return total;
}

PARTITA_COUNT_CLONES int64_t count_words(const uint64_t* mask, const uint64_t* plane, int64_t words) {
  int64_t total = 0;
  for (int64_t w = 0; w < words; ++w) total += __builtin_popcountll(mask[w] & plane[w]);
  return total;
}

}  // namespace

#ifdef PARTITA_WIDE_COUNTS
namespace {

#define PARTITA_WIDE __attribute__((target("avx512f,avx512vpopcntdq")))

bool wide() {
  static const bool known = __builtin_cpu_supports("avx512vpopcntdq");
  return known;
}

PARTITA_WIDE inline __mmask8 up_to(int64_t left) { return left >= 8 ? 0xff : __mmask8((1u << left) - 1); }

PARTITA_WIDE int64_t split_wide(const uint64_t* mask, const uint64_t* plane, int64_t words, uint64_t* out) {
  __m512i total = _mm512_setzero_si512();
  for (int64_t w = 0; w < words; w += 8) {
    const __mmask8 here = up_to(words - w);
    const __m512i part = _mm512_and_si512(_mm512_maskz_loadu_epi64(here, mask + w), _mm512_maskz_loadu_epi64(here, plane + w));
    _mm512_mask_storeu_epi64(out + w, here, part);
    total = _mm512_add_epi64(total, _mm512_popcnt_epi64(part));
  }
  return _mm512_reduce_add_epi64(total);
}

template <int C>
PARTITA_WIDE void count_wide(const uint64_t* mask, const uint64_t* planes, int64_t words, int64_t* count) {
  __m512i sums[C];
  for (int c = 0; c < C; ++c) sums[c] = _mm512_setzero_si512();
  for (int64_t w = 0; w < words; w += 8) {
    const __mmask8 here = up_to(words - w);
    const __m512i rows = _mm512_maskz_loadu_epi64(here, mask + w);
    for (int c = 0; c < C; ++c) {
      const __m512i level = _mm512_maskz_loadu_epi64(here, planes + c * words + w);
      sums[c] = _mm512_add_epi64(sums[c], _mm512_popcnt_epi64(_mm512_and_si512(rows, level)));
    }
  }
  for (int c = 0; c < C; ++c) count[c] = _mm512_reduce_add_epi64(sums[c]);
}

// V levels of the column and C of the child, without the last of each
template <int V, int C>
PARTITA_WIDE void count_table(const uint64_t* mask, const uint64_t* column, const uint64_t* child,
                                                                   int64_t words, int64_t* count, int64_t* total) {
  __m512i totals[V], sums[V * C];
  for (int v = 0; v < V; ++v) totals[v] = _mm512_setzero_si512();
  for (int s = 0; s < V * C; ++s) sums[s] = _mm512_setzero_si512();
  for (int64_t w = 0; w < words; w += 8) {
    const __mmask8 here = up_to(words - w);
    const __m512i rows = _mm512_maskz_loadu_epi64(here, mask + w);
    __m512i level[C];
    for (int c = 0; c < C; ++c) level[c] = _mm512_maskz_loadu_epi64(here, child + c * words + w);
    for (int v = 0; v < V; ++v) {
      const __m512i part = _mm512_and_si512(rows, _mm512_maskz_loadu_epi64(here, column + v * words + w));
      totals[v] = _mm512_add_epi64(totals[v], _mm512_popcnt_epi64(part));
      for (int c = 0; c < C; ++c)
        sums[v * C + c] = _mm512_add_epi64(sums[v * C + c], _mm512_popcnt_epi64(_mm512_and_si512(part, level[c])));
    }
  }
  for (int v = 0; v < V; ++v) total[v] = _mm512_reduce_add_epi64(totals[v]);
  for (int s = 0; s < V * C; ++s) count[s] = _mm512_reduce_add_epi64(sums[s]);
}

constexpr int kMost = 4;  // levels for which there is a loop
const TableCounter kCounters[kMost - 1][kMost - 1] = {{count_table<1, 1>, count_table<1, 2>, count_table<1, 3>},
                                                      {count_table<2, 1>, count_table<2, 2>, count_table<2, 3>},
                                                      {count_table<3, 1>, count_table<3, 2>, count_table<3, 3>}};

}  // namespace

TableCounter table_counter(int column_levels, int child_levels) {
  const bool known = wide() && column_levels > 1 && column_levels <= kMost && child_levels > 1 && child_levels <= kMost;
  return known ? kCounters[column_levels - 2][child_levels - 2] : nullptr;
}

int64_t split_rows(const uint64_t* mask, const uint64_t* plane, int64_t words, uint64_t* out) {
  return (wide() ? split_wide : split_words)(mask, plane, words, out);
}

void count_levels(const uint64_t* mask, const uint64_t* planes, int levels, int64_t words, int64_t* count) {
  int v = 0;
  for (; wide() && v + 3 <= levels; v += 3) count_wide<3>(mask, planes + v * words, words, count + v);
  if (wide() && levels - v == 2) return count_wide<2>(mask, planes + v * words, words, count + v);
  if (wide() && levels - v == 1) return count_wide<1>(mask, planes + v * words, words, count + v);
  for (; v < levels; ++v) count[v] = count_words(mask, planes + v * words, words);
}
#else
TableCounter table_counter(int, int) { return nullptr; }

int64_t split_rows(const uint64_t* mask, const uint64_t* plane, int64_t words, uint64_t* out) {
  return split_words(mask, plane, words, out);
}

void count_levels(const uint64_t* mask, const uint64_t* planes, int levels, int64_t words, int64_t* count) {
  for (int v = 0; v < levels; ++v) count[v] = count_words(mask, planes + v * words, words);
}
#endif

}  // namespace partita
