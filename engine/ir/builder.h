// Writes graphs in a few lines: models in C++, derivative rules, tests.
//
//   Builder b("mlp");
//   const Value x = b.input("x", DType::f32, {8, 4});
//   const Value w = b.parameter("w", DType::f32, {4, 3});
//   const Value bias = b.parameter("bias", DType::f32, {3});
//   const auto scope = b.scope({"net.0", 1});  // module path and seq_nr of later calls
//   const Value h = b.as("h")("relu", {b.mm(x, w) + bias});  // any operator, by its name
//   const Value s = b("sum.dim_IntList", {h, {1}}, {{"keepdim", true}});
//   b.result(b.mean(h / (s + 1e-6)));
// Result<Graph> graph = b.finish(); // or the first diagnostic
//
// Types come from the operators' shape rules. The first call that doesn't fit is recorded with its
// number, operator and module, or the scope's subject. Everything computed from it is an invalid
// Value, silently, and finish() reports that first diagnostic: a model is written without a check
// after each line.
#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/ir/graph.h"

namespace recut {

class Builder;

// A tensor in a graph under construction. Default-constructed and failed values are invalid: their
// type is empty (dtype none, no dimensions), and calls on them are invalid as well.
class Value {
 public:
  Value() = default;
  Value(Builder& builder, NodeId id) : builder_(&builder), id_(id) {}

  bool valid() const { return id_.valid(); }
  NodeId id() const { return id_; }
  Builder* builder() const { return builder_; }

  const TensorType& type() const;
  const Shape& shape() const { return type().shape; }
  DType dtype() const { return type().dtype; }
  std::int64_t rank() const { return type().rank(); }
  std::int64_t size(std::int64_t dimension) const;  // negative ones count from the end; 1 beyond
  std::int64_t count() const;                       // elements

  // One output of a call that has several.
  Value operator[](std::int64_t output) const;

 private:
  Builder* builder_ = nullptr;
  NodeId id_;
};

// An argument of a call: anything that converts to Argument, a Value, or a list of values.
struct CallArgument {
  Argument argument;
  bool invalid = false;  // a value that failed before

  template <class T, class = std::enable_if_t<std::is_convertible_v<T, Argument>>>
  CallArgument(T&& value) : argument(std::forward<T>(value)) {}  // NOLINT: implicit, as all of them
  CallArgument(const Value& value) : argument(value.id()), invalid(!value.valid()) {}  // NOLINT
  CallArgument(const std::vector<Value>& values);                                      // NOLINT
  CallArgument(const std::vector<std::int64_t>& ints) : argument(ints) {}              // NOLINT
  CallArgument(std::initializer_list<std::int64_t> ints)                               // NOLINT
      : argument(std::vector<std::int64_t>(ints)) {}
};

using Positional = std::vector<CallArgument>;
using Keywords = std::vector<std::pair<std::string_view, CallArgument>>;

class Builder {
 public:
  explicit Builder(std::string graph_name);
  explicit Builder(Graph& graph) : graph_(&graph) {}  // adds to a graph that the caller owns
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  // Inputs of the graph. Types are contiguous; a name that is taken is an error.
  Value parameter(std::string name, DType dtype, Shape shape);
  Value input(std::string name, DType dtype, Shape shape);
  Value tangent(std::string name, DType dtype, Shape shape);
  Value constant(std::string name, DType dtype, Shape shape);
  Value placeholder(InputKind kind, std::string name, TensorType type);

  // A call by Recut's name of the operator ("mm", "sum.dim_IntList", "prims.fma"). Python's None is
  // `None{}`; an argument left out between others is `Absent{}`.
  Value operator()(std::string_view name, const Positional& positional,
                   const Keywords& keywords = {});
  Value operator()(Op op, const Positional& positional, const Keywords& keywords = {});

  // A call with one argument for each parameter, in the schema's order.
  Value call(Op op, std::vector<Argument> arguments);

  // Names the node of one call: b.as("loss")("mean", {x}).
  class Named {
   public:
    Named(Builder& builder, std::string name) : builder_(builder), name_(std::move(name)) {}
    template <class OpOrName>
    Value operator()(OpOrName op, const Positional& positional, const Keywords& keywords = {}) {
      builder_.next_name_ = std::move(name_);
      return builder_(op, positional, keywords);
    }

   private:
    Builder& builder_;
    std::string name_;
  };
  Named as(std::string name) { return Named(*this, std::move(name)); }

