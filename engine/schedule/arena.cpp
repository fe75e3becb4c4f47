#include "engine/schedule/arena.h"

#include <algorithm>

#include "engine/schedule/packing/greedy.h"
#include "engine/schedule/packing/reordering.h"
#include "engine/support/check.h"

namespace recut {
namespace {

using packing::Conflicts;
using packing::Instance;
using packing::Order;
using packing::Packed;
using packing::Rule;

constexpr std::int64_t kMaxPairs = 8'000'000;  // of intervals that overlap in time: 64 MiB
constexpr double kSkylineWork = 100e6;         // steps of skyline packing
constexpr double kSearchWork = 10e6;           // steps of a search for the bound itself
constexpr int kTargets = 8;                    // targets that are tried, and the tolerance:
constexpr std::int64_t kClose = 10'000;        // 1 / this of the height

// Packs one range of time, if possible as low as `target`, which is a lower bound of the whole.
class PartPacker {
 public:
  PartPacker(const Instance& instance, std::int64_t target, double effort)
      : instance_(instance), target_(target), effort_(effort) {}

  Packed run() {
    by_size_ = packing::order_by(instance_, Rule::largest);
    keep(packing::first_fit(instance_, by_size_), by_size_);
    if (done()) return std::move(best_);
    const auto conflicts = Conflicts::of(instance_, kMaxPairs);
    for (const Rule rule : packing::kRules) try_rule(rule, conflicts ? &*conflicts : nullptr);
    if (!done() && conflicts && effort_ > 0) search(*conflicts);
    return std::move(best_);
  }

 private:
  bool done() const { return best_.height <= target_; }

  void keep(Packed packed, const Order& order) {
    if (best_order_.empty() || packed.height < best_.height) {
      best_ = std::move(packed);
      best_order_ = order;
    }
  }

  void try_rule(Rule rule, const Conflicts* conflicts) {
    if (done()) return;
    const Order order = packing::order_by(instance_, rule);
    if (rule != Rule::largest) keep(packing::first_fit(instance_, order), order);
    if (done() || conflicts == nullptr || static_cast<double>(skyline_work_) > kSkylineWork) return;
    Packed packed = packing::skyline_pack(instance_, *conflicts, order, target_, skyline_work_);
    const Order by_offset = packing::order_by_offset(packed.offsets, order);
    keep(std::move(packed), by_offset);
  }

  // Bisects between the target and the best packing.
  void search(const Conflicts& conflicts) {
    packing::Reordering reordering(instance_, conflicts);
    std::int64_t low = target_, capacity = target_;
    for (int round = 0; round < kTargets && !done(); ++round) {
      const double work = effort_ * kSearchWork / (round == 0 ? 1 : 4);
      const auto found = [&](Order order, std::uint64_t random_state) {
        const bool holds =
            reordering.search(order, capacity, static_cast<std::int64_t>(work), random_state);
        keep(reordering.pack(order), order);
        return holds;
      };
      const auto random_state = 2 * static_cast<std::uint64_t>(round);
      if (!found(by_size_, random_state) && best_.height > capacity &&
          !found(best_order_, random_state + 1))
        low = capacity;
      capacity = low + (best_.height - low) / 2;
      if (best_.height - low <= target_ / kClose) break;
    }
  }

  const Instance& instance_;
  std::int64_t target_;
  double effort_;
  Order by_size_, best_order_;
  Packed best_;
  std::int64_t skyline_work_ = 0;
};

}  // namespace

std::int64_t max_live_bytes(std::span<const ArenaInterval> intervals) {
  std::int64_t max = 0;
  for (const Instance& part : packing::independent_parts(intervals))
    max = std::max(max, part.bound);
  return max;
}

ArenaPacking pack_arena(std::span<const ArenaInterval> intervals, double effort) {
  std::vector<Instance> parts = packing::independent_parts(intervals);
  // The range with the highest bound first: the others need not be lower than its packing.
  std::stable_sort(parts.begin(), parts.end(),
                   [](const Instance& a, const Instance& b) { return a.bound > b.bound; });
  ArenaPacking packing;
  packing.offsets.assign(intervals.size(), 0);
  packing.lower_bound = parts.empty() ? 0 : parts.front().bound;
  packing.height = packing.lower_bound;
  for (const Instance& part : parts) {
    const Packed packed = PartPacker(part, packing.height, effort).run();
    packing.height = std::max(packing.height, packed.height);
    for (std::uint32_t i = 0; i < part.size(); ++i)
      packing.offsets[part.origins[i]] = packed.offsets[i];
  }
  return packing;
}

}  // namespace recut
