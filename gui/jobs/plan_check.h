// A plan run through the interpreter: compares its outputs with the expected ones, and measures its
// memory.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/support/address_space.h"
#include "engine/workspace/document.h"
#include "engine/workspace/evaluation.h"

namespace recut::gui {

struct PlanCheck {
  Plan plan;                                   // of the document's last graph
  std::shared_ptr<const std::string> tensors;  // a file of them (safetensors); null: none
  std::string tensors_name;
  std::uint64_t seed = 1;  // where there is no file, makes the values that the graph's file lacks
};

struct CheckFigures {
  std::string inputs;    // where the values come from: "tiny_mlp.safetensors", "seed 1"
  std::string expected;  // the source of the expected outputs
  bool given = false;    // that is the file of the inputs
  std::vector<OutputComparison> outputs;
  std::int64_t measured_peak_bytes = 0;
  double seconds = 0;
};

// Reports the share that is done, 0 … 1, and the current work; returns false to end it.
using CheckProgress = std::function<bool(double share, const std::string& text)>;

// Compares with the file's outputs; without any, with the outputs of the graph as it was read, run
// in program order on the same inputs. Fails before the run if `room` (bytes; nullopt: no limit)
// can't hold the inputs and the peak beside them.
Result<CheckFigures> check_plan(const Document& document, const PlanCheck& check,
                                const CheckProgress& progress,
                                std::optional<std::int64_t> room = address_space_bytes());

}  // namespace recut::gui
