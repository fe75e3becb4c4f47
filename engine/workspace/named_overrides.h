// Resolves overrides: names and patterns as users write them become overrides of nodes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/partition/overrides.h"
#include "engine/support/result.h"

namespace recut {

// An entry names a node, also by an alias from interning. An entry with a '*' names modules:
// "transformer.h.*.mlp" means every node in or under a module whose path has that part, if the node
// can be overridden.
//
// Calls that the model's author gave a policy of torch.utils.checkpoint are overrides as well,
// unless `ignore_checkpoints` is set: MUST_SAVE saves, MUST_RECOMPUTE and PREFER_RECOMPUTE
// recompute, where there is a choice, and PREFER_SAVE leaves the plan free. As in PyTorch's
// partitioner, a value that a later checkpointed region reads is saved.
struct OverrideRequest {
  std::vector<std::string> save;
  std::vector<std::string> recompute;
  bool ignore_checkpoints = false;

  bool operator==(const OverrideRequest&) const = default;
};

// The source of an override; the earlier one wins.
enum class OverrideSource : std::uint8_t { name, pattern, checkpoint };

struct NamedOverride {
  bool save = false;
  std::string name;           // as the user wrote it; "" for checkpoint policies
  std::vector<NodeId> nodes;  // the nodes that it overrides
  OverrideSource source = OverrideSource::name;
};

struct NamedOverrides {
  std::vector<NamedOverride> each;

  Overrides overrides() const;
  Overrides overrides_without(std::size_t named) const;
};

// A node's own name takes precedence over a pattern that matches it, and both over a checkpoint
// policy. Fails on unknown names (the
// message has the nearest known one), on nodes that can't be overridden (with the reason), and on
// contradictions.
Result<NamedOverrides> resolve_overrides(const Graph& graph, const OverrideRequest& request);

// True if a call of a joint graph has a policy of torch.utils.checkpoint. A forward graph has
// nothing to checkpoint.
bool has_checkpoint_policies(const Graph& graph);

// True if the request, or a policy that it follows, may override a choice of the planner.
bool has_overrides(const Graph& graph, const OverrideRequest& request);

// The node of a name or alias; on failure the message has the nearest known name.
Result<NodeId> find_node(const Graph& graph, const std::string& name);

// The override as its user wrote it: "--save relu_3", "the model's checkpoint policies (save)".
std::string as_written(const NamedOverride& named);

}  // namespace recut
