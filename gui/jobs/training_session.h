// A document's training, where it is at work: its parameters, and the step that its plan was
// compiled to. Parameters outlive plans, so that a budget can change from one step to the next.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/workspace/executor.h"
#include "engine/workspace/trainer.h"

namespace recut::gui {

struct TrainingOrder {
  std::uint64_t seed = 1;  // of parameters without a value in the file, data and random numbers; of
                           // a training's first steps
  int steps = 25;          // at most; fewer where these take longer than
  double seconds = 0.1;
};

struct TrainingFigures {
  std::string where;           // "this machine's processor, 2 threads"
  std::int64_t first = 0;      // step
  std::vector<double> losses;  // of these steps, before their updates; after one that is no number
                               // there are no more
  double step_ms = 0;          // their mean
  double compile_ms = 0;       // 0 where the plan was compiled before
  // Bytes of one step's own values: the schedule's peak, and the highest byte that the step wrote.
  std::int64_t planned_peak_bytes = 0, measured_peak_bytes = 0;
};

class TrainingSession {
 public:
  // `document`: of a training step (Document::loss). Fails where the machine lacks the memory.
  static Result<std::unique_ptr<TrainingSession>> begin(std::shared_ptr<const Document> document,
                                                        std::uint64_t seed);

  std::int64_t steps() const { return state_.steps(); }  // that were made
  bool goes_by(const std::string& plan, const Executor& executor) const {
    return trainer_ != nullptr && plan_ == plan && executor_ == &executor;
  }
  // Compiles for the next steps: this plan, under a name, and this executor, which outlives the
  // session. Returns the milliseconds that it took. Fails as Executor::prepare does.
  Result<double> compile(const ScheduledStep& step, std::string plan, Executor& executor);
  // Runs the next steps. Fails if the data is invalid.
  Result<TrainingFigures> advance(const TrainingOrder& order);

 private:
  TrainingSession(std::shared_ptr<const Document> document, TrainingState state)
      : document_(std::move(document)), state_(std::move(state)) {}

  std::shared_ptr<const Document> document_;
  TrainingState state_;
  Executor* executor_ = nullptr;
  std::string plan_;
  PreparedStep step_;
  std::unique_ptr<Trainer> trainer_;
  std::int64_t measured_peak_bytes_ = 0;
};

}  // namespace recut::gui
