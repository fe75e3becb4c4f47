// Operators that no machine has, and what they become.
#include <catch2/catch_test_macros.hpp>

#include "engine/codegen/loop/interpreter.h"
#include "engine/codegen/loop/legalize.h"
#include "engine/codegen/loop/parser.h"
#include "engine/codegen/loop/printer.h"
#include "engine/codegen/loop/verifier.h"
#include "tests/codegen/kernel_memory.h"

namespace recut {
namespace {

loop::Kernel expand_kernel_of(const std::string& text) {
  const auto kernels = loop::parse_kernels(text, "k.loop");
  if (!kernels) FAIL(format(kernels.diagnostics()));
  return kernels->front();
}

// The expanded kernel, which has to be sound.
loop::Kernel expanded(const loop::Kernel& kernel) {
  loop::Kernel made = loop::legalize(kernel);
  const Diagnostics faults = loop::verify(made);
  if (!faults.empty()) FAIL(format(faults) + loop::print(made));
  return made;
}

// Both in the interpreter.
std::string difference(const loop::Kernel& kernel, const test::KernelMemory& memory,
                       int last_places) {
  const loop::Kernel made = expanded(kernel);
  const test::Machine machine = [&](test::KernelMemory& on) -> Result<std::int64_t> {
    loop::RunOptions options;
    options.seed = test::kCodeSeed;
    const auto ran = loop::run(made, on.spans(), options);
    if (!ran) return ran.diagnostics();
    return 0;
  };
  return test::difference_to_interpreter(kernel, memory, machine, last_places);
}

const char* const kFunctions = R"(kernel "functions" {
  buffer %x : f32[40000] read
  buffer %e : f32[40000] written
  buffer %l : f32[40000] written
  buffer %t : f32[40000] written
  buffer %r : f32[40000] written
  parallel %i in 0..40000 lanes 8 {
    %v : f32 = load %x[%i]
    %a : f32 = exp %v
    store %e[%i], %a
    %b : f32 = log %v
    store %l[%i], %b
    %c : f32 = tanh %v
    store %t[%i], %c
    %d : f32 = erf %v
    store %r[%i], %d
  }
}
)";

TEST_CASE("expand: exp, log, tanh and erf of f32 are near", "[codegen]") {
  const loop::Kernel kernel = expand_kernel_of(kFunctions);
  test::KernelMemory memory(kernel);
  memory.fill(3);
  CHECK(difference(kernel, memory, 1) == "");
  for (std::int64_t i = 0; i < 40000; ++i)
    memory.set(0, i, {static_cast<float>((i - 20000) * 0.0055), 0});
  CHECK(difference(kernel, memory, 1) == "");
  const std::string text = loop::print(expanded(kernel));
  for (const char* op : {" exp ", " log ", " tanh ", " erf "})
    CHECK(text.find(op) == std::string::npos);
}

TEST_CASE("expand: random numbers keep their bits", "[codegen]") {
  const loop::Kernel kernel = expand_kernel_of(R"(kernel "draws" {
  buffer %bound : i64[512] read
  buffer %u : f64[512] written
  buffer %v : f64[512] written
  buffer %n : f64[512] written
  buffer %b : i64[512] written
  buffer %w : i64[512] written
  %seed : i64 = seed
  %draw : i64 = constant 5000000000
  %digits : i64 = constant 24
  %one : i64 = constant 1
  for %i in 0..512 lanes 8 {
    %element : i64 = index 8589934592*%i + 77
    %bits : i64 = random_bits %seed, %draw, %element
    store %w[%i], %bits
    %a : f64 = uniform %bits, %digits
    store %u[%i], %a
    %k : i64 = load %bound[%i]
    %fewer : i64 = and %k, %digits
    %some : i64 = add %fewer, %one
    %c : f64 = uniform %bits, %some
    store %v[%i], %c
    %d : f64 = normal %bits
    store %n[%i], %d
    %e : i64 = below %bits, %k
    store %b[%i], %e
  }
}
)");
  test::KernelMemory memory(kernel);
  for (std::int64_t i = 0; i < 512; ++i)
    memory.set(0, i, {0, 1 + (i * i * i * 68719476736 + i) % 9223372036854775806});
  CHECK(difference(kernel, memory, 0) == "");
  const std::string text = loop::print(expanded(kernel));
  for (const char* op : {" random_bits ", " uniform ", " normal ", " below "})
    CHECK(text.find(op) == std::string::npos);
}

// What a compiler of ours does with the arguments of a call leaves no trace.
TEST_CASE("expand: operands come before operators, each once", "[codegen]") {
  const loop::Kernel kernel = expand_kernel_of(R"(kernel "one" {
  buffer %x : f64[1] read
  buffer %y : f64[1] written
  %k : i64 = constant 3
  %bits : i64 = constant 81985529216486895
  for %i in 0..1 {
    %v : f64 = load %x[%i]
    %u : f64 = uniform %bits, %k
    %s : f64 = add %v, %u
    store %y[%i], %s
  }
}
)");
  const std::string text = loop::print(expanded(kernel));
  CHECK(text.find("%u : f64 = constant") != std::string::npos);  // it was all constant
}

}  // namespace
}  // namespace recut
