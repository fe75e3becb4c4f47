// Work that knows nothing of the window: planning, sweeping, checking, running. A thread does it as
// a job; on platforms without threads, a helper (backend/helper.h) does the same as a worker
// request, sent as bytes.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/workspace/curve.h"
#include "engine/workspace/executor.h"
#include "engine/workspace/mesh_comparison.h"
#include "engine/workspace/scheduling.h"
#include "gui/backend/jobs.h"
#include "gui/jobs/plan_check.h"
#include "gui/jobs/training_session.h"
#include "gui/model/document_view.h"
#include "gui/model/schedule_view.h"

namespace recut::gui {

// The file that a helper works on, with its transform settings. A document with other transform
// settings is another file to a helper: the one before is closed first.
struct WorkerFile : HelperFile {
  TransformSettings transforms;
};
WorkerFile helper_file(const DocumentView& document);

// The result is taken on the job's thread, or between two frames; `take` posts the value that it
// makes of it. Jobs are urgent if the user waits for them.
using TakePlan = std::function<void(JobControl&, Result<SharedPlanView>)>;
using TakeCurve = std::function<void(JobControl&, Result<Curve>)>;  // again and again, better
using TakeSchedule = std::function<void(JobControl&, Result<Schedule>)>;
using TakeRun = std::function<void(JobControl&, SharedSchedule, Result<StepMeasurement>)>;
using TakeTrained = std::function<void(JobControl&, SharedSchedule, Result<TrainingFigures>)>;
using TakeMeshes = std::function<void(JobControl&, Result<MeshComparison>)>;
using TakeFigures = std::function<void(JobControl&, Result<CheckFigures>)>;

Job planning_job(std::string title, const WorkerFile& file, std::shared_ptr<const PlanBasis> basis,
                 PlanningRequest request, TakePlan take);
Job sweeping_job(std::string title, const WorkerFile& file,
                 std::shared_ptr<const Document> document, CurveRequest request, TakeCurve take);
Job scheduling_job(std::string title, const WorkerFile& file, SharedPlanView plan,
                   TakeSchedule take);
// `inputs` are found when the job begins; for a helper they must be there.
Job checking_job(std::string title, const WorkerFile& file,
                 std::shared_ptr<const Document> document,
                 std::function<Result<PlanCheck>()> inputs, TakeFigures take);

// `whole`: the file's graph, which the document may be a rank of.
Job comparing_job(std::string title, const WorkerFile& file, std::shared_ptr<const Document> whole,
                  MeshComparisonRequest request, TakeMeshes take);

// `executor` outlives the job. `schedule`: null if it is yet to be made; then `take` gets the new
// one, or null if that failed.
Job running_job(std::string title, const WorkerFile& file, SharedPlanView plan,
                SharedSchedule schedule, StepRunOptions order, Executor& executor, TakeRun take);

// The state of a training, in this process or in a helper.
struct TrainingHandle {
  int number = 0;
  std::unique_ptr<TrainingSession> session;
};
// The next steps of the training of that number, which has come to the step `first`: at 0 it
// begins. `handle` is where it is, of no other job meanwhile.
struct NextSteps {
  int number = 0;
  std::int64_t first = 0;
  TrainingOrder order;
  std::shared_ptr<TrainingHandle> handle;
};
Job training_job(std::string title, const WorkerFile& file, SharedPlanView plan,
                 SharedSchedule schedule, NextSteps next, Executor& executor, TakeTrained take);

// The helper's side: open files, and worker requests on them.
class WorkerServer {
 public:
  // Backend::read_model, of the platform that the helper is on.
  using ReadModel = std::function<std::optional<Result<GraphFile>>(
      const std::string& path, const std::string& bytes, const Dimensions& sizes)>;

  // `executor`: null where it runs no steps; then it is given none. `read_model`: empty where all
  // files are the engine's to read.
  explicit WorkerServer(Executor* executor = nullptr, ReadModel read_model = {})
      : executor_(executor), read_model_(std::move(read_model)) {}

  // Opens a file; opening the same file again costs nothing. Its first worker request has its
  // transform settings.
  void open(int serial, std::string_view path, std::string_view bytes);
  void close(int serial) { files_.erase(serial); }
  bool knows(int serial) const { return files_.count(serial) != 0; }

  // Works until the request is done; replies go out as they come.
  void serve(int serial, std::string_view task, const std::function<void(std::string)>& reply);

 private:
  struct File {
    std::string path, bytes;  // until the document is there, or can't be
    TransformSettings transforms;
    std::optional<Result<std::shared_ptr<const Document>>> document;
    std::shared_ptr<const Document> whole;  // that the document is a rank of, or is itself
    TrainingHandle training;
  };
  void make_document(File& file, TransformSettings transforms) const;
  Result<Document> read_document(const File& file, const TransformSettings& transforms) const;

  Executor* executor_;
  const ReadModel read_model_;
  std::map<int, File> files_;
};

}  // namespace recut::gui
