// Names for new nodes of a derived graph, apart from all names of the graph that it is derived
// from: nodes that are still to be carried over then keep theirs.
#pragma once

#include <fmt/core.h>

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/ir/graph.h"

namespace recut {

class FreshNames {
 public:
  explicit FreshNames(const Graph& from) : from_(&from) {}

  // "mul", or "mul_1", "mul_2", … where either graph has that.
  std::string name(const Graph& to, std::string_view base) {
    std::string candidate(base);
    int& next = next_.emplace(candidate, 0).first->second;
    while (from_->find(candidate).valid() || to.find(candidate).valid())
      candidate = fmt::format("{}_{}", base, ++next);
    return candidate;
  }

  // Appends a call under such a name; a call that the graph has stays as it is named there.
  NodeId append(Graph& to, Op op, std::vector<Argument> arguments, std::vector<TensorType> outputs,
                Origin origin) {
    const NodeId id = to.shared_pool()->intern(op, arguments, outputs);
    if (to.contains(id)) return id;
    origin.name = name(to, operator_of(op).packet);
    return to.append(op, std::move(arguments), std::move(outputs), std::move(origin));
  }

 private:
  const Graph* from_;
  std::map<std::string, int, std::less<>> next_;  // by base name: many equal ones stay linear
};

}  // namespace recut
