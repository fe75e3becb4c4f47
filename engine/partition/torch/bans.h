// The rules that keep the min-cut partitioner from recomputing a node.
#pragma once

#include <vector>

#include "engine/partition/torch/cut.h"

namespace recut::torch {

// By position. Views and nodes that are `allowed` (by position, or empty) are never banned.
std::vector<Ban> find_bans(const Analysis& analysis, const CutOptions& options,
                           const std::vector<bool>& allowed);

}  // namespace recut::torch
