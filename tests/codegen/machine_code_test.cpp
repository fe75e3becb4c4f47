// Kernels as machine code: lanes, accumulators, addresses, faults, and whole random graphs.
#include <catch2/catch_test_macros.hpp>

#include "engine/codegen/llvm/emit.h"
#include "engine/codegen/loop/parser.h"
#include "engine/codegen/loop/verifier.h"
#include "native/cpu/jit.h"
#include "tests/codegen/cuda_on_cpu.h"
#include "tests/codegen/kernel_text.h"
#include "tests/codegen/machine_code.h"
#include "tests/codegen/run_kernels.h"
#include "tests/random/random_graph.h"

namespace recut {
namespace {

TEST_CASE("machine code: sums in lanes, with a rest, in the interpreter's order",
          "[codegen][cpu]") {
  const auto kernels = kernels_of(R"(
kernel "rows" {
  buffer %x : f32[3100] read
  buffer %y : f32[100] written
  parallel %r in 0..100 {
    %zero : f32 = constant 0.25
    %s : f32 = accumulator add from %zero lanes 8
    for %j in 0..31 lanes 8 {
      %a : f32 = load %x[31*%r + %j]
      update %s, %a
    }
    %t : f32 = read %s
    store %y[%r], %t
  }
}
kernel "columns" {
  buffer %x : f32[3100] read
  buffer %y : f32[31] written
  parallel %j in 0..31 lanes 8 {
    %low : f32 = constant -1
    %m : f32 = accumulator max from %low
    for %r in 0..100 {
      %a : f32 = load %x[31*%r + %j]
      update %m, %a
    }
    %t : f32 = read %m
    store %y[%j], %t
  }
}
kernel "all" {
  buffer %x : f64[100] read
  buffer %y : f64[1] written
  %one : f64 = constant 1
  %p : f64 = accumulator mul from %one lanes 4
  for %i in 0..100 lanes 4 {
    %a : f64 = load %x[%i]
    update %p, %a
  }
  %t : f64 = read %p
  store %y[0], %t
})");
  for (const std::uint64_t seed : {1, 2, 3})
    CHECK(test::machine_code_difference(kernels, seed) == "");
  CHECK(test::cuda_difference(kernels, 1) == "");
}

// The largest by magnitude, with its sign, and what a graph says as abs(where(abs(x) > 0, x, 2)).
TEST_CASE("machine code: a choice by |x| > 0 leaves x its sign", "[codegen][cpu]") {
  const auto kernels = kernels_of(R"(
kernel "largest" {
  buffer %x : f64[20] read
  buffer %y : f64[4] written
  buffer %largest : f64[1] scratch
  parallel %r in 0..4 {
    %zero : f64 = constant 0
    %more : f64 = constant 1.00000025
    store %largest[0], %zero
    for %i in 0..5 {
      %v : f64 = load %x[5*%r + %i]
      %l : f64 = load %largest[0]
      %a : f64 = abs %v
      %b : f64 = abs %l
      %c : f64 = mul %b, %more
      %larger : bool = gt %a, %c
      if %larger {
        store %largest[0], %v
      }
    }
    %w : f64 = load %largest[0]
    store %y[%r], %w
  }
}
kernel "sizes" {
  buffer %x : f32[20] read
  buffer %y : f32[20] written
  parallel %i in 0..20 lanes 8 {
    %zero : f32 = constant 0
    %two : f32 = constant 2
    %v : f32 = load %x[%i]
    %a : f32 = abs %v
    %large : bool = gt %a, %zero
    %w : f32 = select %large, %v, %two
    %s : f32 = abs %w
    store %y[%i], %s
  }
})");
  for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6})
    CHECK(test::machine_code_difference(kernels, seed) == "");
  CHECK(test::cuda_difference(kernels, 1) == "");
}

// Products that are exact have the same bits on processors that fuse and on those that don't.
TEST_CASE("machine code: sums of products, in lanes, with a rest and one by one",
          "[codegen][cpu]") {
  const auto kernels = kernels_of(R"(
kernel "rows and columns" {
  buffer %x : bf16[310] read
  buffer %y : bf16[310] read
  buffer %n : i32[310] read
  buffer %rows : f32[10] written
  buffer %columns : f64[31] written
  buffer %whole : i32[31] written
  %zero : f32 = constant 0
  %none : f64 = constant 0
  %naught : i32 = constant 0
  parallel %r in 0..10 {
    %s : f32 = accumulator add from %zero lanes 8
    for %j in 0..31 lanes 8 {
      %a : f32 = load %x[31*%r + %j]
      %b : f32 = load %y[31*%r + %j]
      update %s, %a * %b
    }
    %t : f32 = read %s
    store %rows[%r], %t
  }
  parallel %c in 0..31 lanes 8 {
    %u : f64 = accumulator add from %none
    %w : i32 = accumulator add from %naught
    for %k in 0..10 {
      %d : f32 = load %x[31*%k + %c]
      %e : f64 = convert %d
      %f : f32 = load %y[%k]
      %g : f64 = convert %f
      update %u, %e * %g
      %m : i32 = load %n[31*%k + %c]
      %o : i32 = load %n[%k]
      update %w, %m * %o
    }
    %v : f64 = read %u
    store %columns[%c], %v
    %p : i32 = read %w
    store %whole[%c], %p
  }
})");
  for (const std::uint64_t seed : {1, 2, 3})
    CHECK(test::machine_code_difference(kernels, seed) == "");
  CHECK(test::cuda_difference(kernels, 1) == "");
}

