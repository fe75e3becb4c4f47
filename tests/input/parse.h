// Graphs written as text in tests.
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <string_view>
#include <utility>

#include "engine/input/text.h"

namespace recut {

inline Graph parse(std::string_view text) {
  auto graph = parse_graph_text(text, "test");
  INFO((graph ? std::string() : format(graph.diagnostics())));
  REQUIRE(graph.ok());
  return std::move(*graph);
}

}  // namespace recut
