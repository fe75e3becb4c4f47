// Helpers for operands that are scalars or vectors of one width.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/codegen/wasm/writer.h"

namespace recut::wasm {

inline std::int64_t width(std::span<const Code> operands) {
  std::int64_t lanes = 1;
  for (const Code& operand : operands) lanes = std::max(lanes, operand.lanes);
  return lanes;
}

// Applies a function of scalars to each lane.
template <class One>
Code lane_by_lane(Writer& w, DType result, std::span<const Code> operands, One one) {
  const std::int64_t lanes = width(operands);
  if (lanes == 1) return one(operands);
  return w.each_lane(result, lanes, [&](std::int64_t lane) {
    std::vector<Code> numbers;
    for (const Code& operand : operands) numbers.push_back(w.lane(operand, lane));
    w.push(one(numbers));
  });
}

}  // namespace recut::wasm
