#include "wasm/step/parallel_training_run.h"

#include <utility>

#include "engine/schedule/schedule.h"

namespace recut::step {
namespace {

constexpr std::int64_t kParallelTrainingRunAlignment = 64;

}  // namespace

Result<ParallelTrainingRun> ParallelTrainingRun::prepare(Program program,
                                                         std::vector<Tensor> inputs) {
  auto run = ParallelRun::prepare(std::move(program), inputs);
  if (!run) return run.diagnostics();
  std::vector<std::int64_t> begins;
  std::int64_t end = 0;
  for (std::size_t i = 0; i < run->program().outputs.size(); ++i) {
    begins.push_back(end);
    end = aligned(end + run->output_bytes(i), kParallelTrainingRunAlignment);
  }
  auto outputs = Block::reserve(end, "a place for outputs");
  if (!outputs) return outputs.diagnostics();
  return ParallelTrainingRun(std::move(*run), std::move(inputs), std::move(*outputs),
                             std::move(begins));
}

Result<Done> ParallelTrainingRun::run(std::uint64_t seed, std::span<double> launch_seconds) {
  run_.read(inputs_);
  auto done = run_.run(seed, launch_seconds);
  for (std::size_t i = 0; done && i < begins_.size(); ++i) {
    const auto count = static_cast<std::size_t>(run_.output_bytes(i));
    if (count != 0) run_.read_output(i, {outputs_.data() + begins_[i], count});
  }
  return done;
}

Tensor ParallelTrainingRun::output(std::size_t number) const {
  const ProgramOutput& output = program().outputs[number];
  return output.node.valid() ? output_value(output, output_storage(number)) : Tensor();
}

}  // namespace recut::step
