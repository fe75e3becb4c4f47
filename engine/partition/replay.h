// Replays a plan step by step and measures its peak and its time: the dynamic half of the memory
// model. Storages (storage_model.h) are the static half. Cost: O(steps + reads + instances).
//
//   A call allocates its storages at the start of its step. A storage is freed after the step of
//   its last use. A saved value lives from forward to its last use in backward; a returned one
//   lives to the end. A node that runs again makes new instances of its storages. In the eager
//   model nothing fuses. In the fused model the calls of a group (fusion/fusion_groups.h) are one
//   step of memory: outputs of the group are allocated as it starts, its inputs are freed after its
//   end, and values inside it take no memory. A call that a kernel computes again for itself (an
//   inlined call) is a step that allocates nothing.
//
// Only inputs and the values in `saved` cross the boundary between forward and backward. A result
// that backward needs has to be saved as well.
//
// A workspace lives from the start of its call's kernel to its end, in each of its runs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/cost/device.h"
#include "engine/fusion/fusion_groups.h"
#include "engine/ir/plan.h"
#include "engine/ir/storage_model.h"
#include "engine/support/result.h"

namespace recut {

enum class Phase : std::uint8_t { forward, backward };

// The reason why an instance of a storage is alive; the first class that fits.
enum class InstanceClass : std::uint8_t {
  result,              // returned by forward
  gradient,            // returned by backward
  saved,               // made in forward, alive in backward
  forward_temporary,   // made and used up in forward
  recomputed,          // made again
  backward_temporary,  // made in backward, for the first time
};
std::string_view name_of(InstanceClass kind);

struct StorageInstance {
  StorageId storage;
  NodeId owner;
  std::int64_t bytes = 0;
  std::size_t birth = 0;     // step
  std::size_t last_use = 0;  // step; the number of steps where it lives to the end of the plan
  InstanceClass kind = InstanceClass::forward_temporary;
  bool workspace = false;  // scratch of a library call; no value uses it
  bool kept = false;       // it crosses the boundary: a value in `saved` uses it
};

struct PlanStep {
  NodeId node;
  Phase phase = Phase::forward;
  bool again = false;      // a recomputation: the node ran before, not inlined
  bool inlined = false;    // its kernel computes it for itself alone
  std::size_t kernel = 0;  // the last step of its kernel
  std::int64_t live_bytes = 0;
  double micros = 0;  // a group's whole time, at its last call
};

struct Replay {
  std::vector<PlanStep> steps;
  std::vector<StorageInstance> instances;  // in order of birth

  std::int64_t peak_bytes = 0;
  std::optional<std::size_t> peak_step;  // the first that reaches it; none without steps
  std::int64_t saved_bytes = 0;          // of the distinct storages that `saved` uses
  std::vector<NodeId> recomputed;        // the node of every recomputing step, in order

  double step_us = 0;  // all runs; recompute_us: runs beyond a node's first
  double recompute_us = 0;
};

// Fails where the plan can't run: a step whose operand isn't available, a result, a saved value or
// a gradient that is never computed, a random call that runs twice, a node of another graph, a
// group whose calls do not run together.
Result<Replay> replay(const Graph& graph, const Plan& plan, const DeviceRates& rates = {});
Result<Replay> replay(const Graph& graph, const StorageModel& storages, const Plan& plan,
                      const DeviceRates& rates = {}, const FusionGroups& groups = {});

}  // namespace recut
