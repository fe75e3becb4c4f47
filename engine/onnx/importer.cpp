// Imports an ONNX graph node by node in the file's order, which the format requires to be
// topological. Constants are folded with the interpreter before they reach the graph, so that shape
// computations (Shape, Gather, Concat) vanish and every shape is static; a budget bounds time and
// memory. Weights are never folded: they are trained. Errors inside a lowering are exceptions
// (ImportError), caught here and reported with the node.
#include "engine/onnx/importer.h"

#include <fmt/core.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "engine/eval/inputs.h"
#include "engine/ir/data_flow.h"
#include "engine/onnx/constant_folding.h"
#include "engine/onnx/older_forms.h"
#include "engine/support/text.h"
#include "engine/support/units.h"

namespace recut::onnx {
namespace {

// Limit for the sum of all value sizes; sums then fit into 64 bits.
constexpr std::int64_t kMaxTotalBytes = std::int64_t{1} << 60;

class Importer {
 public:
  Importer(const ::onnx::GraphProto& model, std::int64_t opset, const Options& options)
      : model_(model),
        opset_(opset),
        options_(options),
        folding_limits_{options.folded_bytes, options.folding_work} {}

  // The first node that can't be lowered ends the import: later errors would only be consequences.
  Result<GraphFile> run() {
    graph_.name = model_.name();
    read_initializers();
    read_inputs();
    if (!faults_.empty()) return faults_;
    for (int i = 0; i < model_.node_size(); ++i) {
      const auto& node = model_.node(i);
      try {
        add(node);
      } catch (const ImportError& failure) {
        return error(fmt::format("{} ({}, {}): {}", describe_node(node), node.op_type(),
                                 position_text(model_, i), failure.message));
      }
    }
    read_outputs();
    if (!faults_.empty()) return faults_;
    return finish();
  }

 private:
  void report_error(std::string message) { faults_.push_back(error(std::move(message))); }

  // Running statistics are constants, not parameters: they have no gradients.
  std::set<std::string> statistics() const {
    std::set<std::string> names;
    for (const auto& node : model_.node())
      if (node.op_type() == "BatchNormalization")
        for (int i = 3; i < std::min(node.input_size(), 5); ++i) names.insert(node.input(i));
    return names;
  }

  void read_initializers() {
    const std::set<std::string> untrained = statistics();
    for (const auto& proto : model_.initializer()) {
      try {
        OnnxValue value = Lowering::known_value(tensor_of(proto));
        value.weight = is_floating(value.type.dtype) && value.type.rank() > 0;
        if (value.weight) add_weight(proto.name(), value, untrained.count(proto.name()) == 0);
        if (!values_.emplace(proto.name(), std::move(value)).second)
          report_error(fmt::format("initializer {} stands twice", quote(proto.name())));
      } catch (const ImportError& failure) {
        report_error(failure.message);
      }
    }
  }

  void add_weight(const std::string& name, OnnxValue& value, bool trained) {
    if (graph_.find(name).valid() || name.empty()) return;
    const Origin origin{name, "", -1};
    value.node = trained ? graph_.add_input(InputKind::parameter, value.type, origin)
                         : graph_.add_constant(value.type, origin);
    tensors_.emplace(value.node, *value.known);
  }

  void read_inputs() {
    for (const auto& input : model_.input()) {
      if (values_.count(input.name()) != 0) continue;  // an initializer that may be replaced
      try {
        const TensorType type = input_type(input);
        const NodeId id = graph_.add_input(InputKind::input, type, {input.name(), "", -1});
        values_.emplace(input.name(), OnnxValue{id, std::nullopt, false, type});
      } catch (const ImportError& failure) {
        report_error(fmt::format("input {}: {}", quote(input.name()), failure.message));
      }
    }
    for (const auto& [name, size] : options_.dimensions)
      if (used_dimensions_.count(name) == 0)
        report_error(
            fmt::format("no dimension that the model leaves open is called {}", quote(name)));
  }

