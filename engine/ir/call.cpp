// Typed access to arguments, and their check against ATen schemas (call.h). Getters are total after
// check_arguments: a parameter of a wrong kind is reported there, once, and never reaches a shape
// rule or kernel. infer_types runs the argument check, the shape rule and the size check, in this
// order.
#include "engine/ir/call.h"

#include <fmt/core.h>

#include <cmath>

namespace recut {

std::optional<Scalar> Scalar::from(const Argument& argument) {
  if (const auto* b = argument.get<bool>())
    return Scalar{DType::boolean, *b ? 1.0 : 0.0, *b ? 1 : 0};
  if (const auto* i = argument.get<std::int64_t>())
    return Scalar{DType::i64, static_cast<double>(*i), *i};
  if (const auto* d = argument.get<double>())
    return Scalar{DType::f64, *d, std::abs(*d) < 9e18 ? static_cast<std::int64_t>(*d) : 0};
  return std::nullopt;
}

std::size_t Call::index_of(std::string_view parameter) const {
  const auto index = op_.parameter(parameter);
  RECUT_CHECK(index.has_value(),
              "a rule or kernel asks for a parameter that the operator's schema lacks");
  return *index;
}

const Argument& Call::argument(std::size_t parameter) const {
  const Argument& given = arguments_[parameter];
  return given.absent() ? op_.parameters[parameter].default_value : given;
}

const Argument& Call::argument(std::string_view parameter) const {
  return argument(index_of(parameter));
}

bool Call::given(std::string_view parameter) const {
  const Argument& a = argument(parameter);
  return !a.absent() && !a.none();
}

std::optional<std::int64_t> Call::maybe_integer(std::string_view parameter) const {
  const auto scalar = Scalar::from(argument(parameter));
  if (!scalar) return std::nullopt;
  return scalar->integer;
}

std::int64_t Call::integer(std::string_view parameter) const {
  return maybe_integer(parameter).value_or(0);
}

std::vector<std::int64_t> Call::integers(std::string_view parameter) const {
  const Argument& a = argument(parameter);
  std::vector<std::int64_t> values;
  if (const auto* list = a.get<ArgumentList>()) {
    for (const Argument& item : *list)
      values.push_back(Scalar::from(item).value_or(Scalar{}).integer);
  } else if (const auto scalar = Scalar::from(a)) {
    values.push_back(scalar->integer);
  }
  return values;
}

double Call::real(std::string_view parameter) const {
  return Scalar::from(argument(parameter)).value_or(Scalar{}).real;
}

bool Call::boolean(std::string_view parameter) const { return integer(parameter) != 0; }

std::vector<bool> Call::booleans(std::string_view parameter) const {
  std::vector<bool> values;
  for (const std::int64_t i : integers(parameter)) values.push_back(i != 0);
  return values;
}

std::optional<DType> Call::maybe_dtype(std::string_view parameter) const {
  const auto* dtype = argument(parameter).get<DType>();
  return dtype ? std::optional(*dtype) : std::nullopt;
}

std::string_view Call::text(std::string_view parameter) const {
  const auto* text = argument(parameter).get<std::string>();
  return text ? std::string_view(*text) : std::string_view();
}

std::optional<Scalar> Call::maybe_scalar(std::string_view parameter) const {
  return Scalar::from(argument(parameter));
}

Scalar Call::scalar(std::string_view parameter) const {
  return maybe_scalar(parameter).value_or(Scalar{});
}

NodeId Call::node(std::string_view parameter) const {
  const auto* id = argument(parameter).get<NodeId>();
  return id ? *id : NodeId();
}

std::vector<NodeId> Call::nodes(std::string_view parameter) const {
  std::vector<NodeId> ids;
  const Argument& a = argument(parameter);
  if (const auto* list = a.get<ArgumentList>()) {
    for (const Argument& item : *list) {
      const auto* id = item.get<NodeId>();
      ids.push_back(id ? *id : NodeId());
    }
  } else if (const auto* id = a.get<NodeId>()) {
    ids.push_back(*id);
  }
  return ids;
}

const TensorType& Call::tensor(NodeId id) const { return types_of_(id).front(); }

const TensorType& Call::tensor(std::string_view parameter) const {
  const NodeId id = node(parameter);
  RECUT_CHECK(id.valid(), "a rule or kernel reads a tensor that was not given");
  return tensor(id);
}

namespace {

std::string_view describe(const Argument& a) {
  static constexpr std::string_view kNames[] = {"nothing", "None",     "a tensor",
                                                "a bool",  "an int",   "a float",
                                                "a dtype", "a string", "a list"};
  return kNames[a.value.index()];
}

std::string describe(const Parameter& p) {
  static constexpr std::string_view kNames[] = {"a tensor", "an int",  "a float",  "a number",
                                                "a bool",   "a dtype", "a string", "anything"};
  const std::string_view one = kNames[static_cast<std::size_t>(p.kind)];
  return fmt::format("{}{}{}", p.list ? "a list of: " : "", one, p.optional ? " or None" : "");
}

// ATen wraps a number given for a tensor; graphs have that in element-wise operators, and only
// their rules are ready for it. Only getitem reads a node of several outputs.
bool fits_tensor(const Operator& op, const Argument& a, const Call::TypesOf& types_of) {
  const auto* id = a.get<NodeId>();
  if (id == nullptr) return Scalar::from(a).has_value() && op.is(kPointwise);
  const auto types = types_of(*id);
  if (op.op == Op::getitem) return !types.empty();
  return types.size() == 1 && types.front().exists();
}

bool fits_one(const Operator& op, const Parameter& p, const Argument& a,
              const Call::TypesOf& types_of) {
  const bool number = Scalar::from(a).has_value();
  switch (p.kind) {
    case ParameterKind::tensor:
      return !(p.list && number) && fits_tensor(op, a, types_of);
    case ParameterKind::integer:
      return a.get<std::int64_t>() != nullptr || a.get<bool>() != nullptr;
    case ParameterKind::real:
    case ParameterKind::scalar:
      return number;
    case ParameterKind::boolean:
      return a.get<bool>() != nullptr || a.get<std::int64_t>() != nullptr;
    case ParameterKind::dtype:
      return a.get<DType>() != nullptr;
    case ParameterKind::text:
      return a.get<std::string>() != nullptr;
    case ParameterKind::any:
      return true;
  }
  return false;
}

bool fits(const Operator& op, const Parameter& p, const Argument& a,
          const Call::TypesOf& types_of) {
  if (a.absent()) return p.has_default;
  if (a.none()) return p.optional;
  if (p.kind == ParameterKind::any) return true;
  const auto* list = a.get<ArgumentList>();
  if (!p.list) return list == nullptr && fits_one(op, p, a, types_of);
  if (list == nullptr)
    return p.kind != ParameterKind::tensor &&
           fits_one(op, p, a, types_of);  // int[1] dim given one int
  for (const Argument& item : *list)
    if (!(p.optional_items && item.none()) && !fits_one(op, p, item, types_of)) return false;
  return true;
}

}  // namespace

Diagnostics check_arguments(const Operator& op, std::span<const Argument> arguments,
                            const Call::TypesOf& types_of) {
  if (arguments.size() != op.parameters.size())
    return {error(fmt::format("{} takes {} arguments, found {}", op.name, op.parameters.size(),
                              arguments.size()))};
  Diagnostics found;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Parameter& p = op.parameters[i];
    if (!fits(op, p, arguments[i], types_of))
      found.push_back(error(fmt::format("argument '{}' of {} is {}, expected {}", p.name, op.name,
                                        describe(arguments[i]), describe(p))));
  }
  return found;
}