TEST_CASE("machine code: places that lie apart, conditions, and what several add to",
          "[codegen][cpu]") {
  const auto kernels = kernels_of(R"(
kernel "turned" {
  buffer %x : i16[96] read
  buffer %p : i64[96] read
  buffer %y : i32[96] written
  parallel %i in 0..96 lanes 8 {
    %q : i64 = load %p[%i]
    %k : i64 = check %q in 0..96
    %a : i32 = load %x[%k]
    %b : i32 = load %x[12*mod(%i, 8) + div(%i, 8)]
    %c : i32 = add %a, %b
    store %y[-1*%i + 95], %c
  }
}
kernel "padded" {
  buffer %x : bf16[10] read
  buffer %y : f32[24] written
  parallel %i in 0..24 lanes 8 {
    %at : i64 = index %i
    %low : i64 = constant 3
    %high : i64 = constant 13
    %above : bool = ge %at, %low
    %below : bool = lt %at, %high
    %in : bool = and %above, %below
    %a : f32 = load %x[%i + -3] where %in
    store %y[%i], %a
  }
}
kernel "histogram" {
  buffer %p : i64[40] read
  buffer %y : i64[4] updated
  %one : i64 = constant 1
  for %i in 0..40 {
    %q : i64 = load %p[%i]
    %k : i64 = check %q in 0..4
    %c : bool = eq %q, %one
    if %c {
      store add %y[%k], %one
    }
  }
})");
  for (const std::uint64_t seed : {1, 2, 3})
    CHECK(test::machine_code_difference(kernels, seed) == "");
  CHECK(test::cuda_difference(kernels, 1) == "");
}

TEST_CASE("machine code: scratch of parallel iterations", "[codegen][cpu]") {
  const auto kernels = kernels_of(R"(
kernel "rows of squares, turned" {
  buffer %x : bf16[70] read
  buffer %y : f32[70] written
  buffer %room : f32[14] scratch
  buffer %sums : f64[1] scratch
  %zero : f32 = constant 0
  parallel %i in 0..5 {
    for %j in 0..14 lanes 8 {
      %a : f32 = load %x[14*%i + %j]
      %b : f32 = mul %a, %a
      store %room[-1*%j + 13], %b
    }
    %s : f32 = accumulator add from %zero
    for %k in 0..14 {
      %c : f32 = load %room[%k]
      update %s, %c
    }
    %t : f32 = read %s
    %wide : f64 = convert %t
    store %sums[0], %wide
    for %l in 0..14 lanes 8 {
      %d : f64 = load %sums[0]
      %e : f32 = load %room[%l]
      %f : f32 = convert %d
      %g : f32 = div %e, %f
      store %y[14*%i + %l], %g
    }
  }
})");
  for (const std::uint64_t seed : {1, 2, 3})
    CHECK(test::machine_code_difference(kernels, seed) == "");
  CHECK(test::cuda_difference(kernels, 1) == "");
}

TEST_CASE("machine code: an index out of range is told, and nothing is read there",
          "[codegen][cpu]") {
  const auto kernels = kernels_of(R"(
kernel "gather" {
  buffer %x : f32[4] read
  buffer %p : i64[9] read
  buffer %y : f32[9] written
  for %i in 0..9 lanes 4 {
    %q : i64 = load %p[%i]
    %k : i64 = check %q in 0..4
    %a : f32 = load %x[%k]
    store %y[%i], %a
  }
})");
  for (const std::int64_t at : {0, 6, 8})
    for (const std::int64_t index : {std::int64_t{4}, std::int64_t{-1}, INT64_MIN}) {
      test::KernelMemory memory(kernels.front());
      memory.set(1, at, {0, index});
      const llvm_ir::Module module = llvm_ir::emit(kernels);
      const auto jit = cpu::Jit::compile(module.text);
      REQUIRE(jit.ok());
      std::int64_t fault = 0;
      const auto buffers = memory.addresses();
      const auto run =
          reinterpret_cast<void (*)(void* const*, std::int64_t, std::int64_t, std::int64_t,
                                    std::int64_t*)>(jit->find(module.kernels[0][0].symbol));
      run(buffers.data(), 0, module.kernels[0][0].extent, 0, &fault);
      REQUIRE(fault > 0);
      CHECK(module.faults[static_cast<std::size_t>(fault - 1)] ==
            "an index is out of range for size 4");
    }
}

TEST_CASE("machine code: text that is no LLVM IR is refused in LLVM's words", "[cpu]") {
  const auto jit = cpu::Jit::compile("define void @f( {");
  REQUIRE_FALSE(jit.ok());
  CHECK(format(jit.diagnostics()).find("expected") != std::string::npos);
}

// What a kernel reads and is no fast-math flag's business.
TEST_CASE("machine code: LLVM IR names no target and no fast-math flag", "[codegen][cpu]") {
  const auto kernels = kernels_of(R"(
kernel "relu" {
  buffer %x : f32[64] read
  buffer %y : f32[64] written
  %zero : f32 = constant 0
  parallel %i in 0..64 lanes 8 {
    %a : f32 = load %x[%i]
    %b : f32 = max %a, %zero
    store %y[%i], %b
  }
})");
  const std::string text = llvm_ir::emit(kernels).text;
  for (const char* word : {"target", "fast", "nnan", "reassoc", "contract"})
    CHECK(text.find(word) == std::string::npos);
  CHECK(text.find("<8 x float>") != std::string::npos);
  CHECK(text == llvm_ir::emit(kernels).text);
}

TEST_CASE("machine code: the kernels of random graphs do what the interpreter does",
          "[codegen][cpu][random]") {
  std::size_t kernels = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    INFO("seed " << seed);
    const auto lowered = test::lowered_kernels(test::random_graph(seed));
    kernels += lowered.size();
    REQUIRE(test::machine_code_difference(lowered, seed, 2) == "");
  }
  CHECK(kernels > 300);
}

}  // namespace
}  // namespace recut
