// Names for new nodes of a derived graph, apart from all names of the graph that it is derived
// from: nodes that are still to be carried over then keep theirs.
#pragma once

#include <fmt/core.h>

#include <map>
#include <string>
#include <string_view>

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

 private:
  const Graph* from_;
  std::map<std::string, int, std::less<>> next_;  // by base name: many equal ones stay linear
};

}  // namespace recut
