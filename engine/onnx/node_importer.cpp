// Nodes are imported in the file's order, which the format requires to be topological. Constants
// are folded with the interpreter before they reach the graph, so that shape computations (Shape,
// Gather, Concat) vanish and every shape is static; a budget bounds time and memory. Weights are
// never folded: they are trained. A nested graph is imported each time that it is run: once for a
// branch, once for each iteration of a body. One limit bounds all of these together, so that a
// small file can't ask for much. Protobuf bounds the depth of nesting.
#include "engine/onnx/node_importer.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/eval/inputs.h"
#include "engine/onnx/expansions.h"
#include "engine/onnx/older_forms.h"
#include "engine/support/text.h"
#include "engine/support/units.h"

namespace recut::onnx {
namespace {

// Limit for the sum of all value sizes; sums then fit into 64 bits.
constexpr std::int64_t kMaxTotalBytes = std::int64_t{1} << 60;

// The opset of calls that the importer makes itself.
constexpr std::int64_t kOwnOpset = 18;

void add_statistics(const ::onnx::GraphProto& graph, std::set<std::string>& names) {
  for (const auto& node : graph.node()) {
    if (node.op_type() == "BatchNormalization")
      for (int i = 3; i < std::min(node.input_size(), 5); ++i) names.insert(node.input(i));
    for (const auto& attribute : node.attribute())
      if (attribute.has_g()) add_statistics(attribute.g(), names);
  }
}

// True if all inputs are constants: the node can be folded.
bool foldable(const std::vector<OnnxValue>& inputs) {
  bool any = false;
  for (const OnnxValue& value : inputs) {
    if (value.weight || value.items || (value.node.valid() && !value.known)) return false;
    any = any || value.known.has_value();
  }
  return any;
}

}  // namespace

std::string describe_node(const ::onnx::NodeProto& node) {
  if (!node.name().empty()) return fmt::format("node {}", quote(node.name()));
  if (node.output_size() > 0) return fmt::format("the node of {}", quote(node.output(0)));
  return "a node without a name";
}

std::string position_text(const ::onnx::GraphProto& model, int node) {
  return fmt::format("{} of {}", node + 1, model.node_size());
}

std::optional<std::string> unsupported_operator(const ::onnx::NodeProto& node, std::int64_t opset) {
  const bool own = node.domain().empty() || node.domain() == "ai.onnx";
  if (!own) return node.domain() + "::" + node.op_type();
  const bool supported = find_lowering(node.op_type(), opset) != nullptr ||
                         find_expansion(node.op_type(), opset) != nullptr;
  return supported ? std::nullopt : std::optional(node.op_type());
}

const OnnxValue* Scope::find(const std::string& name) const {
  if (const auto it = values_.find(name); it != values_.end()) return &it->second;
  if (const auto it = gated_.find(name); it != gated_.end()) return &it->second;
  const OnnxValue* found = around_ == nullptr ? nullptr : around_->find(name);
  if (found == nullptr || !gate_) return found;
  return &gated_.emplace(name, gate_(*found)).first->second;
}

void Scope::gate_own() {
  if (!gate_) return;
  for (auto& [name, value] : values_) value = gate_(value);
}

bool Scope::add(const std::string& name, OnnxValue value) {
  return values_.emplace(name, std::move(value)).second;
}

NodeImporter::NodeImporter(const ::onnx::GraphProto& model, std::int64_t opset,
                           const Options& options)
    : opset_(opset),
      options_(options),
      folding_limits_{options.folded_bytes, options.folding_work} {
  add_statistics(model, statistics_);
  graph_.name = model.name();
}

void NodeImporter::read_initializers(const ::onnx::GraphProto& graph, Scope& scope) {
  for (const auto& proto : graph.initializer())
    if (!scope.add(proto.name(), read_initializer(proto)))
      throw ImportError{fmt::format("initializer {} stands twice", quote(proto.name()))};
}

// The same value each time that a body is imported: its weights are shared by all iterations.
OnnxValue NodeImporter::read_initializer(const ::onnx::TensorProto& proto) {
  if (const auto it = initializers_.find(&proto); it != initializers_.end()) return it->second;
  OnnxValue value = Lowering::known_value(tensor_of(proto));
  value.weight = is_floating(value.type.dtype) && value.type.rank() > 0;
  if (value.weight) add_weight(proto.name(), value);
  return initializers_.emplace(&proto, std::move(value)).first->second;
}

void NodeImporter::add_weight(const std::string& name, OnnxValue& value) {
  if (name.empty()) return;
  const Origin origin{graph_.unused_name(name), "", -1};
  value.node = statistics_.count(name) == 0
                   ? graph_.add_input(InputKind::parameter, value.type, origin)
                   : graph_.add_constant(value.type, origin);
  tensors_.emplace(value.node, *value.known);
}

void NodeImporter::import_nodes(const ::onnx::GraphProto& graph, Scope& scope) {
  for (int i = 0; i < graph.node_size(); ++i) {
    const auto& node = graph.node(i);
    try {
      add(node, scope);
    } catch (const ImportError& failure) {
      throw ImportError{fmt::format("{} ({}, {}): {}", describe_node(node), node.op_type(),
                                    position_text(graph, i), failure.message)};
    }
  }
}

Lowered NodeImporter::import_nested(const ::onnx::GraphProto& graph,
                                    const std::vector<OnnxValue>& inputs, const Scope& around,
                                    const Gate& gate) {
  charge_nested(graph.node_size() + graph.initializer_size() + 1);
  if (static_cast<std::size_t>(graph.input_size()) != inputs.size())
    throw ImportError{
        fmt::format("it has {} inputs, expected {}", graph.input_size(), inputs.size())};
  Scope scope(&around, gate);
  read_initializers(graph, scope);
  scope.gate_own();
  for (int i = 0; i < graph.input_size(); ++i)
    if (!scope.add(graph.input(i).name(), inputs[static_cast<std::size_t>(i)]))
      throw ImportError{fmt::format("input {} stands twice", quote(graph.input(i).name()))};
  ++depth_;
  import_nodes(graph, scope);
  --depth_;
  Lowered results;
  for (const auto& output : graph.output()) {
    const OnnxValue* value = scope.find(output.name());
    if (value == nullptr)
      throw ImportError{fmt::format("output {} is nothing that it computes", quote(output.name()))};
    results.push_back(*value);
  }
  return results;
}

void NodeImporter::charge_nested(std::int64_t count) {
  nested_nodes_ += count;
  if (nested_nodes_ > options_.max_nested_nodes)
    throw ImportError{fmt::format("with it, branches and iterations have more than {} nodes",
                                  format_count(options_.max_nested_nodes))};
}

OnnxValue NodeImporter::call(const ::onnx::NodeProto& cause, std::string_view operator_name,
                             const std::vector<OnnxValue>& inputs,
                             const std::vector<std::pair<std::string, std::int64_t>>& attributes) {
  charge_nested(1);
  ::onnx::NodeProto node;
  node.set_op_type(std::string(operator_name));
  node.set_name(cause.name());
  node.add_output(cause.output_size() > 0 ? cause.output(0) : "");
  for (const auto& [name, value] : attributes) {
    auto* attribute = node.add_attribute();
    attribute->set_name(name);
    attribute->set_type(::onnx::AttributeProto::INT);
    attribute->set_i(value);
  }
  Lowered outputs =
      foldable(inputs) ? folded(node, kOwnOpset, inputs) : lowered(node, kOwnOpset, inputs);
  check_node_count();
  count_bytes(outputs.front());
  return outputs.front();
}

void NodeImporter::add(const ::onnx::NodeProto& node, Scope& scope) {
  if (const auto name = unsupported_operator(node, opset_))
    throw ImportError{fmt::format("unsupported operator {} (opset {})", quote(*name), opset_)};
  std::vector<OnnxValue> inputs;
  for (const std::string& name : node.input()) {
    const OnnxValue* found = name.empty() ? nullptr : scope.find(name);
    if (found == nullptr && !name.empty())
      throw ImportError{fmt::format("its input {} is nothing that stands before it", quote(name))};
    inputs.push_back(found == nullptr ? OnnxValue() : *found);
  }
  const Lowered outputs = outputs_of(node, std::move(inputs), scope);
  check_node_count();
  for (int i = 0; i < node.output_size(); ++i) {
    if (node.output(i).empty()) continue;
    if (static_cast<std::size_t>(i) >= outputs.size())
      throw ImportError{fmt::format("output {} is asked for, which Recut doesn't compute", i)};
    const OnnxValue& value = outputs[static_cast<std::size_t>(i)];
    count_bytes(value);
    if (value.node.valid()) name_output(value.node, node.output(i));
    if (!scope.add(node.output(i), value))
      throw ImportError{fmt::format("its output {} exists already", quote(node.output(i)))};
  }
}

Lowered NodeImporter::outputs_of(const ::onnx::NodeProto& node, std::vector<OnnxValue> inputs,
                                 const Scope& scope) {
  if (const Expand expand = find_expansion(node.op_type(), opset_); expand != nullptr) {
    Lowering lowering(node, graph_, std::move(inputs),
                      [this](const OnnxValue& value) { return constant(value); });
    Expansion at{*this, scope, lowering, node};
    return expand(at);
  }
  inputs = newest_inputs(node, opset_, std::move(inputs));
  return foldable(inputs) ? folded(node, opset_, inputs) : lowered(node, opset_, std::move(inputs));
}

Lowered NodeImporter::lowered(const ::onnx::NodeProto& node, std::int64_t opset,
                              std::vector<OnnxValue> inputs) {
  Lowering lowering(node, graph_, std::move(inputs),
                    [this](const OnnxValue& value) { return constant(value); });
  return find_lowering(node.op_type(), opset)(lowering);
}

// If the result would be too large, the node stays in the graph.
Lowered NodeImporter::folded(const ::onnx::NodeProto& node, std::int64_t opset,
                             const std::vector<OnnxValue>& inputs) {
  auto outputs = fold_node(node, opset, inputs, folding_limits_);
  return outputs ? std::move(*outputs) : lowered(node, opset, inputs);
}

NodeId NodeImporter::constant(const OnnxValue& value) {
  if (const auto number = splat_value(*value.known)) {
    const auto id = graph_.make(Op::full, {Argument(value.type.shape), *number, value.type.dtype},
                                {graph_.unused_name("full"), "", -1});
    RECUT_CHECK(id.ok(), "a full of a known tensor's type");
    return *id;
  }
  const std::string key = fmt::format("{} {}", format(value.type), bytes_of(*value.known));
  const auto [it, fresh] = constants_.emplace(key, NodeId());
  if (!fresh) return it->second;
  it->second = graph_.add_constant(value.type, {graph_.unused_name("constant"), "", -1});
  tensors_.emplace(it->second, *value.known);
  return it->second;
}

// The name in the outermost graph: a branch's result is called as its node's.
void NodeImporter::name_output(NodeId id, const std::string& name) {
  const auto [it, fresh] = names_.emplace(id, std::pair(depth_, name));
  if (!fresh && depth_ < it->second.first) it->second = {depth_, name};
}

std::string NodeImporter::name_of(NodeId id) const {
  const auto it = names_.find(id);
  return it == names_.end() ? "" : it->second.second;
}

void NodeImporter::count_bytes(const OnnxValue& value) {
  if (!value.node.valid() && !value.known) return;
  total_bytes_ += byte_size(value.type);
  if (total_bytes_ > kMaxTotalBytes)
    throw ImportError{"the values of the model are too large to be counted together"};
}

void NodeImporter::check_node_count() const {
  if (static_cast<std::int64_t>(graph_.order().size()) > options_.max_nodes)
    throw ImportError{
        fmt::format("with it the graph has more than {} nodes, the most that are read",
                    format_count(options_.max_nodes))};
}

}  // namespace recut::onnx
