#include "native/cuda/hosted_run.h"

#include <utility>

#include "engine/support/check.h"

namespace recut::cuda {

Result<std::unique_ptr<HostedRun>> HostedRun::prepare(const Step& step, std::vector<Tensor> inputs,
                                                      const CallOptions& options) {
  auto run = Run::prepare(step, inputs, options);
  if (!run) return run.diagnostics();
  return std::unique_ptr<HostedRun>(new HostedRun(step.gpu(), std::move(inputs), std::move(*run)));
}

HostedRun::HostedRun(SharedGpu gpu, std::vector<Tensor> inputs, Run run)
    : gpu_(std::move(gpu)), inputs_(std::move(inputs)), run_(std::move(run)) {
  for (std::size_t i = 0; i < program().outputs.size(); ++i)
    outputs_.emplace_back(static_cast<std::size_t>(run_.output_bytes(i)));
}

Result<Done> HostedRun::run(std::uint64_t seed, std::span<double> launch_seconds) {
  auto done = gpu_->enter();
  if (done) done = run_.write_inputs(inputs_);
  if (done) done = run_.run(seed, launch_seconds);
  for (std::size_t i = 0; done && i < outputs_.size(); ++i)
    if (!outputs_[i].empty()) done = run_.read_output(i, outputs_[i]);
  return done;
}

void HostedRun::paint(std::byte with) {
  RECUT_CHECK(gpu_->enter().ok(), "a GPU that was entered before");
  run_.paint(with);
}

std::int64_t HostedRun::end_of_written(std::byte paint) const {
  RECUT_CHECK(gpu_->enter().ok(), "a GPU that was entered before");
  return run_.end_of_written(paint);
}

Tensor HostedRun::output(std::size_t number) const {
  const ProgramOutput& output = program().outputs[number];
  return output.node.valid() ? output_value(output, outputs_[number].data()) : Tensor();
}

const std::byte* HostedRun::output_storage(std::size_t number) const {
  return program().outputs[number].node.valid() ? outputs_[number].data() : nullptr;
}

}  // namespace recut::cuda
