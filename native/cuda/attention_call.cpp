#include "native/cuda/attention_call.h"

#include <utility>

#include "engine/codegen/cuda/emit.h"

namespace recut::cuda {

AttentionCall::AttentionCall(const library::Kernel& kernel, std::vector<Function> functions,
                             SharedCard card, const Stream& stream)
    : name_(kernel.name),
      functions_(std::move(functions)),
      card_(std::move(card)),
      stream_(stream.handle()),
      workspace_bytes_(attention_workspace_bytes(kernel)) {}

Result<Done> AttentionCall::run(std::size_t, std::span<const driver::Address> buffers,
                                driver::Address workspace) const {
  std::vector<driver::Address> given(buffers.begin(), buffers.end());
  given.push_back(workspace);
  std::vector<void*> arguments;
  for (driver::Address& address : given) arguments.push_back(&address);
  return launch(*card_, stream_, functions_, arguments.data(), name_);
}

}  // namespace recut::cuda
