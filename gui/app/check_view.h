// Runs the plan that is shown through the interpreter: whether its outputs are the expected ones,
// and whether it takes the memory that was planned.
#pragma once

#include <memory>
#include <string>

#include "engine/workspace/evaluation.h"
#include "gui/app/document_view.h"

namespace recut::gui {

class App;

// A plan that ran.
struct CheckReport {
  SharedPlanView plan;
  std::string inputs;    // where the values come from: "tiny_mlp.safetensors", "seed 1"
  std::string expected;  // and what the outputs are compared with
  std::vector<OutputComparison> outputs;
  std::int64_t planned_peak_bytes = 0;  // where calls run one by one, as the interpreter does
  std::int64_t measured_peak_bytes = 0;
  double seconds = 0;

  std::size_t differing() const;
  bool agrees() const { return differing() == 0; }
};

// Kept for each document.
struct CheckView {
  JobId job = 0;
  std::shared_ptr<const CheckReport> report;  // the latest; null where none ran
  Diagnostics faults;                         // why the latest run came to nothing
};

inline constexpr std::string_view kCheckMemory = "check";
CheckView& check_view(DocumentView& document);

// What to run it on.
struct CheckInputs {
  std::string path;                          // of a file of tensors; "": none
  std::shared_ptr<const std::string> bytes;  // of it, where they are in hand
  bool may_lack = false;                     // a file that can't be read is as good as none
  std::uint64_t seed = 1;                    // makes all values where there is no file
};

// The file of tensors that stands beside a graph's.
std::string tensors_beside(const std::string& path);

// Starts the job. Where the file has no outputs, they are those of the graph as it was read, run
// in program order on the same inputs.
void start_check(App& app, DocumentView& document, CheckInputs inputs);

}  // namespace recut::gui
