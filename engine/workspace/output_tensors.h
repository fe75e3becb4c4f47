// The outputs of a step as tensors of a file.
#pragma once

#include <deque>
#include <span>
#include <string>
#include <vector>

#include "engine/eval/tensor.h"
#include "engine/input/safetensors.h"
#include "engine/ir/graph.h"

namespace recut {

// out.<position> for each output that is there, results before gradients. The new value of an input
// (graph_signature.h) is also in.<name>, so that the file, given first, begins the next step. The
// tensors view strings that are added to `storage`.
std::vector<NamedTensor> output_tensors(const Graph& graph, std::span<const Tensor> outputs,
                                        std::deque<std::string>& storage);

}  // namespace recut
