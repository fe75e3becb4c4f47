#include "engine/partition/peak/bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "engine/partition/flow/max_flow.h"
#include "engine/partition/peak/sequence.h"
#include "engine/support/check.h"

// The bound on the overhead. Checkmate's integer program proves the optimum, but needs O(n²)
// variables for n nodes; one Lagrangian relaxation for each of a few steps stays cheap on any
// graph. The network is that of PyTorch's partitioner with durations as the capacities of
// computations, and its cut gives a bound, not a plan. Capacities are rounded down, so that the
// bound stays proved.

namespace recut::peak {
namespace {

constexpr std::int64_t kImpossible = std::numeric_limits<std::int64_t>::max();
constexpr int kMaxCuts = 14;               // for one step at most
constexpr double kNegligibleGain = 1.002;  // a gain below this factor isn't worth another cut

// The Lagrangian relaxation at one time step, the first run of `computation`. Its own inputs and
// outputs are alive by definition (held); all other storages of ancestors are priced.
class StepBound {
 public:
  StepBound(const RematProblem& p, std::int32_t computation, std::int64_t budget)
      : p_(p),
        ancestor_(p.size(), false),
        descendant_(p.size(), false),
        held_(p.storages(), false) {
    for (const RematProblem::Read& read : p.reads(computation)) {
      ancestor_[read.producer] = true;
      hold(read.storage);
    }
    for (std::int32_t j = 0; j < p.storage_count(computation); ++j)
      hold(p.first_storage(computation) + j);
    for (std::int32_t c = computation; c-- > 0;)
      if (ancestor_[c])
        for (const RematProblem::Read& read : p.reads(c)) ancestor_[read.producer] = true;
    descendant_[computation] = true;
    for (std::int32_t c = computation + 1; c < p.size(); ++c)
      for (const RematProblem::Read& read : p.reads(c))
        if (descendant_[read.producer]) descendant_[c] = true;
    descendant_[computation] = false;
    self_ = computation;
    room_ = budget - bytes_held_;
  }

  // The larger of this step's bound and `known`. The value of the cut is a concave function of the
  // price, and each cut gives a line above it. The lines from either side meet at the next price
  // (Kelley's cutting planes, 1960, in one dimension); the height of that point tells when to stop.
  std::int64_t bound(std::int64_t known) const {
    if (room_ < 0) return kImpossible;
    Cut left = keep_everything();
    if (left.saved <= room_) return known;
    std::optional<Cut> right;
    double price = std::max(1.0, static_cast<double>(p_.total_duration())) /
                   static_cast<double>(std::max<std::int64_t>(1, room_));
    for (int i = 0; i < kMaxCuts; ++i) {
      const Cut cut = cut_at(price);
      known = std::max(known, cut.bound);
      if (cut.saved > room_) {
        left = cut;
      } else {
        right = cut;
      }
      if (!right) {
        price *= 8;
        continue;
      }
      const double meet = (right->recompute_time - left.recompute_time) /
                          static_cast<double>(left.saved - right->saved);
      const double highest = left.recompute_time + meet * static_cast<double>(left.saved - room_);
      if (meet == price || highest <= static_cast<double>(known) * kNegligibleGain) break;
      price = meet;
    }
    return known;
  }

 private:
  void hold(std::int32_t storage) {
    if (held_[storage]) return;
    held_[storage] = true;
    bytes_held_ += p_.bytes(storage);
  }

  // The bytes that a minimum cut keeps, the time that it recomputes, and the bound that it proves.
  struct Cut {
    std::int64_t saved = 0;
    double recompute_time = 0;
    std::int64_t bound = 0;
  };

  // The cut for a price of 0.
  Cut keep_everything() const {
    Cut cut;
    for (std::int32_t s = 0; s < p_.storages(); ++s) {
      const auto readers = p_.readers(s);
      if (!descendant_[p_.producer(s)] && !held_[s] &&
          std::any_of(readers.begin(), readers.end(),
                      [&](std::int32_t reader) { return descendant_[reader]; }))
        cut.saved += p_.bytes(s);
    }
    return cut;
  }

