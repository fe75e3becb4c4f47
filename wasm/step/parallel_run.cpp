#include "wasm/step/parallel_run.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "engine/support/clock.h"
#include "engine/support/units.h"
#include "wasm/step/c_functions.h"
#include "wasm/step/instance.h"

// thread_pool.js
extern "C" {
int pool_threads();
// Returns the step's number, or 0 and the reason in `problem`.
int pool_open(const char* bytes, std::size_t count, void* const* functions, std::uint32_t pages,
              char* problem);
void pool_close(int step);
void pool_prepare(int step, std::uint32_t fault, std::uint32_t scratch, std::uint32_t stride);
void pool_copy_in(int step, std::uint32_t at, const void* from, std::uint32_t count);
void pool_copy_out(int step, std::uint32_t at, void* to, std::uint32_t count);
void pool_fill(int step, std::uint32_t at, std::uint32_t count, int paint);
std::uint32_t pool_end_of_written(int step, std::uint32_t at, std::uint32_t count, int paint);
void pool_run(int step, std::uint32_t stage, std::uint32_t buffers, double extent, double grain,
              const std::int64_t* seed);
}

namespace recut::step {
namespace {

constexpr std::int64_t kParallelRunAlignment = 64, kPage = 65536;
// The memory begins with the control words (thread_pool.js), then the fault word.
constexpr std::int64_t kFaultOffset = 64, kListsOffset = 128;
constexpr std::int64_t kMaxStepBytes = std::int64_t{1} << 31;

// Bytes of a storage up to the last one that the output shows.
std::int64_t shown_bytes(const ProgramOutput& output) {
  const Layout& layout = output.layouts.front();
  std::int64_t last = layout.offset;
  for (std::size_t d = 0; d < layout.shape.size(); ++d) {
    if (layout.shape[d] == 0) return 0;
    last += (layout.shape[d] - 1) * layout.strides[d];
  }
  return (last + 1) * item_bytes(output.type.dtype);
}

}  // namespace

int pool_size() { return pool_threads(); }

Result<ParallelRun> ParallelRun::prepare(Program program, std::span<const Tensor> inputs) {
  wasm::Module module = wasm::emit(program.kernels, {has_relaxed_simd(), true});
  MemoryOffsets offsets;
  std::int64_t end = kListsOffset;
  const auto reserve = [&](std::int64_t bytes) {
    const std::int64_t begin = end;
    end = aligned(end + bytes, kParallelRunAlignment);
    return begin;
  };
  std::size_t addresses = 0;
  for (const Launch& launch : program.launches) addresses += launch.buffers.size();
  offsets.lists = reserve(static_cast<std::int64_t>(addresses * sizeof(std::uint32_t)));
  offsets.scratch_stride = aligned(module.scratch_bytes, kParallelRunAlignment);
  offsets.scratch = reserve(pool_size() * offsets.scratch_stride);
  for (const Tensor& input : inputs) offsets.inputs.push_back(reserve(input.storage->size()));
  offsets.arena = reserve(program.arena_bytes);
  if (end >= kMaxStepBytes)
    return error("a step's memory of " + format_bytes(end) +
                 " can't be had: a page can give it 2 GiB");
  std::vector<void*> functions;
  for (const std::string& name : module.imports) functions.push_back(c_function(name));
  std::array<char, 256> problem{};
  const auto pages = static_cast<std::uint32_t>((end + kPage - 1) / kPage);
  const int step =
      pool_open(module.bytes.data(), module.bytes.size(), functions.data(), pages, problem.data());
  if (step == 0) return error(std::string("the step can't be prepared here: ") + problem.data());
  return ParallelRun(step, std::move(program), std::move(module), std::move(offsets));
}

ParallelRun::ParallelRun(int step, Program program, wasm::Module module, MemoryOffsets offsets)
    : step_(step),
      program_(std::move(program)),
      module_(std::move(module)),
      offsets_(std::move(offsets)) {
  for (std::uint32_t first = 0; const auto& stages : module_.kernels) {
    first_stage_.push_back(first);
    first += static_cast<std::uint32_t>(stages.size());
  }
  pool_prepare(step_, kFaultOffset, static_cast<std::uint32_t>(offsets_.scratch),
               static_cast<std::uint32_t>(offsets_.scratch_stride));
  write_lists();
}

ParallelRun::ParallelRun(ParallelRun&& other) noexcept
    : StepRun(std::move(other)),
      step_(std::exchange(other.step_, 0)),
      program_(std::move(other.program_)),
      module_(std::move(other.module_)),
      offsets_(std::move(other.offsets_)),
      first_stage_(std::move(other.first_stage_)) {}

ParallelRun::~ParallelRun() {
  if (step_ != 0) pool_close(step_);
}

void ParallelRun::read(std::span<const Tensor> inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto count = static_cast<std::size_t>(inputs[i].storage->size());
    copy_in(offsets_.inputs[i], {inputs[i].storage->data(), count});
  }
}

