// Runs the shown plan through the interpreter: whether its outputs are the expected ones, and
// whether it takes the memory that was planned.
#pragma once

#include <memory>
#include <string>

#include "gui/backend/backend.h"
#include "gui/jobs/plan_check.h"
#include "gui/model/document_view.h"

namespace recut::gui {

class App;

// The inputs of a check.
struct CheckInputs {
  std::string path;                          // of a file of tensors; "": none
  std::shared_ptr<const std::string> bytes;  // of it, if they are known
  bool may_lack = false;                     // a file that can't be read is as good as none
  std::uint64_t seed = 1;                    // makes all values where there is no file
};

// A plan that ran.
struct CheckReport : CheckFigures {
  SharedPlanView plan;
  CheckInputs of;

  std::size_t differing() const;
  bool agrees() const { return differing() == 0; }
  // The peak of calls that run one by one, as the interpreter runs them.
  std::int64_t planned_peak_bytes() const { return plan->report().eager_peak_bytes; }
};

// State of the panel, kept for each document.
struct CheckView {
  JobId job = 0;
  std::shared_ptr<const CheckReport> report;  // the latest; null where none ran
  Diagnostics faults;                         // why the latest run came to nothing
};

inline constexpr std::string_view kCheckMemory = "check";
CheckView& check_view(DocumentView& document);

// Reads the file of inputs, if there is one.
Result<PlanCheck> plan_check(Backend& backend, const PlanView& plan, const CheckInputs& inputs);

// The path of the file of tensors beside a graph's file.
std::string tensors_beside(const std::string& path);

// Starts the job.
void start_check(App& app, DocumentView& document, const CheckInputs& inputs);

}  // namespace recut::gui