  TensorType input_type(const ::onnx::ValueInfoProto& input) {
    if (input.name().empty()) throw ImportError{"it has no name"};
    if (!input.type().has_tensor_type()) throw ImportError{"it is no tensor"};
    const auto& proto = input.type().tensor_type();
    TensorType type = make_type(dtype_of(proto.elem_type(), "it"), {});
    if (!proto.has_shape()) throw ImportError{"it has no shape: static shapes only"};
    if (proto.shape().dim_size() > 64) throw ImportError{"it has more than 64 dimensions"};
    for (int i = 0; i < proto.shape().dim_size(); ++i) type.shape.push_back(dimension(input, i));
    if (const auto sound = check_size(type); !sound)
      throw ImportError{sound.diagnostics().front().message};
    type.strides = contiguous_strides(type.shape);
    return type;
  }

  std::int64_t dimension(const ::onnx::ValueInfoProto& input, int index) {
    const std::string name = open_name(input, index);
    if (name.empty()) return input.type().tensor_type().shape().dim(index).dim_value();
    used_dimensions_.insert(name);
    if (const auto given = options_.dimensions.find(name); given != options_.dimensions.end())
      return given->second;
    throw ImportError{fmt::format(
        "dimension {} ({}) is not fixed: static shapes only, expected --dim {}=N to fix it", index,
        quote(name), name)};
  }

  void add(const ::onnx::NodeProto& node) {
    std::vector<OnnxValue> inputs;
    for (const std::string& name : node.input())
      inputs.push_back(name.empty() ? OnnxValue() : find(name));
    inputs = newest_inputs(node, opset_, std::move(inputs));
    Lowered outputs = foldable(inputs) ? folded(node, inputs) : lowered(node, std::move(inputs));
    if (static_cast<std::int64_t>(graph_.order().size()) > options_.max_nodes)
      throw ImportError{
          fmt::format("with it the graph has more than {} nodes, the most that are read",
                      format_count(options_.max_nodes))};
    if (outputs.size() < static_cast<std::size_t>(node.output_size()))
      for (auto i = static_cast<int>(outputs.size()); i < node.output_size(); ++i)
        if (!node.output(i).empty())
          throw ImportError{fmt::format("output {} is asked for, which Recut doesn't compute", i)};
    for (int i = 0; i < node.output_size(); ++i) {
      if (node.output(i).empty()) continue;
      const OnnxValue& value = outputs[static_cast<std::size_t>(i)];
      count_bytes(value.type);
      if (value.node.valid()) names_.emplace(value.node, node.output(i));
      if (!values_.emplace(node.output(i), value).second)
        throw ImportError{fmt::format("its output {} exists already", quote(node.output(i)))};
    }
  }

  OnnxValue find(const std::string& name) const {
    const auto it = values_.find(name);
    if (it != values_.end()) return it->second;
    throw ImportError{fmt::format("its input {} is nothing that stands before it", quote(name))};
  }

  void count_bytes(const TensorType& type) {
    total_bytes_ += byte_size(type);
    if (total_bytes_ > kMaxTotalBytes)
      throw ImportError{"the values of the model are too large to be counted together"};
  }

  // True if all inputs are constants: the node can be folded.
  static bool foldable(const std::vector<OnnxValue>& inputs) {
    bool any = false;
    for (const OnnxValue& value : inputs) {
      if (value.weight || (value.node.valid() && !value.known)) return false;
      any = any || value.known.has_value();
    }
    return any;
  }

  Lowered lowered(const ::onnx::NodeProto& node, std::vector<OnnxValue> inputs) {
    Lowering lowering(node, graph_, std::move(inputs),
                      [this](const OnnxValue& value) { return constant(value); });
    return find_lowering(node.op_type(), opset_)(lowering);
  }

  // Constant folding by the interpreter; if the result would be too large, the node stays in the
  // graph.
  Lowered folded(const ::onnx::NodeProto& node, const std::vector<OnnxValue>& inputs) {
    auto outputs = fold_node(node, opset_, inputs, folding_limits_);
    return outputs ? std::move(*outputs) : lowered(node, inputs);
  }

