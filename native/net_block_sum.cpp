// Classes without order, given: the sum over all acyclic graphs with every edge probability integrated out, exactly.
//
// The sum over graphs is a polynomial in the probability of an edge between two classes, of the degree of the pairs of nodes that share
// it, so Gauss-Jacobi rules integrate it. What a node gets from its sets of parents depends on the probabilities of edges into its
// class only: it is found once for all their points. What is left for every point of all rules together is the inclusion and
// exclusion over sinks, on a linear scale: terms are divided by the best order of their nodes, so that no range of scores harms them.
#include <algorithm>
#include <cmath>

#include "net_scores.hpp"
#include "net_sums.hpp"

namespace partita {

namespace {

constexpr double kNegligible = 1e-13;  // share of the sum below which a point of the rules needs no derivative

class BlockSum {
 public:
  BlockSum(const NetTables& tables, const BlockRule& rule, const int32_t* z) : n_(tables.n), cells_(size_t(1) << tables.n), z_(z) {
    full_ = Nodes(cells_ - 1);
    for (int i = 0; i < n_; ++i) n_classes_ = std::max(n_classes_, z[i] + 1);
    find_scale(tables);
    sides_.resize(size_t(n_classes_));
    for (int b = 0; b < n_classes_; ++b) find_side(tables, rule, b);
    sum_.resize(cells_);
    back_.resize(cells_);
    term_.resize(cells_);
  }

  double run(double* edges) {
    std::fill(edges, edges + n_ * n_, 0.0);
    if (best_[full_] < -1e299) return kNoScore;
    std::vector<double> sums;
    double total = 0.0;
    start();
    do sums.push_back(forward() * point_share());
    while (next());
    for (double value : sums) total += value;
    for (Side& side : sides_) side.gain.assign(side.within.size(), 0.0);
    size_t k = 0;
    do {
      const double value = sums[k++];
      if (value > kNegligible * total) {
        forward();
        backward(point_share() / total);
      }
    } while (next());
    for (const Side& side : sides_) add_edges(side, edges);
    return best_[full_] + std::log(total);
  }

 private:
  // Everything that goes into one class: at every point of the rules of edges into it, the sums over parents of its members.
  struct Side {
    std::vector<int> members;
    std::vector<double> share;   // of every point: the weight of the rules
    std::vector<double> within;  // [point][member][R]: sum over sets of parents within R, divided by the best of them
    std::vector<double> gain;    // derivative of the log of the whole in `within`
    size_t at = 0;
  };

  int n_, n_classes_ = 0;
  size_t cells_;
  const int32_t* z_;
  Nodes full_;
  std::vector<double> top_;   // [j][R]: the best score of parents of j within R
  std::vector<double> best_;  // [S]: the best order of S
  std::vector<double> ratio_;  // for every R and every set of sinks above it, in the order in which they are gone through
  std::vector<Side> sides_;
  std::vector<double> sum_, back_, term_;

  void find_scale(const NetTables& tables) {
    top_.assign(tables.score, tables.score + size_t(n_) * cells_);
    for (int j = 0; j < n_; ++j)
      for (int i = 0; i < n_; ++i)
        for (size_t R = 0; R < cells_; ++R)
          if (R >> i & 1) top_[j * cells_ + R] = std::max(top_[j * cells_ + R], top_[j * cells_ + (R ^ size_t(1) << i)]);
    best_.assign(cells_, kNoScore);
    best_[0] = 0.0;
    for (Nodes S = 1; S <= full_; ++S)
      for (int j = 0; j < n_; ++j)
        if (S >> j & 1) best_[S] = std::max(best_[S], best_[S ^ Nodes(1) << j] + top_[j * cells_ + (S ^ Nodes(1) << j)]);
    std::vector<double> term(cells_, 0.0);
    for (Nodes R = 0; R < full_; ++R) {
      const Nodes rest = full_ & ~R;
      for (Nodes T = (0 - rest) & rest; T; T = (T - rest) & rest) {
        term[T] = term[T & (T - 1)] + top_[size_t(__builtin_ctz(T)) * cells_ + R];
        const bool there = best_[R] > -1e299 && best_[R | T] > -1e299 && term[T] > -1e299;
        ratio_.push_back((size_of(T) & 1 ? 1.0 : -1.0) * (there ? std::exp(best_[R] + term[T] - best_[R | T]) : 0.0));
      }
    }
  }

