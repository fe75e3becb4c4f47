// A training step as a page runs it, in node: plans a graph for a budget, compiles the plan's
// kernels in this program's own memory, runs and measures them.
//
// usage: node recut_step_smoke.js FILE BUDGET|least [STEPS] [unchecked]
//
// Ends with 0 where the measured peak is the planned one and the outputs are the interpreter's,
// with 1 where they aren't, with 2 where it can't be run.

#include <cstdio>
#include <cstdlib>
#include <string>

#include "wasm/smoke/plan.h"
#include "wasm/step/page_runner.h"

namespace {

using recut::Result;

Result<recut::gui::StepFigures> run(const std::string& path, const std::string& budget,
                                    const recut::gui::StepOrder& order) {
  const auto document = recut::open_document(path, recut::OpenOptions{});
  if (!document) return document.diagnostics();
  const auto plan = recut::smoke::scheduled(*document, budget);
  if (!plan) return plan.diagnostics();
  recut::step::PageRunner runner;
  return recut::smoke::with_step(*document, *plan, [&](const recut::gui::ScheduledStep& step) {
    return runner.run(step, order, [](double, const std::string&) { return true; });
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("usage: recut_step_smoke FILE BUDGET|least [STEPS] [unchecked]\n", stderr);
    return 2;
  }
  recut::gui::StepOrder order;
  order.steps = argc > 3 ? std::atoi(argv[3]) : 3;
  order.check = argc < 5;
  const auto figures = run(argv[1], argv[2], order);
  if (!figures) {
    std::fputs(recut::format(figures.diagnostics()).c_str(), stderr);
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
