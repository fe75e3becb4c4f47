#include "engine/workspace/torchscript.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "engine/ir/call.h"
#include "engine/ir/node_diagnostic.h"
#include "engine/workspace/torchscript_body.h"
#include "engine/workspace/torchscript_prims.h"

namespace recut {
namespace {

// The number that TorchScript has for a memory format or a layout; the text itself otherwise.
std::optional<int> script_number(std::string_view parameter, std::string_view text) {
  if (parameter == "layout") return text == "strided" ? std::optional(0) : std::nullopt;
  constexpr std::string_view kFormats[] = {"contiguous_format", "preserve_format", "channels_last",
                                           "channels_last_3d"};
  const auto* const it = std::find(std::begin(kFormats), std::end(kFormats), text);
  if (parameter != "memory_format" || it == std::end(kFormats)) return std::nullopt;
  return static_cast<int>(it - std::begin(kFormats));
}

// True if an overload of the operator takes a number for the parameter at this position.
bool takes_number(const Operator& op, std::size_t parameter) {
  const auto& rows = all_operators();
  return std::any_of(rows.begin(), rows.end(), [&](const Operator& row) {
    return row.packet == op.packet && row.parameters.size() == op.parameters.size() &&
           row.parameters[parameter].kind == ParameterKind::scalar;
  });
}

class TorchScriptWriter {
 public:
  explicit TorchScriptWriter(const Graph& graph) : graph_(graph) {}

  Result<std::string> write() {
    for (const NodeId id : graph_.order())
      if (graph_.op(id).is(kInput)) add_input(id);
    for (const NodeId id : graph_.order())
      if (!graph_.op(id).is(kInput)) add_call(id);
    std::vector<std::string> outputs;
    for (const NodeId id : graph_.results) outputs.push_back(output(id));
    for (const NodeId id : graph_.gradients) outputs.push_back(output(id));
    if (!faults_.empty()) return faults_;
    // A function of TorchScript has one output.
    if (outputs.size() != 1)
      outputs = {body_.made(fmt::format("({})", fmt::join(output_types(), ", ")),
                            "prim::TupleConstruct", outputs)};
    return fmt::format("graph({}):\n{}  return ({})\n", fmt::join(inputs_, ",\n      "),
                       body_.lines(), fmt::join(outputs, ", "));
  }

 private:
  void fail(NodeId id, std::string message) {
    faults_.push_back(node_diagnostic(graph_, id, std::move(message)));
  }

  std::vector<std::string> output_types() const {
    std::vector<std::string> types;
    for (const auto* ids : {&graph_.results, &graph_.gradients})
      for (const NodeId id : *ids)
        types.push_back(id.valid() ? script_type(graph_.type(id)) : "NoneType");
    return types;
  }

  // Names
  // ----------------------------------------------------------------------------------------------

  std::string name_of(NodeId id) {
    std::string& name = names_[id];
    if (name.empty()) name = body_.new_name(graph_.node_name(id));
    return "%" + name;
  }

  std::string output(NodeId id) { return id.valid() ? name_of(id) : body_.none(); }

  // Arguments
  // ----------------------------------------------------------------------------------------------

  std::string item_type(const Parameter& parameter) {
    switch (parameter.kind) {
      case ParameterKind::integer:
        return "int";
      case ParameterKind::real:
        return "float";
      case ParameterKind::boolean:
        return "bool";
      case ParameterKind::scalar:
        return "Scalar";
      default:
        return parameter.optional_items ? "Tensor?" : "Tensor";
    }
  }

  std::string list(NodeId id, const Parameter& parameter, const ArgumentList& items) {
    std::vector<std::string> operands;
    for (const Argument& item : items) operands.push_back(single(id, parameter, item));
    return body_.made(item_type(parameter) + "[]", "prim::ListConstruct", operands);
  }

  std::string number(const Parameter& parameter, const Argument& argument) {
    const auto* const truth = argument.get<bool>();
    if (truth != nullptr && parameter.kind == ParameterKind::boolean) return body_.boolean(*truth);
    const std::optional<Scalar> scalar = Scalar::from(argument);
    const bool is_real = parameter.kind == ParameterKind::real || scalar->category == DType::f64;
    return is_real ? body_.real(scalar->real) : body_.integer(scalar->integer);
  }

  std::string single(NodeId id, const Parameter& parameter, const Argument& argument) {
    if (const auto* const node = argument.get<NodeId>()) return name_of(*node);
    if (const auto* const items = argument.get<ArgumentList>()) return list(id, parameter, *items);
    if (const auto* const dtype = argument.get<DType>()) {
      if (const int known = script_dtype_number(*dtype); known >= 0) return body_.integer(known);
      fail(id, fmt::format("TorchScript has no dtype {}", short_name(*dtype)));
      return body_.none();
    }
    if (const auto* const words = argument.get<std::string>()) {
      if (const auto known = script_number(parameter.name, *words)) return body_.integer(*known);
      return body_.text(parameter.name == "device" ? "Device" : "str", *words);
    }
    return Scalar::from(argument) ? number(parameter, argument) : body_.none();
  }

