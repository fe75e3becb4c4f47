// Graphs of a file in few lines, one a call, checked by the values that they come to.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "engine/eval/evaluator.h"
#include "engine/eval/inputs.h"
#include "engine/input/graph_file_reader.h"
#include "engine/ir/printer.h"
#include "engine/ir/verifier.h"
#include "tests/input/parse.h"

namespace recut {

// A call in one line: "name = target(x, [1, 2], alpha=2)", where words are nodes.
inline std::string call_json(std::string_view line) {
  const std::size_t equals = line.find(" = "), open = line.find('('), close = line.rfind(')');
  const std::string_view name = line.substr(0, equals);
  const std::string_view target = line.substr(equals + 3, open - equals - 3);
  std::string args, kwargs;
  std::string_view rest = line.substr(open + 1, close - open - 1);
  const auto value = [](std::string_view text) {
    const bool node = !text.empty() && text[0] >= 'a' && text[0] <= 'z' && text != "true" &&
                      text != "false" && text != "null";
    return node ? fmt::format(R"({{"node": "{}"}})", text) : std::string(text);
  };
  while (!rest.empty()) {
    std::size_t depth = 0, end = 0;
    bool quoted = false;
    while (end < rest.size() && (depth > 0 || quoted || rest[end] != ',')) {
      quoted = quoted != (rest[end] == '"');
      depth += rest[end] == '[' || rest[end] == '{' ? 1 : 0;
      depth -= rest[end] == ']' || rest[end] == '}' ? 1 : 0;
      ++end;
    }
    std::string_view part = rest.substr(0, end);
    while (part.starts_with(' ')) part.remove_prefix(1);
    const std::size_t key = part.starts_with('{') ? std::string_view::npos : part.find('=');
    if (key == std::string_view::npos)
      args += (args.empty() ? "" : ", ") + value(part);
    else
      kwargs += fmt::format("{}\"{}\": {}", kwargs.empty() ? "" : ", ", part.substr(0, key),
                            value(part.substr(key + 1)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return fmt::format(
      R"({{"name": "{}", "op": "call_function", "target": "{}", "args": [{}], "kwargs": {{{}}}}})",
      name, target, args, kwargs);
}

// A forward graph of the buffer b[2, 3] and the input x[2, 3].
inline Result<GraphFile> written_graph(const std::vector<std::string>& lines,
                                       const std::string& result) {
  std::string nodes;
  for (const char* name : {"b", "x"})
    nodes += fmt::format(
        R"({{"name": "{0}", "op": "placeholder", "target": "{0}", "val": {{"dtype": "float32", "shape": [2, 3]}}}}, )",
        name);
  for (const std::string& line : lines) nodes += call_json(line) + ", ";
  return parse_joint_graph(
      fmt::format(
          R"({{"format": "fx-joint-graph", "version": 1, "model": "m", "buffers": ["b"], "forward": [{}
  {{"name": "output", "op": "output", "target": "output", "args": [[{{"node": "{}"}}]]}}]}})",
          nodes, result),
      "m.json");
}

// Both graphs give the same results for the same inputs.
inline void check_same(const Graph& graph, const Graph& expected) {
  const auto run = [](const Graph& g) { return evaluate(g, *inputs_from(g, {}, 7)); };
  REQUIRE(verify(graph).empty());
  const auto a = run(graph), b = run(expected);
  REQUIRE(a.ok());
  REQUIRE(b.ok());
  REQUIRE(a->outputs.size() == b->outputs.size());
  for (std::size_t i = 0; i < a->outputs.size(); ++i) {
    INFO("output " << i);
    CHECK(bytes_of(a->outputs[i]) == bytes_of(b->outputs[i]));
  }
}

// The file's graph against one in the text form, with %b and %x.
inline void check_writes(const std::vector<std::string>& lines, const std::string& result,
                         const std::string& text) {
  const auto file = written_graph(lines, result);
  if (!file) FAIL(format(file.diagnostics()));
  INFO(print(file->graph));
  check_same(file->graph, parse("graph \"m\" {\n  %b = input f32[2, 3]\n  %x = input f32[2, 3]\n" +
                                text + "}\n"));
}

}  // namespace recut
