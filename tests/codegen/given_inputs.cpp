#include "tests/codegen/given_inputs.h"

#include <fmt/core.h>

#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "engine/eval/inputs.h"
#include "engine/input/text.h"
#include "tests/codegen/cuda_on_cpu.h"
#include "tests/codegen/wasm_code.h"

namespace recut::test {
namespace {

Numbers numbers_of(const std::vector<Tensor>& outputs) {
  Numbers numbers;
  for (const Tensor& tensor : outputs) {
    if (!tensor.exists()) continue;
    const Reals values = unpack<double>(tensor);
    numbers.insert(numbers.end(), values.data.begin(), values.data.end());
  }
  return numbers;
}

bool about(double found, double expected) {
  if (std::isnan(expected)) return std::isnan(found);
  return found == expected ||
         std::abs(found - expected) <= (expected == 0 ? 1e-6 : 1e-5 * std::abs(expected));
}

std::string difference_of(const Numbers& found, const Numbers& expected) {
  if (found.size() != expected.size())
    return fmt::format("{} numbers, expected {}", found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    if (!about(found[i], expected[i]))
      return fmt::format("number {} is {}, expected {}", i, found[i], expected[i]);
  return "";
}

}  // namespace

Graph graph_of(const std::string& lines) {
  auto graph = parse_graph_text("graph \"given\" {\n" + lines + "\n}", "given");
  INFO(lines);
  if (!graph) FAIL(format(graph.diagnostics()));
  return std::move(*graph);
}

Inputs given_inputs(const Graph& graph, const GivenNumbers& given) {
  Inputs inputs;
  for (const NodeId id : graph.inputs()) {
    const TensorType& type = graph.type(id);
    const auto found = given.find(graph.node_name(id));
    Tensor rows = allocate(make_type(type.dtype, type.shape), nullptr);
    Reals values(type.shape);
    for (std::int64_t i = 0; i < values.count(); ++i)
      values[i] = found == given.end() ? static_cast<double>(i)
                                       : found->second.at(static_cast<std::size_t>(i));
    pack(values, rows);
    inputs[id] = tensor_from_bytes(type, bytes_of(rows));
  }
  return inputs;
}

Numbers evaluated(const Graph& graph, const GivenNumbers& given) {
  const auto evaluation = evaluate(graph, given_inputs(graph, given));
  if (!evaluation) FAIL(format(evaluation.diagnostics()));
  return numbers_of(evaluation->outputs);
}

Numbers by_kernels(const Graph& graph, const GivenNumbers& given, KernelRunOptions options) {
  const KernelRun run = run_kernels(graph, given_inputs(graph, given), options);
  if (!run.problem.empty()) FAIL(run.problem);
  return numbers_of(run.outputs);
}

std::string wrong_numbers(const Graph& graph, const GivenNumbers& given, const Numbers& expected,
                          bool as_cuda) {
  std::string wrong = difference_of(evaluated(graph, given), expected);
  if (!wrong.empty()) return "eval: " + wrong;
  for (const Executor executor :
       {Executor::interpreter, Executor::machine_code, Executor::web_assembly, Executor::cuda}) {
    if (executor == Executor::web_assembly && !has_node()) continue;
    if (executor == Executor::cuda && !(as_cuda && has_compiler())) continue;
    KernelRunOptions options;
    options.executor = executor;
    wrong = difference_of(by_kernels(graph, given, options), expected);
    if (!wrong.empty()) return fmt::format("executor {}: {}", static_cast<int>(executor), wrong);
  }
  return "";
}

std::string refusal(const Graph& graph, const GivenNumbers& given) {
  return run_kernels(graph, given_inputs(graph, given), {}).problem;
}

}  // namespace recut::test
