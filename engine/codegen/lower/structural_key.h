// Structural keys: a canonical encoding of everything that a kernel's loops depend on, without
// names. Equal layers of a network have equal keys, so a program lowers them once (cf. the FxGraph
// cache of Inductor).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "engine/codegen/lower/lower.h"

namespace recut::loop {

struct StructuralKey {
  std::string key;            // the encoding, plain bytes
  std::vector<NodeId> nodes;  // in the order of their first occurrence
};

// Kernels with equal keys and options are lowered alike, up to names and source locations. Their
// buffers are the same outputs of the nodes at the same positions of `nodes`.
StructuralKey structural_key_of(const Graph& graph, const StorageModel& storages,
                                const FusionGroups& groups, std::span<const NodeId> calls);

}  // namespace recut::loop
