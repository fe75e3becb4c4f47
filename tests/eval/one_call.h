// Evaluates one call on values written in the test.
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "engine/eval/evaluator.h"
#include "tests/ir/call_builder.h"

namespace recut::test {

struct OneCall {
  CallBuilder builder;
  Inputs inputs;
  EvaluateOptions options;

  // A tensor of these values, rounded to the dtype.
  Argument tensor(DType dtype, Shape shape, const std::vector<double>& values) {
    const Argument argument = builder.input(dtype, std::move(shape));
    const NodeId id = *argument.get<NodeId>();
    Tensor made = allocate(builder.graph.type(id), nullptr);
    Reals dense;
    dense.shape = made.shape;
    dense.data = values;
    pack(dense, made);
    inputs[id] = made;
    return argument;
  }
  // An f32 tensor of one dimension.
  Argument reals(const std::vector<double>& values) {
    return tensor(DType::f32, {static_cast<std::int64_t>(values.size())}, values);
  }
  Argument integers(const std::vector<double>& values) {
    return tensor(DType::i64, {static_cast<std::int64_t>(values.size())}, values);
  }

  // Output `output` of the call.
  std::vector<double> run(std::string_view name, const Named& named, int output = 0) {
    const auto made = builder.call(name, named);
    INFO((made ? std::string() : format(made.diagnostics())));
    REQUIRE(made.ok());
    return value(*made, output);
  }

  // The same with given output types, for operators whose shapes depend on values.
  std::vector<double> run(std::string_view name, const Named& named, std::vector<TensorType> types,
                          int output = 0) {
    return value(builder.append(name, named, std::move(types)), output);
  }

  std::vector<double> value(NodeId call, int output) {
    const auto evaluation = evaluate_node(call, output);
    INFO((evaluation ? std::string() : format(evaluation.diagnostics())));
    REQUIRE(evaluation.ok());
    return unpack<double>(evaluation->outputs.front()).data;
  }

  // The error message of evaluating the call.
  std::string error_text(NodeId call, int output = 0) {
    const auto evaluation = evaluate_node(call, output);
    REQUIRE_FALSE(evaluation.ok());
    return format(evaluation.diagnostics());
  }

 private:
  Result<Evaluation> evaluate_node(NodeId call, int output) {
    Graph& graph = builder.graph;
    NodeId node = call;
    if (graph.op(call).multiple_outputs())
      node = graph.make(Op::getitem, {Argument(call), Argument(output)}).value();
    graph.results = {node};
    return evaluate(graph, inputs, options);
  }
};

// Equal up to `relative`, NaN where NaN is expected, infinities and signs of zeros exactly.
inline bool close(double found, double expected, double relative = 1e-6) {
  if (std::isnan(expected)) return std::isnan(found);
  if (std::isinf(expected) || expected == 0)
    return found == expected && std::signbit(found) == std::signbit(expected);
  return std::abs(found - expected) <= relative * std::abs(expected);
}

inline bool close(const std::vector<double>& found, const std::vector<double>& expected,
                  double relative = 1e-6) {
  UNSCOPED_INFO("found    " << Catch::Detail::stringify(found));
  UNSCOPED_INFO("expected " << Catch::Detail::stringify(expected));
  if (found.size() != expected.size()) return false;
  for (std::size_t i = 0; i < found.size(); ++i)
    if (!close(found[i], expected[i], relative)) return false;
  return true;
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

inline constexpr auto f32 = DType::f32;
inline constexpr auto f64 = DType::f64;
inline constexpr auto i64 = DType::i64;

}  // namespace recut::test
