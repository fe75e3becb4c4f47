#include "tests/codegen/kernel_memory.h"

#include <fmt/core.h>

#include <cmath>

#include "engine/codegen/loop/interpreter.h"
#include "engine/support/hash.h"

namespace recut::test {
namespace {

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
  for (std::size_t b = 0; b < loop::parameter_count(kernel); ++b)
    for (std::int64_t i = 0; i < kernel.buffers[b].elements; ++i) {
      const loop::Number x = expected.get(b, i), y = found.get(b, i);
      if (!alike(kernel.buffers[b].dtype, x, y, last_places))
        return fmt::format("kernel '{}': {}[{}] is {} or {}, expected {} or {}", kernel.name,
                           kernel.buffers[b].name, i, y.real, y.integer, x.real, x.integer);
    }
  return "";
}

}  // namespace

KernelMemory::KernelMemory(const loop::Kernel& kernel) : kernel_(&kernel) {
  for (std::size_t b = 0; b < loop::parameter_count(kernel); ++b)
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

std::string difference_to_interpreter(const loop::Kernel& kernel, const KernelMemory& before,
                                      const Machine& machine, int last_places, KernelMemory* left) {
  KernelMemory expected = before, found = before;
  loop::RunOptions options;
  options.seed = kCodeSeed;
  const auto interpreted = loop::run(kernel, expected.spans(), options);
  const auto ran = machine(found);
  if (left != nullptr) *left = found;
  if (!ran) return fmt::format("kernel '{}': {}", kernel.name, format(ran.diagnostics()));
  const bool fault = *ran != 0;
  if (fault != !interpreted.ok())
    return fmt::format("kernel '{}': {}", kernel.name,
                       fault ? "the code finds a fault and the interpreter none"
                             : "the code finds no fault: " + format(interpreted.diagnostics()));
  return fault ? "" : difference(kernel, expected, found, last_places);
}

}  // namespace recut::test
