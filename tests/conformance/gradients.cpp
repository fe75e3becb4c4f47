#include "tests/conformance/gradients.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "engine/autodiff/differentiate.h"
#include "engine/eval/compare.h"
#include "engine/eval/evaluator.h"
#include "engine/eval/inputs.h"
#include "engine/input/graph_file.h"
#include "engine/input/graph_file_reader.h"
#include "engine/ir/verifier.h"
#include "tests/conformance/program.h"

namespace recut::conformance {
namespace {

GradientCase refused_gradients(std::string name, const Diagnostics& diagnostics) {
  GradientCase outcome{std::move(name), GradientVerdict::refused, {}};
  for (const Diagnostic& d : diagnostics) {
    if (d.message.find("has no derivative rule") != std::string::npos)
      outcome.verdict = GradientVerdict::no_rule;
    outcome.detail += (outcome.detail.empty() ? "" : "; ") + d.message;
  }
  return outcome;
}

bool has_tangents(const Graph& graph) {
  return std::any_of(graph.inputs().begin(), graph.inputs().end(),
                     [&](NodeId id) { return graph.input_kind(id) == InputKind::tangent; });
}

bool is_zero(const Tensor& tensor) {
  const Reals values = unpack<double>(tensor);
  return std::all_of(values.data.begin(), values.data.end(), [](double v) { return v == 0; });
}

const NamedTensor* expected_output(std::span<const NamedTensor> tensors, std::size_t position) {
  for (const NamedTensor& tensor : tensors)
    if (tensor.name == fmt::format("out.{}", position)) return &tensor;
  return nullptr;
}

// Where PyTorch has a gradient, Recut has one, and the reverse; but for zeros, which PyTorch writes
// where a composite operator's decomposition has lost its operand, and for tensors of no elements.
std::string missing_gradients(const Graph& joint, const Graph& ours,
                              std::span<const NamedTensor> tensors) {
  std::string missing;
  for (std::size_t i = 0; i < joint.gradients.size(); ++i) {
    const NodeId theirs = joint.gradients[i], mine = ours.gradients[i];
    if (theirs.valid() == mine.valid()) continue;
    const TensorType& type = mine.valid() ? ours.type(mine) : joint.type(theirs);
    if (element_count(type.shape) == 0) continue;
    const NamedTensor* values = expected_output(tensors, joint.results.size() + i);
    if (theirs.valid() && values != nullptr && is_zero(tensor_from_bytes(type, values->bytes)))
      continue;
    missing += fmt::format("gradient {} is {}; ", i, theirs.valid() ? "missing" : "one too many");
  }
  return missing;
}

// The tensors without the outputs that `ours` has as null.
std::vector<NamedTensor> those_of(const Graph& ours, std::span<const NamedTensor> tensors) {
  std::vector<NamedTensor> kept(tensors.begin(), tensors.end());
  for (std::size_t i = 0; i < ours.gradients.size(); ++i)
    if (!ours.gradients[i].valid())
      std::erase_if(kept, [&](const NamedTensor& tensor) {
        return tensor.name == fmt::format("out.{}", ours.results.size() + i);
      });
  return kept;
}

GradientCase compared_gradients(std::string name, const Graph& joint, const Graph& ours,
                                std::span<const NamedTensor> tensors) {
  const Failures failures = verify(ours);
  if (!failures.empty())
    return {std::move(name), GradientVerdict::disagrees, failures.front().message};
  const auto inputs = inputs_from(ours, tensors);
  if (!inputs) return refused_gradients(std::move(name), inputs.diagnostics());
  GradientCase outcome{std::move(name), GradientVerdict::agrees,
                       missing_gradients(joint, ours, tensors)};
  if (!outcome.detail.empty()) outcome.verdict = GradientVerdict::disagrees;
  if (outcome.verdict == GradientVerdict::disagrees) return outcome;
  const auto expected = expected_outputs(ours, those_of(ours, tensors));
  if (!expected) return refused_gradients(outcome.name, expected.diagnostics());
  const auto evaluation = evaluate(ours, *inputs);
  if (!evaluation) return refused_gradients(outcome.name, evaluation.diagnostics());
  for (const OutputComparison& c : compare_outputs(ours, *inputs, evaluation->outputs, *expected)) {
    if (c.ok()) continue;
    outcome.verdict = GradientVerdict::disagrees;
    outcome.detail += fmt::format("output {} ({}): {}; ", c.position, c.name, c.comparison.problem);
  }
  return outcome;
}

std::string graph_path(const std::string& stem) {
  return std::filesystem::exists(stem + ".json") ? stem + ".json" : stem + ".json.gz";
}

}  // namespace

GradientCase check_gradients(const std::string& stem) {
  const std::string name = std::filesystem::path(stem).filename().string();
  const auto file = read_graph_file(graph_path(stem));
  if (!file) return refused_gradients(name, file.diagnostics());
  if (!has_tangents(file->graph)) return {name, GradientVerdict::no_backward, {}};
  const auto bytes = read_file(stem + ".safetensors");
  if (!bytes) return refused_gradients(name, bytes.diagnostics());
  const auto tensors = parse_safetensors(*bytes, name);
  if (!tensors) return refused_gradients(name, tensors.diagnostics());
  const auto half = extract_forward_graph(file->graph);
  if (!half) return refused_gradients(name, half.diagnostics());
  const auto ours = differentiate(half->graph, {half->differentiable, std::nullopt});
  if (!ours) return refused_gradients(name, ours.diagnostics());
  return compared_gradients(name, file->graph, *ours, *tensors);
}

std::vector<GradientCase> check_gradient_folder(const std::string& folder,
                                                const std::string& filter) {
  std::vector<GradientCase> cases;
  for (const std::string& stem : stems_in(folder, filter)) cases.push_back(check_gradients(stem));
  return cases;
}

std::vector<Finding> findings_of(const std::vector<GradientCase>& cases) {
  std::vector<Finding> findings;
  for (const GradientCase& c : cases) {
    const bool good =
        c.verdict == GradientVerdict::agrees || c.verdict == GradientVerdict::no_backward;
    findings.push_back({c.name, std::string(verdict_name(c.verdict)), good, c.detail});
  }
  return findings;
}

std::string_view verdict_name(GradientVerdict verdict) {
  static constexpr std::string_view kVerdictNames[] = {"agrees", "disagrees", "no_rule", "refused",
                                                       "no_backward"};
  return kVerdictNames[static_cast<std::size_t>(verdict)];
}

void print_gradients(std::ostream& out, const std::vector<GradientCase>& cases) {
  std::array<int, 5> counts{};
  for (const GradientCase& c : cases) {
    ++counts[static_cast<std::size_t>(c.verdict)];
    if (c.verdict != GradientVerdict::agrees && c.verdict != GradientVerdict::no_backward)
      out << fmt::format("{}: {}: {}\n", c.name, verdict_name(c.verdict), c.detail);
  }
  for (std::size_t i = 0; i < counts.size(); ++i)
    out << fmt::format("{}{} {}", i == 0 ? "" : ", ", counts[i],
                       verdict_name(static_cast<GradientVerdict>(i)));
  out << "\n";
}

}  // namespace recut::conformance
