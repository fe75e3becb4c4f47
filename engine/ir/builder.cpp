// Implementation of the graph builder (builder.h). Errors are sticky: the first one is kept, and
// every value computed from it is invalid, so that callers check once, in finish(). Each call costs
// one shape inference and one hash lookup in the node pool.
#include "engine/ir/builder.h"

#include <fmt/core.h>

#include "engine/ir/call.h"
#include "engine/ir/layout.h"

namespace recut {

CallArgument::CallArgument(const std::vector<Value>& values) {
  ArgumentList list;
  for (const Value& value : values) {
    list.emplace_back(value.id());
    invalid = invalid || !value.valid();
  }
  argument = std::move(list);
}

const TensorType& Value::type() const {
  static const TensorType kNothing;
  return valid() ? builder_->graph().type(id_) : kNothing;
}

std::int64_t Value::size(std::int64_t dimension) const {
  const Shape& s = shape();
  if (dimension < 0) dimension += rank();
  return dimension >= 0 && dimension < rank() ? s[static_cast<std::size_t>(dimension)] : 1;
}

std::int64_t Value::count() const { return element_count(shape()); }

Value Value::operator[](std::int64_t output) const {
  return valid() ? (*builder_)(Op::getitem, {*this, output}) : *this;
}

Builder::Builder(std::string graph_name) : owned_(std::make_unique<Graph>()), graph_(owned_.get()) {
  graph_->name = std::move(graph_name);
}

Value Builder::placeholder(InputKind kind, std::string name, TensorType type) {
  if (name.empty() || graph_->find(name).valid())
    return fail(fmt::format("the name '{}' of an {} is {}", name, name_of(kind),
                            name.empty() ? "empty" : "taken"));
  const auto sound = check_size(type);
  if (!sound) return fail(fmt::format("{}: {}", name, sound.diagnostics().front().message));
  return value(graph_->add_input(kind, std::move(type), {std::move(name), "", -1}));
}

Value Builder::parameter(std::string name, DType dtype, Shape shape) {
  return placeholder(InputKind::parameter, std::move(name), make_type(dtype, std::move(shape)));
}
Value Builder::input(std::string name, DType dtype, Shape shape) {
  return placeholder(InputKind::input, std::move(name), make_type(dtype, std::move(shape)));
}
Value Builder::tangent(std::string name, DType dtype, Shape shape) {
  return placeholder(InputKind::tangent, std::move(name), make_type(dtype, std::move(shape)));
}

Value Builder::constant(std::string name, DType dtype, Shape shape) {
  TensorType type = make_type(dtype, std::move(shape));
  if (graph_->find(name).valid()) return fail(fmt::format("the name '{}' is taken", name));
  const auto sound = check_size(type);
  if (!sound) return fail(fmt::format("{}: {}", name, sound.diagnostics().front().message));
  return value(graph_->add_constant(std::move(type), {std::move(name), "", -1}));
}

Value Builder::operator()(std::string_view name, const Positional& positional,
                          const Keywords& keywords) {
  const Operator* op = find_operator_by_name(name);
  if (op != nullptr) return (*this)(op->op, positional, keywords);
  ++calls_;
  return fail(where_called(name) + "there is no operator of this name");
}

Value Builder::operator()(Op op, const Positional& positional, const Keywords& keywords) {
  ++calls_;
  const Operator& row = operator_of(op);
  if (positional.size() > row.parameters.size())
    return fail(fmt::format("{}it takes {} arguments, found {}", where_called(row.name),
                            row.parameters.size(), positional.size()));
  std::vector<Argument> arguments(row.parameters.size());
  bool invalid = false;
  const auto give = [&](std::size_t position, const CallArgument& given) {
    arguments[position] = given.argument;
    invalid = invalid || given.invalid;
  };
  for (std::size_t i = 0; i < positional.size(); ++i) give(i, positional[i]);
  for (const auto& [parameter, given] : keywords) {
    const auto position = row.parameter(parameter);
    if (!position || !arguments[*position].absent())
      return fail(fmt::format("{}the argument '{}' is {}", where_called(row.name), parameter,
                              position ? "given twice" : "not one of its own"));
    give(*position, given);
  }
  if (!invalid) return make(op, std::move(arguments));
  return fail(where_called(row.name) + "an operand is not a value");
}

Value Builder::call(Op op, std::vector<Argument> arguments) {
  ++calls_;
  return make(op, std::move(arguments));
}

Value Builder::make(Op op, std::vector<Argument> arguments) {
  Origin origin{std::exchange(next_name_, {}), location_.module, location_.seq_nr,
                location_.source};
  auto node = graph_->make(op, std::move(arguments), std::move(origin));
  if (node) return value(*node);
  const std::string& why = node.diagnostics().front().message;  // which names the operator
  return fail(subject().empty() ? where_called(operator_of(op).name) + why : why);
}

Builder::Scope::Scope(Builder& builder, Location location)
    : builder_(builder), before_(std::exchange(builder.location_, std::move(location))) {}
Builder::Scope::~Scope() { builder_.location_ = std::move(before_); }

void Builder::result(const Value& value) {
  if (value.valid())
    graph_->results.push_back(value.id());
  else
    fail(fmt::format("result {} is not a value", graph_->results.size()));
}

void Builder::gradient(const Value& value) { graph_->gradients.push_back(value.id()); }

Value Builder::sum(const Value& x, const std::vector<std::int64_t>& dims, bool keepdim) {
  return (*this)(Op::sum_dim_IntList, {x, dims, keepdim});
}

Value Builder::view(const Value& x, const Shape& shape) {
  if (!x.valid() || x.shape() == shape) return x;
  const Layout layout{x.shape(), x.type().strides, 0, false};
  const bool viewable = layout::strides_of_view(layout, shape).has_value();
  return (*this)(viewable ? Op::view : Op::reshape, {x, shape});
}

Value Builder::expand(const Value& x, const Shape& shape) {
  return !x.valid() || x.shape() == shape ? x : (*this)(Op::expand, {x, shape});
}

Value Builder::permute(const Value& x, const std::vector<std::int64_t>& dims) {
  return (*this)(Op::permute, {x, dims});
}

Value Builder::transpose(const Value& x, std::int64_t a, std::int64_t b) {
  return (*this)(Op::transpose_int, {x, a, b});
}

Value Builder::full(const Shape& shape, const Argument& number, DType dtype,
                    const std::string& device) {
  Keywords keywords = {{"dtype", dtype}};
  if (!device.empty()) keywords.emplace_back("device", device);
  return (*this)(Op::full, {shape, number}, keywords);
}

Value Builder::where(const Value& condition, const Value& a, const Value& b) {
  return (*this)(Op::where_self, {condition, a, b});
}

Value Builder::convert(const Value& x, DType dtype) {
  if (!x.valid() || x.dtype() == dtype) return x;
  return (*this)(Op::prims_convert_element_type, {x, dtype});
}

Value Builder::fail(std::string message) {
  next_name_.clear();
  if (!diagnostic_)
    diagnostic_ = error(subject().empty() ? std::move(message) : subject() + ": " + message);
  return {};
}

std::string Builder::where_called(std::string_view op_name) const {
  if (!subject().empty()) return fmt::format("{}: ", op_name);
  return fmt::format("call {}, {}{}: ", calls_, op_name,
                     location_.module.empty() ? "" : fmt::format(" in {}", location_.module));
}

Result<Graph> Builder::finish() {
  if (diagnostic_) return *diagnostic_;
  return owned_ ? std::move(*owned_) : *graph_;
}

namespace {

Value binary(Op op, const Value& a, const Value& b) {
  return a.valid() && b.valid() ? (*a.builder())(op, {a, b}) : Value();
}

}  // namespace

Value operator+(const Value& a, const Value& b) { return binary(Op::add_Tensor, a, b); }
Value operator-(const Value& a, const Value& b) { return binary(Op::sub_Tensor, a, b); }
Value operator*(const Value& a, const Value& b) { return binary(Op::mul_Tensor, a, b); }
Value operator/(const Value& a, const Value& b) { return binary(Op::div_Tensor, a, b); }
Value operator-(const Value& a) { return a.valid() ? (*a.builder())(Op::neg, {a}) : a; }

namespace detail {

Value with_number(Op op, const Value& value, const Argument& number) {
  return value.valid() ? (*value.builder())(op, {value, number}) : value;
}

Value number_with(Op op, const Argument& number, const Value& value) {
  return value.valid() ? (*value.builder())(op, {number, value}) : value;
}

}  // namespace detail
}  // namespace recut
