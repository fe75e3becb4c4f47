#include "gui/app/run_view.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "gui/app/app.h"
#include "gui/app/run_target.h"
#include "gui/jobs/worker_requests.h"

namespace recut::gui {

std::optional<StepPrices> prices_of(const ScheduleView& schedule, const std::string& device) {
  if (device.empty()) return std::nullopt;
  const Graph& graph = schedule.graph();
  const auto costs = find_cost_model(graph, std::nullopt, device, "eager");
  if (!costs) return std::nullopt;
  const auto replayed = replay(graph, schedule.kernels.storages, schedule.plan->planned.plan,
                               costs->device.rates, schedule.kernels.groups);
  if (!replayed) return std::nullopt;
  StepPrices prices{costs->device.title, replayed->step_us, {}};
  for (std::uint32_t k = 0; k < schedule.schedule.kernels.size(); ++k) {
    double sum = 0;
    for (std::size_t step = schedule.first_step(k); step < schedule.end_step(k); ++step)
      sum += replayed->steps[step].micros;
    prices.kernel_us.push_back(sum);
  }
  return prices;
}

RunReport::RunReport(StepMeasurement figures, SharedSchedule schedule, const std::string& device)
    : StepMeasurement(std::move(figures)),
      of(std::move(schedule)),
      planned(prices_of(*of, device)),
      slowest(of->launches) {
  std::stable_sort(slowest.begin(), slowest.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return kernel_ms[a] > kernel_ms[b]; });
  const Graph& graph = of->graph();
  node_ms.assign(graph.order().size(), 0);
  for (const std::uint32_t k : of->launches)
    for (const NodeId id : of->kernel(k).calls) node_ms[graph.position(id)] += kernel_ms[k];
  for (const double ms : node_ms) most_ms = std::max(most_ms, ms);
}

RunView& run_view(DocumentView& document) {
  return memory_of<RunView>(document.memories, kRunMemory);
}

SharedRun shown_run(const DocumentView& document) {
  const auto* view = find_memory<RunView>(document.memories, kRunMemory);
  const bool shown =
      view != nullptr && view->report != nullptr && view->report->of->plan == document.shown;
  return shown ? view->report : nullptr;
}

// From the panel's background towards the colour of differences, which has no other meaning there.
Colour heat_colour(const Theme& theme, double share) {
  return mix(theme.panel, theme.differs, 0.06 + 0.5 * std::sqrt(std::clamp(share, 0.0, 1.0)));
}

Result<Done> start_run(App& app, DocumentView& document, const StepRunOptions& order) {
  Executor* executor = chosen_executor(app);
  if (executor == nullptr)
    return error("this program can't run a step: it has nothing to run it on");
  RunView& view = run_view(document);
  app.jobs.cancel(view.job);
  view.faults.clear();
  const auto take = [&app, executor, serial = document.serial](JobControl& control,
                                                               SharedSchedule schedule,
                                                               Result<StepMeasurement> figures) {
    auto report = figures ? Result<SharedRun>(std::make_shared<const RunReport>(
                                std::move(*figures), std::move(schedule), executor->device()))
                          : Result<SharedRun>(figures.diagnostics());
    control.post([&app, serial, report = std::move(report)] {
      DocumentView* document = app.documents.find(serial);
      if (document == nullptr) return;
      RunView& view = run_view(*document);
      if (!report) view.faults = report.diagnostics();
      if (!report) return;
      view.report = *report;
      take_schedule(*document, (*report)->of->plan, (*report)->of);
    });
  };
  view.job =
      app.jobs.start(running_job(fmt::format("Running {}", document.title), helper_file(document),
                                 document.shown, shown_schedule(document), order, *executor, take));
  return Done{};
}

}  // namespace recut::gui
