// Rules of segments and histograms.
#include <algorithm>

#include "engine/ir/shape_rules/rules.h"

namespace recut::rules {
namespace {

inline constexpr std::int64_t kMaxBins = std::int64_t{1} << 30;

// The output shape: data's, with the number of segments as the axis.
Result<Shape> segmented_shape(const Call& call) {
  const TensorType& data = call.tensor("data");
  const std::string_view reduce = call.text("reduce");
  static constexpr std::string_view kReductions[] = {"sum", "mean", "max", "min", "prod"};
  if (std::find(std::begin(kReductions), std::end(kReductions), reduce) == std::end(kReductions))
    return error(fmt::format("reduce is '{}', expected sum, mean, max, min or prod", reduce));
  const auto axis = wrap_dimension(call.integer("axis"), data.rank());
  if (!axis) return axis.diagnostics();
  const bool lengths = call.is_tensor("lengths");
  if (data.rank() == 0 || lengths == call.is_tensor("offsets"))
    return error("data with dimensions is expected, and either lengths or offsets");
  const TensorType& segments = call.tensor(lengths ? "lengths" : "offsets");
  const auto a = static_cast<std::size_t>(*axis);
  if (segments.shape.size() != a + 1 ||
      !std::equal(segments.shape.begin(), segments.shape.end() - 1, data.shape.begin()))
    return error(fmt::format("segments of shape {} for axis {} of {}", format_shape(segments.shape),
                             a, format_shape(data.shape)));
  Shape shape = data.shape;
  shape[a] = segments.shape.back() - (lengths ? 0 : 1);
  if (shape[a] < 0) return error("offsets are empty, expected one more than segments");
  return shape;
}

// Points are the rows of all leading dimensions; one list of bins a coordinate.
Result<Done> check_points(const Call& call, std::size_t coordinates) {
  const TensorType& in = call.tensor("self");
  if (in.rank() < 2 || in.shape.back() != static_cast<std::int64_t>(coordinates))
    return error(fmt::format("points of shape {} for {} lists of bins", format_shape(in.shape),
                             coordinates));
  const Shape points(in.shape.begin(), in.shape.end() - 1);
  if (call.is_tensor("weight") && call.tensor("weight").shape != points)
    return error(fmt::format("a weight of shape {}, expected {}",
                             format_shape(call.tensor("weight").shape), format_shape(points)));
  if (!call.op().parameter("range") || !call.given("range")) return Done{};
  const auto* range = call.argument("range").get<ArgumentList>();
  if (range == nullptr || range->size() != 2 * coordinates)
    return error(fmt::format("range has to be {} numbers", 2 * coordinates));
  return Done{};
}

Result<std::vector<std::int64_t>> bin_counts(const Call& call) {
  auto bins = call.integers("bins");
  for (const std::int64_t b : bins)
    if (b < 1 || b > kMaxBins) return error(fmt::format("{} bins", b));
  const auto points = check_points(call, bins.size());
  if (!points) return points.diagnostics();
  return bins;
}

}  // namespace

Inferred segment_reduce(const Call& call) {
  auto shape = segmented_shape(call);
  if (!shape) return shape.diagnostics();
  const TensorType& data = call.tensor("data");
  return one(make_type(data.dtype, std::move(*shape), data.device));
}

Inferred segment_reduce_backward(const Call& call) {
  const auto shape = segmented_shape(call);
  if (!shape) return shape.diagnostics();
  for (const std::string_view parameter : {"grad", "output"})
    if (call.tensor(parameter).shape != *shape)
      return error(fmt::format("{} of shape {}, expected {}", parameter,
                               format_shape(call.tensor(parameter).shape), format_shape(*shape)));
  const TensorType& data = call.tensor("data");
  return one(make_type(data.dtype, data.shape, data.device));
}

Inferred histogramdd_bin_edges(const Call& call) {
  const auto bins = bin_counts(call);
  if (!bins) return bins.diagnostics();
  const TensorType& in = call.tensor("self");
  Types types;
  for (const std::int64_t b : *bins) types.push_back(make_type(in.dtype, {b + 1}, in.device));
  return types;
}

Inferred histogramdd_from_bin_counts(const Call& call) {
  auto bins = bin_counts(call);
  if (!bins) return bins.diagnostics();
  const TensorType& in = call.tensor("self");
  return one(make_type(in.dtype, std::move(*bins), in.device));
}

Inferred histogramdd_from_bin_edges(const Call& call) {
  const auto bins = call.nodes("bins");
  const auto points = check_points(call, bins.size());
  if (!points) return points.diagnostics();
  Shape shape;
  for (const NodeId edges : bins) {
    const TensorType& type = call.tensor(edges);
    if (type.rank() != 1 || type.shape[0] < 1)
      return error(fmt::format("edges of shape {}", format_shape(type.shape)));
    shape.push_back(type.shape[0] - 1);
  }
  const TensorType& in = call.tensor("self");
  return one(make_type(in.dtype, std::move(shape), in.device));
}

}  // namespace recut::rules
