#include "engine/workspace/graph_export.h"

#include <fmt/core.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "engine/ir/graph_signature.h"
#include "engine/ir/printer.h"
#include "engine/ir/region_call.h"
#include "engine/workspace/json_text.h"

namespace recut {
namespace {

using Json = nlohmann::ordered_json;

// Names may hold any bytes. Bytes that are no UTF-8 are replaced, since JSON has no form for them.
Json names_of(const Graph& graph, std::span<const NodeId> ids) {
  Json names = Json::array();
  for (const NodeId id : ids)
    names.push_back(id.valid() ? Json(graph.node_name(id)) : Json(nullptr));
  return names;
}

Json node_json(const Graph& graph, NodeId id) {
  const Node& node = graph[id];
  const Operator& op = operator_of(node.op);
  Json arguments = Json::object();
  for (std::size_t i = 0; i < node.arguments.size(); ++i)
    if (!node.arguments[i].absent())
      arguments[std::string(op.parameters[i].name)] = print_argument(graph, node.arguments[i]);
  Json types = Json::array();
  for (const TensorType& type : node.outputs) types.push_back(format(type));
  Json out = {{"name", graph.node_name(id)},
              {"op", node.op == Op::placeholder ? name_of(graph.input_kind(id)) : op.name},
              {"arguments", node.op == Op::placeholder ? Json::object() : arguments},
              {"types", types},
              {"operands", names_of(graph, node.operands)}};
  const Origin& origin = graph.origin(id);
  if (!origin.module.empty()) out["module"] = origin.module;
  if (origin.seq_nr >= 0) out["seq_nr"] = origin.seq_nr;
  if (origin.policy != CheckpointPolicy::none) out["recompute"] = name_of(origin.policy);
  if (origin.checkpoint_region >= 0) out["ac_graph_id"] = origin.checkpoint_region;
  if (!origin.source.empty()) out["source"] = origin.source;
  return out;
}

Json signature_json(const GraphSignature& signature) {
  Json mutations = Json::array();
  for (const Mutation& mutation : signature.mutations)
    mutations.push_back({{"result", mutation.result},
                         {"input", mutation.input},
                         {"value", mutation.value},
                         {"metadata", mutation.metadata}});
  Json dual_inputs = Json::array(), dual_results = Json::array();
  for (const DualInput& dual : signature.dual_inputs)
    dual_inputs.push_back(
        {{"primal", dual.primal}, {"tangent", dual.tangent}, {"level", dual.level}});
  for (const DualResult& dual : signature.dual_results)
    dual_results.push_back(
        {{"primal", dual.primal}, {"tangent", dual.tangent}, {"level", dual.level}});
  return {{"mutations", mutations},
          {"tangent_of", signature.tangent_of},
          {"dual_inputs", dual_inputs},
          {"dual_results", dual_results},
          {"shared_storages", signature.shared_storages},
          {"deterministic", signature.deterministic}};
}

// The regions that calls name stand beside the nodes, each in the same form.
Json graph_object(const Graph& graph) {
  Json nodes = Json::array();
  for (const NodeId id : graph.order()) nodes.push_back(node_json(graph, id));
  Json out = {{"name", graph.name},
              {"device", graph.device},
              {"nodes", nodes},
              {"results", names_of(graph, graph.results)},
              {"gradients", names_of(graph, graph.gradients)}};
  if (graph.signature != nullptr) out["signature"] = signature_json(*graph.signature);
  const auto regions = named_regions(graph);
  for (const std::string_view name : regions)
    out["regions"][std::string(name)] = graph_object(*graph.region(name));
  return out;
}

std::string dot_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + "\"";
}

std::string dot_shape(const Operator& op) {
  if (op.is(kInput)) return "cds";
  return op.is(kView) ? "plaintext" : "box";
}

// 1 below a MiB, then one more for each factor of four.
double edge_width(std::int64_t bytes) {
  return 1.0 + std::max(0.0, std::log2(static_cast<double>(bytes + 1) / 1048576.0) / 2.0);
}

}  // namespace

std::string graph_json(const Graph& graph) { return json_text(graph_object(graph)); }

std::string graph_dot(const Graph& graph) {
  std::map<std::string, std::string> clusters;
  std::string edges;
  for (const NodeId id : graph.order()) {
    const Operator& op = graph.op(id);
    const std::string& name = graph.node_name(id);
    clusters[graph.origin(id).module] +=
        fmt::format("    {} [shape={} label={}];\n", dot_quoted(name), dot_shape(op),
                    dot_quoted(fmt::format("{}\n{}", name, format(graph.type(id)))));
    for (const NodeId operand : graph[id].operands)
      edges += fmt::format("  {} -> {} [penwidth={:.2f}];\n", dot_quoted(graph.node_name(operand)),
                           dot_quoted(name), edge_width(byte_size(graph.type(operand))));
  }
  std::string text =
      fmt::format("digraph {} {{\n  rankdir=LR;\n  node [fontname=\"Inter\" fontsize=10];\n",
                  dot_quoted(graph.name));
  int number = 0;
  for (const auto& [module, nodes] : clusters) {
    if (module.empty())
      text += nodes;
    else
      text += fmt::format("  subgraph cluster_{} {{\n    label={};\n{}  }}\n", number++,
                          dot_quoted(module), nodes);
  }
  return text + edges + "}\n";
}

}  // namespace recut
