// Placements by the usual styles of parallel training, for a graph of which nothing is known but its
// calls.
//
//   ddp    the batch is sharded; every rank has all parameters (DistributedDataParallel)
//   fsdp   the batch and the parameters are sharded (FSDP2: ZeRO stage 3)
//   tp     parameters of products are sharded in pairs, columns then rows (Megatron-LM: Shoeybi et al.
//          2019), and embeddings by their rows
//   sp     tp, with the sequence sharded between the pairs (Korthikanti et al. 2022)
//   cp     the sequence is sharded
//
// Each axis of a mesh has one style. The result is a placement file (distributed_module.h), which a
// user may edit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ir/graph.h"
#include "engine/mesh/device_mesh.h"
#include "engine/support/result.h"

namespace recut::mesh {

enum class ParallelStyle : std::uint8_t { ddp, fsdp, tp, sp, cp };

// By axis; none: everything is replicated along it.
using AxisStyles = std::vector<std::optional<ParallelStyle>>;

// "dp=fsdp,tp=tp". Fails on other text, an axis that the mesh lacks or that stands there twice, and
// an unknown style.
Result<AxisStyles> parse_styles(std::string_view text, const DeviceMesh& mesh);

// The batch is dimension 0 of the largest input that is no parameter, and the sequence its
// dimension 1; other inputs, tangents and results with these sizes there are sharded likewise. Two axes
// that shard one parameter take different dimensions of it.
std::string preset_placements(const Graph& graph, const AxisStyles& styles);

}  // namespace recut::mesh