  void find_side(const NetTables& tables, const BlockRule& rule, int b) {
    Side& side = sides_[b];
    std::vector<int> size(size_t(n_classes_), 0), points, at(size_t(n_classes_), 0);
    for (int i = 0; i < n_; ++i) {
      ++size[z_[i]];
      if (z_[i] == b) side.members.push_back(i);
    }
    for (int a = 0; a < n_classes_; ++a) points.push_back((size[a] * size[b] - (a == b ? size[a] : 0)) / 2 + 1);
    std::vector<double> odds(cells_);
    for (bool more = true; more;) {
      double share = 1.0;
      std::vector<double> eta;
      for (int a = 0; a < n_classes_; ++a) {
        share *= rule.weight[points[a] * rule.stride + at[a]];
        eta.push_back(rule.node[points[a] * rule.stride + at[a]]);
      }
      for (int j : side.members) {
        odds[0] = 1.0;
        for (int i = 0; i < n_; ++i) {
          if (i != j) share *= 1.0 - eta[z_[i]];
          const double ratio = eta[z_[i]] / (1.0 - eta[z_[i]]);
          for (size_t P = 0; P < size_t(1) << i; ++P) odds[P | size_t(1) << i] = odds[P] * ratio;
        }
        for (Nodes R = 0; R <= full_; ++R) side.within.push_back(sum_within(tables, j, R, odds));
      }
      side.share.push_back(share);
      more = false;
      for (int a = 0; a < n_classes_ && !more; ++a) {
        more = ++at[a] < points[a];
        if (!more) at[a] = 0;
      }
    }
  }

  double sum_within(const NetTables& tables, int j, Nodes R, const std::vector<double>& odds) const {
    const double* score = tables.score + j * cells_;
    const double top = top_[j * cells_ + R];
    if ((R >> j & 1) || top < -1e299) return 0.0;
    double total = 0.0;
    for (Nodes P = R;; P = (P - 1) & R) {
      total += odds[P] * std::exp(score[P] - top);
      if (!P) return total;
    }
  }

  void start() {
    for (Side& side : sides_) side.at = 0;
    place();
  }
  bool next() {
    for (Side& side : sides_) {
      const bool more = ++side.at < side.share.size();
      if (!more) side.at = 0;
      if (more) {
        place();
        return true;
      }
    }
    place();
    return false;
  }
  std::vector<const double*> here_;
  void place() {  // where the sums of every node stand at this point
    here_.assign(size_t(n_), nullptr);
    for (const Side& side : sides_)
      for (size_t m = 0; m < side.members.size(); ++m)
        here_[side.members[m]] = side.within.data() + (side.at * side.members.size() + m) * cells_;
  }
  double point_share() const {
    double share = 1.0;
    for (const Side& side : sides_) share *= side.share[side.at];
    return share;
  }

  double forward() {
    std::fill(sum_.begin(), sum_.end(), 0.0);
    sum_[0] = 1.0;
    const double* ratio = ratio_.data();
    term_[0] = 1.0;
    for (Nodes R = 0; R < full_; ++R) {
      const Nodes rest = full_ & ~R;
      const double below = sum_[R];
      for (Nodes T = (0 - rest) & rest; T; T = (T - rest) & rest) {
        term_[T] = term_[T & (T - 1)] * here_[__builtin_ctz(T)][R];
        sum_[R | T] += below * term_[T] * *ratio++;
      }
    }
    return sum_[full_];
  }

  // adds factor times the derivative of the sum in every `within`, times `within`, to the gains
  void backward(double factor) {
    std::fill(back_.begin(), back_.end(), 0.0);
    back_[full_] = 1.0;
    const double* ratio = ratio_.data() + ratio_.size();
    for (Nodes R = full_; R-- > 0;) {
      const Nodes rest = full_ & ~R;
      const double* from = ratio - ((size_t(1) << size_of(rest)) - 1);
      ratio = from;
      double share[16] = {0.0};
      for (Nodes T = (0 - rest) & rest; T; T = (T - rest) & rest) {
        term_[T] = term_[T & (T - 1)] * here_[__builtin_ctz(T)][R];
        const double value = term_[T] * *from++ * back_[R | T];
        back_[R] += value;
        for (Nodes t = T; t; t &= t - 1) share[__builtin_ctz(t)] += value;
      }
      for (Side& side : sides_)
        for (size_t m = 0; m < side.members.size(); ++m)
          side.gain[(side.at * side.members.size() + m) * cells_ + R] += factor * sum_[R] * share[side.members[m]];
    }
  }

  void add_edges(const Side& side, double* edges) const {
    const size_t M = side.members.size();
    for (size_t p = 0; p < side.share.size(); ++p)
      for (size_t m = 0; m < M; ++m) {
        const int j = side.members[m];
        const double* within = side.within.data() + (p * M + m) * cells_;
        const double* gain = side.gain.data() + (p * M + m) * cells_;
        for (Nodes R = 0; R <= full_; ++R) {
          if (gain[R] == 0.0) continue;
          for (int i = 0; i < n_; ++i)
            if (R >> i & 1) {
              const Nodes less = R ^ Nodes(1) << i;
              const double apart = top_[j * cells_ + less] - top_[j * cells_ + R];
              edges[i * n_ + j] += gain[R] * (1.0 - std::exp(apart) * within[less] / within[R]);
            }
        }
      }
  }
};

}  // namespace

double net_block_sum(const NetTables& tables, const BlockRule& rule, const int32_t* z, double* edges) {
  return BlockSum(tables, rule, z).run(edges);
}

}  // namespace partita
