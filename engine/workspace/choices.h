// Choices by hand: names and patterns as people write them, as pins of a graph's nodes.
#pragma once

#include <string>
#include <vector>

#include "engine/partition/pins.h"
#include "engine/support/result.h"

namespace recut {

// Each entry names a node, by its name or by another that interning made the same, or, where it
// holds a '*', modules: "transformer.h.*.mlp" means every node in or under a module whose path has
// that part, as long as the node can be pinned at all.
struct ChoiceRequest {
  std::vector<std::string> save;
  std::vector<std::string> recompute;

  bool empty() const { return save.empty() && recompute.empty(); }
};

struct Choice {
  bool save = false;
  std::string name;           // as it was asked for
  std::vector<NodeId> nodes;  // what it pins
};

struct Choices {
  std::vector<Choice> each;

  Pins pins() const;
  Pins pins_without(std::size_t choice) const;
};

// A node named itself overrides a pattern that holds it. Fails on names that the graph hasn't, with
// the nearest one that it has, on nodes that can't be pinned, with the reason, and on
// contradictions.
Result<Choices> read_choices(const Graph& graph, const ChoiceRequest& request);

// The node that people mean by a name; fails with the nearest name that there is.
Result<NodeId> find_node(const Graph& graph, const std::string& name);

// "--save relu_3"
std::string as_written(const Choice& choice);

}  // namespace recut
