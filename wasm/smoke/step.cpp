// A training step as a page runs it: plans a graph for a budget, compiles the plan's kernels in
// this program's own memory, runs and measures them. It passes where the measured peak is the
// planned one and the outputs are the interpreter's.

#include <cstdio>
#include <cstdlib>
#include <string>

#include "engine/workspace/open_document.h"
#include "wasm/smoke/commands.h"
#include "wasm/smoke/plan.h"
#include "wasm/step/page_executor.h"

namespace recut::smoke {
namespace {

Result<StepMeasurement> measured(const std::string& path, const std::string& budget,
                                 const StepRunOptions& order) {
  const auto document = open_document(path, OpenOptions{});
  if (!document) return document.diagnostics();
  const auto plan = scheduled(*document, budget);
  if (!plan) return plan.diagnostics();
  step::PageExecutor executor;
  return with_step(*document, *plan, [&](const ScheduledStep& step) {
    return executor.run(step, order, [](StepPhase, double, const std::string&) { return true; });
  });
}

}  // namespace

int step_command(CommandArguments given) {
  StepRunOptions order;
  order.steps = given.size() > 2 ? std::atoi(given[2].c_str()) : 3;
  order.check = given.size() < 4;
  const auto figures = measured(given[0], given[1], order);
  if (!figures) {
    std::fputs(format(figures.diagnostics()).c_str(), stderr);
    return 2;
  }
  const bool holds = figures->measured_peak_bytes == figures->planned_peak_bytes;
  const bool agrees = !figures->agreement || figures->agreement->agrees();
  std::printf("step %.3f ms (median), %.3f ms at best; compiled in %.0f ms\n",
              figures->step_ms_median, figures->step_ms_min, figures->compile_ms);
  std::printf("peak %lld bytes planned, %lld bytes measured\n",
              static_cast<long long>(figures->planned_peak_bytes),
              static_cast<long long>(figures->measured_peak_bytes));
  if (figures->agreement)
    std::printf("outputs %llu, relative error at most %.2e %s\n",
                static_cast<unsigned long long>(figures->agreement->outputs),
                figures->agreement->max_relative_error, figures->agreement->problem.c_str());
  return holds && agrees ? 0 : 1;
}

}  // namespace recut::smoke
