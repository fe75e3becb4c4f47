#include "tests/codegen/machine_code.h"

#include <fmt/core.h>

#include <cmath>
#include <cstring>

#include "engine/codegen/llvm/emit.h"
#include "engine/codegen/loop/interpreter.h"
#include "engine/support/hash.h"
#include "native/cpu/jit.h"

namespace recut::test {
namespace {

constexpr std::uint64_t kSeed = 7;

// Steps between two f32 numbers, or f64 where the dtype has as many bits.
std::int64_t places_apart(DType dtype, double a, double b) {
  if (dtype == DType::f64) {
    std::int64_t steps = 0;
    while (a != b && steps < 100) a = std::nextafter(a, b), ++steps;
    return steps;
  }
  auto x = static_cast<float>(a);
  const auto y = static_cast<float>(b);
  std::int64_t steps = 0;
  while (x != y && steps < 100) x = std::nextafter(x, y), ++steps;
  return steps;
}

bool alike(DType dtype, loop::Number a, loop::Number b, int last_places) {
  if (!is_floating(dtype)) return a.integer == b.integer;
  if (std::isnan(a.real) || std::isnan(b.real)) return std::isnan(a.real) && std::isnan(b.real);
  if (a.real == b.real) return std::signbit(a.real) == std::signbit(b.real);
  return last_places > 0 && places_apart(dtype, a.real, b.real) <= last_places;
}

std::string difference(const loop::Kernel& kernel, const KernelMemory& expected,
                       const KernelMemory& found, int last_places) {
  for (std::size_t b = 0; b < loop::brought_buffers(kernel); ++b)
    for (std::int64_t i = 0; i < kernel.buffers[b].elements; ++i) {
      const loop::Number x = expected.get(b, i), y = found.get(b, i);
      if (!alike(kernel.buffers[b].dtype, x, y, last_places))
        return fmt::format("kernel '{}': {}[{}] is {} or {}, expected {} or {}", kernel.name,
                           kernel.buffers[b].name, i, y.real, y.integer, x.real, x.integer);
    }
  return "";
}

std::string compare_kernel(const loop::Kernel& kernel, const cpu::Jit& jit,
                           std::span<const llvm_ir::Stage> stages, const KernelMemory& before,
                           int last_places, KernelMemory* left) {
  KernelMemory expected = before, found = before;
  loop::RunOptions options;
  options.seed = kSeed;
  const auto interpreted = loop::run(kernel, expected.spans(), options);
  const bool fault = run_stages(jit, stages, found.addresses(), kSeed) != 0;
  if (left != nullptr) *left = found;
  if (fault != !interpreted.ok())
    return fmt::format("kernel '{}': {}", kernel.name,
                       fault ? "the code finds a fault and the interpreter none"
                             : "the code finds no fault: " + format(interpreted.diagnostics()));
  return fault ? "" : difference(kernel, expected, found, last_places);
}

}  // namespace

KernelMemory::KernelMemory(const loop::Kernel& kernel) : kernel_(&kernel) {
  for (std::size_t b = 0; b < loop::brought_buffers(kernel); ++b)
    bytes_.emplace_back(
        static_cast<std::size_t>(kernel.buffers[b].elements * item_bytes(kernel.buffers[b].dtype)));
}

void KernelMemory::set(std::size_t buffer, std::int64_t element, loop::Number number) {
  const DType dtype = kernel_->buffers[buffer].dtype;
  loop::write_element(dtype, bytes_[buffer].data() + element * item_bytes(dtype), number);
}

loop::Number KernelMemory::get(std::size_t buffer, std::int64_t element) const {
  const DType dtype = kernel_->buffers[buffer].dtype;
  return loop::read_element(dtype, bytes_[buffer].data() + element * item_bytes(dtype));
}

void KernelMemory::fill(std::uint64_t seed) {
  static constexpr double kSpecial[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1.0};
  std::uint64_t state = seed;
  for (std::size_t b = 0; b < bytes_.size(); ++b)
    for (std::int64_t i = 0; i < kernel_->buffers[b].elements; ++i) {
      state = hash_mix(state, static_cast<std::uint64_t>(i));
      const bool special = state % 11 == 0;
      const double real = static_cast<double>(state >> 11) * 0x1p-51 - 2;
      set(b, i,
          {special ? kSpecial[(state >> 8) % 6] : real, static_cast<std::int64_t>(state >> 63)});
    }
}

std::vector<std::span<std::byte>> KernelMemory::spans() {
  std::vector<std::span<std::byte>> spans;
  for (auto& bytes : bytes_) spans.emplace_back(bytes);
  return spans;
}

std::vector<void*> KernelMemory::addresses() {
  std::vector<void*> addresses;
  for (auto& bytes : bytes_) addresses.push_back(bytes.data());
  return addresses;
}

std::int64_t run_stages(const cpu::Jit& jit, std::span<const llvm_ir::Stage> stages,
                        std::span<void* const> buffers, std::uint64_t seed) {
  using StageFunction =
      void (*)(void* const*, std::int64_t, std::int64_t, std::int64_t, std::int64_t*);
  std::int64_t fault = 0;
  const auto with = static_cast<std::int64_t>(seed);
  for (const llvm_ir::Stage& stage : stages) {
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
    const std::string what =
        compare_kernel(kernels[k], *jit, module.kernels[k], memory, last_places, nullptr);
    if (!what.empty()) return what;
  }
  return "";
}

std::string machine_code_difference(const loop::Kernel& kernel, const KernelMemory& memory,
                                    int last_places, KernelMemory* left) {
  const llvm_ir::Module module = llvm_ir::emit({&kernel, 1});
  const auto jit = cpu::Jit::compile(module.text);
  if (!jit) return format(jit.diagnostics());
  return compare_kernel(kernel, *jit, module.kernels.front(), memory, last_places, left);
}

}  // namespace recut::test
