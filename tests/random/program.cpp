// One call of an operator is evaluated as a graph of its own, so that nothing of the reader's
// functionalisation is in it.
#include "tests/random/program.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "engine/eval/evaluator.h"
#include "engine/ir/graph.h"

namespace recut::test {
namespace {

constexpr const char* kViews[] = {
    "aten.view.default",     "aten.select.int",        "aten.slice.Tensor", "aten.transpose.int",
    "aten.permute.default",  "aten.unsqueeze.default", "aten.squeeze.dim",  "aten.expand.default",
    "aten.diagonal.default", "aten.unbind.int",        "aten.split.Tensor"};

std::string operator_name(const ProgramCall& call) {
  std::string name = call.target.substr(call.target.find('.') + 1);
  if (writes_first_operand(call)) name.erase(name.find('.') - 1, 1);
  if (name.ends_with(".default")) name.resize(name.size() - 8);
  return name;
}

Argument as_argument(const ProgramArgument& argument, const std::vector<NodeId>& operands,
                     std::size_t& next) {
  if (std::get_if<ProgramValue>(&argument) != nullptr) return operands[next++];
  if (const auto* list = std::get_if<std::vector<ProgramValue>>(&argument)) {
    ArgumentList items;
    for (std::size_t i = 0; i < list->size(); ++i) items.emplace_back(operands[next++]);
    return Argument(std::move(items));
  }
  if (const auto* real = std::get_if<double>(&argument)) return *real;
  if (const auto* integer = std::get_if<std::int64_t>(&argument)) return *integer;
  if (const auto* boolean = std::get_if<bool>(&argument)) return *boolean;
  return Argument(std::get<std::vector<std::int64_t>>(argument));
}

struct CallGraph {
  Graph graph;
  NodeId call;
};

// The call alone. Its first arguments are those of the operator, in order.
Result<CallGraph> graph_of_call(const ProgramCall& call, const std::vector<TensorType>& operands) {
  CallGraph made;
  std::vector<NodeId> inputs;
  for (std::size_t i = 0; i < operands.size(); ++i)
    inputs.push_back(
        made.graph.add_input(InputKind::input, operands[i], {fmt::format("x{}", i), {}, -1}));
  const Operator* op = find_operator_by_name(operator_name(call));
  if (op == nullptr) return error("no operator " + operator_name(call));
  std::vector<Argument> arguments(op->parameters.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < call.arguments.size(); ++i)
    if (const auto* keyword = std::get_if<std::string>(&call.arguments[i])) {
      const auto [key, value] = key_and_value(*keyword);
      const Argument text{value};
      arguments[*op->parameter(key)] = key == "dtype" ? *dtype_from_torch_name(value) : text;
    } else {
      arguments[i] = as_argument(call.arguments[i], inputs, next);
    }
  const auto node = made.graph.make(op->op, std::move(arguments));
  if (!node) return node.diagnostics();
  made.call = *node;
  for (std::size_t i = 0; i < made.graph[*node].outputs.size(); ++i) {
    const auto item = op->returns_list
                          ? made.graph.make(Op::getitem, {*node, static_cast<std::int64_t>(i)})
                          : node;
    if (!item) return item.diagnostics();
    made.graph.results.push_back(*item);
  }
  return made;
}

Result<std::vector<Tensor>> evaluate_call(const ProgramCall& call,
                                          const std::vector<Tensor>& operands) {
  std::vector<TensorType> types;
  for (const Tensor& tensor : operands) types.push_back(make_type(tensor.dtype, tensor.shape));
  const auto made = graph_of_call(call, types);
  if (!made) return made.diagnostics();
  Inputs inputs;
  for (std::size_t i = 0; i < operands.size(); ++i) inputs[made->graph.inputs()[i]] = operands[i];
  auto values = evaluate(made->graph, inputs);
  if (!values) return values.diagnostics();
  return std::move(values->outputs);
}

bool is_view(const ProgramCall& call) {
  return std::find(std::begin(kViews), std::end(kViews), call.target) != std::end(kViews);
}

}  // namespace

bool is_nested_call(const ProgramCall& call) {
  return call.target.starts_with("torch.ops.higher_order.");
}

std::pair<std::string, std::string> key_and_value(const std::string& keyword) {
  const std::size_t equals = keyword.find('=');
  return {keyword.substr(0, equals), keyword.substr(equals + 1)};
}

bool writes_first_operand(const ProgramCall& call) {
  const std::size_t dot = call.target.rfind('.');
  return !is_nested_call(call) && dot != std::string::npos && call.target[dot - 1] == '_';
}

Result<std::vector<TensorType>> types_of_call(const ProgramCall& call,
                                              const std::vector<TensorType>& operands) {
  const auto made = graph_of_call(call, operands);
  if (!made) return made.diagnostics();
  std::vector<TensorType> types;
  for (const TensorType& type : made->graph[made->call].outputs)
    types.push_back(make_type(type.dtype, type.shape));
  return types;
}

Tensor SharedTensor::value() const {
  Tensor tensor = allocate(type, nullptr);
  Reals reals(type.shape);
  for (std::size_t i = 0; i < elements.size(); ++i) reals.data[i] = (*storage)[elements[i]];
  if (is_floating(type.dtype)) {
    pack(reals, tensor);
  } else {
    Integers integers(type.shape);
    for (std::size_t i = 0; i < elements.size(); ++i)
      integers.data[i] = static_cast<std::int64_t>(reals.data[i]);
    pack(integers, tensor);
  }
  return tensor;
}

void SharedTensor::write(const Tensor& value) {
  const SharedTensor from = fresh(value);
  for (std::size_t i = 0; i < elements.size(); ++i)
    (*storage)[elements[i]] = (*from.storage)[from.elements[i]];
}

SharedTensor fresh(const Tensor& value) {
  SharedTensor made;
  made.type = make_type(value.dtype, value.shape);
  made.storage = std::make_shared<std::vector<double>>();
  if (is_floating(value.dtype)) {
    *made.storage = unpack<double>(value).data;
  } else {
    for (const std::int64_t x : unpack<std::int64_t>(value).data)
      made.storage->push_back(static_cast<double>(x));
  }
  made.elements.resize(made.storage->size());
  std::iota(made.elements.begin(), made.elements.end(), std::size_t{0});
  return made;
}

// Found by viewing the numbers of the elements.
std::optional<std::vector<SharedTensor>> view_of(const ProgramCall& call,
                                                 const SharedTensor& self) {
  if (!is_view(call)) return std::nullopt;
  Integers numbers(self.type.shape);
  std::iota(numbers.data.begin(), numbers.data.end(), std::int64_t{0});
  Tensor tensor = allocate(make_type(DType::i64, self.type.shape), nullptr);
  pack(numbers, tensor);
  const auto shown = evaluate_call(call, {tensor});
  if (!shown) return std::nullopt;
  std::vector<SharedTensor> views;
  for (const Tensor& output : *shown) {
    SharedTensor view{self.storage, {}, make_type(self.type.dtype, output.shape)};
    for (const std::int64_t at : unpack<std::int64_t>(output).data)
      view.elements.push_back(self.elements[static_cast<std::size_t>(at)]);
    views.push_back(std::move(view));
  }
  return views;
}

namespace {

// The value of one number in a body: a tensor, or a list of them.
using SharedValue = std::vector<SharedTensor>;

class ProgramRun {
 public:
  explicit ProgramRun(const ProgramBody& body) : body_(body) {}

