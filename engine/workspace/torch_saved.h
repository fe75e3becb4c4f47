// The values that PyTorch's own partition saves, if the file has it: figures beside those of a
// plan.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/workspace/document.h"

namespace recut {

struct TorchSaved {
  std::int64_t bytes = 0;  // each storage once; inputs don't count
  std::int64_t storages = 0;
  std::int64_t values = 0;
  std::int64_t peak_bytes = 0;  // if the calls of that partition run one by one
};

// The file's default partition, if the file's graph is the one that PyTorch partitioned, and the
// saved values are nodes of `graph`; else null.
const TorchPartition* own_partition(const GraphFile& file, const Graph& graph);

// Of the graph that PyTorch partitioned: the file's, or the one beside it. None if the file has
// neither. Cost: one replay.
std::optional<TorchSaved> torch_saved(const Document& document);

// The same in a sentence; "" if there is none.
std::string torch_saved_text(const Document& document);

}  // namespace recut
