#include "engine/workspace/torchscript.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "engine/ir/call.h"
#include "engine/ir/node_diagnostic.h"

namespace recut {
namespace {

// A dtype's name in types, and its number as an argument (c10::ScalarType).
struct ScriptDType {
  DType dtype;
  std::string_view name;
  int number;
};
constexpr ScriptDType kScriptDTypes[] = {
    {DType::u8, "Byte", 0},          {DType::i8, "Char", 1},
    {DType::i16, "Short", 2},        {DType::i32, "Int", 3},
    {DType::i64, "Long", 4},         {DType::f16, "Half", 5},
    {DType::f32, "Float", 6},        {DType::f64, "Double", 7},
    {DType::c64, "ComplexFloat", 9}, {DType::c128, "ComplexDouble", 10},
    {DType::boolean, "Bool", 11},    {DType::bf16, "BFloat16", 15}};

const ScriptDType* script_dtype(DType dtype) {
  const auto* const it = std::find_if(std::begin(kScriptDTypes), std::end(kScriptDTypes),
                                      [&](const ScriptDType& one) { return one.dtype == dtype; });
  return it == std::end(kScriptDTypes) ? nullptr : it;
}

// Words that TorchScript's lexer takes for itself.
constexpr std::string_view kReserved[] = {
    "False",    "None",     "True",   "and",    "as",     "assert", "break",  "class",
    "continue", "def",      "del",    "delete", "elif",   "else",   "except", "finally",
    "for",      "from",     "global", "if",     "import", "in",     "inline", "is",
    "lambda",   "nonlocal", "not",    "or",     "pass",   "print",  "raise",  "return",
    "try",      "while",    "with",   "yield",  "async",  "await"};

std::string script_type(const TensorType& type) {
  const ScriptDType* const dtype = script_dtype(type.dtype);
  if (dtype == nullptr) return "Tensor";
  if (type.shape.empty()) return fmt::format("{}()", dtype->name);
  return fmt::format("{}({}, strides=[{}])", dtype->name, fmt::join(type.shape, ", "),
                     fmt::join(type.strides, ", "));
}

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
      outputs = {made(fmt::format("({})", fmt::join(output_types(), ", ")), "prim::TupleConstruct",
                      outputs)};
    return fmt::format("graph({}):\n{}  return ({})\n", fmt::join(inputs_, ",\n      "), body_,
                       fmt::join(outputs, ", "));
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

  std::string new_name(const std::string& text) {
    std::string base;
    for (const char c : text) base += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
    const bool digit = base.empty() || std::isdigit(static_cast<unsigned char>(base[0])) != 0;
    if (digit) base = "v" + base;
    if (std::find(std::begin(kReserved), std::end(kReserved), base) != std::end(kReserved))
      base += "_";
    std::string name = base;
    for (int i = 1; !taken_.insert(name).second; ++i) name = fmt::format("{}_{}", base, i);
    return name;
  }

  std::string name_of(NodeId id) {
    std::string& name = names_[id];
    if (name.empty()) name = new_name(graph_.node_name(id));
    return "%" + name;
  }

  std::string output(NodeId id) { return id.valid() ? name_of(id) : none(); }

  // A constant of a type, written before its first use.
  std::string constant(const std::string& type, const std::string& attribute) {
    const auto [it, is_new] = constants_.try_emplace({type, attribute});
    if (is_new) {
      it->second = fmt::format("%{}", ++numbered_);
      const std::string written = attribute.empty() ? "" : fmt::format("[value={}]", attribute);
      body_ += fmt::format("  {} : {} = prim::Constant{}()\n", it->second, type, written);
    }
    return it->second;
  }

  std::string none() { return constant("NoneType", ""); }
  std::string integer(std::int64_t number) { return constant("int", fmt::format("{}", number)); }
  std::string boolean(bool truth) { return constant("bool", truth ? "1" : "0"); }
  std::string text(const std::string& type, std::string_view value) {
    std::string quoted;
    for (const char c : value)
      quoted += c == '"' || c == '\\' ? fmt::format("\\{}", c) : std::string(1, c);
    return constant(type, fmt::format("\"{}\"", quoted));
  }

  // The reader has no literal for an infinity or a NaN; both come from texts, as in Python.
  std::string real(double number) {
    if (!std::isfinite(number)) {
      const std::string operand = text("str", std::isnan(number) ? "nan"
                                              : number > 0       ? "inf"
                                                                 : "-inf");
      return made("float", "aten::Float", {operand});
    }
    std::string digits = fmt::format("{}", number);
    if (digits.find_first_of(".e") == std::string::npos) digits += ".0";
    return constant("float", digits);
  }

  // An unnamed call.
  std::string made(const std::string& type, const std::string& op,
                   const std::vector<std::string>& operands) {
    std::string name = fmt::format("%{}", ++numbered_);
    body_ += fmt::format("  {} : {} = {}({})\n", name, type, op, fmt::join(operands, ", "));
    return name;
  }

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
    return made(item_type(parameter) + "[]", "prim::ListConstruct", operands);
  }

