#include "engine/input/joint_outputs.h"

#include <fmt/core.h>

#include "engine/input/joint_nodes.h"
#include "engine/ir/data_flow.h"

namespace recut {
namespace {

class OutputReader {
 public:
  OutputReader(const std::set<std::size_t>& number_inputs, bool nested, const FindNode& find_node,
               Graph& graph, DiagnosticCollector& diagnostics)
      : number_inputs_(number_inputs),
        nested_(nested),
        find_node_(find_node),
        graph_(graph),
        diagnostics_(diagnostics) {}

  void read(JsonValue list, std::int64_t forward_outputs) {
    const bool nodes_sound = diagnostics_.none();
    if (forward_outputs < 0 || forward_outputs > static_cast<std::int64_t>(list.size()))
      return diagnostics_.add(fmt::format("'num_fwd_outputs' is {}, expected 0 to the {} outputs",
                                          forward_outputs, list.size()),
                              list);
    std::int64_t index = 0;
    for (const JsonMember item : list.items()) {
      const auto id = read_output(item.value, index);
      const bool result = index < forward_outputs;
      const bool of_number =
          !result && number_inputs_.count(static_cast<std::size_t>(index - forward_outputs)) != 0;
      if (of_number && id && id->valid()) report_error(index, "a gradient of a size", item.value);
      if (!result && !of_number && !id)
        report_error(index, "a size, expected a gradient or null", item.value);
      if (result) places_.push_back(id ? std::optional(graph_.results.size()) : std::nullopt);
      if (id && !of_number) (result ? graph_.results : graph_.gradients).push_back(*id);
      if (!id && nested_) graph_.results.emplace_back();
      ++index;
    }
    if (nodes_sound && diagnostics_.none()) check(list);
  }

  std::vector<std::optional<std::size_t>> take_places() { return std::move(places_); }

 private:
  static bool is_reference(JsonValue value) {
    return value.is(JsonKind::object) && (*value.items().begin()).key == "node";
  }

  // Invalid for null and after an error; none for a symbolic size.
  std::optional<NodeId> read_output(JsonValue value, std::int64_t index) {
    bool sound = true;
    const auto argument = read_joint_argument(value, find_node_, sound);
    if (!argument) {
      report_error(index, argument.diagnostics().front().message, value);
      return NodeId();
    }
    if (argument->none() || !sound) return NodeId();
    const auto* id = argument->get<NodeId>();
    const bool number =
        argument->get<std::int64_t>() != nullptr || argument->get<double>() != nullptr;
    if (number && is_reference(value)) return std::nullopt;
    if (id == nullptr) {
      report_error(index, fmt::format("{} found, expected a node or null", describe(value.kind())),
                   value);
      return NodeId();
    }
    if (graph_[*id].outputs.size() == 1 && graph_.type(*id).exists()) return *id;
    report_error(index, fmt::format("{} is no single tensor", describe_node(graph_.node_name(*id))),
                 value);
    return NodeId();
  }

  void check(JsonValue list) {
    std::vector<NodeId> differentiated;
    for (const NodeId id : graph_.inputs())
      if (graph_.input_kind(id) != InputKind::tangent) differentiated.push_back(id);
    const std::size_t found = graph_.gradients.size();
    if (found != 0 && found != differentiated.size())
      return diagnostics_.add(
          fmt::format("{} gradients for {} placeholders that are no tangents, expected one for "
                      "each, or none",
                      found, differentiated.size()),
          list);
    for (std::size_t i = 0; i < found; ++i) check_gradient(graph_.gradients[i], differentiated[i]);
    check_results();
  }

  void check_gradient(NodeId gradient, NodeId input) {
    if (!gradient.valid()) return;
    graph_.set_input_kind(input, InputKind::parameter);
    if (graph_.type(gradient).shape == graph_.type(input).shape) return;
    diagnostics_.add(fmt::format(
        "{}, the gradient of {}, has shape {}, expected {}",
        describe_node(graph_.node_name(gradient)), describe_node(graph_.node_name(input)),
        format_shape(graph_.type(gradient).shape), format_shape(graph_.type(input).shape)));
  }

  void check_results() {
    const std::vector<bool> late = needs_tangent(graph_);
    for (const NodeId id : graph_.results)
      if (id.valid() && late[graph_.position(id)])
        diagnostics_.add(fmt::format("{} is a result of forward but depends on a tangent",
                                     describe_node(graph_.node_name(id))));
  }

  void report_error(std::int64_t index, std::string_view message, JsonValue where) {
    diagnostics_.add(fmt::format("output {}: {}", index, message), where);
  }

  const std::set<std::size_t>& number_inputs_;
  const bool nested_;
  const FindNode& find_node_;
  Graph& graph_;
  DiagnosticCollector& diagnostics_;
  std::vector<std::optional<std::size_t>> places_;
};

}  // namespace

std::vector<std::optional<std::size_t>> read_joint_outputs(
    JsonValue output_arguments, std::optional<std::int64_t> forward_outputs,
    const std::set<std::size_t>& number_inputs, bool nested, const FindNode& find_node,
    Graph& graph, DiagnosticCollector& diagnostics) {
  JsonValue list;
  if (output_arguments.size() == 1) list = (*output_arguments.items().begin()).value;
  if (list.is(JsonKind::object)) list = output_arguments;  // one value, as a loop's condition
  if (!list.is(JsonKind::array)) {
    diagnostics.add("the node 'output' has other arguments than one list of nodes",
                    output_arguments);
    return {};
  }
  OutputReader reader(number_inputs, nested, find_node, graph, diagnostics);
  reader.read(list, forward_outputs.value_or(static_cast<std::int64_t>(list.size())));
  return reader.take_places();
}

}  // namespace recut
