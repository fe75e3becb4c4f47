// Input values for testing a rule, and comparisons of both sides. Ordinary values lie in -2 … 2;
// edge values are zeros of both signs, infinities, NaN, and the largest and smallest numbers of
// each dtype; special values are ordinary ones with some infinities and NaNs. A value is a hash of
// seed, input name and index, so it doesn't depend on platform or order.
//
// Exact rules are compared by bits, where any NaN equals any other. Inexact ones are compared in
// Euclidean norms: ||a - b|| <= relative ||a|| + absolute sqrt(n).
#include "engine/rewrite/sample_values.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/support/bits.h"
#include "engine/support/hash.h"

namespace recut {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// 3.4e38 and 65504: the largest of f32 and f16; 1e-45, 6e-8 and 5e-324: below their normal numbers.
constexpr double kEdges[] = {0.0,
                             -0.0,
                             1.0,
                             -1.0,
                             kInfinity,
                             -kInfinity,
                             0.5,
                             3.4028234663852886e38,
                             -3.4028234663852886e38,
                             65504.0,
                             1e-45,
                             -6e-8,
                             5e-324,
                             1e-3,
                             1e308,
                             std::numeric_limits<double>::quiet_NaN()};
constexpr double kSpecial[] = {kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN()};
constexpr std::int64_t kIntegerEdges[] = {0,
                                          1,
                                          -1,
                                          2,
                                          127,
                                          -128,
                                          std::numeric_limits<std::int32_t>::max(),
                                          std::numeric_limits<std::int64_t>::min(),
                                          std::numeric_limits<std::int64_t>::max()};

double real(std::uint64_t bits, SampleValues values) {
  if (values == SampleValues::edge && bits % 4 != 0) return kEdges[(bits >> 8) % std::size(kEdges)];
  if (values == SampleValues::special && bits % 8 == 0)
    return kSpecial[(bits >> 8) % std::size(kSpecial)];
  return 4 * (static_cast<double>(bits >> 11) * 0x1p-53) - 2;
}

// Only one integer in three is an edge value, since most of them are out of range as indices.
std::int64_t whole(std::uint64_t bits, SampleValues values) {
  if (values == SampleValues::edge && bits % 3 == 0)
    return kIntegerEdges[(bits >> 8) % std::size(kIntegerEdges)];
  return static_cast<std::int64_t>((bits >> 8) % 3);
}

Tensor tensor_of(const TensorType& type, std::uint64_t seed, SampleValues values) {
  Tensor tensor = allocate(type, nullptr);
  const auto bits = [&](std::int64_t i) { return hash_mix(seed, static_cast<std::uint64_t>(i)); };
  if (is_floating(type.dtype)) {
    Reals reals(type.shape);
    for (std::int64_t i = 0; i < reals.count(); ++i) reals[i] = real(bits(i), values);
    pack(reals, tensor);
  } else {
    Integers integers(type.shape);
    for (std::int64_t i = 0; i < integers.count(); ++i) integers[i] = whole(bits(i), values);
    pack(integers, tensor);
  }
  return tensor;
}

std::string differs_in_bits(const Tensor& expected, const Tensor& found) {
  if (!is_floating(expected.dtype)) {
    const auto a = unpack<std::int64_t>(expected), b = unpack<std::int64_t>(found);
    for (std::int64_t i = 0; i < a.count(); ++i)
      if (a[i] != b[i]) return fmt::format("element {} is {}, was {}", i, b[i], a[i]);
    return "";
  }
  const auto a = unpack<double>(expected), b = unpack<double>(found);
  for (std::int64_t i = 0; i < a.count(); ++i)
    if (bit_cast<std::uint64_t>(a[i]) != bit_cast<std::uint64_t>(b[i]) &&
        !(std::isnan(a[i]) && std::isnan(b[i])))
      return fmt::format("element {} is {}, was {}", i, b[i], a[i]);
  return "";
}

// The relative error in Euclidean norms of ordinary values. Where the pattern gives a NaN (a
// softmax of an empty row), an inexact rule may give anything.
SampleComparison compare_norms(const Tensor& expected, const Tensor& found,
                               const Inexact& allowed) {
  const auto a = unpack<double>(expected), b = unpack<double>(found);
  double error = 0, norm = 0;
  for (std::int64_t i = 0; i < a.count(); ++i) {
    if (std::isnan(a[i])) continue;
    if (a[i] == b[i]) {
      norm += std::isfinite(a[i]) ? a[i] * a[i] : 0;
      continue;
    }
    error += (a[i] - b[i]) * (a[i] - b[i]);
    norm += a[i] * a[i];
  }
  const double bound = allowed.relative * std::sqrt(norm) +
                       allowed.absolute * std::sqrt(static_cast<double>(a.count()));
  error = std::sqrt(error);
  SampleComparison comparison;
  if (error > 0) comparison.used = bound > 0 ? error / bound : kInfinity;
  if (!(error <= bound))
    comparison.problem = fmt::format("the error is {:.3g}, allowed is {:.3g}", error, bound);
  return comparison;
}

}  // namespace

Inputs sample_inputs(const Graph& graph, std::uint64_t seed, SampleValues values) {
  Inputs inputs;
  for (const NodeId id : graph.order())
    if (graph.op(id).is(kInput))
      inputs.emplace(id, tensor_of(graph.type(id), hash_text(seed, graph.node_name(id)), values));
  return inputs;
}

std::string nonfinite_mismatch(const std::vector<Tensor>& expected,
                               const std::vector<Tensor>& found) {
  for (std::size_t output = 0; output < expected.size(); ++output) {
    if (!expected[output].exists() || !is_floating(expected[output].dtype)) continue;
    const auto a = unpack<double>(expected[output]), b = unpack<double>(found[output]);
    for (std::int64_t i = 0; i < a.count(); ++i)
      if (!std::isfinite(a[i]) && std::isfinite(b[i]))
        return fmt::format("result {}: element {} is the number {}, was {}", output + 1, i, b[i],
                           a[i]);
  }
  return "";
}

SampleComparison compare_sides(const std::vector<Tensor>& expected,
                               const std::vector<Tensor>& found,
                               const std::optional<Inexact>& inexact) {
  SampleComparison all;
  for (std::size_t i = 0; i < expected.size() && all.problem.empty(); ++i) {
    if (!expected[i].exists()) continue;
    SampleComparison one;
    if (inexact)
      one = compare_norms(expected[i], found[i], *inexact);
    else
      one.problem = differs_in_bits(expected[i], found[i]);
    all.used = std::max(all.used, one.used);
    if (!one.problem.empty()) all.problem = fmt::format("result {}: {}", i + 1, one.problem);
  }
  return all;
}

}  // namespace recut
