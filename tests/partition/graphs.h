// Small graphs for partition's tests, written as text.
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "engine/ir/plan.h"
#include "tests/input/parse.h"

namespace recut {

inline std::vector<NodeId> nodes(const Graph& graph, const std::vector<std::string>& names) {
  std::vector<NodeId> ids;
  for (const std::string& name : names) {
    INFO("no node " << name);
    ids.push_back(graph.find(name));
    REQUIRE(ids.back().valid());
  }
  return ids;
}

inline std::vector<std::string> names(const Graph& graph, const std::vector<NodeId>& ids) {
  std::vector<std::string> all;
  for (const NodeId id : ids) all.push_back(graph.node_name(id));
  return all;
}

}  // namespace recut
