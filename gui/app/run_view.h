// Runs the shown plan as machine code, and measures its time and memory.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/workspace/executor.h"
#include "gui/model/schedule_view.h"
#include "gui/theme.h"

namespace recut::gui {

class App;

// A step's times by the prices of one device, to set beside measured ones.
struct StepPrices {
  std::string device;  // for users
  double step_us = 0;
  std::vector<double> kernel_us;  // by kernel of the schedule
};
// `device` as find_device reads it; nothing where there is no such profile.
std::optional<StepPrices> prices_of(const ScheduleView& schedule, const std::string& device);

// A step that ran.
struct RunReport : StepMeasurement {
  // `device`: the profile of the device that it ran on; "" where there is none.
  RunReport(StepMeasurement figures, SharedSchedule of, const std::string& device);

  SharedSchedule of;
  std::optional<StepPrices> planned;   // of the device that it ran on
  std::vector<std::uint32_t> slowest;  // kernels that ran, slowest first
  // Milliseconds of all runs of the kernels that compute a node, by the graph's positions; and the
  // most that any node has.
  std::vector<double> node_ms;
  double most_ms = 0;
};
using SharedRun = std::shared_ptr<const RunReport>;

// State of the panel, kept for each document.
struct RunView {
  JobId job = 0;
  SharedRun report;    // the latest; null where none ran
  Diagnostics faults;  // why the latest run came to nothing
};

inline constexpr std::string_view kRunMemory = "run";
RunView& run_view(DocumentView& document);

// The run of the shown plan; null if it hasn't run.
SharedRun shown_run(const DocumentView& document);

// The colour of a share of the slowest time, 0 … 1: in lists and in the graph.
Colour heat_colour(const Theme& theme, double share);

// Starts the job, which schedules the plan first where that wasn't done. Fails where this program
// can't run anything.
Result<Done> start_run(App& app, DocumentView& document, const StepRunOptions& order);

}  // namespace recut::gui
