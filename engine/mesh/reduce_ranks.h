// Element-wise reductions over the tensors of a group of ranks, in the one order that gives the
// same bits on every rank and engine: from the group's first rank to its last.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "engine/eval/tensor.h"
#include "engine/mesh/placement.h"
#include "engine/support/result.h"

namespace recut::mesh {

// The reductions of c10d. The bitwise ones exist for integers and bools alone.
enum class RankReduction : std::uint8_t { sum, avg, product, min, max, band, bor, bxor };

RankReduction reduction_of(Reduction reduction);
std::optional<RankReduction> find_rank_reduction(std::string_view name);  // "sum", "bxor"
std::string_view name_of(RankReduction reduction);

// The reason that tensors of a dtype can't be reduced so; none where they can.
std::optional<std::string> why_not_reduced(RankReduction reduction, DType dtype);

// Each step is rounded to f32 (to f64 for f64 and c128), and the result to the dtype: 16- and 8-bit
// reals are rounded once. An average is the sum divided by the number of tensors. Integers wrap,
// and a sum of bools is "any". A NaN makes min and max NaN. The tensors have one dtype and shape,
// and why_not_reduced() gives no reason. The result is contiguous.
Tensor reduce_ranks(std::span<const Tensor* const> tensors, RankReduction reduction);

// The same of tensors side by side.
Tensor reduce_ranks(std::span<const Tensor> tensors, RankReduction reduction);

}  // namespace recut::mesh
