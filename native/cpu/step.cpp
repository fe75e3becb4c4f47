#include "native/cpu/step.h"

#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "engine/support/check.h"

namespace recut::cpu {

Arena::Arena(std::int64_t bytes) : bytes_(bytes) {
  const std::int64_t page = sysconf(_SC_PAGESIZE);
  const std::int64_t whole = (bytes + page - 1) / page * page;
  mapped_bytes_ = whole + page;
  void* mapped = mmap(nullptr, static_cast<std::size_t>(mapped_bytes_), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  RECUT_CHECK(mapped != MAP_FAILED, "the arena has memory");
  mapped_ = static_cast<std::byte*>(mapped);
  mprotect(mapped_ + whole, static_cast<std::size_t>(page), PROT_NONE);
  data_ = mapped_;
}

Arena::~Arena() { munmap(mapped_, static_cast<std::size_t>(mapped_bytes_)); }

void Arena::fill(std::byte with) {
  std::memset(data_, static_cast<int>(with), static_cast<std::size_t>(bytes_));
}

Result<Step> Step::compile(Program program) {
  const llvm_ir::Module module = llvm_ir::emit(program.kernels);
  auto jit = Jit::compile(module.text);
  if (!jit) return jit.diagnostics();
  return Step(std::move(program), std::move(*jit), module);
}

Step::Step(Program program, Jit jit, const llvm_ir::Module& module)
    : program_(std::move(program)), jit_(std::move(jit)), faults_(module.faults) {
  for (const std::vector<llvm_ir::Stage>& stages : module.kernels) {
    kernels_.emplace_back();
    for (const llvm_ir::Stage& stage : stages)
      kernels_.back().push_back(
          {reinterpret_cast<decltype(StageCode::run)>(jit_.find(stage.symbol)), stage.extent,
           stage.grain, stage.parallel});
  }
}

const std::string& Step::fault(std::int64_t number) const {
  return faults_[static_cast<std::size_t>(number - 1)];
}

Run::Run(const Step& step, std::vector<Tensor> inputs, Threads& threads)
    : step_(step),
      inputs_(std::move(inputs)),
      threads_(threads),
      arena_(step.program().arena_bytes) {
  for (const Launch& launch : step.program().launches)
    for (const Place& place : launch.buffers) buffers_.push_back(address(place));
}

std::byte* Run::address(const Place& place) const {
  std::byte* base = place.input ? inputs_[*place.input].storage->data() : arena_.data();
  return base + place.offset;
}

Result<Done> Run::run(std::uint64_t seed, std::span<double> launch_seconds) {
  using Clock = std::chrono::steady_clock;
  fault_ = 0;
  void* const* buffers = buffers_.data();
  const std::vector<Launch>& launches = step_.program().launches;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const Clock::time_point began = Clock::now();
    launch(launches[i], buffers, static_cast<std::int64_t>(seed));
    if (!launch_seconds.empty())
      launch_seconds[i] = std::chrono::duration<double>(Clock::now() - began).count();
    if (fault_ != 0) return error(step_.fault(fault_));
    buffers += launches[i].buffers.size();
  }
  return Done{};
}

void Run::launch(const Launch& launch, void* const* buffers, std::int64_t seed) {
  for (const Step::StageCode& stage : step_.kernel(launch.kernel)) {
    if (!stage.parallel) {
      stage.run(buffers, 0, stage.extent, seed, &fault_);
      continue;
    }
    threads_.run(stage.extent, stage.grain, [&](std::int64_t first, std::int64_t last) {
      stage.run(buffers, first, last, seed, &fault_);
    });
  }
}

std::vector<Tensor> Run::outputs() const {
  std::vector<Tensor> outputs;
  for (const ProgramOutput& output : step_.program().outputs)
    outputs.push_back(output.node.valid() ? output_value(output, address(output.place)) : Tensor());
  return outputs;
}

}  // namespace recut::cpu
