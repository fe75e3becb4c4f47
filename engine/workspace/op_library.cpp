// Reads the files of an operator library. The first word tells rules from graphs.
#include "engine/workspace/op_library.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "engine/input/graph_file_reader.h"
#include "engine/ir/external_operator.h"
#include "engine/ir/node_diagnostic.h"
#include "engine/rewrite/external_patterns.h"
#include "engine/rewrite/rule_text.h"
#include "engine/support/text.h"
#include "engine/workspace/operator_graphs.h"

namespace recut {
namespace {

Diagnostic fault_of(const OpLibrarySource& source, std::string message, std::uint32_t line = 0) {
  return Diagnostic{std::move(message), source.file, line, line == 0 ? 0u : 1u};
}

bool has_external(const Rule& rule) {
  return std::any_of(rule.pattern.begin(), rule.pattern.end(), [](const PatternNode& node) {
    return node.kind == PatternNode::Kind::call && is_external(node.op->op);
  });
}

bool has_external(const RuleSet& rules, std::size_t row) {
  return std::any_of(rules.rules.begin(), rules.rules.end(),
                     [&](const Rule& rule) { return rule.row == row && has_external(rule); });
}

Diagnostics read_rules_source(const OpLibrarySource& source, OpLibrary& library) {
  if (!source.op.empty())
    return {fault_of(source, fmt::format("rules name their operators themselves, found {} before "
                                         "the file",
                                         quote(source.op)))};
  auto rules = parse_rules(source.text, source.file);
  if (!rules) return rules.diagnostics();
  Diagnostics faults;
  for (std::size_t row = 0; row < rules->rows.size(); ++row)
    if (!has_external(*rules, row))
      faults.push_back(fault_of(
          source,
          fmt::format("rule {} names no operator that Recut lacks: expected 'external NAME(…)' in "
                      "its pattern; --rules runs other rules",
                      quote(rules->rows[row].name)),
          rules->rows[row].line));
  library.rules.push_back(std::make_shared<const RuleSet>(std::move(*rules)));
  return faults;
}

// The operator of a graph: the source's, or the graph's own name.
Result<std::string> operator_of_source(const OpLibrarySource& source, const Graph& graph) {
  const std::string name = external_name(source.op.empty() ? graph.name : source.op);
  if (name.empty() || (source.op.empty() && name.find('.') == std::string::npos))
    return fault_of(source,
                    fmt::format("found a graph named {}, expected OPERATOR=FILE, or a graph "
                                "with its operator's name, such as \"mine.scale3\"",
                                quote(graph.name)));
  if (find_operator_by_name(name) != nullptr || find_operator_by_target(name) != nullptr ||
      find_operator_by_target(name + ".default") != nullptr)
    return fault_of(source,
                    fmt::format("Recut knows {}, expected an operator that it lacks", quote(name)));
  return name;
}

Diagnostics read_graph_source(const OpLibrarySource& source, OpLibrary& library) {
  auto file = read_graph_bytes(source.text, source.file);
  if (!file) return file.diagnostics();
  const auto name = operator_of_source(source, file->graph);
  if (!name) return name.diagnostics();
  auto graph = operator_graph(file->graph);
  if (!graph) {
    Diagnostics faults = graph.diagnostics();
    for (Diagnostic& fault : faults) fault.file = source.file;
    return faults;
  }
  OperatorGraph made{*name, source.file, std::move(*graph), {}, {}};
  if (!file->symbols.empty()) made.symbols = symbol_places(source.text, source.file, *file);
  if (!made.symbols.empty()) made.text = source.text;
  library.graphs.push_back(std::move(made));
  return {};
}

// Expands the library's operators in its own graphs, those first that the others call.
class NestedExpansion {
 public:
  explicit NestedExpansion(OpLibrary& library) : library_(library) {}

  Diagnostics run() {
    const std::set<std::string, std::less<>> all = library_.names();
    std::set<std::string, std::less<>> waiting;
    for (const OperatorGraph& graph : library_.graphs) waiting.insert(graph.op);
    while (!waiting.empty() && faults_.empty()) {
      const auto ready = std::find_if(waiting.begin(), waiting.end(), [&](const auto& op) {
        const auto called = calls_of(op);
        return std::none_of(called.begin(), called.end(),
                            [&](const auto& name) { return waiting.count(name) != 0; });
      });
      if (ready == waiting.end()) return {recursion(*waiting.begin(), waiting)};
      expand(*ready);
      waiting.erase(ready);
    }
    return std::move(faults_);
  }

