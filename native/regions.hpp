// Kikuchi-Bayes regions over coded rows: tables of sums, potentials of new subsets, exact gains of candidates.
#pragma once
#include <cstdint>

namespace partita {

// Every attribute's codes stand together: codes[j * n_rows + i] in 0 .. levels[j] - 1.
struct CodedRows {
  const int32_t* codes;
  const int32_t* levels;
  int64_t n_rows;
};

// m regions of `order` attributes each; region j owns the cells offset[j] .. offset[j + 1] of every table.
struct Regions {
  const int32_t* members;
  const int64_t* offset;
  int64_t n;
  int order;
};

constexpr int kMostAttributes = 5;  // the largest region: five attributes and the class

// out[cell, v] = sum over the rows in the cell of vectors[i, v]
void region_sums(const CodedRows& rows, const Regions& regions, const double* vectors, int width, double* out);

// The same tables from sums over rows of products of indicators (kernels/contract.py: Moments), for order <= 3.
struct Moments {
  const int32_t* first;  // (d + 1): attribute j owns the indicator columns first[j] .. first[j + 1], its levels 1 ..
  const double *zero, *one, *two, *three;  // (V), (V, K), (V, K, K), (V, levels of the first attribute - 1, K, K)
  int width, n_columns;
};
void region_sums_of_moments(const int32_t* levels, const Regions& regions, const Moments& moments, double* out);

// out[cell, c], c < C - 1: log odds of class c against the last one in the product of the phi_T, T a new subset
void region_potentials(const int32_t* levels, const Regions& regions, const uint32_t* fresh, const double* counts,
                       int n_classes, double theta, double* out);

// out[j] = sum over rows of weight * log(sum over classes of proba * exp(potential of the row's cell in region j))
void region_normalisers(const CodedRows& rows, const double* weight, const double* proba, int n_classes,
                        const Regions& regions, const double* potentials, double* out);

}  // namespace partita
