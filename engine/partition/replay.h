// Replays a plan step by step and measures it: the memory model's second half.
//
//   A call allocates its storages (storage_model.h) at the start of its step. A storage is freed
//   after the step of its last use. What is saved lives from forward to its last use in backward;
//   what is returned lives to the end of the step. A node that runs again makes new instances of
//   its storages. In the eager model nothing fuses; in the fused one the calls of a group
//   (fusion/fusion_groups.h) are one step of memory: what leaves the group is allocated as it
//   starts, what it reads is freed after its end, and what stays inside takes no memory. What it
//   computes again for itself (an inlined call) is a step that makes nothing.
//
// At the border between forward and backward everything is forgotten but the inputs and what
// `saved` names: a result that backward needs has to be saved as well.
//
// A workspace is there from the start of its call's kernel to its end, in each of its runs.
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

// Why an instance of a storage is there. The first that fits.
enum class InstanceClass : std::uint8_t {
  result,              // returned by forward
  gradient,            // returned by backward
  saved,               // made in forward, kept for backward
  forward_temporary,   // made and used up in forward
  recomputed,          // made again in backward
  backward_temporary,  // made in backward, for the first time
};
std::string_view name_of(InstanceClass kind);

struct StorageInstance {
  StorageId storage;
  NodeId owner;
  std::int64_t bytes = 0;
  std::size_t birth = 0;     // step
  std::size_t last_use = 0;  // step; the number of steps where it lives to the end
  InstanceClass kind = InstanceClass::forward_temporary;
  bool workspace = false;  // a temporary one, that no value stands on
  bool kept = false;       // over the border, since a value that `saved` names stands on it
};

struct Step {
  NodeId node;
  Phase phase = Phase::forward;
  bool again = false;      // the node ran before, and not inlined
  bool inlined = false;    // its kernel makes this for itself alone
  std::size_t kernel = 0;  // the step that the kernel ends with
  std::int64_t live_bytes = 0;
  double micros = 0;  // of a group: at its last call
};

struct Replay {
  std::vector<Step> steps;
  std::vector<StorageInstance> instances;  // in order of birth

  std::int64_t peak_bytes = 0;
  std::optional<std::size_t> peak_step;  // the first that reaches it; none without steps
  std::int64_t saved_bytes = 0;          // of the distinct storages behind `saved`
  std::vector<NodeId> recomputed;        // by every step that runs again, in order

  double step_us = 0;  // all runs, and those beyond a node's first
  double recompute_us = 0;
};

// Fails where the plan can't run: a step whose operand isn't there, a result, a saved value or a
// gradient that is never computed, a random draw that runs twice, a node of another graph, a group
// whose calls do not run together.
Result<Replay> replay(const Graph& graph, const Plan& plan, const DeviceRates& rates = {});
Result<Replay> replay(const Graph& graph, const StorageModel& storages, const Plan& plan,
                      const DeviceRates& rates = {}, const FusionGroups& groups = {});

}  // namespace recut
