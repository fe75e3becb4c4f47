// Attention on the GPU by functions of the step's own code (engine/codegen/cuda/attention.h),
// without a library.
#pragma once

#include <string>
#include <vector>

#include "engine/codegen/library/library_call.h"
#include "native/cuda/device_call.h"
#include "native/cuda/function.h"
#include "native/cuda/gpu.h"
#include "native/cuda/stream.h"

namespace recut::cuda {

class AttentionCall : public DeviceCall {
 public:
  // The call keeps the stream by its handle.
  AttentionCall(const library::Kernel& kernel, std::vector<Function> functions, SharedGpu gpu,
                const Stream& stream);

  std::size_t algorithm_count() const override { return 1; }
  std::int64_t workspace_bytes(std::size_t) const override { return workspace_bytes_; }
  Result<Done> run(std::size_t algorithm, std::span<const driver::Address> buffers,
                   driver::Address workspace) const override;

 private:
  std::string name_;
  std::vector<Function> functions_;
  SharedGpu gpu_;
  driver::StreamHandle stream_;
  std::int64_t workspace_bytes_;
};

// Gives the graph the workspace of each attention call that Recut's own kernels compute on a GPU,
// so that a plan accounts for them.
void add_attention_workspaces(Graph& graph);

}  // namespace recut::cuda
