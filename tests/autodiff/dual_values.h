// Graphs with dual numbers: expanded, and their values.
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <map>
#include <string>
#include <vector>

#include "engine/autodiff/dual_numbers.h"
#include "engine/eval/evaluator.h"
#include "engine/ir/dual_call.h"
#include "engine/ir/printer.h"
#include "engine/ir/verifier.h"
#include "tests/input/parse.h"

namespace recut {

// The graph without calls of dual numbers, sound and the same when it is read again.
inline Graph expanded_duals(const Graph& graph) {
  auto made = expand_dual_numbers(graph);
  INFO(print(graph));
  INFO((made ? "" : format(made.diagnostics())));
  REQUIRE(made.ok());
  const auto failures = verify(*made);
  INFO((failures.empty() ? "" : failures.front().message));
  CHECK(failures.empty());
  for (const NodeId id : made->order()) CHECK_FALSE(is_dual_call((*made)[id]));
  const std::string text = print(*made);
  CHECK(print(parse(text)) == text);
  return std::move(*made);
}

// The outputs' elements, by the inputs' elements.
inline std::vector<std::vector<double>> values_at(
    const Graph& graph, const std::map<std::string, std::vector<double>>& at) {
  Inputs inputs;
  for (const NodeId id : graph.inputs()) {
    Tensor value = allocate(graph.type(id), nullptr);
    Reals reals;
    reals.shape = graph.type(id).shape;
    reals.data = at.at(graph.node_name(id));
    pack(reals, value);
    inputs[id] = std::move(value);
  }
  const auto evaluated = evaluate(graph, inputs);
  INFO((evaluated ? "" : format(evaluated.diagnostics())));
  REQUIRE(evaluated.ok());
  std::vector<std::vector<double>> outputs;
  for (const Tensor& output : evaluated->outputs)
    outputs.push_back(output.exists() ? unpack<double>(output).data : std::vector<double>());
  return outputs;
}

}  // namespace recut