  Result<std::vector<SharedTensor>> run(const std::vector<SharedTensor>& inputs) {
    for (const SharedTensor& input : inputs) values_.push_back({input});
    for (const ProgramCall& call : body_.calls) {
      auto value = run_call(call);
      if (!value) return value.diagnostics();
      values_.push_back(std::move(*value));
    }
    std::vector<SharedTensor> results;
    for (const std::size_t number : body_.results) results.push_back(values_[number].front());
    return results;
  }

 private:
  using Tensors = std::vector<SharedTensor>;

  Tensors operands(const ProgramCall& call) const {
    Tensors found;
    for (const ProgramArgument& argument : call.arguments) add(argument, found);
    return found;
  }
  void add(const ProgramArgument& argument, Tensors& to) const {
    if (const auto* one = std::get_if<ProgramValue>(&argument))
      to.push_back(values_[one->number].front());
    if (const auto* list = std::get_if<std::vector<ProgramValue>>(&argument))
      for (const ProgramValue& item : *list) to.push_back(values_[item.number].front());
  }

  Result<SharedValue> run_call(const ProgramCall& call) {
    if (is_nested_call(call)) return run_nested(call);
    if (call.target == "getitem") {
      const auto from = std::get<ProgramValue>(call.arguments[0]).number;
      const auto index = static_cast<std::size_t>(std::get<std::int64_t>(call.arguments[1]));
      return SharedValue{values_[from][index]};
    }
    Tensors given = operands(call);
    auto views = given.empty() ? std::nullopt : view_of(call, given.front());
    if (views) return std::move(*views);
    if (call.target == "aten.copy_.default") {
      given.front().write(given.back().value());
      return SharedValue{given.front()};
    }
    std::vector<Tensor> inputs;
    for (const SharedTensor& tensor : given) inputs.push_back(tensor.value());
    const auto values = evaluate_call(call, inputs);
    if (!values) return values.diagnostics();
    if (writes_first_operand(call)) {
      given.front().write(values->front());
      return SharedValue{given.front()};
    }
    SharedValue made;
    for (const Tensor& value : *values) made.push_back(fresh(value));
    return made;
  }

