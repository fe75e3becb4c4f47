#include "gui/jobs/worker_requests.h"

#include <fmt/core.h>

#include "engine/fusion/kernel_model.h"
#include "engine/support/units.h"
#include "engine/workspace/open_document.h"
#include "engine/workspace/sharded_document.h"
#include "engine/workspace/sweep_document.h"
#include "gui/jobs/bundle_job.h"
#include "gui/jobs/worker_request_fields.h"
#include "gui/jobs/worker_task.h"

namespace recut::gui {
namespace {

std::string recomputation_text(double micros) {
  return format_micros(micros) + " of recomputation";
}

void serve_plan(const Document& document, Unpacker& unpack, const Send& send) {
  auto request = unpack.get<PlanningRequest>();
  request.limits.on_better = [&](double recompute_us) {
    send(packed(Reply::progress, -1.0, recomputation_text(recompute_us)));
  };
  const auto planned = plan_to_run(document, request);
  if (!planned) return send(packed(Reply::all, Result<FoundPlan>(planned.diagnostics())));
  send(packed(Reply::all, Result<FoundPlan>(FoundPlan{planned->plan, planned->report})));
}

void serve_sweep(const Document& document, Unpacker& unpack, const Send& send) {
  auto request = unpack.get<CurveRequest>();
  request.on_curve = [&](const Curve& curve) { send(packed(Reply::some, Result<Curve>(curve))); };
  send(packed(Reply::all, sweep_document(document, request)));
}

// Reports its progress with every percent. The sender of the request ends it by ending the helper.
std::function<bool(double, const std::string&)> percents(const Send& send) {
  return [&send, percent = -1](double share, const std::string& text) mutable {
    if (static_cast<int>(100 * share) == percent) return true;
    percent = static_cast<int>(100 * share);
    send(packed(Reply::progress, share, text));
    return true;
  };
}

// The same for an executor. It sends nothing while it measures, since each message would draw a
// frame.
StepProgress phases(const Send& send) {
  return [&send, tell = percents(send), last = StepPhase::preparing](
             StepPhase phase, double share, const std::string& text) mutable {
    if (phase != last) send(packed(Reply::measuring, phase == StepPhase::measuring));
    last = phase;
    return phase == StepPhase::measuring || tell(share, text);
  };
}

StepProgress phases(JobControl& control) {
  return [&control](StepPhase phase, double share, const std::string& text) {
    control.measuring(phase == StepPhase::measuring);
    control.progress(share, text);
    return !control.cancelled();
  };
}

void serve_check(const Document& document, Unpacker& unpack, const Send& send) {
  const auto check = unpack.get<PlanCheck>();
  send(packed(Reply::all, check_plan(document, check, percents(send))));
}

Result<Schedule> schedule_of(const Graph& graph, const ScheduleRequest& order) {
  return schedule_plan(graph, KernelModel(graph, order.fusion, order.apart), order.plan);
}

void serve_schedule(const Document& document, Unpacker& unpack, const Send& send) {
  send(packed(Reply::all, schedule_of(document.graph(), unpack.get<ScheduleRequest>())));
}

// Calls `use` with a step of that plan; where `known` lacks the schedule, it is made and left in
// `made`.
template <class T, class Use>
Result<T> with_step(const Document& document, const ScheduleRequest& plan,
                    const std::optional<Schedule>& known, std::optional<Schedule>& made, Use use) {
  const Graph& graph = document.graph();
  const KernelModel kernels(graph, plan.fusion, plan.apart);
  if (known) return use(ScheduledStep{document, kernels, *known, plan.budget_bytes});
  auto schedule = schedule_plan(graph, kernels, plan.plan);
  if (!schedule) return schedule.diagnostics();
  made = std::move(*schedule);
  return use(ScheduledStep{document, kernels, *made, plan.budget_bytes});
}

Result<StepResult> run_step(const Document& document, const RunTask& task, Executor& executor,
                            const StepProgress& progress) {
  StepResult ran;
  auto figures = with_step<StepMeasurement>(
      document, task.plan, task.schedule, ran.schedule,
      [&](const ScheduledStep& step) { return executor.run(step, task.order, progress); });
  if (!figures) return figures.diagnostics();
  ran.figures = std::move(*figures);
  return ran;
}

// Begins the training where it is at its first step, and compiles where it goes on by another plan.
Result<StepsResult> train_steps(TrainingHandle& handle, std::shared_ptr<const Document> document,
                                const TrainTask& task, Executor& executor,
                                const std::function<void(bool)>& measuring) {
  if (handle.number != task.number) handle = {task.number, nullptr};
  if (handle.session == nullptr && task.first == 0) {
    auto begun = TrainingSession::begin(document, task.order.seed);
    if (!begun) return begun.diagnostics();
    handle.session = std::move(*begun);
  }
  if (handle.session == nullptr || handle.session->steps() != task.first)
    return error("the parameters are gone, with the helper that had them: it has to begin again");
  StepsResult trained;
  double compile_ms = 0;
  if (std::string plan = packed(task.plan); !handle.session->goes_by(plan, executor)) {
    auto compiled = with_step<double>(
        *document, task.plan, task.schedule, trained.schedule, [&](const ScheduledStep& step) {
          return handle.session->compile(step, std::move(plan), executor);
        });
    if (!compiled) return compiled.diagnostics();
    compile_ms = *compiled;
  }
  measuring(true);
  auto figures = handle.session->advance(task.order);
  measuring(false);
  if (!figures) return figures.diagnostics();
  trained.figures = std::move(*figures);
  trained.figures.compile_ms = compile_ms;
  return trained;
}

void serve_run(const Document& document, Unpacker& unpack, Executor* executor, const Send& send) {
  RECUT_CHECK(executor != nullptr, "a step to run where nothing runs any");
  send(packed(Reply::all, run_step(document, unpack.get<RunTask>(), *executor, phases(send))));
}

void serve_train(TrainingHandle& handle, std::shared_ptr<const Document> document, Unpacker& unpack,
                 Executor* executor, const Send& send) {
  RECUT_CHECK(executor != nullptr, "a step to run where nothing runs any");
  const auto measuring = [&](bool now) { send(packed(Reply::measuring, now)); };
  send(packed(Reply::all, train_steps(handle, std::move(document), unpack.get<TrainTask>(),
                                      *executor, measuring)));
}

// Reports its progress before each mesh.
std::function<void(std::size_t, std::size_t)> by_mesh(
    std::function<void(double, std::string)> tell) {
  return [tell = std::move(tell)](std::size_t planned, std::size_t all) {
    tell(static_cast<double>(planned) / static_cast<double>(all),
         fmt::format("mesh {} of {}", planned + 1, all));
  };
}

void serve_meshes(const Document& whole, const std::string& path, Unpacker& unpack,
                  const Send& send) {
  auto request = unpack.get<MeshComparisonRequest>();
  request.progress = by_mesh(
      [&](double share, const std::string& text) { send(packed(Reply::progress, share, text)); });
  send(packed(Reply::all, compare_meshes(whole, request, path)));
}

ScheduleRequest order_of(const PlanView& plan) {
  const CostModel& costs = plan.planned.costs;
  return {plan.planned.plan, costs.fusion, costs.apart, plan.report().budget_bytes};
}

}  // namespace

WorkerFile helper_file(const DocumentView& document) {
  return {{document.serial, document.path, document.bytes}, document.applied_transforms};
}

Job planning_job(std::string title, const WorkerFile& file, std::shared_ptr<const PlanBasis> basis,
                 PlanningRequest request, TakePlan take) {
  Job job{std::move(title), file.serial, true, false, {}};
  job.part = [basis, request, take](JobControl& control) {
    PlanningRequest mine = request;
    mine.limits.cancel = &control.cancelled();
    mine.limits.on_better = [&](double recompute_us) {
      control.progress(-1, recomputation_text(recompute_us));
    };
    take(control, make_plan_view(*basis, mine));
    return false;
  };
  const auto take_found = [basis, request, take](JobControl& control, Result<FoundPlan> found) {
    if (!found) return take(control, found.diagnostics());
    take(control, view_of_plan(*basis, request, found->plan, found->findings));
  };
  job.worker_request = std::make_shared<WorkerRequest>(WorkerRequest{
      file,
      [transforms = file.transforms, request] { return packed(transforms, Task::plan, request); },
      reply_taker<FoundPlan>(take_found), fall_taker(take)});
  return job;
}

Job sweeping_job(std::string title, const WorkerFile& file,
                 std::shared_ptr<const Document> document, CurveRequest request, TakeCurve take) {
  Job job{std::move(title), file.serial, false, false, {}};
  job.part = [document, request, take](JobControl& control) {
    CurveRequest mine = request;
    mine.cancel = &control.cancelled();
    mine.on_curve = [&](const Curve& curve) { take(control, curve); };
    take(control, sweep_document(*document, mine));
    return false;
  };
  job.worker_request = std::make_shared<WorkerRequest>(WorkerRequest{
      file,
      [transforms = file.transforms, request] { return packed(transforms, Task::sweep, request); },
      reply_taker<Curve>(take), fall_taker(take)});
  return job;
}

Job scheduling_job(std::string title, const WorkerFile& file, SharedPlanView plan,
                   TakeSchedule take) {
  Job job{std::move(title), file.serial, true, false, {}};
  job.part = [plan, take](JobControl& control) {
    take(control, schedule_of(plan->graph(), order_of(*plan)));
    return false;
  };
  job.worker_request = std::make_shared<WorkerRequest>(
      WorkerRequest{file,
                    [transforms = file.transforms, plan] {
                      return packed(transforms, Task::schedule, order_of(*plan));
                    },
                    reply_taker<Schedule>(take), fall_taker(take)});
  return job;
}

Job checking_job(std::string title, const WorkerFile& file,
                 std::shared_ptr<const Document> document,
                 std::function<Result<PlanCheck>()> inputs, TakeFigures take) {
  Job job{std::move(title), file.serial, false, false, {}};
  job.part = [document, inputs, take](JobControl& control) {
    const auto check = inputs();
    if (!check) {
      take(control, check.diagnostics());
      return false;
    }
    take(control, check_plan(*document, *check, [&](double share, const std::string& text) {
           control.progress(share, text);
           return !control.cancelled();
         }));
    return false;
  };
  job.worker_request = std::make_shared<WorkerRequest>(
      WorkerRequest{file,
                    [transforms = file.transforms, inputs] {
                      return packed(transforms, Task::check, inputs().value());
                    },
                    reply_taker<CheckFigures>(take), fall_taker(take)});
  return job;
}

Job comparing_job(std::string title, const WorkerFile& file, std::shared_ptr<const Document> whole,
                  MeshComparisonRequest request, TakeMeshes take) {
  Job job{std::move(title), file.serial, false, false, {}};
  job.part = [whole, path = file.path, request, take](JobControl& control) {
    MeshComparisonRequest mine = request;
    mine.cancel = mine.planning.limits.cancel = &control.cancelled();
    mine.progress =
        by_mesh([&](double share, std::string text) { control.progress(share, std::move(text)); });
    take(control, compare_meshes(*whole, mine, path));
    return false;
  };
  job.worker_request = std::make_shared<WorkerRequest>(WorkerRequest{
      file,
      [transforms = file.transforms, request] { return packed(transforms, Task::meshes, request); },
      reply_taker<MeshComparison>(take), fall_taker(take)});
  return job;
}

Job running_job(std::string title, const WorkerFile& file, SharedPlanView plan,
                SharedSchedule schedule, StepRunOptions order, Executor& executor, TakeRun take) {
  Job job{std::move(title), file.serial, false, false, {}};
  job.measures = true;
  job.part = [plan, schedule, order, &executor, take](JobControl& control) {
    const auto scheduled = schedule ? Result<SharedSchedule>(schedule) : schedule_of(plan);
    if (!scheduled) {
      take(control, nullptr, scheduled.diagnostics());
      return false;
    }
    const ScheduleView& view = **scheduled;
    take(control, *scheduled,
         executor.run({*plan->document, view.kernels, view.schedule, plan->report().budget_bytes},
                      order, phases(control)));
    return false;
  };
  const auto task = [transforms = file.transforms, plan, schedule, order] {
    const auto known = schedule ? std::optional(schedule->schedule) : std::nullopt;
    return packed(transforms, Task::run, RunTask{order_of(*plan), known, order});
  };
  const auto take_ran = [plan, schedule, take](JobControl& control, Result<StepResult> ran) {
    if (!ran) return take(control, schedule, ran.diagnostics());
    const bool made = ran->schedule.has_value();
    take(control,
         made ? std::make_shared<const ScheduleView>(plan, std::move(*ran->schedule)) : schedule,
         std::move(ran->figures));
  };
  const auto fail = [take](JobControl& control, const std::string& why) {
    take(control, nullptr, error(why));
  };
  job.worker_request = std::make_shared<WorkerRequest>(
      WorkerRequest{file, task, reply_taker<StepResult>(take_ran), fail});
  return job;
}

Job training_job(std::string title, const WorkerFile& file, SharedPlanView plan,
                 SharedSchedule schedule, NextSteps next, Executor& executor, TakeTrained take) {
  Job job{std::move(title), file.serial, false, true, {}};
  job.measures = true;
  const auto task = [plan, schedule, next] {
    const auto known = schedule ? std::optional(schedule->schedule) : std::nullopt;
    return TrainTask{next.number, next.first, order_of(*plan), known, next.order};
  };
  const auto take_trained = [plan, schedule, take](JobControl& control,
                                                   Result<StepsResult> trained) {
    if (!trained) return take(control, schedule, trained.diagnostics());
    const bool made = trained->schedule.has_value();
    take(
        control,
        made ? std::make_shared<const ScheduleView>(plan, std::move(*trained->schedule)) : schedule,
        std::move(trained->figures));
  };
  job.part = [plan, task, handle = next.handle, &executor, take_trained](JobControl& control) {
    take_trained(control, train_steps(*handle, plan->document, task(), executor,
                                      [&](bool now) { control.measuring(now); }));
    return false;
  };
  const auto fail = [take](JobControl& control, const std::string& why) {
    take(control, nullptr, error(why));
  };
  job.worker_request = std::make_shared<WorkerRequest>(WorkerRequest{
      file,
      [transforms = file.transforms, task] { return packed(transforms, Task::train, task()); },
      reply_taker<StepsResult>(take_trained), fail});
  return job;
}

void WorkerServer::open(int serial, std::string_view path, std::string_view bytes) {
  if (!knows(serial)) files_[serial] = {std::string(path), std::string(bytes), {}, {}, {}, {}};
}

Result<Document> WorkerServer::read_document(const File& file,
                                             const TransformSettings& transforms) const {
  const auto options = options_of(transforms);
  if (!options) return options.diagnostics();
  auto model =
      read_model_ ? read_model_(file.path, file.bytes, transforms.dimensions) : std::nullopt;
  if (!model) return open_document_bytes(file.bytes, file.path, *options);
  if (!*model) return model->diagnostics();
  return open_document_graph(std::move(**model), file.path, *options);
}

void WorkerServer::make_document(File& file, TransformSettings transforms) const {
  using Shared = Result<std::shared_ptr<const Document>>;
  const auto shared = [](Result<Document> read) -> Shared {
    if (!read) return read.diagnostics();
    return std::make_shared<const Document>(std::move(*read));
  };
  file.document = shared(read_document(file, transforms));
  if (*file.document) file.whole = **file.document;
  if (file.whole && transforms.mesh)
    file.document = shared(shard_document(*file.whole, request_of(*transforms.mesh), file.path));
  file.transforms = std::move(transforms);
  file.bytes = std::string();
}

void WorkerServer::serve(int serial, std::string_view task,
                         const std::function<void(std::string)>& reply) {
  const auto found = files_.find(serial);
  RECUT_CHECK(found != files_.end(), "a worker request for a file that was not given");
  File& file = found->second;
  Unpacker unpack(task);
  auto transforms = unpack.get<TransformSettings>();
  RECUT_CHECK(!file.document || file.transforms == transforms,
              "a worker request for another graph of a file");
  if (!file.document) make_document(file, std::move(transforms));
  if (!*file.document) return reply(packed(Reply::all, false, file.document->diagnostics()));
  const Document& document = ***file.document;
  switch (unpack.get<Task>()) {
    case Task::plan:
      return serve_plan(document, unpack, reply);
    case Task::sweep:
      return serve_sweep(document, unpack, reply);
    case Task::check:
      return serve_check(document, unpack, reply);
    case Task::schedule:
      return serve_schedule(document, unpack, reply);
    case Task::run:
      return serve_run(document, unpack, executor_, reply);
    case Task::meshes:
      return serve_meshes(*file.whole, file.path, unpack, reply);
    case Task::bundle:
      return serve_bundle(document, unpack, reply);
    case Task::train:
      return serve_train(file.training, **file.document, unpack, executor_, reply);
  }
}

}  // namespace recut::gui