  // A splat becomes `full`; any other tensor becomes a constant of the graph.
  NodeId constant(const OnnxValue& value) {
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

  void read_outputs() {
    for (const auto& output : model_.output()) {
      const auto it = values_.find(output.name());
      if (it == values_.end()) {
        report_error(
            fmt::format("output {} is nothing that the model computes", quote(output.name())));
        continue;
      }
      OnnxValue& value = it->second;
      if (!value.node.valid()) value.node = constant(value);
      graph_.results.push_back(value.node);
    }
    if (model_.output_size() == 0) report_error("the model has no outputs");
  }

  // Puts inputs and weights first, and drops dead nodes.
  Result<GraphFile> finish() {
    const std::vector<bool> needed = needed_nodes(graph_, graph_.results);
    const auto origin = [&](NodeId id) {
      Origin named = graph_.origin(id);
      const auto it = names_.find(id);
      if (it != names_.end() && !graph_.op(id).is(kInput)) named.name = it->second;
      return named;
    };
    GraphFile file;
    file.graph = graph_.empty_like();
    for (const bool calls : {false, true})
      for (const NodeId id : graph_.order()) {
        const bool input = graph_[id].op == Op::placeholder;
        const bool parameter = input && graph_.input_kind(id) == InputKind::parameter;
        if (graph_.op(id).is(kInput) == calls) continue;
        if (!needed[graph_.position(id)] && (!input || parameter)) continue;
        if (input)
          file.graph.add_input(graph_.input_kind(id), graph_.type(id), graph_.origin(id));
        else
          file.graph.append(graph_[id].op, graph_[id].arguments, graph_[id].outputs, origin(id));
      }
    file.graph.results = graph_.results;
    file.model = model_.name();
    keep_tensors(file);
    return file;
  }

  void keep_tensors(GraphFile& file) {
    auto storage = std::make_shared<std::deque<Tensor>>();
    for (const NodeId id : file.graph.order()) {
      const auto it = tensors_.find(id);
      if (it == tensors_.end()) continue;
      const Tensor& tensor = storage->emplace_back(it->second);
      const auto* bytes = reinterpret_cast<const char*>(tensor.storage->data());
      file.tensors.push_back(
          {"in." + file.graph.node_name(id),
           tensor.dtype,
           tensor.shape,
           {bytes, static_cast<std::size_t>(tensor.count() * item_bytes(tensor.dtype))}});
    }
    file.storage = std::move(storage);
  }

  const ::onnx::GraphProto& model_;
  const std::int64_t opset_;
  const Options& options_;
  FoldingLimits folding_limits_;
  Graph graph_;
  std::map<std::string, OnnxValue> values_;
  std::map<NodeId, Tensor> tensors_;         // of weights and constants
  std::map<NodeId, std::string> names_;      // the model's names of node outputs
  std::map<std::string, NodeId> constants_;  // by type and bytes
  std::set<std::string> used_dimensions_;
  std::int64_t total_bytes_ = 0;
  Diagnostics faults_;
};

}  // namespace

std::string describe_node(const ::onnx::NodeProto& node) {
  if (!node.name().empty()) return fmt::format("node {}", quote(node.name()));
  if (node.output_size() > 0) return fmt::format("the node of {}", quote(node.output(0)));
  return "a node without a name";
}

std::string position_text(const ::onnx::GraphProto& model, int node) {
  return fmt::format("{} of {}", node + 1, model.node_size());
}

std::string open_name(const ::onnx::ValueInfoProto& input, int dimension) {
  const auto& proto = input.type().tensor_type().shape().dim(dimension);
  if (proto.has_dim_value()) return {};
  return proto.dim_param().empty() ? fmt::format("{}.{}", input.name(), dimension)
                                   : proto.dim_param();
}

Result<GraphFile> import_graph(const ::onnx::GraphProto& model, std::int64_t opset,
                               const Options& options) {
  return Importer(model, opset, options).run();
}

}  // namespace recut::onnx
