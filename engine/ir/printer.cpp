#include "engine/ir/printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/ir/graph_signature.h"
#include "engine/ir/region_call.h"
#include "engine/support/text.h"

namespace recut {
namespace {

bool plain_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.';
}

// %name, or %"any text" where the name is not made of letters, digits, '_' and '.'.
std::string reference(std::string_view name) {
  const bool plain = !name.empty() && std::all_of(name.begin(), name.end(), plain_name_character);
  return "%" + (plain ? std::string(name) : string_literal(name));
}

// The shortest decimals that read back as the same double, always with a point, an exponent or a
// word.
std::string print_real(double x) {
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x > 0 ? "inf" : "-inf";
  std::string text = fmt::format("{}", x);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

struct ArgumentPrinter {
  const Graph& graph;

  std::string operator()(Absent) const { return ""; }
  std::string operator()(None) const { return "none"; }
  std::string operator()(NodeId id) const {
    return reference(graph.contains(id) ? graph.node_name(id) : fmt::format("?{}", id.index));
  }
  std::string operator()(bool b) const { return b ? "true" : "false"; }
  std::string operator()(std::int64_t i) const { return fmt::format("{}", i); }
  std::string operator()(double d) const { return print_real(d); }
  std::string operator()(DType d) const { return std::string(short_name(d)); }
  std::string operator()(const std::string& s) const { return string_literal(s); }
  std::string operator()(const ArgumentList& list) const {
    std::string text = "[";
    for (std::size_t i = 0; i < list.size(); ++i)
      text += (i == 0 ? "" : ", ") + std::visit(*this, list[i].value);
    return text + "]";
  }
};

std::string print_arguments(const Graph& graph, const Node& node) {
  const Operator& op = operator_of(node.op);
  std::string text;
  bool by_name = false;
  for (std::size_t i = 0; i < node.arguments.size(); ++i) {
    const Argument& a = node.arguments[i];
    const bool keyword_only = i < op.parameters.size() && op.parameters[i].keyword_only;
    by_name = by_name || a.absent() || keyword_only;
    if (a.absent()) continue;
    if (!text.empty()) text += ", ";
    if (by_name && i < op.parameters.size()) text += fmt::format("{}=", op.parameters[i].name);
    text += print_argument(graph, a);
  }
  return text;
}

std::string print_types(const Node& node) {
  const bool tuple = operator_of(node.op).multiple_outputs();
  std::string text = tuple ? "(" : "";
  for (std::size_t i = 0; i < node.outputs.size(); ++i)
    text += (i == 0 ? "" : ", ") + format(node.outputs[i]);
  return text + (tuple ? ")" : "");
}

std::string print_origin(const Origin& origin) {
  std::string text;
  if (!origin.module.empty()) text += "  @" + string_literal(origin.module);
  if (origin.seq_nr >= 0)
    text += fmt::format("{}#{}", origin.module.empty() ? "  " : " ", origin.seq_nr);
  if (origin.policy != CheckpointPolicy::none)
    text += fmt::format("{}checkpoint {}", text.empty() ? "  " : " ", name_of(origin.policy));
  if (origin.policy != CheckpointPolicy::none && origin.checkpoint_region >= 0)
    text += fmt::format(" {}", origin.checkpoint_region);
  return text;
}

std::string print_outputs(const Graph& graph, std::string_view what,
                          const std::vector<NodeId>& ids) {
  std::string text(what);
  for (std::size_t i = 0; i < ids.size(); ++i)
    text += (i == 0 ? " " : ", ") +
            print_argument(graph, ids[i].valid() ? Argument(ids[i]) : Argument(None{}));
  return text + "\n";
}

std::string print_failures(const Failures& failures, NodeId about) {
  std::string text;
  for (const Failure& f : failures)
    if (f.node == about) text += fmt::format("  ; ^ invariant {}: {}\n", f.invariant, f.message);
  return text;
}

std::string print_device(std::string_view device) {
  return " on " + (device.empty() ? string_literal(device) : format_device(device));
}

std::string print_body(const Graph& graph, const Failures& failures, const std::string& indent);

std::string print_regions(const Graph& graph, const std::string& indent) {
  std::string text;
  for (const std::string_view name : named_regions(graph)) {
    const Graph& region = *graph.region(name);
    text += fmt::format("{}region {}{} {{\n{}{}}}\n", indent, string_literal(name),
                        region.device == graph.device ? "" : print_device(region.device),
                        print_body(region, {}, indent + "  "), indent);
  }
  return text;
}

std::string print_signature(const Graph& graph, const std::string& indent) {
  if (graph.signature == nullptr) return "";
  const GraphSignature& signature = *graph.signature;
  std::string text;
  for (const Mutation& mutation : signature.mutations)
    text += fmt::format("{}mutation {} {}{}\n", indent, mutation.result, reference(mutation.input),
                        mutation.metadata ? mutation.value ? " value metadata" : " metadata" : "");
  if (!signature.tangent_of.empty())
    text += fmt::format("{}tangent_of {}\n", indent, fmt::join(signature.tangent_of, ", "));
  for (const DualInput& dual : signature.dual_inputs)
    text += fmt::format("{}dual_input {}, {} level {}\n", indent, reference(dual.primal),
                        reference(dual.tangent), dual.level);
  for (const DualResult& dual : signature.dual_results)
    text += fmt::format("{}dual_result {}, {} level {}\n", indent, dual.primal, dual.tangent,
                        dual.level);
  for (const auto& group : signature.shared_storages) {
    text += indent + "shared_storage";
    for (std::size_t i = 0; i < group.size(); ++i)
      text += (i == 0 ? " " : ", ") + reference(group[i]);
    text += "\n";
  }
  return signature.deterministic ? text + indent + "deterministic\n" : text;
}

// The lines between the braces.
std::string print_body(const Graph& graph, const Failures& failures, const std::string& indent) {
  std::string text;
  for (const NodeId id : graph.order()) {
    text += indent + print_node(graph, id) + "\n";
    if (!failures.empty()) text += print_failures(failures, id);
  }
  for (const auto& [name, id] : graph.aliases())
    text += fmt::format("{}same {} {}\n", indent, reference(name), reference(graph.node_name(id)));
  text += indent + print_outputs(graph, "results", graph.results);
  if (!graph.gradients.empty()) text += indent + print_outputs(graph, "gradients", graph.gradients);
  text += print_signature(graph, indent);
  return text + print_failures(failures, NodeId()) + print_regions(graph, indent);
}

}  // namespace

std::string print_argument(const Graph& graph, const Argument& argument) {
  return std::visit(ArgumentPrinter{graph}, argument.value);
}

std::string print_node(const Graph& graph, NodeId id) {
  const Node& node = graph[id];
  const std::string name = reference(graph.node_name(id));
  const std::string origin = print_origin(graph.origin(id));
  if (graph.is_input(id))
    return fmt::format("{} = {} {}{}", name, name_of(graph.input_kind(id)), format(node.type()),
                       origin);
  if (node.op == Op::constant)
    return fmt::format("{} = constant {}{}", name, format(node.type()), origin);
  const Operator& op = operator_of(node.op);
  const std::string called =
      is_external(node.op) ? fmt::format("external {}", op.target) : std::string(op.name);
  return fmt::format("{} = {}({}) : {}{}", name, called, print_arguments(graph, node),
                     print_types(node), origin);
}

std::string print(const Graph& graph) { return print(graph, {}); }

std::string print(const Graph& graph, const Failures& failures) {
  return fmt::format("graph {}{} {{\n{}}}\n", string_literal(graph.name),
                     graph.device.empty() ? "" : print_device(graph.device),
                     print_body(graph, failures, "  "));
}

}  // namespace recut
