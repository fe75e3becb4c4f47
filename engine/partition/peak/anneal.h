// Order and repetition at once, by simulated annealing (Kirkpatrick, Gelatt and Vecchi 1983) over
// sequences in which single runs are inserted, removed and moved: the search of FastSA (Jin et al.,
// NeurIPS 2023). Three things differ. A change is priced before it is made (timeline.h). What is
// above the budget counts by bytes times steps, lightly while it is hot and in the end so heavily
// that the search walks along the border of what the budget holds. And two changes are made of
// several, which one by one would have to climb: an insertion with those of its inputs that would
// have to live for it alone, and one repetition in place of another.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/partition/peak/timeline.h"

namespace recut::peak {

// A try is much less than a run inserted or removed: it asks, and seldom acts.
inline constexpr std::int64_t kTriesPerWork = 5;

// How it cools. Durations count in mean durations of a computation, bytes in mean bytes of a
// storage, so that the numbers fit problems of any units.
struct Cooling {
  double hot = 0.5, cold = 0.01;    // temperature, from first to last
  double light = 0.02, heavy = 10;  // the duration that a byte above the budget is worth for a step
};

class Annealer {
 public:
  // Starts from a sequence that may be above the budget. `problem` must outlive this.
  Annealer(const Problem& problem, std::int64_t budget, std::span<const std::int32_t> start,
           std::uint64_t seed, const Cooling& cooling = {});

  // Makes so many tries as far along the cooling as `progress` (0 … 1) says. True where the best
  // sequence got better.
  bool advance(std::int64_t tries, double progress);

  // The cheapest sequence so far within the budget; empty where there was none.
  const std::vector<std::int32_t>& best() const { return best_; }
  bool holds() const { return !best_.empty(); }
  std::int64_t best_duration() const { return best_duration_; }
  std::int64_t best_peak() const { return best_peak_; }

  // The sequence as it is, and what it holds.
  const Timeline& timeline() const { return line_; }

 private:
  // An idle instance: its computation, and the steps of the uses before and after.
  struct Gap {
    std::int32_t computation, from, to;
  };

  void set_weights(double progress);
  double cost(const Timeline::Change& change) const;
  bool accepts(const Timeline::Change& change);
  void try_move();
  void try_insertion();
  bool try_chain(const Gap& gap);
  void insert_chain(std::int32_t computation, std::int32_t at, int depth);
  void try_removal();
  bool try_swap(RunId run);
  std::optional<Gap> gap_across(RunId run, std::int32_t slot, std::int32_t step) const;
  std::optional<Gap> draw_gap(std::int32_t low, std::int32_t high);
  void remove_inputs(std::int32_t computation, std::int32_t at);
  void keep_best();
  std::int32_t draw(std::int32_t below);
  double draw_share();

  const Problem& p_;
  Cooling cooling_;
  Timeline line_;
  std::uint64_t random_;
  double mean_duration_ = 1, mean_bytes_ = 1;
  double temperature_ = 0, weight_ = 0;
  bool fitted_ = false;  // the budget held at some time since the weight was last set
  std::vector<std::int32_t> best_;
  std::int64_t best_duration_ = 0, best_peak_ = 0;
  std::vector<RunId> chain_;  // inserted by the try that is under way
  Timeline::Change chain_price_;
};

}  // namespace recut::peak
