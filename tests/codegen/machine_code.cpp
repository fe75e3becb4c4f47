#include "tests/codegen/machine_code.h"

#include "engine/codegen/llvm/emit.h"
#include "tests/codegen/wasm_code.h"

namespace recut::test {

std::int64_t run_stages(const cpu::Jit& jit, std::span<const loop::Stage> stages,
                        std::span<void* const> buffers, std::uint64_t seed) {
  using StageFunction =
      void (*)(void* const*, std::int64_t, std::int64_t, std::int64_t, std::int64_t*);
  std::int64_t fault = 0;
  const auto with = static_cast<std::int64_t>(seed);
  for (const loop::Stage& stage : stages) {
    const auto function = reinterpret_cast<StageFunction>(jit.find(stage.symbol));
    const std::int64_t middle =
        stage.parallel ? stage.extent / 2 / stage.grain * stage.grain : stage.extent;
    function(buffers.data(), 0, middle, with, &fault);
    if (middle < stage.extent) function(buffers.data(), middle, stage.extent, with, &fault);
  }
  return fault;
}

std::string machine_code_difference(std::span<const loop::Kernel> kernels, std::uint64_t seed,
                                    int last_places) {
  const llvm_ir::Module module = llvm_ir::emit(kernels);
  const auto jit = cpu::Jit::compile(module.text);
  if (!jit) return format(jit.diagnostics());
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    KernelMemory memory(kernels[k]);
    memory.fill(seed + k);
    const Machine machine = [&](KernelMemory& on) -> Result<std::int64_t> {
      return run_stages(*jit, module.kernels[k], on.addresses(), kCodeSeed);
    };
    std::string what = difference_to_interpreter(kernels[k], memory, machine, last_places);
    if (what.empty()) what = wasm_difference(kernels[k], memory, last_places);
    if (!what.empty()) return what;
  }
  return "";
}

std::string machine_code_difference(const loop::Kernel& kernel, const KernelMemory& memory,
                                    int last_places, KernelMemory* left) {
  const llvm_ir::Module module = llvm_ir::emit({&kernel, 1});
  const auto jit = cpu::Jit::compile(module.text);
  if (!jit) return format(jit.diagnostics());
  const Machine machine = [&](KernelMemory& on) -> Result<std::int64_t> {
    return run_stages(*jit, module.kernels.front(), on.addresses(), kCodeSeed);
  };
  const std::string what = difference_to_interpreter(kernel, memory, machine, last_places, left);
  return what.empty() ? wasm_difference(kernel, memory, last_places) : what;
}

}  // namespace recut::test