  // The nested graphs and the lists of operands of a call, by their places.
  struct Parts {
    std::vector<const ProgramBody*> bodies;
    std::vector<Tensors> lists;
    Tensors single;
  };
  Parts parts_of(const ProgramCall& call) const {
    Parts parts;
    for (const ProgramArgument& argument : call.arguments) {
      if (const auto* body = std::get_if<std::shared_ptr<const ProgramBody>>(&argument))
        parts.bodies.push_back(body->get());
      if (std::get_if<std::vector<ProgramValue>>(&argument) != nullptr)
        add(argument, parts.lists.emplace_back());
      if (std::get_if<ProgramValue>(&argument) != nullptr) add(argument, parts.single);
    }
    return parts;
  }

  // Results are tensors of their own.
  static Result<Tensors> run_body(const ProgramBody& body, Tensors inputs,
                                  const Tensors& more = {}) {
    inputs.insert(inputs.end(), more.begin(), more.end());
    auto results = ProgramRun(body).run(inputs);
    if (!results) return results;
    for (SharedTensor& result : *results) result = fresh(result.value());
    return results;
  }

  static bool holds(const SharedTensor& predicate) {
    return (*predicate.storage)[predicate.elements.front()] != 0;
  }

  static SharedTensor slice(const SharedTensor& of, std::int64_t index) {
    const ProgramCall call{"aten.select.int", {ProgramValue{}, std::int64_t{0}, index}, {}};
    return view_of(call, of)->front();
  }

  static SharedTensor stacked(const std::vector<Tensors>& trips, std::size_t i, TensorType type) {
    SharedTensor all{std::make_shared<std::vector<double>>(), {}, std::move(type)};
    for (const Tensors& trip : trips)
      for (const std::size_t element : trip[i].elements)
        all.storage->push_back((*trip[i].storage)[element]);
    all.elements.resize(all.storage->size());
    std::iota(all.elements.begin(), all.elements.end(), std::size_t{0});
    return all;
  }

  Result<SharedValue> run_nested(const ProgramCall& call) {
    const Parts parts = parts_of(call);
    const std::string name = call.target.substr(call.target.rfind('.') + 1);
    if (name == "cond")
      return run_body(*parts.bodies[holds(parts.single.front()) ? 0 : 1], parts.lists[0]);
    if (name == "while_loop") return run_while(call, parts, false);
    if (name == "while_loop_stack_output") return run_while(call, parts, true);
    if (name == "scan") return run_scan(call, parts, parts.lists[0], 1);
    if (name == "map_impl") return run_scan(call, parts, {}, 0);
    if (name == "associative_scan") return run_prefix_scan(call, parts);
    return run_body(*parts.bodies[0], parts.single);
  }

  static Result<SharedValue> run_while(const ProgramCall& call, const Parts& parts, bool stacks) {
    Tensors carried = parts.lists[0];
    std::vector<Tensors> trips;
    for (;;) {
      const auto test = run_body(*parts.bodies[0], carried, parts.lists[1]);
      if (!test) return test.diagnostics();
      if (!holds(test->front())) break;
      auto next = run_body(*parts.bodies[1], carried, parts.lists[1]);
      if (!next) return next.diagnostics();
      carried = std::move(*next);
      trips.push_back(carried);
    }
    SharedValue values;
    if (trips.empty()) trips.push_back(carried);
    for (std::size_t i = 0; i < carried.size(); ++i)
      values.push_back(stacks ? stacked(trips, i, call.outputs[i]) : fresh(carried[i].value()));
    return values;
  }

