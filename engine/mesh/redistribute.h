// From one sharding of a tensor to another, by the steps that send the fewest bytes.
//
// A step changes one mesh axis by one collective, or the order of the axes of one dimension. Only
// the last axis of a dimension can be gathered or exchanged, and an axis that begins to cut a
// dimension becomes its last one. The plan is a shortest path over all shardings (Dijkstra 1959),
// in bytes of the rank that sends most, and then in steps. On more than three axes it takes only
// dimensions that are cut or will be.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/mesh/distributed_tensor.h"
#include "engine/mesh/sharding.h"
#include "engine/support/result.h"

namespace recut::mesh {

// S is an axis that cuts, P one that is partial, R one that replicates.
enum class StepKind : std::uint8_t {
  slice,           // R to S: each rank takes its part
  all_gather,      // S to R
  all_to_all,      // S to S of another dimension
  all_reduce,      // P to R
  reduce_scatter,  // P to S
  hold_partial,    // R to P: hold_partial() of distributed_tensor.h
  zero_fill,       // S to P(sum): zeros around the part
  rescale,         // P(sum) to P(avg) or back: times the number of ranks, or divided by it
  reorder          // another order of the axes of a dimension: messages between pairs of ranks
};
const char* title(StepKind kind);    // "all_gather"
bool sends_messages(StepKind kind);  // false: each rank changes its own tensor alone

struct RedistributionStep {
  StepKind kind = StepKind::slice;
  int axis = -1;      // of the mesh; -1 of a reorder
  int from_dim = -1;  // that was cut, or whose axes change order; else -1
  int to_dim = -1;    // that will be cut; else -1
  Sharding after;
  std::int64_t bytes = 0;  // sent by the rank that sends most, padding counted
};

struct RedistributionPlan {
  DeviceMesh mesh;
  TensorType type;
  Sharding from, to;
  std::vector<RedistributionStep> steps;

  std::int64_t bytes() const;  // of all steps
};

// Sharding `to` may be partial: backward needs that, and R to P is no traffic. Axes of size 1 take
// no steps. Fails where a sharding isn't one of the type on the mesh, or a partial kind isn't
// defined for the dtype.
Result<RedistributionPlan> plan_redistribution(const TensorType& type, const DeviceMesh& mesh,
                                               const Sharding& from, const Sharding& to);

// Runs the plan's steps on the local tensors; sums are those of reduce_ranks.h. `tensor` has the
// plan's mesh, type and first sharding.
DistributedTensor run_plan(const RedistributionPlan& plan, const DistributedTensor& tensor,
                           Traffic& traffic);

// A redistribution as a user asks for it.
struct RedistributeRequest {
  std::optional<Sharding> to;
  std::optional<DeviceMesh> mesh;  // none: the tensor's
  std::optional<DType> dtype;      // cast to it first, so that it is sent; none: as it is
};

// Plans and runs. Fails where the target is missing, partial or on another mesh, and as
// plan_redistribution() does.
Result<DistributedTensor> redistribute(const DistributedTensor& tensor,
                                       const RedistributeRequest& request, Traffic& traffic);

// The whole tensor: redistributes to R on all axes.
Result<Tensor> full_tensor(const DistributedTensor& tensor, Traffic& traffic);

// The sharding that the gradient of redistribute's input has: the input's, but R where that is
// partial, which takes no traffic.
Sharding gradient_sharding(const Sharding& input);

// One line a step: "all_gather of axis 'dp' on dimension 0: 64 B, then [R, S(0)]".
std::string format(const RedistributionPlan& plan);

// Microseconds of a collective of n ranks by DTensor's cost model: `bytes` of the whole value,
// 87.7 GiB/s inside a host and 0.22 of that between hosts. A step without messages takes none.
double dtensor_micros(StepKind kind, std::int64_t bytes, std::int64_t ranks, bool one_host);

}  // namespace recut::mesh
