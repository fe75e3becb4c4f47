// Options, progress and result of a search. Bytes and durations are in the problem's own units.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace recut::peak {

inline constexpr std::int64_t kNoBudget = std::int64_t{1} << 62;

struct Progress {
  bool holds = false;     // a plan within the budget is known
  std::int64_t peak = 0;  // of the best plan: the shortest within the budget, else the lowest
  std::int64_t duration = 0;
  std::int64_t effort = 0;  // spent so far
};

struct SolveOptions {
  std::uint64_t seed = 1;
  // The most runs that the search inserts or removes; the same effort gives the same plan
  // everywhere.
  std::int64_t effort = 2'000'000;
  double seconds = 0;                             // a limit on wall-clock time; 0: none
  std::span<const std::int32_t> warm_start = {};  // a plan to improve, beside the solver's own
  int bound_steps = 8;                            // steps at which to bound the overhead; 0: none
  // The search ends at a plan whose overhead is within this share of the proved bound (MIP gap).
  double relative_gap = 0;
  std::size_t bound_states = 5'000;                  // sets that the bound on the peak visits
  std::function<void(const Progress&)> on_progress;  // called for each better plan
  const std::atomic<bool>* cancel = nullptr;         // ends the search early, with its best plan
  std::function<bool()> stop;                        // the same, polled on the searching thread

  bool cancelled() const {
    return (cancel != nullptr && cancel->load(std::memory_order_relaxed)) || (stop && stop());
  }
};

struct Outcome {
  bool holds = false;  // the peak is within the budget; else this is the lowest plan found
  std::vector<std::int32_t> sequence;
  std::int64_t peak = 0;
  std::int64_t duration = 0;
  std::int64_t overhead = 0;    // beyond running everything once
  std::int64_t peak_bound = 0;  // proved: no sequence peaks below it
  std::int64_t overhead_bound =
      0;                      // proved: no sequence within the budget takes less; 0: none known
  bool optimal = false;       // extra == extra_bound, or the budget is below peak_bound
  bool short_search = false;  // the budget is proved infeasible: a longer search may go lower
  std::int64_t effort = 0;
};

}  // namespace recut::peak
