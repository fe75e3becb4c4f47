// What a search for a plan may spend, tells on its way, and finds. Bytes and durations are the
// problem's own units.
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
  std::int64_t peak = 0;  // of the best plan so far: the cheapest that holds, else the lowest
  std::int64_t duration = 0;
  std::int64_t effort = 0;  // spent so far
};

struct SolveOptions {
  std::uint64_t seed = 1;
  // Runs inserted or removed by the search at most; the same effort gives the same plan everywhere.
  std::int64_t effort = 2'000'000;
  double seconds = 0;                        // a limit on wall-clock time; 0: none
  std::span<const std::int32_t> start = {};  // a plan to start from, beside the solver's own
  int bound_moments = 8;                     // where the bound on the time is asked for; 0: nowhere
  // How far above what is proved a plan may be for the search to end, as a share of the repetition.
  double enough = 0;
  std::size_t bound_states = 5'000;                  // sets that the bound on the peak looks at
  std::function<void(const Progress&)> on_progress;  // called when a better plan was found
  const std::atomic<bool>* cancel = nullptr;         // ends the search early, with what it has
  std::function<bool()> stop;  // the same, asked over and over on the searching thread

  bool cancelled() const {
    return (cancel != nullptr && cancel->load(std::memory_order_relaxed)) || (stop && stop());
  }
};

struct Outcome {
  bool holds = false;  // the peak is within the budget; otherwise this is the lowest plan found
  std::vector<std::int32_t> sequence;
  std::int64_t peak = 0;
  std::int64_t duration = 0;
  std::int64_t extra = 0;       // beyond running everything once
  std::int64_t peak_bound = 0;  // proved: no sequence peaks below it
  std::int64_t extra_bound =
      0;                      // proved: none within the budget takes less; 0 where none was found
  bool optimal = false;       // extra == extra_bound, or the budget is below peak_bound
  bool short_search = false;  // proved that the budget can't be held: a longer one may go lower
  std::int64_t effort = 0;
};

}  // namespace recut::peak
