// Replaces calls of a library's operators: rules first, by the rewriter, then graphs, node by node.
//
//   %y = external mine.scale3(%x, 3)   =>   %y = mul.Tensor(%x, 3)
//
// Calls that stay are diagnostics. Nested graphs are expanded before the graph that calls them.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <utility>

#include "engine/ir/data_flow.h"
#include "engine/ir/external_operator.h"
#include "engine/ir/node_diagnostic.h"
#include "engine/ir/printer.h"
#include "engine/ir/rebuild.h"
#include "engine/ir/region_call.h"
#include "engine/ir/region_memory.h"
#include "engine/rewrite/external_patterns.h"
#include "engine/rewrite/rewriter.h"
#include "engine/support/text.h"
#include "engine/workspace/op_library.h"
#include "engine/workspace/operator_graphs.h"

namespace recut {
namespace {

using Names = std::set<std::string, std::less<>>;

class OperatorExpansion {
 public:
  explicit OperatorExpansion(const OpLibrary& library)
      : library_(library), names_(library.names()), by_graphs_(library) {}

  Result<Graph> run(const Graph& given) {
    Graph graph = with_expanded_regions(given);
    if (Diagnostics wrong = faults_of_calls(graph); !wrong.empty()) return wrong;
    if (!faults_.empty()) return std::exchange(faults_, {});
    if (calls_in(graph).empty()) return graph;
    for (const auto& rules : library_.rules) {
      Rewritten rewritten = apply_rules(graph, *rules);
      for (const RuleStatistics& row : rewritten.statistics)
        if (row.untyped > 0)
          untyped_.push_back(
              fmt::format("rule {} of {}: {}", quote(row.rule), rules->file, row.untyped_reason));
      graph = std::move(rewritten.graph);
    }
    if (!library_.graphs.empty()) graph = by_graphs_.run(graph, faults_);
    if (!faults_.empty()) return std::exchange(faults_, {});
    if (Diagnostics left = faults_of_left(graph); !left.empty()) return left;
    return without_dead_nodes(graph);
  }

  const std::map<std::string, int>& counts() const { return counts_; }

 private:
  std::vector<NodeId> calls_in(const Graph& graph) const {
    std::vector<NodeId> calls;
    for (const NodeId id : graph.order())
      if (is_external(graph[id].op) && names_.count(graph.op(id).name) != 0) calls.push_back(id);
    return calls;
  }

  Graph with_expanded_regions(const Graph& given) {
    Graph graph = given;
    if (given.regions == nullptr) return graph;
    auto regions = std::make_shared<Regions>();
    bool changed = false;
    for (const auto& [name, region] : *given.regions) {
      auto expanded = run(*region);
      if (!expanded) {
        for (Diagnostic& fault : Diagnostics(expanded.diagnostics())) {
          fault.message = fmt::format("nested graph {}: {}", quote(name), fault.message);
          faults_.push_back(std::move(fault));
        }
        return graph;
      }
      changed = changed || !same_order(*expanded, *region);
      regions->emplace(name, std::make_shared<const Graph>(std::move(*expanded)));
    }
    if (!changed) return graph;
    graph.regions = std::move(regions);
    measure_regions(graph);
    return graph;
  }

  static bool same_order(const Graph& a, const Graph& b) {
    return std::equal(a.order().begin(), a.order().end(), b.order().begin(), b.order().end());
  }

  // The memory of nested graphs is a part of their calls'.
  static void measure_regions(Graph& graph) {
    auto measured = graph.measured == nullptr ? std::make_shared<Measurements>()
                                              : std::make_shared<Measurements>(*graph.measured);
    for (const NodeId id : graph.order())
      if (has_regions(graph, id)) {
        Measurement memory;
        memory.workspace_bytes = region_bytes(graph, id);
        measured->add(id, memory);
      }
    if (measured->any()) graph.measured = std::move(measured);
  }

