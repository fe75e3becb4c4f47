// Graphs in text, and the kernels that fuse_pointwise makes of them, by the names of their calls.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "engine/fusion/fuse_pointwise.h"
#include "tests/partition/graphs.h"

namespace recut {

using Names = std::vector<std::string>;

inline std::vector<Names> groups_of(const Graph& graph) {
  const FusionGroups groups = fuse_pointwise(graph, StorageModel(graph));
  std::vector<Names> all;
  for (std::int32_t g = 0; g < groups.size(); ++g) {
    const auto members = groups.members(g);
    all.push_back(names(graph, {members.begin(), members.end()}));
  }
  std::sort(all.begin(), all.end());
  return all;
}

// A graph with a product that has more bytes alive than any kernel below.
inline std::string with_product(const std::string& body) {
  return "graph \"g\" {\n %x = parameter f32[10, 20]\n %w = parameter f32[20, 5000]\n"
         " %t = tangent f32[10, 20]\n %big = mm(%x, %w)\n %huge = relu(%big)\n" +
         body + "\n}";
}

}  // namespace recut
