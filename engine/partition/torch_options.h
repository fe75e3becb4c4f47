// The options of strategy torch: those of PyTorch's partitioner, under the names of
// torch._functorch.config (without its `activation_memory_budget_`). Users write each of them as
// NAME=VALUE; the command, the window, links, saved documents and the C library keep that text.
//
// The five switches are rules: while one is on, it bans calls from being recomputed.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/support/result.h"

namespace recut {

// The choice of values to save where no cut holds the budget (knapsack/knapsack.h).
enum class KnapsackSolver : std::uint8_t { dp, greedy, ilp, sliding_hirschberg };
// The price of recomputing a call in that choice: operations, its predicted or measured time, or 1.
enum class RuntimeEstimator : std::uint8_t { flops, profile, testing };

struct TorchOptions {
  bool ban_recompute_used_far_apart = true;
  bool ban_recompute_long_fusible_chains = true;
  bool ban_recompute_materialized_backward = true;
  bool ban_recompute_not_in_allowlist = true;
  bool ban_recompute_reductions = true;
  bool aggressive_recomputation = false;  // turns off all of these but the last
  KnapsackSolver solver = KnapsackSolver::dp;
  RuntimeEstimator runtime_estimator = RuntimeEstimator::flops;
  // Operators without their overloads ("mm", "prims.fma"), by name: added to PyTorch's allowlist,
  // and taken from it.
  std::vector<std::string> recomputable, not_recomputable;
  // Names of inputs that are free to save, as parameters are: PyTorch takes buffers for such.
  std::vector<std::string> static_inputs;

  bool operator==(const TorchOptions& other) const = default;
};

// One option as users are told about it.
struct TorchOptionRow {
  std::string_view name;
  std::string_view values;  // "on, off", "flops, profile, testing", "operators", "inputs"
  std::string usual;        // its value unless set
  std::string_view prose;   // an imperative
};
const std::vector<TorchOptionRow>& torch_option_rows();

// Reads settings such as "solver=greedy" and "recomputable=mm,bmm"; of two of the same name the
// later counts, and lists add up. Fails on unknown names and values, and says which there are.
Result<TorchOptions> read_torch_options(std::span<const std::string> settings);

// Checks one setting by itself, and writes it in the one form that write_torch_options has, too.
Result<std::string> checked_torch_setting(std::string_view name, std::string_view value);

// The settings that aren't usual, in the order of the rows: reading them gives the options again.
std::vector<std::string> write_torch_options(const TorchOptions& options);

// The names of the rules that are off, by aggressive_recomputation or by their own switch.
std::vector<std::string_view> rules_off(const TorchOptions& options);

// One setting of each option, the usual ones too.
struct TorchSetting {
  std::string_view name;
  std::string value;
};
std::vector<TorchSetting> all_torch_settings(const TorchOptions& options);

}  // namespace recut
