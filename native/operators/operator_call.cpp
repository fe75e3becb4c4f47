#include "native/operators/operator_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include "engine/ir/builder.h"
#include "engine/ir/call.h"
#include "engine/support/text.h"
#include "engine/support/typo_correction.h"

namespace recut::operators {
namespace {

// The types of tensors, as Call asks for them. The tensors must outlive it.
Call::TypesOf types_of(const std::vector<TensorArgument>& tensors) {
  return [&tensors](NodeId id) { return std::span(&tensors[id.index].type, 1); };
}

// Calls that an operator's name may stand for: a namespace is a part of the target.
bool is_callable(const Operator& op) {
  return !op.is(kInput) && op.target.find('.') != std::string_view::npos;
}

std::string plain_name(std::string_view name) {
  std::string plain(name);
  if (const std::size_t colons = plain.find("::"); colons != std::string::npos)
    plain.replace(colons, 2, ".");
  constexpr std::string_view kTorch = "torch.ops.";
  if (plain.starts_with(kTorch)) plain.erase(0, kTorch.size());
  return plain;
}

bool is_composite(const Operator& op) { return op.rule == nullptr; }

// The operators that a name may mean, in the table's order: one, where it has an overload.
std::vector<const Operator*> overloads(const std::string& name) {
  if (const Operator* op = find_operator_by_target(name); op != nullptr && is_callable(*op))
    return {op};
  constexpr std::string_view kAten = "aten.";
  const std::string packet = name.starts_with(kAten) ? name.substr(kAten.size()) : name;
  std::vector<const Operator*> found;
  for (const Operator& op : all_operators())
    if (op.packet == packet && is_callable(op)) found.push_back(&op);
  if (found.empty())
    if (const Operator* op = find_operator_by_name(packet); op != nullptr && is_callable(*op))
      found.push_back(op);
  for (const std::string& target : {name, name + ".default"}) {
    if (!found.empty()) break;
    if (const Operator* op = find_operator_in_file(target); op != nullptr && is_callable(*op))
      found.push_back(op);
    else if (const CompositeOperator* composite = find_composite(target))
      found.push_back(&composite->row);
  }
  return found;
}

Diagnostic unknown_operator(std::string_view given, const std::string& name) {
  TypoCorrection near(name);
  for (const Operator& op : all_operators())
    if (is_callable(op)) {
      near.consider(op.target);
      near.consider(op.name, op.target);
      near.consider(op.packet, op.target);
      near.consider(op.target.substr(0, op.target.rfind('.')), op.target);
    }
  return error(fmt::format("there is no operator {}{}", quote(given), near.suggestion()));
}

// The arguments in the parameters' places.
Result<std::vector<Argument>> place(const Operator& op, const GivenArguments& given) {
  std::vector<Argument> arguments(op.parameters.size());
  if (given.positional.size() > arguments.size())
    return error(fmt::format("{} takes {} arguments, found {}", op.name, arguments.size(),
                             given.positional.size()));
  std::copy(given.positional.begin(), given.positional.end(), arguments.begin());
  for (const auto& [name, value] : given.named) {
    const auto position = op.parameter(name);
    if (!position) {
      TypoCorrection near(name);
      for (const Parameter& parameter : op.parameters) near.consider(parameter.name);
      return error(fmt::format("{} has no argument {}{}", op.name, quote(name), near.suggestion()));
    }
    if (!arguments[*position].absent())
      return error(fmt::format("argument '{}' of {} is given twice", name, op.name));
    arguments[*position] = value;
  }
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].absent() && op.parameters[i].has_default)
      arguments[i] = op.parameters[i].default_value;
  return arguments;
}

// True if a number is given for a tensor. Another overload may take the number itself.
bool numbers_for_tensors(const Operator& op, const std::vector<Argument>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (op.parameters[i].kind == ParameterKind::tensor && Scalar::from(arguments[i])) return true;
  return false;
}

struct Placed {
  const Operator* op = nullptr;
  std::vector<Argument> arguments;
};

// The arguments of that overload, checked but for sizes that depend on values.
Result<Placed> fit(const Operator& op, const GivenArguments& given) {
  auto arguments = place(op, given);
  if (!arguments) return arguments.diagnostics();
  const Call::TypesOf types = types_of(given.tensors);
  if (Diagnostics wrong = check_arguments(op, *arguments, types); !wrong.empty()) return wrong;
  const bool ruled = !is_composite(op) && !op.is(kDataDependent) &&
                     dtype_without_arithmetic(*arguments, {}, types) == DType::none;
  if (ruled)
    if (auto outputs = infer_checked_types(op, *arguments, types); !outputs)
      return outputs.diagnostics();
  return Placed{&op, std::move(*arguments)};
}

// The first overload that takes the arguments, preferably with tensors where it wants tensors.
Result<Placed> choose(std::string_view name, const std::vector<const Operator*>& candidates,
                      const GivenArguments& given) {
  Diagnostics wrong;
  std::optional<Placed> loose;
  for (const Operator* op : candidates) {
    auto placed = fit(*op, given);
    if (!placed) {
      wrong.push_back(placed.diagnostics().front());
    } else if (!numbers_for_tensors(*op, placed->arguments)) {
      return placed;
    } else if (!loose) {
      loose = std::move(*placed);
    }
  }
  if (loose) return std::move(*loose);
  if (candidates.size() > 1)
    wrong.insert(wrong.begin(),
                 error(fmt::format("no overload of {} takes these arguments", name)));
  return wrong;
}

