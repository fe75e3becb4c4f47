// Imports an ONNX model as a forward graph: its initializers, its inputs, its nodes
// (node_importer.h) and its outputs. Errors inside are exceptions (ImportError), caught here.
#include "engine/onnx/importer.h"

#include <fmt/core.h>

#include <deque>
#include <set>

#include "engine/eval/inputs.h"
#include "engine/ir/data_flow.h"
#include "engine/onnx/node_importer.h"
#include "engine/support/text.h"

namespace recut::onnx {
namespace {

class Importer {
 public:
  Importer(const ::onnx::GraphProto& model, std::int64_t opset, const Options& options)
      : model_(model), options_(options), nodes_(model, opset, options) {}

  // The first node that can't be lowered ends the import: later errors would only be consequences.
  Result<GraphFile> run() {
    try {
      nodes_.read_initializers(model_, scope_);
      read_inputs();
      if (!faults_.empty()) return faults_;
      nodes_.import_nodes(model_, scope_);
    } catch (const ImportError& failure) {
      return error(failure.message);
    }
    read_outputs();
    if (!faults_.empty()) return faults_;
    return finish();
  }

 private:
  void report_error(std::string message) { faults_.push_back(error(std::move(message))); }

  void read_inputs() {
    for (const auto& input : model_.input()) {
      if (scope_.find(input.name()) != nullptr) continue;  // an initializer that may be replaced
      try {
        const TensorType type = input_type(input);
        if (add_fixed_input(input.name(), type)) continue;
        const NodeId id = nodes_.graph().add_input(InputKind::input, type, {input.name(), "", -1});
        scope_.add(input.name(), OnnxValue{id, std::nullopt, false, type, nullptr});
      } catch (const ImportError& failure) {
        report_error(fmt::format("input {}: {}", quote(input.name()), failure.message));
      }
    }
    for (const auto& [name, size] : options_.dimensions)
      if (used_dimensions_.count(name) == 0)
        report_error(fmt::format(
            "no dimension that the model leaves open is called {}, and no input that is "
            "one integer",
            quote(name)));
  }

  // An integer that the options give is a constant: conditions and shapes may depend on it.
  bool add_fixed_input(const std::string& name, const TensorType& type) {
    if (is_floating(type.dtype) || element_count(type.shape) != 1) return false;
    nodes_.add_fixable_input(name);
    const auto given = options_.dimensions.find(name);
    if (given == options_.dimensions.end()) return false;
    used_dimensions_.insert(name);
    Tensor tensor = allocate(type, nullptr);
    pack(Integers(type.shape, given->second), tensor);
    if (as_integers(tensor).front() != given->second)
      throw ImportError{fmt::format("{} is no value of {}", given->second, short_name(type.dtype))};
    scope_.add(name, Lowering::known_value(std::move(tensor)));
    return true;
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

  void read_outputs() {
    for (const auto& output : model_.output()) {
      const OnnxValue* value = scope_.find(output.name());
      if (value == nullptr)
        report_error(
            fmt::format("output {} is nothing that the model computes", quote(output.name())));
      else if (!value->node.valid() && !value->known)
        report_error(
            fmt::format("output {} is {}, expected a tensor", quote(output.name()),
                        value->items ? "a sequence" : "an optional value that is left out"));
      else
        nodes_.graph().results.push_back(value->node.valid() ? value->node
                                                             : nodes_.constant(*value));
    }
    if (model_.output_size() == 0) report_error("the model has no outputs");
  }

  // Puts inputs and weights first, and drops dead nodes.
  Result<GraphFile> finish() {
    const Graph& graph = nodes_.graph();
    const std::vector<bool> needed = needed_nodes(graph, graph.results);
    const auto origin = [&](NodeId id) {
      Origin named = graph.origin(id);
      std::string name = nodes_.name_of(id);
      if (!name.empty() && !graph.op(id).is(kInput)) named.name = std::move(name);
      return named;
    };
    GraphFile file;
    file.graph = graph.empty_like();
    for (const bool calls : {false, true})
      for (const NodeId id : graph.order()) {
        const bool input = graph[id].op == Op::placeholder;
        const bool parameter = input && graph.input_kind(id) == InputKind::parameter;
        if (graph.op(id).is(kInput) == calls) continue;
        if (!needed[graph.position(id)] && (!input || parameter)) continue;
        if (input)
          file.graph.add_input(graph.input_kind(id), graph.type(id), graph.origin(id));
        else
          file.graph.append(graph[id].op, graph[id].arguments, graph[id].outputs, origin(id));
      }
    file.graph.results = graph.results;
    file.model = model_.name();
    if (nodes_.open_conditions() > 0)
      file.printed_note =
          fmt::format("only a run shows the condition of {} If: both branches are computed",
                      nodes_.open_conditions());
    keep_tensors(file);
    return file;
  }

  void keep_tensors(GraphFile& file) {
    auto storage = std::make_shared<std::deque<Tensor>>();
    for (const NodeId id : file.graph.order()) {
      const auto it = nodes_.tensors().find(id);
      if (it == nodes_.tensors().end()) continue;
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
  const Options& options_;
  NodeImporter nodes_;
  Scope scope_;
  std::set<std::string> used_dimensions_;
  Diagnostics faults_;
};

}  // namespace

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
