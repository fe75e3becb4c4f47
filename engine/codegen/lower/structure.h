// What the loops of a kernel depend on, without names: layers of a network have it in common, so
// that a program lowers it once.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "engine/codegen/lower/lower.h"

namespace recut::loop {

struct Structure {
  std::string key;            // plain bytes
  std::vector<NodeId> nodes;  // that it speaks of, each once, in an order of its own
};

// Kernels of equal keys, lowered with the same options, are equal but for names and notes, and the
// source of each buffer is the same output of the node at the same place of `nodes`.
Structure structure_of(const Graph& graph, const StorageModel& storages, const FusionGroups& groups,
                       std::span<const NodeId> calls);

}  // namespace recut::loop