 private:
  std::set<std::string, std::less<>> calls_of(std::string_view op) const {
    std::set<std::string, std::less<>> names;
    for (const OperatorGraph& graph : library_.graphs)
      if (graph.op == op)
        for (const NodeId id : graph.graph.order())
          if (is_external(graph.graph[id].op)) names.emplace(graph.graph.op(id).name);
    return names;
  }

  Diagnostic recursion(const std::string& first,
                       const std::set<std::string, std::less<>>& waiting) const {
    std::vector<std::string> path = {first};
    for (;;) {
      for (const std::string& name : calls_of(path.back()))
        if (waiting.count(name) != 0) {
          path.push_back(name);
          break;
        }
      const auto again = std::find(path.begin(), path.end() - 1, path.back());
      if (again == path.end() - 1) continue;
      return error(fmt::format("the expansion of {} calls itself: {}", path.back(),
                               fmt::join(again, path.end(), " → ")));
    }
  }

  void expand(const std::string& op) {
    for (OperatorGraph& graph : library_.graphs) {
      if (graph.op != op) continue;
      OpLibrary others;
      others.rules = library_.rules;
      for (const OperatorGraph& other : library_.graphs)
        if (other.op != op && !calls_external(other.graph)) others.graphs.push_back(other);
      auto expanded = expand_operators(graph.graph, others);
      if (!expanded) return add_faults(expanded.diagnostics(), graph.file);
      auto whole = operator_graph(*expanded);
      if (!whole) return add_faults(whole.diagnostics(), graph.file);
      graph.graph = std::move(*whole);
      for (const NodeId id : graph.graph.order())
        if (is_external(graph.graph[id].op))
          add_faults({node_diagnostic(graph.graph, id,
                                      fmt::format("it calls {}, which Recut and the library lack",
                                                  graph.graph.op(id).name))},
                     graph.file);
    }
  }

  static bool calls_external(const Graph& graph) {
    return std::any_of(graph.order().begin(), graph.order().end(),
                       [&](NodeId id) { return is_external(graph[id].op); });
  }

  void add_faults(Diagnostics faults, const std::string& file) {
    for (Diagnostic& fault : faults) {
      fault.file = file;
      faults_.push_back(std::move(fault));
    }
  }

  OpLibrary& library_;
  Diagnostics faults_;
};

Diagnostics faults_of_equal_graphs(const OpLibrary& library) {
  Diagnostics faults;
  for (auto a = library.graphs.begin(); a != library.graphs.end(); ++a)
    for (auto b = library.graphs.begin(); b != a; ++b)
      if (a->op == b->op && describe(OperatorGraph{"", "", a->graph, a->symbols, {}}) ==
                                describe(OperatorGraph{"", "", b->graph, b->symbols, {}}))
        faults.push_back(Diagnostic{fmt::format("{} of {} has the types of {}, expected others",
                                                describe(*a), a->op, b->file),
                                    a->file, 0, 0});
  return faults;
}

}  // namespace

std::set<std::string, std::less<>> OpLibrary::names() const {
  std::set<std::string, std::less<>> all;
  for (const auto& set : rules) all.merge(external_names(*set));
  for (const OperatorGraph& graph : graphs) all.insert(graph.op);
  return all;
}

std::shared_ptr<const OpLibrary> library_of_rules(const RuleSet& rules) {
  RuleSet external;
  external.file = rules.file;
  external.rows = rules.rows;
  for (const Rule& rule : rules.rules)
    if (has_external(rule)) external.add(rule);
  if (external.rules.empty()) return nullptr;
  OpLibrary library;
  library.rules.push_back(std::make_shared<const RuleSet>(std::move(external)));
  return std::make_shared<const OpLibrary>(std::move(library));
}

Result<std::shared_ptr<const OpLibrary>> read_op_library(std::span<const OpLibrarySource> sources) {
  OpLibrary library;
  Diagnostics faults;
  for (const OpLibrarySource& source : sources) {
    Diagnostics wrong = looks_like_rules(source.text) ? read_rules_source(source, library)
                                                      : read_graph_source(source, library);
    faults.insert(faults.end(), wrong.begin(), wrong.end());
  }
  if (faults.empty()) faults = faults_of_equal_graphs(library);
  if (faults.empty()) faults = NestedExpansion(library).run();
  if (!faults.empty()) return faults;
  return std::make_shared<const OpLibrary>(std::move(library));
}

}  // namespace recut
