// Tensors of the ranks of one axis, made from a whole tensor and put together again, for tests of
// rules. Parts of a Partial are chosen so that a wrong rule shows: those of a sum have alternating
// signs.
#pragma once

#include <span>
#include <vector>

#include "engine/eval/tensor.h"
#include "engine/mesh/placement.h"
#include "engine/mesh/rules/local_call.h"

namespace recut::mesh {

Tensor piece_of(const Tensor& whole, Placement placement, AxisRank at);

// The whole tensor; of replicated pieces the first.
Tensor join_pieces(std::span<const Tensor> pieces, Placement placement, const Shape& whole);

// The elements of a rank's shard within a tensor of the whole shape that is zero elsewhere.
Tensor embedded_piece(const Tensor& piece, Placement placement, const Shape& whole, AxisRank at);

// A rank's shard without a copy.
Tensor shard_view(const Tensor& whole, Placement placement, AxisRank at);

}  // namespace recut::mesh
