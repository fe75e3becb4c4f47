#include <algorithm>
#include <numeric>

#include "engine/partition/knapsack/knapsack.h"
#include "engine/support/check.h"

// Items by value per weight, descending. A sum has the weight and the value of some of the first
// items together; `last` names them. Of all sums over the first k items, these go on to k + 1:
//
//   - a sum that no lighter or equal one exceeds (by weight ascending, their values ascend), and
//   - whose value could still grow above the best known choice, if items could be divided.

namespace recut {
namespace {

constexpr std::size_t kMaxTakenItems = std::size_t{1} << 24;  // that sums name, all together

class ExactKnapsack {
 public:
  ExactKnapsack(std::span<const std::int64_t> weights, std::span<const double> values,
                std::int64_t capacity)
      : weights_(weights), values_(values), capacity_(capacity) {
    RECUT_CHECK(weights.size() == values.size(), "a weight and a value for each item");
    for (std::size_t i = 0; i < weights.size(); ++i)
      if (values[i] > 0 && weights[i] <= capacity) order_.push_back(i);
    std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
      return values[a] * static_cast<double>(weights[b]) >
             values[b] * static_cast<double>(weights[a]);
    });
    for (const std::size_t i : order_) {
      weight_before_.push_back(weight_before_.back() + weights[i]);
      value_before_.push_back(value_before_.back() + values[i]);
    }
  }

  std::optional<KnapsackSolution> run() {
    std::vector<Sum> sums{{0, 0, kNone}}, next;
    for (std::size_t k = 0; k <= order_.size(); ++k) {
      complete(sums, k);
      if (k == order_.size()) break;
      next.clear();
      if (!extend(sums, k, next)) return std::nullopt;
      sums.swap(next);
    }
    return best_choice();
  }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;

  struct Sum {
    std::int64_t weight = 0;
    double value = 0;
    std::uint32_t last = kNone;
  };
  struct TakenItem {
    std::uint32_t place = 0;  // in order_
    std::uint32_t before = kNone;
  };

  // The place after the last item that still fits, if all from `k` on are added in order.
  std::size_t end_of_fit(const Sum& sum, std::size_t k) const {
    const std::int64_t most = weight_before_[k] + capacity_ - sum.weight;
    return static_cast<std::size_t>(
        std::upper_bound(weight_before_.begin() + static_cast<std::ptrdiff_t>(k),
                         weight_before_.end(), most) -
        weight_before_.begin() - 1);
  }

  // Notes the best choice that fills up a sum, and drops sums that can't exceed it.
  void complete(std::vector<Sum>& sums, std::size_t k) {
    std::vector<double> bounds;
    for (const Sum& sum : sums) {
      const std::size_t end = end_of_fit(sum, k);
      const double whole = sum.value + value_before_[end] - value_before_[k];
      if (whole > best_value_) {
        best_value_ = whole;
        best_last_ = sum.last;
        best_from_ = k;
        best_end_ = end;
      }
      const std::int64_t room = capacity_ - sum.weight - (weight_before_[end] - weight_before_[k]);
      bounds.push_back(end == order_.size()
                           ? whole
                           : whole + values_[order_[end]] * static_cast<double>(room) /
                                         static_cast<double>(weights_[order_[end]]));
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i < sums.size(); ++i)
      if (bounds[i] > best_value_) sums[kept++] = sums[i];
    sums.resize(kept);
  }

  // Merges the sums without and with item k, both ascending. False: there are too many.
  bool extend(const std::vector<Sum>& sums, std::size_t k, std::vector<Sum>& merged) {
    const std::int64_t weight = weights_[order_[k]];
    const double value = values_[order_[k]];
    double best = -1;
    const auto keep = [&](const Sum& sum, bool with) {
      if (sum.value <= best) return;
      best = sum.value;
      merged.push_back(sum);
      if (!with) return;
      merged.back().last = static_cast<std::uint32_t>(taken_.size());
      taken_.push_back({static_cast<std::uint32_t>(k), sum.last});
    };
    std::size_t with = 0, without = 0;
    while (with < sums.size() || without < sums.size()) {
      const bool fits = with < sums.size() && sums[with].weight + weight <= capacity_;
      if (!fits) with = sums.size();
      if (!fits && without == sums.size()) break;
      const Sum added =
          fits ? Sum{sums[with].weight + weight, sums[with].value + value, sums[with].last} : Sum{};
      const bool take =
          fits && (without == sums.size() || added.weight < sums[without].weight ||
                   (added.weight == sums[without].weight && added.value > sums[without].value));
      if (take)
        keep(added, true);
      else
        keep(sums[without], false);
      ++(take ? with : without);
    }
    return merged.size() <= kMaxKnapsackSums && taken_.size() <= kMaxTakenItems;
  }

  KnapsackSolution best_choice() const {
    KnapsackSolution choice{std::max(best_value_, 0.0), std::vector<bool>(weights_.size(), false)};
    for (std::uint32_t at = best_last_; at != kNone; at = taken_[at].before)
      choice.taken[order_[taken_[at].place]] = true;
    for (std::size_t k = best_from_; k < best_end_; ++k) choice.taken[order_[k]] = true;
    return choice;
  }

  const std::span<const std::int64_t> weights_;
  const std::span<const double> values_;
  const std::int64_t capacity_;
  std::vector<std::size_t> order_;              // items that fit and are worth something
  std::vector<std::int64_t> weight_before_{0};  // of the items before a place
  std::vector<double> value_before_{0};
  std::vector<TakenItem> taken_;

  double best_value_ = -1;
  std::uint32_t best_last_ = kNone;
  std::size_t best_from_ = 0, best_end_ = 0;
};

}  // namespace

std::optional<KnapsackSolution> exact_knapsack(std::span<const std::int64_t> weights,
                                               std::span<const double> values,
                                               std::int64_t capacity) {
  return ExactKnapsack(weights, values, capacity).run();
}

}  // namespace recut
