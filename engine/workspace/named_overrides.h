// Resolves overrides: names and patterns as people write them become overrides of nodes.
#pragma once

#include <string>
#include <vector>

#include "engine/partition/overrides.h"
#include "engine/support/result.h"

namespace recut {

// An entry names a node, also by an alias from interning. An entry with a '*' names modules:
// "transformer.h.*.mlp" means every node in or under a module whose path has that part, if the node
// can be overridden.
struct OverrideRequest {
  std::vector<std::string> save;
  std::vector<std::string> recompute;

  bool empty() const { return save.empty() && recompute.empty(); }
};

struct NamedOverride {
  bool save = false;
  std::string name;           // as the user wrote it
  std::vector<NodeId> nodes;  // the nodes that it overrides
};

struct NamedOverrides {
  std::vector<NamedOverride> each;

  Overrides overrides() const;
  Overrides overrides_without(std::size_t named) const;
};

// A node's own name takes precedence over a pattern that matches it. Fails on unknown names (the
// message has the nearest known one), on nodes that can't be overridden (with the reason), and on
// contradictions.
Result<NamedOverrides> resolve_overrides(const Graph& graph, const OverrideRequest& request);

// The node of a name or alias; on failure the message has the nearest known name.
Result<NodeId> find_node(const Graph& graph, const std::string& name);

// "--save relu_3"
std::string as_written(const NamedOverride& named);

}  // namespace recut
