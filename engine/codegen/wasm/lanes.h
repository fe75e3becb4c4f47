// Helpers for operands that are scalars or vectors of one width.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/codegen/wasm/function_builder.h"

namespace recut::wasm {

inline std::int64_t width(std::span<const WasmValue> operands) {
  std::int64_t lanes = 1;
  for (const WasmValue& operand : operands) lanes = std::max(lanes, operand.lanes);
  return lanes;
}

// Applies a function of scalars to each lane.
template <class One>
WasmValue lane_by_lane(FunctionBuilder& fn, DType result, std::span<const WasmValue> operands,
                       One one) {
  const std::int64_t lanes = width(operands);
  if (lanes == 1) return one(operands);
  return fn.each_lane(result, lanes, [&](std::int64_t lane) {
    std::vector<WasmValue> numbers;
    for (const WasmValue& operand : operands) numbers.push_back(fn.lane(operand, lane));
    fn.push(one(numbers));
  });
}

}  // namespace recut::wasm
