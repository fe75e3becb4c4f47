// An executor of steps that computes nothing, for tests of what is told of a run.
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "engine/runtime/step_run.h"
#include "tests/gui/window.h"

namespace recut::gui {

// Kernel k takes k milliseconds.
class StubExecutor : public Executor {
 public:
  std::string id() const override { return name; }
  std::string title() const override { return "executor " + name; }
  KernelLibrary library() const override { return {"a library"}; }
  std::string where() const override { return "nothing"; }
  std::string device() const override { return profile; }
  Result<PreparedStep> prepare(Program, const BindInputs&) override {
    return error("it only times");
  }
  Result<StepMeasurement> run(const ScheduledStep& scheduled, const StepRunOptions& order,
                              const StepProgress& progress) override {
    ++runs;
    if (!fault.empty()) return error(fault);
    CHECK(progress(StepPhase::preparing, 0, "compiling"));
    CHECK(progress(StepPhase::measuring, 0.5, "step 5 of 10"));
    CHECK(progress(StepPhase::checking, 1, "step 10 of 10"));
    StepMeasurement figures;
    figures.where = "nothing";
    figures.steps = order.steps;
    figures.step_ms_median = 3;
    figures.step_ms_min = 2;
    figures.planned_peak_bytes = figures.measured_peak_bytes = scheduled.schedule.arena_bytes;
    figures.scratch_bytes = 3 << 10;
    figures.library = library().name;
    for (std::size_t k = 0; k < scheduled.schedule.kernels.size(); ++k)
      figures.kernel_ms.push_back(static_cast<double>(k));
    if (order.check) figures.agreement = agreement;
    return figures;
  }

  std::string name = "stub", fault, profile;
  OutputAgreement agreement;
  int runs = 0;
};

inline NullBackend with_executor(Executor& executor) {
  NullBackend backend = Window::sample_backend();
  backend.running = {&executor};
  return backend;
}

}  // namespace recut::gui
