// Trains the model by the shown plan: stretch by stretch, each by the plan of its time, so that the
// budget can be dragged meanwhile.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "gui/jobs/worker_requests.h"

namespace recut::gui {

class App;

// A stretch of steps, from `first` on, that one plan ran.
struct PlanStretch {
  std::int64_t first = 0;
  std::int64_t planned_peak_bytes = 0, measured_peak_bytes = 0;
};

// State of the panel, kept for each document.
struct TrainView {
  JobId job = 0;
  bool ends = false;                       // with the steps that are at work
  std::int64_t until = 0;                  // the step that it goes on to
  int number = 0;                          // of the training: none, 0
  std::shared_ptr<const Document> of;      // that is trained
  std::shared_ptr<TrainingHandle> handle;  // where there are threads
  std::vector<double> losses, means;       // by step; means over the last batches' steps
  double least = 0, most = 0;              // of all losses that are numbers
  std::vector<PlanStretch> stretches;      // in order
  TrainingFigures latest;                  // without the losses
  double compile_ms = 0;                   // of the latest plan
  Diagnostics faults;                      // why it ended, where it had to

  std::int64_t steps() const { return static_cast<std::int64_t>(losses.size()); }
  // True if the last loss isn't finite, so that training can't go on.
  bool diverged() const;
};

inline constexpr std::string_view kTrainMemory = "train";
inline constexpr std::int64_t kUsualSteps = 500, kMaxTrainingSteps = 100'000;

TrainView& train_view(DocumentView& document);
// The training of the shown graph; null where there is none.
const TrainView* shown_training(const DocumentView& document);
bool is_training(const App& app, const DocumentView& document);

// Starts a training of `steps` steps, or continues one by as many. Fails where this program can't
// run anything, where the step trains nothing, and after a loss that is no number.
Result<Done> start_training(App& app, DocumentView& document, std::int64_t steps);
// Stops the training after the steps at work, whose result still comes.
void stop_training(DocumentView& document);
// Drops the training and its curve.
void forget_training(App& app, DocumentView& document);

}  // namespace recut::gui
