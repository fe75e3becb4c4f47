// The rules that ban the min-cut partitioner from recomputing a node (PyTorch: banned_nodes).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/partition/torch/analysis.h"

namespace recut::torch {

// The reason why recomputing a node is banned; the first that applies, in this order.
enum class Ban : std::uint8_t {
  none,
  input,
  not_on_allowlist,
  random,
  compute_intensive,
  materialized_in_backward,
  reduction,
  used_far_apart,
  long_fusible_chain,
};
std::string_view message(Ban ban);

// The rules that apply.
struct CutOptions {
  bool used_far_apart = true;
  bool long_fusible_chains = true;
  bool materialized_in_backward = true;
  bool allowlist = true;  // false: all but random and compute-intensive operators are allowed
  bool reductions = true;
};

// The rules that the options leave on.
CutOptions cut_options(const TorchOptions& options);

// By position. Views and nodes that are `allowed` (by position, or empty) are never banned.
std::vector<Ban> find_bans(const Analysis& analysis, const CutOptions& options,
                           const std::vector<bool>& allowed);

}  // namespace recut::torch
