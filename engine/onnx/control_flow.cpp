// If, Loop and Scan, and the table of all expansions. A condition, a trip count or a length that is
// known as the model is read decides: one branch is imported, or a body once for each iteration.
// Where only a run shows a condition, both branches are computed and the result is selected, which
// is exact: no operator of a branch has effects but its values. The branch that isn't taken reads
// zeros, so that no gradient passes through it: zero times its infinite derivatives would be NaN.
// Source: https://onnx.ai/onnx/operators (If, Loop, Scan).
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "engine/eval/inputs.h"
#include "engine/onnx/expansions.h"
#include "engine/support/text.h"
#include "engine/support/units.h"

namespace recut::onnx {
namespace {

using Ints = std::vector<std::int64_t>;

// Most iterations of one Loop or Scan.
constexpr std::int64_t kMaxIterations = 65'536;

OnnxValue truth(bool value) {
  Tensor tensor = allocate(make_type(DType::boolean, {}), nullptr);
  pack(Integers({}, value ? 1 : 0), tensor);
  return Lowering::known_value(std::move(tensor));
}

OnnxValue whole(std::int64_t value) { return Lowering::known_value(integer_tensor(value)); }

// The value of a condition; none where only a run shows it.
std::optional<bool> known_truth(const Expansion& at, const OnnxValue& condition) {
  if (condition.items || condition.type.dtype != DType::boolean ||
      element_count(condition.type.shape) != 1)
    at.node.refuse("a condition that is no single bool");
  if (!condition.known) return std::nullopt;
  return as_integers(*condition.known).front() != 0;
}

bool same_constant(const OnnxValue& a, const OnnxValue& b) {
  return a.known && b.known && !a.weight && !b.weight && a.type == b.type &&
         bytes_of(*a.known) == bytes_of(*b.known);
}

std::string kind_of(const OnnxValue& value) {
  if (value.items) return fmt::format("a sequence of {}", value.items->size());
  return value.node.valid() || value.known ? format(make_type(value.type.dtype, value.type.shape))
                                           : "absent";
}

// The option that makes a condition known: the value of an input.
std::string way_to_fix(const Expansion& at) {
  std::vector<std::string> options;
  for (const std::string& name : at.importer.fixable_inputs())
    if (options.size() < 3) options.push_back(fmt::format("--dim {}=N", name));
  if (options.empty()) return "";
  return fmt::format("; {} fixes the value of an input", fmt::join(options, " or "));
}

// `condition` is a bool of no dimensions.
OnnxValue selected(const Expansion& at, const OnnxValue& condition, std::size_t output,
                   const OnnxValue& a, const OnnxValue& b) {
  const bool sequences = a.items && b.items && a.items->size() == b.items->size();
  const bool tensors = !a.items && !b.items && a.type.dtype == b.type.dtype &&
                       a.type.shape == b.type.shape && a.type.dtype != DType::none;
  if (!sequences && !tensors)
    at.node.refuse(
        fmt::format("output {} is {} in then_branch and {} in else_branch; expected equal shapes, "
                    "as only a run "
                    "shows the condition{}",
                    output, kind_of(a), kind_of(b), way_to_fix(at)));
  if (tensors) {
    if (same_constant(a, b) || (a.node.valid() && a.node == b.node)) return a;
    return at.call("Where", {condition, a, b});
  }
  std::vector<OnnxValue> items;
  for (std::size_t i = 0; i < a.items->size(); ++i)
    items.push_back(selected(at, condition, output, (*a.items)[i], (*b.items)[i]));
  return sequence_of(std::move(items));
}

// A value from around a branch that is zeros where the branch isn't taken; integers and constants
// have no gradient and stay as they are.
OnnxValue gated(const Expansion& at, const OnnxValue& condition, bool then,
                const OnnxValue& value) {
  OnnxValue result = value;
  if (value.items) {
    std::vector<OnnxValue> items;
    for (const OnnxValue& item : *value.items) items.push_back(gated(at, condition, then, item));
    return sequence_of(std::move(items));
  }
  if (!value.node.valid() || !is_floating(value.type.dtype)) return result;
  const OnnxValue zero = Lowering::known_value(allocate(make_type(value.type.dtype, {}), nullptr));
  result.node = at.call("Where", then ? std::vector<OnnxValue>{condition, value, zero}
                                      : std::vector<OnnxValue>{condition, zero, value})
                    .node;
  return result;
}

Lowered both_branches(Expansion& at) {
  at.importer.add_open_condition();
  const OnnxValue condition =
      at.call("Reshape", {at.node.value(0), Lowering::known_value(integers_tensor({}))});
  const auto branch = [&](std::string_view name, bool then) {
    try {
      return at.run(name, {}, [&, then](const OnnxValue& value) {
        return gated(at, condition, then, value);
      });
    } catch (const ImportError& failure) {
      throw ImportError{
          fmt::format("{}; both branches are computed, as only a run shows the condition{}",
                      failure.message, way_to_fix(at))};
    }
  };
  const Lowered then_values = branch("then_branch", true),
                else_values = branch("else_branch", false);
  if (then_values.size() != else_values.size())
    at.node.refuse(fmt::format("{} outputs in then_branch and {} in else_branch",
                               then_values.size(), else_values.size()));
  Lowered results;
  for (std::size_t i = 0; i < then_values.size(); ++i)
    results.push_back(selected(at, condition, i, then_values[i], else_values[i]));
  return results;
}

Lowered branch_of(Expansion& at) {
  const auto condition = known_truth(at, at.node.value(0));
  if (!condition) return both_branches(at);
  return at.run(*condition ? "then_branch" : "else_branch", {});
}

// The outputs of an iteration, apart from its condition: the state, and one value for each output
// that gathers all iterations.
struct Iterations {
  std::vector<OnnxValue> state;
  std::vector<std::vector<OnnxValue>> gathered;