  // Module path and sequence number of the calls until the scope ends. Diagnostics name `subject`
  // instead of the call where the calls are generated and the user never wrote them.
  struct Location {
    std::string module;
    std::int64_t seq_nr = -1;
    std::string subject = {};
    std::string source = {};
  };
  class Scope {
   public:
    Scope(Builder& builder, Location location);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Builder& builder_;
    Location before_;
  };
  Scope scope(Location location) { return Scope(*this, std::move(location)); }

  // Outputs of the graph.
  void result(const Value& value);
  void gradient(const Value& value);  // an invalid one: none for this placeholder

  // Shorthands for common operators.
  Value mm(const Value& a, const Value& b) { return (*this)(Op::mm, {a, b}); }
  Value matmul(const Value& a, const Value& b) { return (*this)(Op::matmul, {a, b}); }
  Value exp(const Value& x) { return (*this)(Op::exp, {x}); }
  Value log(const Value& x) { return (*this)(Op::log, {x}); }
  Value relu(const Value& x) { return (*this)(Op::relu, {x}); }
  Value sum(const Value& x) { return (*this)(Op::sum, {x}); }
  Value sum(const Value& x, const std::vector<std::int64_t>& dims, bool keepdim = false);
  Value mean(const Value& x) { return (*this)(Op::mean, {x}); }
  Value view(const Value& x, const Shape& shape);  // reshape where strides don't allow a view
  Value expand(const Value& x, const Shape& shape);
  Value permute(const Value& x, const std::vector<std::int64_t>& dims);
  Value transpose(const Value& x, std::int64_t a = -2, std::int64_t b = -1);
  Value full(const Shape& shape, const Argument& number, DType dtype,
             const std::string& device = {});
  Value where(const Value& condition, const Value& a, const Value& b);
  Value convert(const Value& x, DType dtype);  // itself where it has that dtype

  // A node of the graph as a value; an invalid id gives an invalid value.
  Value value(NodeId id) { return Value(*this, id); }

  Graph& graph() { return *graph_; }
  const std::optional<Diagnostic>& diagnostic() const { return diagnostic_; }
  const std::string& subject() const { return location_.subject; }

  // Records a diagnostic, unless one was recorded before.
  Value fail(std::string message);

  // The graph, or the first diagnostic. A builder that owns its graph gives it once.
  Result<Graph> finish();

 private:
  Value make(Op op, std::vector<Argument> arguments);
  std::string where_called(std::string_view op_name) const;

  std::unique_ptr<Graph> owned_;
  Graph* graph_;
  Location location_;
  std::string next_name_;
  std::size_t calls_ = 0;
  std::optional<Diagnostic> diagnostic_;
};

// Element-wise arithmetic; numbers stay numbers (`mul.Tensor(%x, 2.0)`), as PyTorch's graphs have
// it.
Value operator+(const Value& a, const Value& b);
Value operator-(const Value& a, const Value& b);
Value operator*(const Value& a, const Value& b);
Value operator/(const Value& a, const Value& b);
Value operator-(const Value& a);

template <class T>
concept Number = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;

namespace detail {
Value with_number(Op op, const Value& value, const Argument& number);
Value number_with(Op op, const Argument& number, const Value& value);
template <Number T>
Argument number(T value) {
  if constexpr (std::is_integral_v<T>)
    return Argument(static_cast<std::int64_t>(value));
  else
    return Argument(static_cast<double>(value));
}
}  // namespace detail

template <Number T>
Value operator+(const Value& a, T b) {
  return detail::with_number(Op::add_Tensor, a, detail::number(b));
}
template <Number T>
Value operator-(const Value& a, T b) {
  return detail::with_number(Op::sub_Tensor, a, detail::number(b));
}
template <Number T>
Value operator*(const Value& a, T b) {
  return detail::with_number(Op::mul_Tensor, a, detail::number(b));
}
template <Number T>
Value operator/(const Value& a, T b) {
  return detail::with_number(Op::div_Tensor, a, detail::number(b));
}
template <Number T>
Value operator+(T a, const Value& b) {
  return b + a;
}
template <Number T>
Value operator-(T a, const Value& b) {
  return detail::number_with(Op::sub_Tensor, detail::number(a), b);
}
template <Number T>
Value operator*(T a, const Value& b) {
  return b * a;
}
template <Number T>
Value operator/(T a, const Value& b) {
  return detail::number_with(Op::div_Tensor, detail::number(a), b);
}

}  // namespace recut