  static Result<SharedValue> run_scan(const ProgramCall& call, const Parts& parts, Tensors carried,
                                      std::size_t first) {
    const Tensors& sliced = parts.lists[first];
    const std::size_t count = carried.size();
    std::vector<Tensors> trips;
    for (std::int64_t trip = 0; trip < sliced.front().type.shape.front(); ++trip) {
      Tensors inputs = carried;
      for (const SharedTensor& tensor : sliced) inputs.push_back(slice(tensor, trip));
      auto results = run_body(*parts.bodies[0], inputs, parts.lists[first + 1]);
      if (!results) return results.diagnostics();
      carried.assign(results->begin(), results->begin() + static_cast<std::ptrdiff_t>(count));
      trips.push_back(std::move(*results));
    }
    SharedValue values;
    for (const SharedTensor& tensor : carried) values.push_back(fresh(tensor.value()));
    for (std::size_t i = count; i < call.outputs.size(); ++i)
      values.push_back(stacked(trips, i, call.outputs[i]));
    return values;
  }

  static Result<SharedValue> run_prefix_scan(const ProgramCall& call, const Parts& parts) {
    const Tensors& sliced = parts.lists[0];
    std::vector<Tensors> trips;
    for (std::int64_t trip = 0; trip < sliced.front().type.shape.front(); ++trip) {
      Tensors inputs = trip == 0 ? Tensors() : trips.back();
      for (const SharedTensor& tensor : sliced) inputs.push_back(slice(tensor, trip));
      if (trip > 0) {
        auto results = run_body(*parts.bodies[0], inputs, parts.lists[1]);
        if (!results) return results.diagnostics();
        inputs = std::move(*results);
      }
      trips.push_back(std::move(inputs));
    }
    SharedValue values;
    for (std::size_t i = 0; i < call.outputs.size(); ++i)
      values.push_back(stacked(trips, i, call.outputs[i]));
    return values;
  }

  const ProgramBody& body_;
  std::vector<SharedValue> values_;
};

}  // namespace

std::vector<std::size_t> written_inputs(const ProgramBody& body) {
  std::vector<std::size_t> root(body.inputs.size());
  std::iota(root.begin(), root.end(), std::size_t{0});
  std::vector<std::size_t> written;
  const auto note = [&](std::size_t number) {
    const std::size_t at = root[number];
    if (at < body.inputs.size() && std::find(written.begin(), written.end(), at) == written.end())
      written.push_back(at);
  };
  for (const ProgramCall& call : body.calls) {
    std::vector<std::size_t> operands, places;
    for (const ProgramArgument& argument : call.arguments) {
      if (const auto* one = std::get_if<ProgramValue>(&argument)) operands.push_back(one->number);
      if (const auto* list = std::get_if<std::vector<ProgramValue>>(&argument))
        for (const ProgramValue& item : *list) operands.push_back(item.number);
      if (const auto* inner = std::get_if<std::shared_ptr<const ProgramBody>>(&argument))
        for (const std::size_t place : written_inputs(**inner)) places.push_back(place);
    }
    // A condition's predicate stands before the operands of its branches.
    std::sort(places.begin(), places.end());
    for (const std::size_t place : places)
      note(operands[place + (call.target.ends_with(".cond") ? 1 : 0)]);
    if (writes_first_operand(call)) note(operands.front());
    const bool shares = writes_first_operand(call) || is_view(call) || call.target == "getitem";
    root.push_back(shares ? root[operands.front()] : root.size());
  }
  return written;
}

Result<std::vector<Tensor>> run_program(const ProgramBody& body,
                                        const std::vector<Tensor>& inputs) {
  std::vector<SharedTensor> given;
  for (const Tensor& input : inputs) given.push_back(fresh(input));
  const auto results = ProgramRun(body).run(given);
  if (!results) return results.diagnostics();
  std::vector<Tensor> values;
  for (const SharedTensor& result : *results) values.push_back(result.value());
  for (const std::size_t input : written_inputs(body)) values.push_back(given[input].value());
  return values;
}

}  // namespace recut::test
