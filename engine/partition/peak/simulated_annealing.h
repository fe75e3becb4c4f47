// Simulated annealing (Kirkpatrick, Gelatt and Vecchi 1983) of order and recomputation together:
// the search of FastSA (Jin et al., NeurIPS 2023). A move inserts, removes or shifts one run of the
// sequence. Three things differ from FastSA:
//
// - A move is priced before it is made (timeline.h), so a rejected move costs no update.
// - Bytes above the budget are a soft constraint: bytes times steps, times a penalty. It is small
//   at first, and at the end so large that the search stays at the edge of the feasible region.
// - Two compound moves cross hills that single moves can't: an insertion together with those inputs
//   that would have to live for it alone, and one recomputation in place of another.
//
// Cost: O(reads + steps touched / 16) for a priced move, O(steps) for a made one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/partition/peak/timeline.h"

namespace recut::peak {

// Tries that count as one unit of work (a run inserted or removed): a try mostly only prices.
inline constexpr std::int64_t kTriesPerWork = 5;

// The cooling schedule, geometric from start to end. Units are the mean duration of a computation
// and the mean bytes of a storage, so the numbers fit problems of any scale.
struct CoolingSchedule {
  double start_temperature = 0.5, end_temperature = 0.01;  // in mean durations
  double start_penalty = 0.02,
         end_penalty = 10;  // the penalty: duration for a byte above the budget in one step
};

class SimulatedAnnealing {
 public:
  // Starts from a sequence, which may peak above the budget. `problem` must outlive this.
  SimulatedAnnealing(const RematProblem& problem, std::int64_t budget,
                     std::span<const std::int32_t> start, std::uint64_t seed,
                     const CoolingSchedule& cooling = {});

  // Makes `tries` tries at the point `progress` (0 … 1) of the cooling schedule. True if the best
  // sequence improved.
  bool advance(std::int64_t tries, double progress);

  // The shortest sequence so far within the budget; empty before there is one.
  const std::vector<std::int32_t>& best() const { return best_; }
  bool holds() const { return !best_.empty(); }
  std::int64_t best_duration() const { return best_duration_; }
  std::int64_t best_peak() const { return best_peak_; }

  // The current sequence, feasible or not.
  const Timeline& timeline() const { return timeline_; }

 private:
  // An idle instance: its computation, and the steps of the uses around the gap.
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
  std::optional<Gap> random_gap(std::int32_t low, std::int32_t high);
  void remove_inputs(std::int32_t computation, std::int32_t at);
  void keep_best();
  std::int32_t random_below(std::int32_t below);
  double random_unit();

  const RematProblem& p_;
  CoolingSchedule cooling_;
  Timeline timeline_;
  std::uint64_t random_;
  double mean_duration_ = 1, mean_bytes_ = 1;
  double temperature_ = 0, weight_ = 0;
  bool was_feasible_ = false;  // the budget held at some time since the weight was last set
  std::vector<std::int32_t> best_;
  std::int64_t best_duration_ = 0, best_peak_ = 0;
  std::vector<RunId> chain_;  // inserted by the current compound move
  Timeline::Change chain_price_;
};

}  // namespace recut::peak