void ParallelRun::copy_in(std::int64_t at, std::span<const std::byte> bytes) {
  pool_copy_in(step_, static_cast<std::uint32_t>(at), bytes.data(),
               static_cast<std::uint32_t>(bytes.size()));
}

std::int64_t ParallelRun::offset_of(const BufferAddress& location) const {
  return (location.input ? offsets_.inputs[*location.input] : offsets_.arena) + location.offset;
}

void ParallelRun::write_lists() {
  std::vector<std::uint32_t> addresses;
  for (const Launch& launch : program_.launches)
    for (const BufferAddress& location : launch.buffers)
      addresses.push_back(static_cast<std::uint32_t>(offset_of(location)));
  copy_in(offsets_.lists, std::as_bytes(std::span(addresses)));
}

Result<Done> ParallelRun::run(std::uint64_t seed, std::span<double> launch_seconds) {
  const auto with = static_cast<std::int64_t>(seed);
  std::int64_t fault = 0;
  copy_in(kFaultOffset, std::as_bytes(std::span(&fault, 1)));
  auto list = static_cast<std::uint32_t>(offsets_.lists);
  for (std::size_t i = 0; i < program_.launches.size(); ++i) {
    const Launch& launch = program_.launches[i];
    const Clock::time_point began = Clock::now();
    std::uint32_t number = first_stage_[launch.kernel];
    for (const loop::Stage& stage : module_.kernels[launch.kernel]) {
      const bool shared = stage.parallel && stage.work >= loop::kMinParallelWork;
      pool_run(step_, number++, list, static_cast<double>(stage.extent),
               shared ? static_cast<double>(stage.grain) : 0, &with);
    }
    if (!launch_seconds.empty())
      launch_seconds[i] = std::chrono::duration<double>(Clock::now() - began).count();
    list += static_cast<std::uint32_t>(launch.buffers.size() * sizeof(std::uint32_t));
  }
  pool_copy_out(step_, kFaultOffset, &fault, sizeof fault);
  if (fault != 0) return error(module_.faults[static_cast<std::size_t>(fault - 1)]);
  return Done{};
}

void ParallelRun::paint(std::byte with) {
  pool_fill(step_, static_cast<std::uint32_t>(offsets_.arena),
            static_cast<std::uint32_t>(program_.arena_bytes), std::to_integer<int>(with));
}

std::int64_t ParallelRun::end_of_written(std::byte paint) const {
  return pool_end_of_written(step_, static_cast<std::uint32_t>(offsets_.arena),
                             static_cast<std::uint32_t>(program_.arena_bytes),
                             std::to_integer<int>(paint));
}

Tensor ParallelRun::output(std::size_t number) const {
  const ProgramOutput& output = program_.outputs[number];
  if (!output.node.valid()) return Tensor();
  std::vector<std::byte> storage(static_cast<std::size_t>(output_bytes(number)));
  read_output(number, storage);
  return output_value(output, storage.data());
}

std::int64_t ParallelRun::output_bytes(std::size_t number) const {
  const ProgramOutput& output = program_.outputs[number];
  return output.node.valid() ? shown_bytes(output) : 0;
}

void ParallelRun::read_output(std::size_t number, std::span<std::byte> to) const {
  pool_copy_out(step_, static_cast<std::uint32_t>(offset_of(program_.outputs[number].address)),
                to.data(), static_cast<std::uint32_t>(to.size()));
}

}  // namespace recut::step
