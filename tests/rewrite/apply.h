// Rules and graphs in a few lines of text, for tests of the rewriting engine.
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "engine/input/text.h"
#include "engine/ir/printer.h"
#include "engine/ir/rebuild.h"
#include "engine/rewrite/rewriter.h"
#include "engine/rewrite/rule_text.h"

namespace recut::test {

inline RuleSet rules_of(const std::string& text) {
  auto rules = parse_rules(text, "test.rules");
  if (!rules) FAIL(format(rules.diagnostics()));
  return std::move(*rules);
}

inline Graph graph_of(const std::string& lines) {
  auto graph = parse_graph_text("graph \"test\" {\n" + lines + "\n}", "test.recut");
  if (!graph) FAIL(format(graph.diagnostics()));
  return std::move(*graph);
}

// What the rules leave alive, without the first and the last line and without types.
inline std::string after(const RuleSet& rules, const std::string& lines) {
  const Rewritten rewritten = apply_rules(graph_of(lines), rules);
  CHECK(rewritten.converged);
  const Graph live = without_dead_nodes(rewritten.graph);
  std::string text;
  for (const NodeId id : live.order()) {
    const std::string line = print_node(live, id);
    if (!live.op(id).is(kInput)) text += line.substr(0, line.find(" : ")) + "\n";
  }
  text += "results";
  for (const NodeId id : live.results) text += " %" + live.node_name(id);
  return text;
}

}  // namespace recut::test
