// Rules of collectives. Results are contiguous: ATen allocates them so, or clones its input so.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "engine/ir/collective.h"
#include "engine/ir/shape_rules/rules.h"

namespace recut::rules {
namespace {

constexpr std::array<std::string_view, 8> kReductions{"sum", "avg",  "product", "min",
                                                      "max", "band", "bor",     "bxor"};

Result<Done> check_reduction(const Call& call) {
  const std::string_view op = call.text("reduce_op");
  if (std::find(kReductions.begin(), kReductions.end(), op) != kReductions.end()) return Done{};
  return error(
      fmt::format("reduce_op is '{}', expected one of: {}", op, fmt::join(kReductions, ", ")));
}

Result<Done> check_group(const Call& call) {
  const std::int64_t ranks = call.integer("group_size");
  if (ranks >= 1 && ranks <= kMaxRanks) return Done{};
  return error(fmt::format("group_size is {}, expected 1 to {}", ranks, kMaxRanks));
}

// One tensor with its first dimension changed.
using ShapeOfRank = Result<Shape> (*)(const Call& call, Shape shape);

Result<Shape> same_shape(const Call& call, Shape shape) {
  if (auto known = check_reduction(call); !known) return known.diagnostics();
  return shape;
}

Result<Shape> gathered(const Call& call, Shape shape) {
  if (auto group = check_group(call); !group) return group.diagnostics();
  if (shape.empty()) return error("a tensor without dimensions has no first one to join along");
  if (__builtin_mul_overflow(shape.front(), call.integer("group_size"), &shape.front()))
    return error("the joined dimension is too long");
  return shape;
}

Result<Shape> scattered(const Call& call, Shape shape) {
  if (auto known = check_reduction(call); !known) return known.diagnostics();
  if (auto group = check_group(call); !group) return group.diagnostics();
  if (shape.empty()) return error("a tensor without dimensions has no first one to part");
  const std::int64_t ranks = call.integer("group_size");
  if (shape.front() % ranks != 0)
    return error(fmt::format("{} rows can't be parted among {} ranks", shape.front(), ranks));
  shape.front() /= ranks;
  return shape;
}

Inferred of_one(const Call& call, ShapeOfRank rule) {
  if (!call.is_tensor("input")) return error("a tensor is expected");
  const TensorType& input = call.tensor("input");
  auto shape = rule(call, input.shape);
  if (!shape) return shape.diagnostics();
  return sized(input.dtype, std::move(*shape), input.device);
}

Inferred of_each(const Call& call, ShapeOfRank rule) {
  Types types;
  for (const NodeId id : call.nodes("inputs")) {
    const TensorType& input = call.tensor(id);
    auto shape = rule(call, input.shape);
    if (!shape) return shape.diagnostics();
    auto type = sized(input.dtype, std::move(*shape), input.device);
    if (!type) return type;
    types.push_back(std::move(type->front()));
  }
  return types;
}

// The sum of the sizes; fails where one is negative.
Result<std::int64_t> total(const std::vector<std::int64_t>& sizes, std::string_view parameter) {
  std::int64_t sum = 0;
  for (const std::int64_t size : sizes)
    if (size < 0 || __builtin_add_overflow(sum, size, &sum))
      return error(fmt::format("{} has the size {}", parameter, size));
  return sum;
}

}  // namespace

Inferred all_reduce(const Call& call) { return of_one(call, same_shape); }
Inferred all_reduce_coalesced(const Call& call) { return of_each(call, same_shape); }
Inferred all_gather(const Call& call) { return of_one(call, gathered); }
Inferred all_gather_coalesced(const Call& call) { return of_each(call, gathered); }
Inferred reduce_scatter(const Call& call) { return of_one(call, scattered); }
Inferred reduce_scatter_coalesced(const Call& call) { return of_each(call, scattered); }

Inferred broadcast_ranks(const Call& call) {
  if (call.integer("src") < 0)
    return error(fmt::format("src is {}, expected a rank", call.integer("src")));
  return of_one(call, [](const Call&, Shape shape) -> Result<Shape> { return shape; });
}

Inferred all_to_all(const Call& call) {
  return of_one(call, [](const Call& of, Shape shape) -> Result<Shape> {
    const auto in = of.integers("input_split_sizes"), out = of.integers("output_split_sizes");
    if (in.size() != out.size() || in.empty() || shape.empty())
      return error(fmt::format(
          "{} and {} parts of {}, expected a part for each rank along the first dimension",
          in.size(), out.size(), format_shape(shape)));
    const auto sent = total(in, "input_split_sizes"), received = total(out, "output_split_sizes");
    if (!sent || !received) return (sent ? received : sent).diagnostics();
    if (*sent != shape.front())
      return error(fmt::format("input_split_sizes add up to {}, but the input has {} rows", *sent,
                               shape.front()));
    if (in.size() == 1 && in != out)
      return error(
          fmt::format("one rank sends {} rows to itself and receives {}", *sent, *received));
    shape.front() = *received;
    return shape;
  });
}

}  // namespace recut::rules
