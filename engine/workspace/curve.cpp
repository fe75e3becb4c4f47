#include "engine/workspace/curve.h"

namespace recut {

const CurvePoint* CurveReport::cheapest_within(std::int64_t peak_bytes) const {
  const CurvePoint* best = nullptr;
  for (const CurvePoint& point : points)
    if (point.peak_bytes <= peak_bytes) best = &point;
  return best;
}

}  // namespace recut
