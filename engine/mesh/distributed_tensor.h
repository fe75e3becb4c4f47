// One tensor over a mesh, with the local tensors of all ranks in one process.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/eval/tensor.h"
#include "engine/mesh/device_mesh.h"
#include "engine/mesh/sharding.h"
#include "engine/mesh/traffic.h"
#include "engine/support/result.h"

namespace recut::mesh {

struct DistributedTensor {
  DeviceMesh mesh;
  TensorType type;  // of the whole tensor
  Sharding sharding;
  std::vector<Tensor> locals;  // by position in the mesh: local_block() of it
};

// The local tensor of a rank; one without elements, of the same dtype, for a rank outside the mesh.
Tensor local_of(const DistributedTensor& tensor, std::int64_t rank);

// The rank of each line whose data is distributed, as its coordinate; none: every rank takes its
// part of its own tensor, and nothing is sent.
using DataSource = std::optional<std::int64_t>;

// Cuts a tensor over a mesh, axis by axis: an axis that cuts scatters, any other one broadcasts.
// `given` is one tensor that all ranks have, or one for each position, of one type. Fails where the
// sharding isn't one of the tensor, tensors differ in type, an axis lacks the source's coordinate,
// or a partial kind is a product, as in DTensor, or isn't defined for the dtype.
Result<DistributedTensor> distribute(std::span<const Tensor> given, const DeviceMesh& mesh,
                                     const Sharding& sharding, DataSource source, Traffic& traffic);

// The same of a tensor that is distributed: fails on another mesh or sharding, else gives it back.
Result<DistributedTensor> distribute(const DistributedTensor& tensor, const DeviceMesh& mesh,
                                     const Sharding& sharding);

struct FromLocalOptions {
  // Of the whole tensor; both or none. Without them the shape is that of all parts together.
  std::optional<Shape> shape;
  std::optional<Strides> strides;
  // The first rank of each line along an axis that replicates sends its values to the others.
  bool run_check = false;
};

// Puts local tensors together as they are. Fails where one isn't its rank's part: the message has
// the rank, its type and the expected one.
Result<DistributedTensor> from_local(std::vector<Tensor> locals, const DeviceMesh& mesh,
                                     const Sharding& sharding, const FromLocalOptions& options,
                                     Traffic& traffic);

// The tensors that give `tensor` back when a line's ranks are reduced: the first rank keeps the
// value and the others hold 0 for a sum (1 for a product), which is exact; all hold it for avg, min
// and max.
Tensor hold_partial(const Tensor& tensor, Reduction reduction, bool first);

}  // namespace recut::mesh