  void add(const Expansion& at, const Lowered& outputs, std::size_t first) {
    if (outputs.size() != first + state.size() + gathered.size())
      at.node.refuse(fmt::format("a body of {} outputs, expected {}", outputs.size(),
                                 first + state.size() + gathered.size()));
    std::copy_n(outputs.begin() + static_cast<std::ptrdiff_t>(first), state.size(), state.begin());
    for (std::size_t i = 0; i < gathered.size(); ++i)
      gathered[i].push_back(outputs[first + state.size() + i]);
  }
};

std::vector<std::vector<OnnxValue>> gathered_outputs(const Expansion& at, std::size_t before) {
  const auto outputs = static_cast<std::size_t>(at.graph("body").output_size());
  if (outputs < before)
    at.node.refuse(fmt::format("a body of {} outputs, expected {} or more", outputs, before));
  return std::vector<std::vector<OnnxValue>>(outputs - before);
}

// Counts iterations from 0; ends at a trip count, or where a condition no longer holds.
Lowered loop(Expansion& at) {
  Lowering& node = at.node;
  const std::int64_t trips =
      node.has(0) ? node.whole(0, "iterations") : std::numeric_limits<std::int64_t>::max();
  bool going = true;
  const auto check_condition = [&](const OnnxValue& condition, std::string_view when) {
    const auto known = known_truth(at, condition);
    if (!known)
      node.refuse(fmt::format(
          "only a run shows its condition {}, expected one that is known as the model is "
          "read, or a trip count alone{}",
          when, way_to_fix(at)));
    going = *known;
  };
  if (node.has(1)) check_condition(node.value(1), "at the beginning");
  Iterations all;
  for (std::size_t i = 2; i < node.inputs(); ++i)
    all.state.push_back(node.has_any(i) ? node.any_value(i) : OnnxValue());
  all.gathered = gathered_outputs(at, 1 + all.state.size());
  for (std::int64_t i = 0; going && i < trips; ++i) {
    if (i == kMaxIterations)
      node.refuse(fmt::format("more than {} iterations", format_count(kMaxIterations)));
    std::vector<OnnxValue> inputs{whole(i), truth(true)};
    inputs.insert(inputs.end(), all.state.begin(), all.state.end());
    const Lowered outputs = at.run("body", inputs);
    all.add(at, outputs, 1);
    if (i + 1 < trips) check_condition(outputs.front(), fmt::format("after iteration {}", i));
  }
  Lowered results = std::move(all.state);
  for (const auto& values : all.gathered) results.push_back(at.stacked(values, 0));
  return results;
}

Ints per_operand(const Lowering& node, std::string_view attribute, std::size_t count) {
  Ints values = node.integers(attribute, Ints(count, 0));
  if (values.size() != count)
    node.refuse(fmt::format("{} {}, expected {}", values.size(), attribute, count));
  return values;
}

// Runs its body for each element of the scanned inputs along their axes.
Lowered scan(Expansion& at) {
  Lowering& node = at.node;
  const std::int64_t scanned = node.integer("num_scan_inputs", 0);
  if (scanned < 1 || scanned > static_cast<std::int64_t>(node.inputs()))
    node.refuse(fmt::format("{} scanned inputs of {}", scanned, node.inputs()));
  const auto count = static_cast<std::size_t>(scanned), states = node.inputs() - count;
  Ints axes = per_operand(node, "scan_input_axes", count);
  const Ints backwards = per_operand(node, "scan_input_directions", count);
  std::int64_t length = -1;
  for (std::size_t i = 0; i < count; ++i) {
    axes[i] = node.axis(axes[i], node.rank(states + i));
    const std::int64_t size = node.type(states + i).shape[static_cast<std::size_t>(axes[i])];
    if (length >= 0 && size != length)
      node.refuse(fmt::format("scanned inputs of {} and {} elements", length, size));
    length = size;
  }
  if (length > kMaxIterations)
    node.refuse(fmt::format("more than {} iterations", format_count(kMaxIterations)));
  Iterations all;
  for (std::size_t i = 0; i < states; ++i) all.state.push_back(node.any_value(i));
  all.gathered = gathered_outputs(at, states);
  for (std::int64_t t = 0; t < length; ++t) {
    std::vector<OnnxValue> inputs = all.state;
    for (std::size_t i = 0; i < count; ++i)
      inputs.push_back(
          at.call("Gather", {node.value(states + i), whole(backwards[i] != 0 ? length - 1 - t : t)},
                  {{"axis", axes[i]}}));
    all.add(at, at.run("body", inputs), 0);
  }
  const Ints output_axes = per_operand(node, "scan_output_axes", all.gathered.size());
  const Ints prepends = per_operand(node, "scan_output_directions", all.gathered.size());
  Lowered results = std::move(all.state);
  for (std::size_t i = 0; i < all.gathered.size(); ++i) {
    if (prepends[i] != 0) std::reverse(all.gathered[i].begin(), all.gathered[i].end());
    results.push_back(at.stacked(all.gathered[i], output_axes[i]));
  }
  return results;
}

}  // namespace

const ::onnx::GraphProto& Expansion::graph(std::string_view attribute) const {
  const auto* found = node.find(attribute);
  if (found == nullptr || !found->has_g())
    node.refuse(fmt::format("attribute {} is no graph", quote(attribute)));
  return found->g();
}

Lowered Expansion::run(std::string_view attribute, const std::vector<OnnxValue>& inputs,
                       const Gate& gate) const {
  const ::onnx::GraphProto& nested = graph(attribute);
  try {
    return importer.import_nested(nested, inputs, scope, gate);
  } catch (const ImportError& failure) {
    throw ImportError{fmt::format("{}: {}", attribute, failure.message)};
  }
}

OnnxValue Expansion::stacked(const std::vector<OnnxValue>& values, std::int64_t axis) const {
  if (values.empty()) node.refuse("no iteration or item gives an output its shape");
  std::vector<OnnxValue> parts;
  for (const OnnxValue& value : values)
    parts.push_back(call("Unsqueeze", {value, Lowering::known_value(integers_tensor({axis}))}));
  return parts.size() == 1 ? parts.front() : call("Concat", parts, {{"axis", axis}});
}

std::vector<OperatorExpansion> control_flow_expansions() {
  return {{"If", branch_of}, {"Loop", loop}, {"Scan", scan, 9}};
}

Expand find_expansion(std::string_view operator_name, std::int64_t opset) {
  static const auto table = [] {
    std::map<std::string_view, OperatorExpansion> by_name;
    for (const auto& family : {control_flow_expansions(), sequence_expansions()})
      for (const OperatorExpansion& row : family) by_name.emplace(row.name, row);
    return by_name;
  }();
  const auto it = table.find(operator_name);
  return it == table.end() || opset < it->second.since ? nullptr : it->second.expand;
}

}  // namespace recut::onnx