// Names the tensors by the parameters that take them, in the parameters' order.
std::vector<TensorArgument> in_order(Placed& placed, std::vector<TensorArgument> tensors) {
  std::vector<TensorArgument> ordered;
  for (std::size_t i = 0; i < placed.arguments.size(); ++i) {
    const bool list = placed.arguments[i].get<ArgumentList>() != nullptr;
    std::size_t item = 0;
    for_each_node(placed.arguments[i], [&](NodeId& id) {
      const std::string name(placed.op->parameters[i].name);
      tensors[id.index].name = list ? fmt::format("{}_{}", name, item++) : name;
      ordered.push_back(std::move(tensors[id.index]));
      id = NodeId{static_cast<std::uint32_t>(ordered.size() - 1)};
    });
  }
  return ordered;
}

// Arguments that choose no value of a kernel here, by ATen's names of them.
std::string refused_argument(const Parameter& parameter, const Argument& argument) {
  if (argument.absent() || argument.none()) return "";
  const auto* text = argument.get<std::string>();
  const auto* flag = argument.get<bool>();
  if (parameter.name == "generator") return "generators are not compiled: a kernel takes a seed";
  if (parameter.name == "layout" && text != nullptr && *text != "strided" &&
      *text != "torch.strided")
    return "only strided layouts are compiled";
  if (parameter.name == "pin_memory" && flag != nullptr && *flag)
    return "memory is the caller's, who may pin it";
  if (parameter.name == "device" && text != nullptr && *text != "cpu")
    return fmt::format("kernels are compiled for the cpu alone, found {}", quote(*text));
  return "";
}

}  // namespace

Result<OperatorCall> resolve_call(std::string_view name, GivenArguments given) {
  const std::string plain = plain_name(name);
  const auto candidates = overloads(plain);
  if (candidates.empty()) return unknown_operator(name, plain);
  auto placed = choose(name, candidates, given);
  if (!placed) return placed.diagnostics();
  OperatorCall call;
  call.op = placed->op;
  call.composite = is_composite(*call.op) ? find_composite(call.op->target) : nullptr;
  call.tensors = in_order(*placed, std::move(given.tensors));
  call.arguments = std::move(placed->arguments);
  call.device = call.tensors.empty() ? "cpu" : call.tensors.front().type.device;
  return call;
}

Result<Done> check_compilable(const OperatorCall& call) {
  Diagnostics wrong;
  for (const TensorArgument& tensor : call.tensors) {
    if (tensor.type.device != "cpu")
      wrong.push_back(
          error(fmt::format("argument '{}' is on {}: kernels are compiled for the cpu "
                            "alone",
                            tensor.name, tensor.type.device)));
    if (!has_arithmetic(tensor.type.dtype))
      wrong.push_back(
          error(fmt::format("argument '{}' has the dtype {}, which kernels don't "
                            "compute with",
                            tensor.name, short_name(tensor.type.dtype))));
  }
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    const Parameter& parameter = call.op->parameters[i];
    if (const std::string why = refused_argument(parameter, call.arguments[i]); !why.empty())
      wrong.push_back(error(fmt::format("argument '{}': {}", parameter.name, why)));
  }
  if (call.op->is(kDataDependent))
    wrong.push_back(
        error(fmt::format("the sizes of {}'s outputs depend on values: only fixed "
                          "sizes are compiled",
                          call.op->target)));
  if (!wrong.empty()) return wrong;
  return Done{};
}

namespace {

// Adds the composite's calls, whose values are the results.
Result<Done> expand(const CompositeOperator& composite, const std::vector<Argument>& arguments,
                    Graph& graph) {
  const Call::TypesOf types = [&](NodeId id) { return graph.pool().types_of(id); };
  Builder builder(graph);
  const Expansion made = composite.expand(builder, Call(composite.row, arguments, types));
  if (builder.diagnostic()) return *builder.diagnostic();
  if (!made.writes.empty())
    return error(fmt::format("{} writes to its arguments: kernels write outputs alone",
                             composite.row.target));
  for (const Value& result : made.results) graph.results.push_back(result.id());
  const bool whole = made.applies && !graph.results.empty() &&
                     std::all_of(made.results.begin(), made.results.end(),
                                 [](const Value& value) { return value.valid(); });
  if (!whole)
    return error(fmt::format("{} has no lowering for these arguments", composite.row.target));
  return Done{};
}

}  // namespace

Result<Graph> graph_of(const OperatorCall& call) {
  Graph graph;
  graph.name = std::string(call.op->target);
  graph.device = call.device;
  std::vector<NodeId> inputs;
  for (const TensorArgument& tensor : call.tensors) {
    TensorType type = tensor.type;
    type.device.clear();  // the graph's own
    inputs.push_back(graph.add_input(InputKind::input, std::move(type),
                                     {graph.unused_name(tensor.name), {}, -1}));
  }
  std::vector<Argument> arguments = call.arguments;
  for (Argument& argument : arguments)
    for_each_node(argument, [&](NodeId& id) { id = inputs[id.index]; });
  if (call.composite != nullptr) {
    if (auto done = expand(*call.composite, arguments, graph); !done) return done.diagnostics();
    return graph;
  }
  const auto made = graph.make(call.op->op, std::move(arguments), {graph.unused_name("out")});
  if (!made) return made.diagnostics();
  if (!call.op->multiple_outputs()) {
    graph.results = {*made};
    return graph;
  }
  const std::size_t outputs = graph[*made].outputs.size();
  for (std::size_t i = 0; i < outputs; ++i) {
    if (!graph[*made].outputs[i].exists()) continue;
    const auto item = graph.make(Op::getitem, {*made, static_cast<std::int64_t>(i)},
                                 {graph.unused_name(fmt::format("out_{}", i))});
    if (!item) return item.diagnostics();
    graph.results.push_back(*item);
  }
  return graph;
}

}  // namespace recut::operators
