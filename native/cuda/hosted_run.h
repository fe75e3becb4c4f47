// A step on a card whose inputs and outputs are in this program's memory: what training needs.
#pragma once

#include <memory>
#include <vector>

#include "native/cuda/step.h"

namespace recut::cuda {

// Every run takes the inputs as they are then, and brings all outputs back: parameters travel to
// the card and back with each step. It may be used, and let go of, by any thread.
class HostedRun : public StepRun {
 public:
  // As Run::prepare; the inputs' storages are shared with whoever changes them between runs.
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
  HostedRun(SharedCard card, std::vector<Tensor> inputs, Run run);

  SharedCard card_;
  std::vector<Tensor> inputs_;
  Run run_;
  std::vector<std::vector<std::byte>> outputs_;  // their storages
};

}  // namespace recut::cuda
