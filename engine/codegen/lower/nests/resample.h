// The coordinate scale of resamplings.
#pragma once

#include "engine/codegen/lower/nest.h"

namespace recut::loop {

// One dimension: `in` elements as `out`.
struct ResampledExtent {
  std::int64_t in, out;
  bool align_corners;
  std::optional<double> scale_factor;  // output over input; none: the ratio of sizes
};

// Input elements an output element, rounded as coordinates of type `type` are.
double resampling_scale(const ResampledExtent& extent, DType type);

// The scale factor of spatial dimension `i` of `dims`, under any of the schemas' names.
std::optional<double> scale_factor(const Call& call, std::size_t i, std::size_t dims);

// Unsupported: resampling of integers.
inline std::optional<std::string> no_reals(const Call& call) {
  if (!is_floating(call.tensor(call.op().parameters[0].name).dtype)) return "integers";
  return std::nullopt;
}

}  // namespace recut::loop
