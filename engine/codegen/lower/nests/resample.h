// What all resamplings share: how far apart the places are that output elements stand at.
#pragma once

#include "engine/codegen/lower/nest.h"

namespace recut::loop {

// One dimension: `in` elements as `out`.
struct ResampledExtent {
  std::int64_t in, out;
  bool align_corners;
  std::optional<double> scale_factor;  // output over input; none: the ratio of sizes
};

// Input elements for each output element, rounded as computations of places in `type` have it.
double resampling_scale(const ResampledExtent& extent, DType type);

// The factor of spatial dimension `i` of `dims`, under the names that schemas have for it.
std::optional<double> scale_factor(const Call& call, std::size_t i, std::size_t dims);

// Why a call isn't lowered: it resamples integers.
inline std::optional<std::string> no_reals(const Call& call) {
  if (!is_floating(call.tensor(call.op().parameters[0].name).dtype)) return "integers";
  return std::nullopt;
}

}  // namespace recut::loop
