// The nodes of an exported program's graph as nodes of an fx-joint-graph.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/input/exported_values.h"
#include "engine/input/json.h"
#include "engine/support/result.h"

namespace recut {

struct ExportedText {
  std::string json;
  std::vector<std::uint32_t> places;  // of each line of `json`: bytes from the program's beginning
  Diagnostics faults;                 // `line` is such a position, and `column` 0
  ExportedSymbols symbols;
  std::vector<std::string> inlined;  // targets of calls whose nested graphs became nodes
};

// Writes graphs into `text`, one node a line. Nested graphs of a condition become nodes, both
// branches of them, with a choice by element behind; so do those of a call that only runs its
// graph, as without gradients. Nested graphs of all other calls stay nested.
class ExportedGraphWriter {
 public:
  ExportedGraphWriter(ExportedText& text, ExportedValues& values) : text_(text), values_(values) {}

  // {"name": …, "op": "placeholder", …}, and a comma. `value` is an entry of the graph's inputs;
  // `module` may be "". Values that aren't tensors or symbolic numbers have no placeholder.
  void write_input(JsonValue graph, JsonValue value, std::string_view module);

  // The calls, with a comma behind each.
  void write_nodes(JsonValue graph);

  // The argument that stands for an entry of the graph's outputs.
  Result<std::string> output(JsonValue value) const;

  // The same behind a detach, which is written first.
  Result<std::string> detached(JsonValue value);

  void begin_line(JsonValue at);
  void add_fault(std::string message, JsonValue at);

 private:
  // Names that stand for something else, as in an inlined graph: the arguments in their place.
  using Names = std::map<std::string, std::string, std::less<>>;
  struct NestedCall;

  std::string resolve(std::string_view name) const;
  // A name as it stands in the text: itself, or a new one within an inlined graph.
  std::string defined(std::string_view name);
  std::string unused(std::string_view base);

  void write_call(JsonValue graph, JsonValue node);
  void write_node(std::string_view name, std::string_view target, JsonValue node,
                  std::string_view rest);
  std::string value_type(JsonValue graph, JsonValue output, JsonValue node);
  bool write_arguments(JsonValue node, std::string& args, std::string& kwargs);
  std::string nested_argument(JsonValue argument);
  void write_nested(JsonValue graph);

  bool write_inlined(JsonValue node);
  bool read_nested_call(JsonValue node, NestedCall& call) const;
  std::vector<std::string> inline_graph(const NestedCall& call, std::size_t branch);
  std::string gated(const NestedCall& call, std::size_t branch, JsonValue input,
                    const std::string& operand);
  void write_result(const NestedCall& call, std::size_t result,
                    const std::vector<std::string>& values);

  // An entry of one of a graph's tables of values; their names are looked up many times.
  JsonValue entry_of(JsonValue graph, std::string_view table, std::string_view name);

  ExportedText& text_;
  ExportedValues& values_;
  std::map<std::uint32_t, std::unordered_map<std::string_view, JsonValue>> tables_;  // by position
  std::vector<Names> scopes_{Names()};  // the graph's own, and of each graph in inlining
  std::size_t inlined_ = 0, made_ = 0;
  bool autocast_ = false;  // the graph in writing is an autocast region, or in one
};

}  // namespace recut