  // min (recompute time + price * bytes kept) - price * room, rounded down so that it stays proved.
  Cut cut_at(double price) const {
    const auto n = static_cast<std::size_t>(p_.size());
    FlowNetwork network(2 + n + static_cast<std::size_t>(p_.storages()));
    const auto of_c = [](std::int32_t c) { return static_cast<std::uint32_t>(2 + c); };
    const auto of_s = [&](std::int32_t s) { return static_cast<std::uint32_t>(2 + n + s); };
    const double scale =
        std::ldexp(1.0, 48) / static_cast<double>(std::max<std::int64_t>(1, p_.total_duration()));
    for (std::int32_t c = 0; c < p_.size(); ++c) {
      if (descendant_[c]) continue;
      if (c == self_ || ancestor_[c]) {
        const double cost = scale * static_cast<double>(p_.duration(c));
        network.add_edge(0, of_c(c),
                         p_.once(c) ? FlowNetwork::kUnbounded : static_cast<std::int64_t>(cost));
      }
      for (std::int32_t j = 0; j < p_.storage_count(c); ++j) {
        const std::int32_t s = p_.first_storage(c) + j;
        const double cost = held_[s] ? 0 : scale * price * static_cast<double>(p_.bytes(s));
        network.add_edge(of_c(c), of_s(s),
                         static_cast<std::int64_t>(std::min(cost, std::ldexp(1.0, 48))));
        for (const std::int32_t reader : p_.readers(s)) {
          if (descendant_[reader])
            network.add_edge(of_s(s), 1, FlowNetwork::kUnbounded);
          else
            network.add_edge(of_s(s), of_c(reader), FlowNetwork::kUnbounded);
        }
      }
    }
    const CutOutcome outcome = minimum_cut(network, 0, 1);
    const auto* cut = std::get_if<MinimumCut>(&outcome);
    RECUT_CHECK(cut != nullptr, "keeping everything is always a cut");
    Cut found;
    for (std::int32_t s = 0; s < p_.storages(); ++s) {
      const std::int32_t c = p_.producer(s);
      if (!descendant_[c] && !held_[s] && !cut->sink_side[of_c(c)] && cut->sink_side[of_s(s)])
        found.saved += p_.bytes(s);
    }
    const double least = static_cast<double>(cut->capacity) / scale * (1 - 1e-12);
    const double value = least - price * static_cast<double>(room_) * (1 + 1e-12) - 1;
    found.recompute_time = least - price * static_cast<double>(found.saved);
    found.bound = value <= 0 ? 0 : static_cast<std::int64_t>(std::min(value, 9e18));
    return found;
  }

  const RematProblem& p_;
  std::int32_t self_ = -1;
  std::vector<bool> ancestor_, descendant_, held_;
  std::int64_t bytes_held_ = 0, room_ = 0;
};

}  // namespace

std::int64_t overhead_bound(const RematProblem& problem, std::int64_t budget,
                            std::span<const std::int32_t> steps) {
  std::int64_t best = 0;
  for (const std::int32_t c : steps) best = StepBound(problem, c, budget).bound(best);
  return best;
}

std::vector<std::int32_t> likely_bound_steps(const RematProblem& p,
                                             std::span<const std::int32_t> sequence, int count) {
  Sequence s(p);
  s.assign(sequence);
  std::vector<std::pair<std::int64_t, std::int32_t>> levels;
  for (std::int32_t c = 0; c < p.size(); ++c) levels.push_back({-s.bytes_at(s.first_run(c)), c});
  std::sort(levels.begin(), levels.end());
  // The highest steps, but not the neighbours of one that is taken.
  std::vector<std::int32_t> steps;
  std::vector<bool> near(p.size(), false);
  for (const auto& [level, c] : levels) {
    if (static_cast<int>(steps.size()) >= count) break;
    if (near[c]) continue;
    steps.push_back(c);
    RunId run = s.first_run(c);
    for (int i = 0; i < 2 && run != kNoRun; ++i, run = s.next(run)) near[s.computation(run)] = true;
  }
  if (p.boundary() >= 0) steps.push_back(p.boundary());
  return steps;
}

}  // namespace recut::peak
