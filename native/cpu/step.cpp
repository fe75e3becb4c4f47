// A step on the processor: compiled code, the arena, and the launches in order.
//
// The arena is mapped with its end at a page that may not be touched, so a write beyond it is a
// fault and never silent. Addresses of all launches are computed once, in prepare(); a run
// allocates nothing. Stages with little work run on the calling thread, since waking the pool would
// cost more than the stage.
#include "native/cpu/step.h"

#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

#include "engine/support/check.h"
#include "engine/support/clock.h"
#include "engine/support/units.h"
#include "native/cpu/object_code.h"

namespace recut::cpu {
namespace {

constexpr std::int64_t kArenaAlignment = 64;

// By library kernel and buffer: whether all launches have it in an input that keeps its value.
std::vector<std::vector<bool>> constant_operands(const Program& program,
                                                 const std::vector<bool>& constant) {
  std::vector<std::vector<bool>> all;
  for (const library::Kernel& kernel : program.library)
    all.emplace_back(kernel.buffers.size(), !constant.empty());
  if (constant.empty()) return all;
  for (const Launch& launch : program.launches)
    for (std::size_t b = 0; launch.library && b < launch.buffers.size(); ++b) {
      const std::optional<std::uint32_t>& input = launch.buffers[b].input;
      if (!input || !constant[*input]) all[launch.kernel][b] = false;
    }
  return all;
}

}  // namespace

Result<Arena> Arena::reserve(std::int64_t bytes) {
  const std::int64_t page = sysconf(_SC_PAGESIZE);
  const std::int64_t memory = sysconf(_SC_PHYS_PAGES) * page;
  const auto refused = [&] {
    return error(fmt::format("a step's {} can't be had: this machine has {} of memory",
                             format_bytes(bytes), format_bytes(memory)));
  };
  if (bytes > memory) return refused();
  const std::int64_t whole = (bytes + page - 1) / page * page;
  void* mapped = mmap(nullptr, static_cast<std::size_t>(whole + page), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return refused();
  Arena arena;
  arena.mapped_ = static_cast<std::byte*>(mapped);
  arena.mapped_bytes_ = whole + page;
  const int closed = mprotect(arena.mapped_ + whole, static_cast<std::size_t>(page), PROT_NONE);
  RECUT_CHECK(closed == 0, "a page of one's own can be closed");
  arena.data_ = arena.mapped_ + (whole - aligned(bytes, kArenaAlignment));
  arena.bytes_ = bytes;
  return arena;
}

Arena::Arena(Arena&& other) noexcept
    : mapped_(std::exchange(other.mapped_, nullptr)),
      data_(other.data_),
      bytes_(other.bytes_),
      mapped_bytes_(other.mapped_bytes_) {}

Arena::~Arena() {
  if (mapped_ != nullptr) munmap(mapped_, static_cast<std::size_t>(mapped_bytes_));
}

void Arena::fill(std::byte with) { std::fill_n(data_, bytes_, with); }

Result<Step> Step::compile(Program program) {
  llvm_ir::Module module = llvm_ir::emit(program.kernels);
  auto object = compile_object(module.text, this_machine());
  if (!object) return object.diagnostics();
  return load(std::move(program),
              {std::move(*object), std::move(module.kernels), std::move(module.faults)});
}

Result<Step> Step::load(Program program, const StepCode& code) {
  auto jit = Jit::load(code.object);
  if (!jit) return jit.diagnostics();
  return Step(std::move(program), std::move(*jit), code);
}

Step::Step(Program program, Jit jit, const StepCode& code)
    : program_(std::move(program)), jit_(std::move(jit)), faults_(code.faults) {
  for (const std::vector<loop::Stage>& stages : code.kernels) {
    kernels_.emplace_back();
    for (const loop::Stage& stage : stages)
      kernels_.back().push_back(
          {reinterpret_cast<decltype(StageCode::run)>(jit_.find(stage.symbol)), stage.extent,
           stage.grain, stage.parallel, stage.work});
  }
}

const std::string& Step::fault(std::int64_t number) const {
  return faults_[static_cast<std::size_t>(number - 1)];
}

Result<Run> Run::prepare(const Step& step, std::vector<Tensor> inputs, int threads,
                         double min_parallel_work, const std::vector<bool>& constant) {
  const Threads pool(threads);
  auto library = OneDnn::prepare(step.program().library, min_parallel_work,
                                 constant_operands(step.program(), constant));
  if (!library) return library.diagnostics();
  auto arena = Arena::reserve(step.program().arena_bytes);
  if (!arena) return arena.diagnostics();
  auto scratch = Arena::reserve(library->scratch_bytes());
  if (!scratch) return scratch.diagnostics();
  std::int64_t packed_bytes = 0;
  for (const Launch& launch : step.program().launches)
    if (launch.library) packed_bytes += library->packed_bytes(launch.kernel);
  auto packed = Arena::reserve(packed_bytes);
  if (!packed) return packed.diagnostics();
  Run run(step, std::move(inputs), pool, min_parallel_work, std::move(*library), std::move(*arena),
          std::move(*scratch), std::move(*packed));
  run.pack();
  return run;
}

void Run::pack() {
  std::byte* to = packed_.data();
  for (std::size_t i = 0; i < program().launches.size(); ++i) {
    const Launch& launch = program().launches[i];
    packed_operands_.push_back(to);
    if (!launch.library) continue;
    library_.pack(launch.kernel, buffers_.data() + first_buffers_[i], scratch_.data(), to);
    to += library_.packed_bytes(launch.kernel);
  }
}

Run::Run(const Step& step, std::vector<Tensor> inputs, Threads threads, double min_parallel_work,
         OneDnn library, Arena arena, Arena scratch, Arena packed)
    : step_(step),
      inputs_(std::move(inputs)),
      threads_(threads),
      min_parallel_work_(min_parallel_work),
      library_(std::move(library)),
      arena_(std::move(arena)),
      scratch_(std::move(scratch)),
      packed_(std::move(packed)) {
  for (const Launch& launch : step.program().launches) {
    first_buffers_.push_back(buffers_.size());
    for (const BufferAddress& location : launch.buffers) buffers_.push_back(address(location));
  }
}

std::byte* Run::address(const BufferAddress& location) const {
  std::byte* base = location.input ? inputs_[*location.input].storage->data() : arena_.data();
  return base + location.offset;
}

std::int64_t Run::end_of_written(std::byte paint) const {
  return recut::end_of_written({arena_.data(), static_cast<std::size_t>(arena_.bytes())}, paint);
}

Tensor Run::output(std::size_t number) const {
  const ProgramOutput& output = program().outputs[number];
  return output.node.valid() ? output_value(output, address(output.address)) : Tensor();
}

Result<Done> Run::run(std::uint64_t seed, std::span<double> launch_seconds) {
  return run_range(0, step_.program().launches.size(), seed, launch_seconds);
}

Result<Done> Run::run_launches(std::size_t first, std::size_t last, std::uint64_t seed) {
  return run_range(first, last, seed, {});
}

Result<Done> Run::run_range(std::size_t first, std::size_t last, std::uint64_t seed,
                            std::span<double> launch_seconds) {
  fault_ = 0;
  for (std::size_t i = first; i < last; ++i) {
    const Clock::time_point began = Clock::now();
    launch(i, static_cast<std::int64_t>(seed));
    if (!launch_seconds.empty())
      launch_seconds[i] = std::chrono::duration<double>(Clock::now() - began).count();
    if (fault_ != 0) return error(step_.fault(fault_));
  }
  return Done{};
}

void Run::launch(std::size_t number, std::int64_t seed) {
  const Launch& launch = program().launches[number];
  void* const* buffers = buffers_.data() + first_buffers_[number];
  if (launch.library)
    return library_.run(launch.kernel, buffers, scratch_.data(), packed_operands_[number]);
  for (const Step::StageCode& stage : step_.kernel(launch.kernel)) {
    if (!stage.parallel || stage.work < min_parallel_work_) {
      stage.run(buffers, 0, stage.extent, seed, &fault_);
      continue;
    }
    // The lambda captures one reference, so that std::function allocates nothing.
    const auto part = [&](std::int64_t first, std::int64_t last) {
      stage.run(buffers, first, last, seed, &fault_);
    };
    threads_.run(stage.extent, stage.grain, std::cref(part));
  }
}

}  // namespace recut::cpu
