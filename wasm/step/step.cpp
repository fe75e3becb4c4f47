#include "wasm/step/step.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <utility>

#include "engine/support/check.h"
#include "engine/support/clock.h"
#include "engine/support/units.h"

namespace recut::step {
namespace {

constexpr std::int64_t kStepAlignment = 64;

}  // namespace

void Block::Free::operator()(std::byte* memory) const { std::free(memory); }

Result<Block> Block::reserve(std::int64_t bytes, const std::string& what) {
  Block block;
  const auto refused = [&] {
    return error(what + " of " + format_bytes(bytes) +
                 " can't be had: a page has 2 GiB of memory for all that it holds");
  };
  if (bytes >= std::int64_t{1} << 31) return refused();
  void* const memory = std::malloc(static_cast<std::size_t>(bytes + kStepAlignment));
  if (memory == nullptr) return refused();
  block.memory_.reset(static_cast<std::byte*>(memory));
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  block.begin_ = block.memory_.get() + (kStepAlignment - address % kStepAlignment);
  block.bytes_ = bytes;
  return block;
}

Result<Step> Step::compile(Program program) {
  wasm::Module module = wasm::emit(program.kernels, {has_relaxed_simd()});
  auto instance = Instance::make(module);
  if (!instance) return instance.diagnostics();
  return Step(std::move(program), std::move(*instance), std::move(module));
}

Step::Step(Program program, Instance instance, wasm::Module module)
    : program_(std::move(program)),
      instance_(std::move(instance)),
      faults_(std::move(module.faults)),
      scratch_bytes_(module.scratch_bytes) {
  for (const std::vector<loop::Stage>& stages : module.kernels) {
    kernels_.emplace_back();
    for (const loop::Stage& stage : stages)
      kernels_.back().push_back({instance_.find<StageFunction>(stage.symbol), stage.extent});
  }
}

const std::string& Step::fault(std::int64_t number) const {
  return faults_[static_cast<std::size_t>(number - 1)];
}

Result<Run> Run::prepare(const Step& step, std::vector<Tensor> inputs) {
  auto arena = Block::reserve(step.program().arena_bytes, "an arena");
  if (!arena) return arena.diagnostics();
  auto scratch = Block::reserve(step.scratch_bytes(), "scratch memory");
  if (!scratch) return scratch.diagnostics();
  return Run(step, std::move(inputs), std::move(*arena), std::move(*scratch));
}

Run::Run(const Step& step, std::vector<Tensor> inputs, Block arena, Block scratch)
    : step_(step),
      inputs_(std::move(inputs)),
      arena_(std::move(arena)),
      scratch_(std::move(scratch)) {
  for (const Launch& launch : step.program().launches)
    for (const BufferAddress& location : launch.buffers) buffers_.push_back(address(location));
}

std::byte* Run::address(const BufferAddress& location) const {
  std::byte* const base = location.input ? inputs_[*location.input].storage->data() : arena_.data();
  return base + location.offset;
}

void Run::paint(std::byte with) { std::fill_n(arena_.data(), arena_.bytes(), with); }

std::int64_t Run::end_of_written(std::byte paint) const {
  return recut::end_of_written({arena_.data(), static_cast<std::size_t>(arena_.bytes())}, paint);
}

Tensor Run::output(std::size_t number) const {
  const ProgramOutput& output = program().outputs[number];
  return output.node.valid() ? output_value(output, address(output.address)) : Tensor();
}

Result<Done> Run::run(std::uint64_t seed, std::span<double> launch_seconds) {
  std::int64_t fault = 0;
  std::byte* const* buffers = buffers_.data();
  const std::vector<Launch>& launches = step_.program().launches;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const Clock::time_point began = Clock::now();
    for (const Step::StageCode& stage : step_.kernel(launches[i].kernel))
      stage.run(buffers, 0, stage.extent, static_cast<std::int64_t>(seed), &fault, scratch_.data());
    if (!launch_seconds.empty())
      launch_seconds[i] = std::chrono::duration<double>(Clock::now() - began).count();
    if (fault != 0) return error(step_.fault(fault));
    buffers += launches[i].buffers.size();
  }
  return Done{};
}

}  // namespace recut::step
