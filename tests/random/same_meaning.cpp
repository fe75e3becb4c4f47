#include "tests/random/same_meaning.h"

#include <fmt/core.h>

#include <array>
#include <cmath>
#include <limits>

#include "engine/support/bits.h"
#include "engine/support/hash.h"

namespace recut::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::array<double, 12> kEdges = {
    0.0, -0.0, 1.0,    -1.0,    kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN(),
    0.5, 3e38, -6e-39, 65504.0, 1e-3};

double real(std::uint64_t bits, Values values) {
  const double unit = static_cast<double>(bits >> 11) * 0x1p-53;
  if (values == Values::edge && bits % 4 != 0) return kEdges[(bits >> 8) % kEdges.size()];
  return 4 * unit - 2;
}

std::int64_t integer(std::uint64_t bits, Values values) {
  const auto third = static_cast<std::int64_t>((bits >> 8) % 3);
  return values == Values::edge && bits % 4 == 0 ? -1 : third;
}

Tensor tensor_for(const TensorType& type, std::uint64_t seed, Values values) {
  Tensor tensor = allocate(type, nullptr);
  if (is_floating(type.dtype)) {
    Reals reals(type.shape);
    for (std::int64_t i = 0; i < reals.count(); ++i)
      reals[i] = real(hash_mix(seed, static_cast<std::uint64_t>(i)), values);
    pack(reals, tensor);
  } else {
    Integers integers(type.shape);
    for (std::int64_t i = 0; i < integers.count(); ++i)
      integers[i] = integer(hash_mix(seed, static_cast<std::uint64_t>(i)), values);
    pack(integers, tensor);
  }
  return tensor;
}

// Describes the first element that differs.
std::string tensor_difference(const Tensor& before, const Tensor& after) {
  if (before.dtype != after.dtype || before.shape != after.shape) return "another type";
  if (!before.exists()) return "";
  if (!is_floating(before.dtype)) {
    const Integers a = unpack<std::int64_t>(before), b = unpack<std::int64_t>(after);
    for (std::int64_t i = 0; i < a.count(); ++i)
      if (a[i] != b[i]) return fmt::format("element {}: {} became {}", i, a[i], b[i]);
    return "";
  }
  const Reals a = unpack<double>(before), b = unpack<double>(after);
  for (std::int64_t i = 0; i < a.count(); ++i)
    if (bit_cast<std::uint64_t>(a[i]) != bit_cast<std::uint64_t>(b[i]) &&
        !(std::isnan(a[i]) && std::isnan(b[i])))
      return fmt::format("element {}: {} became {}", i, a[i], b[i]);
  return "";
}

}  // namespace

Inputs inputs_for(const Graph& graph, std::uint64_t seed, Values values) {
  Inputs inputs;
  for (const NodeId id : graph.order())
    if (graph.op(id).is(kInput))
      inputs.emplace(id, tensor_for(graph.type(id), hash_text(seed, graph.node_name(id)), values));
  return inputs;
}

std::string outputs_difference(const std::vector<Tensor>& before,
                               const std::vector<Tensor>& after) {
  if (before.size() != after.size()) return "another number of outputs";
  for (std::size_t i = 0; i < before.size(); ++i)
    if (const auto what = tensor_difference(before[i], after[i]); !what.empty())
      return fmt::format("output {}: {}", i, what);
  return "";
}

std::string difference(const Graph& before, const Graph& after, std::uint64_t seed, Values values) {
  const Inputs inputs = inputs_for(before, seed, values);
  EvaluateOptions options;
  options.seed = seed;
  const auto a = evaluate(before, inputs, options);
  const auto b = evaluate(after, inputs, options);
  // Edge values may be out of an operator's range; then there is nothing to compare with.
  if (!a) return values == Values::edge ? "" : "can't be evaluated: " + format(a.diagnostics());
  if (!b) return "can't be evaluated any more: " + format(b.diagnostics());
  const std::string what = outputs_difference(a->outputs, b->outputs);
  if (what.empty()) return "";
  return fmt::format("{} (seed {}, {} values)", what, seed,
                     values == Values::edge ? "edge" : "ordinary");
}

std::string difference(const Graph& before, const Graph& after) {
  for (const Values values : {Values::ordinary, Values::edge})
    for (const std::uint64_t seed : {1, 2})
      if (auto what = difference(before, after, seed, values); !what.empty()) return what;
  return "";
}

}  // namespace recut::test
