#include "native/cuda/attention_call.h"

#include <memory>
#include <utility>
#include <variant>

#include "engine/codegen/cuda/attention.h"
#include "engine/codegen/cuda/emit.h"
#include "engine/ir/measurements.h"
#include "engine/ir/storage_model.h"

namespace recut::cuda {

AttentionCall::AttentionCall(const library::Kernel& kernel, std::vector<Function> functions,
                             SharedGpu gpu, const Stream& stream)
    : name_(kernel.name),
      functions_(std::move(functions)),
      gpu_(std::move(gpu)),
      stream_(stream.handle()),
      workspace_bytes_(attention_workspace_bytes(kernel)) {}

Result<Done> AttentionCall::run(std::size_t, std::span<const driver::Address> buffers,
                                driver::Address workspace) const {
  std::vector<driver::Address> given(buffers.begin(), buffers.end());
  given.push_back(workspace);
  std::vector<void*> arguments;
  for (driver::Address& address : given) arguments.push_back(&address);
  return launch(*gpu_, stream_, functions_, arguments.data(), name_);
}

void add_attention_workspaces(Graph& graph) {
  const StorageModel storages(graph);
  auto measurements = graph.measured == nullptr ? std::make_shared<Measurements>()
                                                : std::make_shared<Measurements>(*graph.measured);
  bool any = false;
  for (const NodeId id : graph.order()) {
    const auto kernel = library::library_kernel(graph, storages, id);
    if (!kernel || !std::holds_alternative<library::Attention>(kernel->calls.front()) ||
        !supports_attention(*kernel))
      continue;
    const std::int64_t bytes = planned_workspace(attention_workspace_bytes(*kernel));
    if (bytes == 0) continue;
    measurements->add(id, {std::nullopt, bytes});
    any = true;
  }
  if (any) graph.measured = std::move(measurements);
}

}  // namespace recut::cuda