  // A number for a tensor stays one where an overload takes numbers; else it becomes a tensor.
  std::string tensor(NodeId id, std::size_t position, const Argument& argument) {
    const Parameter& parameter = graph_.op(id).parameters[position];
    if (!Scalar::from(argument)) return single(id, parameter, argument);
    const std::string value = number(parameter, argument);
    if (takes_number(graph_.op(id), position)) return value;
    const bool is_real = Scalar::from(argument)->category == DType::f64;
    const DType dtype = !is_real ? DType::i64 : graph_.type(id).dtype;
    const DType made_in = is_real && !is_floating(dtype) ? DType::f32 : dtype;
    return body_.made("Tensor", "aten::scalar_tensor",
                      {value, body_.integer(script_dtype_number(made_in)), body_.none(),
                       body_.none(), body_.none()});
  }

  std::string operand(NodeId id, std::size_t position) {
    const Node& node = graph_[id];
    const Parameter& parameter = graph_.op(id).parameters[position];
    const Argument& given = node.arguments[position];
    const bool left_out = given.absent() && parameter.has_default;
    const Argument& argument = left_out ? parameter.default_value : given;
    if (argument.absent() || argument.none()) {
      // TorchScript would otherwise infer the dtype from the kind of a number.
      const bool creates = parameter.name == "dtype" && graph_.op(id).is(kCreation);
      return creates ? single(id, parameter, Argument(graph_.type(id).dtype)) : body_.none();
    }
    if (parameter.kind == ParameterKind::tensor && !parameter.list)
      return tensor(id, position, argument);
    if (parameter.list && argument.get<ArgumentList>() == nullptr)
      return list(id, parameter, {argument});
    return single(id, parameter, argument);
  }

  // Calls
  // ----------------------------------------------------------------------------------------------

  void add_input(NodeId id) {
    const std::string name = name_of(id);
    inputs_.push_back(fmt::format("{} : {}", name, script_type(graph_.type(id))));
  }

  void add_call(NodeId id) {
    const Operator& op = graph_.op(id);
    if (graph_[id].op == Op::getitem) return add_part(id);
    const ScriptCall call{graph_, id, [&](std::size_t i) { return operand(id, i); },
                          declared_values(id), body_};
    if (converts_only(id)) return write_conversion(call);
    if (const auto written = write_prims_call(call)) {
      if (!*written) fail(id, written->diagnostics().front().message);
      return;
    }
    if (is_external(op.op) || op.target.substr(0, 5) != "aten.")
      return fail(id, fmt::format("TorchScript has no form for operator '{}'", op.target));
    std::vector<std::string> operands;
    for (std::size_t i = 0; i < op.parameters.size(); ++i)
      if (!(op.is(kImpure) && op.parameters[i].name == "draw")) operands.push_back(operand(id, i));
    body_.add(call.values, fmt::format("aten::{}", op.packet), operands);
  }

  // True of a copy that changes nothing but the dtype.
  bool converts_only(NodeId id) const {
    const Node& node = graph_[id];
    if (node.op != Op::_to_copy || !node.arguments[1].get<DType>()) return false;
    return std::all_of(node.arguments.begin() + 2, node.arguments.end(), [](const Argument& a) {
      return a.absent() || a.none() || (a.get<bool>() != nullptr && !*a.get<bool>());
    });
  }

  // The values of a call with their types.
  std::vector<std::string> declared_values(NodeId id) {
    const Operator& row = graph_.op(id);
    if (row.returns_list) return {fmt::format("{} : Tensor[]", name_of(id))};
    if (!row.multiple_outputs())
      return {fmt::format("{} : {}", name_of(id), script_type(graph_.type(id)))};
    std::vector<std::string> values;
    for (std::size_t i = 0; i < graph_[id].outputs.size(); ++i)
      values.push_back(
          fmt::format("{} : {}", part_name(id, i), script_type(graph_[id].outputs[i])));
    return values;
  }

  // The name of an output of a call that has several: that of the getitem that reads it, if any.
  std::string part_name(NodeId id, std::size_t output) {
    for (const NodeId reader : graph_.order())
      if (graph_[reader].op == Op::getitem && *graph_[reader].arguments[0].get<NodeId>() == id &&
          *graph_[reader].arguments[1].get<std::int64_t>() == static_cast<std::int64_t>(output))
        return name_of(reader);
    return "%" + body_.new_name(fmt::format("{}_{}", graph_.node_name(id), output));
  }

  // Outputs of a call have their names already; items of a list are read from it.
  void add_part(NodeId id) {
    const NodeId from = *graph_[id].arguments[0].get<NodeId>();
    if (!graph_.op(from).returns_list) return;
    const std::string position = body_.integer(*graph_[id].arguments[1].get<std::int64_t>());
    body_.add(declared_values(id), "aten::__getitem__", {name_of(from), position});
  }

  const Graph& graph_;
  Diagnostics faults_;
  std::vector<std::string> inputs_;
  ScriptBody body_;
  std::map<NodeId, std::string> names_;
};

}  // namespace

Result<std::string> torchscript(const Graph& graph) { return TorchScriptWriter(graph).write(); }

}  // namespace recut
