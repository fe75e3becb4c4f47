#include "gui/model/device_memory.h"

#include <numeric>

#include "engine/ir/operator.h"
#include "gui/model/memory_stack.h"

namespace recut::gui {
namespace {

DeviceShare share_of(const PlanView& plan, const StorageInstance& instance) {
  if (plan.graph().op(instance.owner).is(kGather)) return DeviceShare::gathered;
  switch (instance.kind) {
    case InstanceClass::saved:
      return DeviceShare::saved;
    case InstanceClass::result:
    case InstanceClass::gradient:
      return DeviceShare::outputs;
    default:
      return DeviceShare::temporary;
  }
}

}  // namespace

std::string_view name_of(DeviceShare share) {
  constexpr std::string_view names[kDeviceShares] = {
      "parameters", "other inputs", "saved", "gathered", "gradients, results", "temporary"};
  return names[static_cast<std::size_t>(share)];
}

DeviceBytes device_bytes(const PlanView& plan) {
  DeviceBytes bytes = {};
  const auto add = [&](DeviceShare share, std::int64_t more) {
    bytes[static_cast<std::size_t>(share)] += more;
  };
  const Graph& graph = plan.graph();
  for (const NodeId id : graph.order()) {
    if (!graph.op(id).is(kInput)) continue;
    const bool parameter = graph.is_input(id) && graph.input_kind(id) == InputKind::parameter;
    add(parameter ? DeviceShare::parameters : DeviceShare::inputs, byte_size(graph.type(id)));
  }
  if (const auto step = plan.replay().peak_step)
    for (const StorageInstance* instance : alive_at(plan, *step))
      add(share_of(plan, *instance), instance->bytes);
  return bytes;
}

std::int64_t total_of(const DeviceBytes& bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0});
}

}  // namespace recut::gui
