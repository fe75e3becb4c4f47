// A step on a GPU whose inputs and outputs are in the host's memory, as training needs them.
#pragma once

#include <memory>
#include <vector>

#include "native/cuda/step.h"

namespace recut::cuda {

// Every run copies the current inputs to the GPU and all outputs back: parameters travel in both
// directions with each step. Any thread may use and release it.
class HostedRun : public StepRun {
 public:
  // As Run::prepare. The inputs' storages are shared with the caller, which may change them
  // between runs.
  static Result<std::unique_ptr<HostedRun>> prepare(const Step& step, std::vector<Tensor> inputs,
                                                    const CallOptions& options);

  const Program& program() const override { return run_.program(); }
  Result<Done> run(std::uint64_t seed, std::span<double> launch_seconds = {}) override;
  void paint(std::byte with) override;
  std::int64_t end_of_written(std::byte paint) const override;
  std::int64_t scratch_bytes() const override { return run_.scratch_bytes(); }
  Tensor output(std::size_t number) const override;
  const std::byte* output_storage(std::size_t number) const override;

 private:
  HostedRun(SharedGpu gpu, std::vector<Tensor> inputs, Run run);

  SharedGpu gpu_;
  std::vector<Tensor> inputs_;
  Run run_;
  std::vector<std::vector<std::byte>> outputs_;  // storages of the outputs
};

}  // namespace recut::cuda