Result<std::vector<TensorType>> infer_types(const Operator& op, std::span<const Argument> arguments,
                                            const Call::TypesOf& types_of) {
  Diagnostics wrong = check_arguments(op, arguments, types_of);
  if (!wrong.empty()) return wrong;
  return infer_checked_types(op, arguments, types_of);
}

Result<std::vector<TensorType>> infer_checked_types(const Operator& op,
                                                    std::span<const Argument> arguments,
                                                    const Call::TypesOf& types_of) {
  auto types = op.rule(Call(op, arguments, types_of));
  if (!types) return error(fmt::format("{}: {}", op.name, types.diagnostics().front().message));
  for (const TensorType& type : *types) {
    const auto sound = check_size(type);
    if (!sound) return error(fmt::format("{}: {}", op.name, sound.diagnostics().front().message));
  }
  return types;
}

DType first_dtype(std::span<const Argument> arguments, std::span<const TensorType> outputs,
                  const Call::TypesOf& types_of, bool (*chosen)(DType)) {
  DType found = DType::none;
  const auto look = [&](std::span<const TensorType> types) {
    for (const TensorType& type : types)
      if (type.exists() && found == DType::none && chosen(type.dtype)) found = type.dtype;
  };
  for (const Argument& argument : arguments)
    for_each_node(argument, [&](NodeId id) { look(types_of(id)); });
  look(outputs);
  return found;
}

DType dtype_without_arithmetic(std::span<const Argument> arguments,
                               std::span<const TensorType> outputs, const Call::TypesOf& types_of) {
  return first_dtype(arguments, outputs, types_of,
                     [](DType dtype) { return !has_arithmetic(dtype); });
}

}  // namespace recut
