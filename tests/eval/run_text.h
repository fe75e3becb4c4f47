// Evaluates a few lines of the text form, for tests of kernels: what goes in and comes out can be
// read beside each other.
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <map>
#include <string>
#include <vector>

#include "engine/eval/evaluator.h"
#include "engine/eval/inputs.h"
#include "engine/input/text.h"

namespace recut::test {

using Values = std::vector<double>;
using InputValues = std::map<std::string, Values>;  // of inputs by name

inline Values values_of(const Tensor& tensor) {
  if (is_floating(tensor.dtype)) return unpack<double>(tensor).data;
  const auto integers = unpack<std::int64_t>(tensor).data;
  return Values(integers.begin(), integers.end());
}

// An input's values: those given, or 0, 1, 2, …
inline Tensor input_tensor(const TensorType& type, const Values* given) {
  Tensor tensor = allocate(type, nullptr);
  Reals reals(type.shape);
  for (std::int64_t i = 0; i < reals.count(); ++i) reals[i] = static_cast<double>(i);
  if (given != nullptr) {
    REQUIRE(given->size() == reals.data.size());
    reals.data = *given;
  }
  pack(reals, tensor);
  return tensor;
}

inline Result<Evaluation> evaluate_text(const std::string& lines, const InputValues& given) {
  const auto graph = parse_graph_text("graph \"test\" {\n" + lines + "\n}", "test");
  INFO(lines);
  if (!graph) return graph.diagnostics();
  Inputs inputs;
  for (const NodeId id : graph->inputs()) {
    const auto values = given.find(graph->node_name(id));
    inputs[id] = input_tensor(graph->type(id), values == given.end() ? nullptr : &values->second);
  }
  return evaluate(*graph, inputs);
}

// The values of the graph's results, one after another.
inline Values run(const std::string& lines, const InputValues& given = {}) {
  const auto evaluation = evaluate_text(lines, given);
  INFO(lines);
  INFO((evaluation ? std::string() : format(evaluation.diagnostics())));
  REQUIRE(evaluation.ok());
  Values values;
  for (const Tensor& output : evaluation->outputs) {
    if (!output.exists()) continue;
    const Values of_one = values_of(output);
    values.insert(values.end(), of_one.begin(), of_one.end());
  }
  return values;
}

// The first error message.
inline std::string fault(const std::string& lines, const InputValues& given = {}) {
  const auto evaluation = evaluate_text(lines, given);
  INFO(lines);
  REQUIRE_FALSE(evaluation.ok());
  return evaluation.diagnostics().front().message;
}

}  // namespace recut::test
