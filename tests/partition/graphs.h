// Small graphs for partition's tests, written as text.
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "engine/input/text.h"
#include "engine/ir/plan.h"

namespace recut {

inline Graph graph_of(std::string_view text) {
  auto graph = parse_graph_text(text, "test");
  INFO((graph ? std::string() : format(graph.diagnostics())));
  REQUIRE(graph.ok());
  return std::move(*graph);
}

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
