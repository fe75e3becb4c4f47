#include "tests/codegen/agreement.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>

#include "engine/eval/accuracy.h"
#include "engine/eval/compare.h"
#include "engine/ir/printer.h"
#include "engine/support/hash.h"
#include "tests/codegen/cuda_on_cpu.h"
#include "tests/codegen/wasm_code.h"
#include "tests/effort.h"
#include "tests/random/same_meaning.h"

namespace recut::test {
namespace {

const std::string kRefused = "refused: ";

std::string texts_of(const KernelRun& run) {
  std::string texts;
  for (const std::string& text : run.texts) texts += text;
  return texts;
}

// Of one run; "" where it gives what is expected.
std::string wrong_with(const Graph& graph, const Inputs& inputs, const KernelRun& run,
                       const std::vector<Tensor>& expected, bool exact) {
  if (run.refused) return kRefused + run.problem;
  if (!run.problem.empty()) return run.problem;
  const std::string apart = exact ? outputs_difference(expected, run.outputs)
                                  : rounding_exceeded(graph, inputs, run.outputs, expected);
  if (apart.empty()) return "";
  return fmt::format("{}{}\n{}", apart, exact ? " (exactly)" : "", texts_of(run));
}

// A number of the graph's text, by which some of many are chosen.
std::uint64_t number_of(const Graph& graph) {
  std::uint64_t number = 0;
  for (const char c : print(graph)) number = hash_mix(number, static_cast<unsigned char>(c));
  return number;
}

// A compiler takes long: one graph in eight; all of them by RECUT_CUDA_STEP=1.
bool takes_cuda(const Graph& graph) {
  const char* given = std::getenv("RECUT_CUDA_STEP");
  const std::uint64_t step = given == nullptr ? 8 : std::strtoull(given, nullptr, 10);
  return number_of(graph) % std::max<std::uint64_t>(step, 1) == 0 && has_compiler();
}

// Under the sanitizers one graph in eight is compiled, and each is interpreted in one precision:
// values are the release build's business, and faults of memory are shown by the first few.
bool is_compiled(const Graph& graph) { return !kSanitized || number_of(graph) % 8 == 0; }
bool is_interpreted(const Graph& graph, loop::Precision precision) {
  return !kSanitized || (number_of(graph) / 8 % 2 == 0) == (precision == loop::Precision::f64);
}

}  // namespace

std::string rounding_exceeded(const Graph& graph, const Inputs& inputs,
                              const std::vector<Tensor>& found,
                              const std::vector<Tensor>& expected) {
  std::string apart;
  for (std::size_t i = 0; i < expected.size() && apart.empty(); ++i) {
    if (!expected[i].exists()) continue;
    if (!found[i].exists()) return fmt::format("output {} was not computed", i);
    const Comparison c = compare(found[i], expected[i]);
    if (!c.ok) apart = fmt::format("output {}: {}", i, c.problem);
  }
  if (apart.empty()) return "";
  const auto accuracy = judge_outputs(graph, inputs, {}, found);
  if (!accuracy) return apart;
  return all_ok(accuracy->outputs) ? "" : apart;
}

bool is_refusal(const std::string& disagreement) { return disagreement.rfind(kRefused, 0) == 0; }

bool sums_nothing(const Graph& graph) {
  for (const NodeId id : graph.order())
    if (!graph.op(id).is(kInput | kView | kPointwise | kCreation | kCopy)) return false;
  return true;
}

std::string disagreement(const Graph& graph, const Inputs& inputs, KernelRunOptions options,
                         bool as_code) {
  const auto expected = evaluate(graph, inputs);
  if (!expected) return kRefused + expected.diagnostics().front().message;
  for (const auto precision : {loop::Precision::f32, loop::Precision::f64}) {
    if (!is_interpreted(graph, precision)) continue;
    options.lower.precision = precision;
    options.parallel_backwards = precision == loop::Precision::f64;
    const bool exact = precision == loop::Precision::f64 && sums_nothing(graph);
    std::string wrong =
        wrong_with(graph, inputs, run_kernels(graph, inputs, options), expected->outputs, exact);
    if (!wrong.empty()) return wrong;
  }
  if (!as_code || !is_compiled(graph)) return "";
  options.lower.precision = loop::Precision::f32;
  options.executor = Executor::machine_code;
  std::string wrong =
      wrong_with(graph, inputs, run_kernels(graph, inputs, options), expected->outputs, false);
  if (!wrong.empty()) return "as machine code: " + wrong;
  if (has_node()) {
    options.executor = Executor::web_assembly;
    wrong =
        wrong_with(graph, inputs, run_kernels(graph, inputs, options), expected->outputs, false);
    if (!wrong.empty()) return "as WebAssembly: " + wrong;
  }
  if (!takes_cuda(graph)) return "";
  options.executor = Executor::cuda;
  wrong = wrong_with(graph, inputs, run_kernels(graph, inputs, options), expected->outputs, false);
  return wrong.empty() ? "" : "as CUDA: " + wrong;
}

std::string edge_disagreement(const Graph& graph) {
  if (!sums_nothing(graph)) return "";
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Inputs inputs = inputs_for(graph, seed, Values::edge);
    const auto expected = evaluate(graph, inputs);
    if (!expected) continue;
    KernelRunOptions options;
    options.lower.precision = loop::Precision::f64;
    const std::string wrong =
        wrong_with(graph, inputs, run_kernels(graph, inputs, options), expected->outputs, true);
    if (is_refusal(wrong)) return "";
    if (!wrong.empty()) return fmt::format("edge values, seed {}: {}", seed, wrong);
  }
  return "";
}

}  // namespace recut::test