  Diagnostics faults_of_calls(const Graph& graph) {
    Diagnostics faults;
    const std::vector<NodeId> effects = effect_calls(graph);
    for (const NodeId id : calls_in(graph)) {
      ++counts_[std::string(graph.op(id).name)];
      if (has_regions(graph, id))
        faults.push_back(node_diagnostic(
            graph, id,
            fmt::format("Recut computes this call of {} by its nested graphs, expected an operator "
                        "that it lacks: leave {} out of --op-library",
                        graph.op(id).name, graph.op(id).name)));
      else if (std::find(effects.begin(), effects.end(), id) != effects.end())
        faults.push_back(node_diagnostic(
            graph, id,
            fmt::format("no output needs this call of {}, so it runs for its effects, which an "
                        "expansion doesn't have: leave it out of --op-library",
                        graph.op(id).name)));
    }
    return faults;
  }

  Diagnostics faults_of_left(const Graph& graph) const {
    Diagnostics faults;
    for (const NodeId id : calls_in(graph)) {
      std::string types;
      for (const NodeId operand : graph[id].operands)
        types += (types.empty() ? "" : ", ") + format(graph[operand].outputs.front());
      faults.push_back(node_diagnostic(
          graph, id,
          fmt::format("found {}, of ({}); expected a call that fits {}", print_node(graph, id),
                      types, expansions_of(graph.op(id).name))));
    }
    return faults;
  }

  std::string expansions_of(std::string_view name) const {
    std::string text;
    const auto add = [&](const std::string& one) { text += (text.empty() ? "" : "; or ") + one; };
    for (const auto& rules : library_.rules)
      for (std::size_t row = 0; row < rules->rows.size(); ++row)
        if (names_operator(*rules, row, name))
          add(fmt::format("rule {} of {}:{}", quote(rules->rows[row].name), rules->file,
                          rules->rows[row].line));
    for (const OperatorGraph& graph : library_.graphs)
      if (graph.op == name) add(describe(graph));
    for (const std::string& reason : untyped_) text += "; " + reason;
    return text;
  }

  static bool names_operator(const RuleSet& rules, std::size_t row, std::string_view name) {
    const auto is_of = [&](const PatternNode& node) {
      return node.kind == PatternNode::Kind::call && is_external(node.op->op) &&
             node.op->name == name;
    };
    return std::any_of(rules.rules.begin(), rules.rules.end(), [&](const Rule& rule) {
      return rule.row == row && std::any_of(rule.pattern.begin(), rule.pattern.end(), is_of);
    });
  }

  const OpLibrary& library_;
  const Names names_;
  GraphExpansion by_graphs_;
  std::map<std::string, int> counts_;  // calls by operator
  std::vector<std::string> untyped_;   // rules whose replacement has other types
  Diagnostics faults_;                 // of nested graphs, and of numbers
};

std::string note_of(const std::map<std::string, int>& counts) {
  std::string text;
  for (const auto& [name, count] : counts)
    text += fmt::format("{}{} ({} {})", text.empty() ? "" : ", ", name, count,
                        count == 1 ? "call" : "calls");
  return text.empty() ? text : "the operator library expands " + text;
}

}  // namespace

Result<Graph> expand_operators(const Graph& graph, const OpLibrary& library) {
  return OperatorExpansion(library).run(graph);
}

Result<Done> expand_operators(GraphFile& file, const OpLibrary& library,
                              std::string_view file_name) {
  OperatorExpansion expansion(library);
  auto graph = expansion.run(file.graph);
  if (!graph) {
    Diagnostics faults = graph.diagnostics();
    for (Diagnostic& fault : faults) fault.file = std::string(file_name);
    return faults;
  }
  file.graph = std::move(*graph);
  file.library_note = note_of(expansion.counts());
  file.unknown_note = unknown_operators_note(file.graph);
  if (file.partitioned == nullptr) return Done{};
  GraphFile partitioned = *file.partitioned;
  if (auto done = expand_operators(partitioned, library, file_name); !done) return done;
  file.partitioned = std::make_shared<const GraphFile>(std::move(partitioned));
  return Done{};
}

}  // namespace recut