  std::string number(const Parameter& parameter, const Argument& argument) {
    const auto* const truth = argument.get<bool>();
    if (truth != nullptr && parameter.kind == ParameterKind::boolean) return boolean(*truth);
    const std::optional<Scalar> scalar = Scalar::from(argument);
    const bool is_real = parameter.kind == ParameterKind::real || scalar->category == DType::f64;
    return is_real ? real(scalar->real) : integer(scalar->integer);
  }

  std::string single(NodeId id, const Parameter& parameter, const Argument& argument) {
    if (const auto* const node = argument.get<NodeId>()) return name_of(*node);
    if (const auto* const items = argument.get<ArgumentList>()) return list(id, parameter, *items);
    if (const auto* const dtype = argument.get<DType>()) {
      if (const ScriptDType* const known = script_dtype(*dtype)) return integer(known->number);
      fail(id, fmt::format("TorchScript has no dtype {}", short_name(*dtype)));
      return none();
    }
    if (const auto* const words = argument.get<std::string>()) {
      if (const auto known = script_number(parameter.name, *words)) return integer(*known);
      return text(parameter.name == "device" ? "Device" : "str", *words);
    }
    return Scalar::from(argument) ? number(parameter, argument) : none();
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
    return made("Tensor", "aten::scalar_tensor",
                {value, integer(script_dtype(made_in)->number), none(), none(), none()});
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
      return creates ? single(id, parameter, Argument(graph_.type(id).dtype)) : none();
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
    if (graph_[id].op == Op::prims_convert_element_type || converts_only(id))
      return add_conversion(id);
    if (graph_[id].op == Op::prims_iota) return add_range(id);
    if (is_external(op.op) || op.target.substr(0, 5) != "aten.")
      return fail(id, fmt::format("TorchScript has no form for operator '{}'", op.target));
    std::vector<std::string> operands;
    for (std::size_t i = 0; i < op.parameters.size(); ++i)
      if (!(op.is(kImpure) && op.parameters[i].name == "draw")) operands.push_back(operand(id, i));
    write_call(id, fmt::format("aten::{}", op.packet), operands);
  }

  // True of a copy that changes nothing but the dtype.
  bool converts_only(NodeId id) const {
    const Node& node = graph_[id];
    if (node.op != Op::_to_copy || !node.arguments[1].get<DType>()) return false;
    return std::all_of(node.arguments.begin() + 2, node.arguments.end(), [](const Argument& a) {
      return a.absent() || a.none() || (a.get<bool>() != nullptr && !*a.get<bool>());
    });
  }

  void add_conversion(NodeId id) {
    const std::string x = operand(id, 0), dtype = operand(id, 1);
    const std::string no = boolean(false);
    write_call(id, "aten::to", {x, dtype, no, no, none()});
  }

  // start, start + step, …: as many numbers as the end allows.
  void add_range(NodeId id) {
    const Call::TypesOf types = [&](NodeId node) { return graph_.pool().types_of(node); };
    const Call call(graph_.op(id), graph_[id].arguments, types);
    const std::int64_t start = call.integer("start"), step = call.integer("step");
    const std::string first = integer(start);
    const std::string end = integer(start + step * call.integer("length"));
    const std::string by = integer(step);
    write_call(id, "aten::arange",
               {first, end, by, operand(id, 3), none(), operand(id, 4), none()});
  }

  void write_call(NodeId id, const std::string& op, const std::vector<std::string>& operands) {
    const Operator& row = graph_.op(id);
    std::vector<std::string> made_values;
    if (row.returns_list)
      made_values.push_back(fmt::format("{} : Tensor[]", name_of(id)));
    else if (!row.multiple_outputs())
      made_values.push_back(fmt::format("{} : {}", name_of(id), script_type(graph_.type(id))));
    else
      for (std::size_t i = 0; i < graph_[id].outputs.size(); ++i)
        made_values.push_back(
            fmt::format("{} : {}", part_name(id, i), script_type(graph_[id].outputs[i])));
    body_ +=
        fmt::format("  {} = {}({})\n", fmt::join(made_values, ", "), op, fmt::join(operands, ", "));
  }

  // The name of an output of a call that has several: that of the getitem that reads it, if any.
  std::string part_name(NodeId id, std::size_t output) {
    for (const NodeId reader : graph_.order())
      if (graph_[reader].op == Op::getitem && *graph_[reader].arguments[0].get<NodeId>() == id &&
          *graph_[reader].arguments[1].get<std::int64_t>() == static_cast<std::int64_t>(output))
        return name_of(reader);
    return "%" + new_name(fmt::format("{}_{}", graph_.node_name(id), output));
  }

  // Outputs of a call have their names already; items of a list are read from it.
  void add_part(NodeId id) {
    const NodeId from = *graph_[id].arguments[0].get<NodeId>();
    if (!graph_.op(from).returns_list) return;
    const std::string position = integer(*graph_[id].arguments[1].get<std::int64_t>());
    write_call(id, "aten::__getitem__", {name_of(from), position});
  }

  const Graph& graph_;
  Diagnostics faults_;
  std::vector<std::string> inputs_;
  std::string body_;
  int numbered_ = 0;
  std::map<NodeId, std::string> names_;
  std::set<std::string> taken_;
  std::map<std::pair<std::string, std::string>, std::string> constants_;
};

}  // namespace

Result<std::string> torchscript(const Graph& graph) { return TorchScriptWriter(graph).write(); }

}  // namespace recut
