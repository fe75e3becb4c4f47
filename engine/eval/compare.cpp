// Norm-wise comparison (compare.h): element-wise bounds would flag cancellation, which rounding
// makes large at single elements. accuracy.h has element-wise bounds: it knows the f64 values.
#include "engine/eval/compare.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "engine/eval/inputs.h"
#include "engine/eval/tolerance.h"
#include "engine/ir/data_flow.h"

namespace recut {
namespace {

class RealComparer {
 public:
  Comparison run(const Reals& found, const Reals& expected, CompareTolerance tolerance) {
    for (std::int64_t i = 0; i < expected.count(); ++i) add(i, found[i], expected[i]);
    Comparison result;
    const double norm = norm_.value();
    result.error = error_.value();
    const double absolute_bound = tolerance.absolute * std::sqrt(static_cast<double>(finite_));
    result.bound = tolerance.relative * norm + absolute_bound;
    result.negligible = norm <= absolute_bound && result.error <= absolute_bound;
    result.relative_error = norm > 0 ? result.error / norm : (result.error > 0 ? INFINITY : 0);
    result.worst = worst_;
    result.measurable = special_mismatches_ == 0;
    result.ok = result.measurable && result.error <= result.bound;
    if (!result.measurable)
      result.problem = fmt::format("{} elements differ in NaN or infinity", special_mismatches_);
    else if (!result.ok)
      result.problem = fmt::format("the error {:.3g} is above {:.3g}", result.error, result.bound);
    return result;
  }

 private:
  void add(std::int64_t i, double found, double expected) {
    if (same_special(found, expected)) return;
    const double difference = std::abs(found - expected);
    if (!std::isfinite(difference)) {
      if (special_mismatches_++ == 0) worst_ = Comparison::Element{i, found, expected};
      return;
    }
    ++finite_;
    norm_.add(expected);
    error_.add(difference);
    if (special_mismatches_ == 0 && difference > largest_) {
      largest_ = difference;
      worst_ = Comparison::Element{i, found, expected};
    }
  }

  CompareNorm norm_, error_;
  double largest_ = 0;
  std::int64_t finite_ = 0, special_mismatches_ = 0;
  std::optional<Comparison::Element> worst_;
};

Comparison compare_integers(const Integers& found, const Integers& expected) {
  Comparison result;
  std::int64_t different = 0;
  for (std::int64_t i = 0; i < expected.count(); ++i) {
    if (found[i] == expected[i]) continue;
    if (different++ == 0)
      result.worst =
          Comparison::Element{i, static_cast<double>(found[i]), static_cast<double>(expected[i])};
  }
  result.error = static_cast<double>(different);
  result.ok = different == 0;
  if (!result.ok) result.relative_error = result.error / static_cast<double>(expected.count());
  if (!result.ok) result.problem = fmt::format("{} elements differ", different);
  return result;
}

}  // namespace

Comparison compare(const Tensor& found, const Tensor& expected, double allowed) {
  Comparison result;
  CompareTolerance tolerance = tolerance_of(expected.dtype);
  tolerance.relative = std::max(tolerance.relative, allowed);
  if (found.dtype != expected.dtype || found.shape != expected.shape) {
    result.measurable = false;
    result.problem =
        fmt::format("{}{} found, expected {}{}", short_name(found.dtype), format_shape(found.shape),
                    short_name(expected.dtype), format_shape(expected.shape));
  } else if (is_complex(expected.dtype)) {
    result = compare(parts_of(found), parts_of(expected), allowed);
    if (result.worst) result.worst->index /= 2;
  } else if (is_floating(expected.dtype)) {
    result = RealComparer().run(unpack<double>(found), unpack<double>(expected), tolerance);
  } else {
    result = compare_integers(unpack<std::int64_t>(found), unpack<std::int64_t>(expected));
  }
  result.elements = expected.count();
  return result;
}

std::optional<NodeId> updated_buffer(const Graph& graph, const Inputs& inputs, NodeId output,
                                     const Tensor& expected) {
  const std::vector<bool> needed = needed_nodes(graph, std::vector<NodeId>{output});
  for (const NodeId id : graph.inputs()) {
    const bool candidate =
        id != output && needed[graph.position(id)] && graph.input_kind(id) == InputKind::input;
    const auto given = inputs.find(id);
    if (!candidate || given == inputs.end()) continue;
    const bool same_type =
        given->second.dtype == expected.dtype && given->second.shape == expected.shape;
    if (same_type && bytes_of(given->second) == bytes_of(expected)) return id;
  }
  return std::nullopt;
}

std::vector<OutputComparison> compare_outputs(const Graph& graph, const Inputs& inputs,
                                              std::span<const Tensor> outputs,
                                              std::span<const std::optional<Tensor>> expected,
                                              double allowed) {
  std::vector<OutputComparison> comparisons;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (!expected[i]) continue;
    const bool gradient = i >= graph.results.size();
    const NodeId id = gradient ? graph.gradients[i - graph.results.size()] : graph.results[i];
    OutputComparison& output = comparisons.emplace_back();
    output.position = i;
    output.name = graph.node_name(id);
    output.gradient = gradient;
    output.comparison = compare(outputs[i], *expected[i], allowed);
    if (output.comparison.ok) output.bound = ErrorBound::dtype;
    if (output.comparison.ok || gradient) continue;
    if (const auto buffer = updated_buffer(graph, inputs, id, *expected[i]))
      output.unchecked = fmt::format("the file gives the buffer %{} as it is after the step",
                                     graph.node_name(*buffer));
  }
  return comparisons;
}

bool all_ok(std::span<const OutputComparison> outputs) {
  return std::all_of(outputs.begin(), outputs.end(),
                     [](const OutputComparison& output) { return output.ok(); });
}

double max_relative_error(std::span<const OutputComparison> outputs) {
  double max_error = 0;
  for (const OutputComparison& output : outputs)
    if (output.unchecked.empty() && !output.comparison.negligible)
      max_error = std::max(max_error, output.comparison.relative_error);
  return max_error;
}

}  // namespace recut
