// Freezes a document for inference: everything that depends on its weights alone is computed once,
// and the weights that nothing else reads are dropped.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/input/safetensors.h"
#include "engine/support/result.h"
#include "engine/workspace/document.h"

namespace recut {

// The fate of a weight.
enum class WeightFate : std::uint8_t {
  kept,      // the frozen graph reads it as it is
  folded,    // only computed constants have its values
  unread,    // no result depends on it
  no_value,  // neither the file nor the caller has its value, so that it stays an input
};
std::string_view name_of(WeightFate fate);

struct FrozenWeight {
  std::string name;
  WeightFate fate = WeightFate::kept;
  std::int64_t bytes = 0;
  std::vector<std::string> into;  // the computed constants that depend on it
};

struct FreezeReport {
  std::vector<FrozenWeight> weights;               // in the graph's order
  std::vector<std::string> constants;              // computed, in the graph's order
  std::int64_t bytes_before = 0, bytes_after = 0;  // of all weights; of the frozen graph

  std::int64_t count(WeightFate fate) const;
};

// Freezes a forward graph after its passes, which should end with the stage freezing. `tensors`
// have values besides the file's (in.<name>), and precede them. The document's graph then ends with
// the pass `fold_frozen`, and its file holds the values of the frozen graph. Fails on a joint
// graph, on a value of another dtype or shape, and where the interpreter does.
Result<FreezeReport> freeze(Document& document, std::span<const NamedTensor> tensors);

// "frozen: 12 constants computed; of 62 weights 20 folded, 41 kept, 1 unread; 44.6 MiB held"
std::string freeze_text(const FreezeReport& report);
// The same with a row for each weight, and as JSON.
std::string freeze_table(const FreezeReport& report);
std::string freeze_json(const FreezeReport& report);

}  // namespace recut
