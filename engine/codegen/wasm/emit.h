// The loop form as WebAssembly: a module whose functions run on a memory that the host brings.
//
//   parallel %i in 0..1024 lanes 8      a function of the range that one worker takes, over
//   { ... }                             vectors of 128 bits, and by single numbers what is left
//   over
//
// An exported function has the signature
//   (buffers: i32, first: i64, last: i64, seed: i64, fault: i32, scratch: i32)
// `buffers`: the address of addresses, in the kernel's order, each where its elements begin, none
// overlapping. `fault`: of an i64. `scratch`: of bytes of this worker's, from a multiple of 64 on.
// Stages of a kernel run one after another.
//
// Imported from "recut": "memory", and those of the C library's functions that the kernels call, of
// f64 ("sin", "pow"; "nextafterf": of f32).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/codegen/loop/kernel.h"
#include "engine/codegen/loop/stages.h"
#include "engine/codegen/lower/lower.h"
#include "engine/codegen/wasm/module.h"

namespace recut::wasm {

struct Options {
  // Products in sums by relaxed multiply-adds, which round once on machines that do that as quickly
  // (WebAssembly 3.0). Else they are rounded twice.
  bool relaxed = false;
  // The memory is one that threads share, each with an instance of its own. Only one of these has
  // the C library's functions: a stage that calls any is one part.
  bool shared = false;
};

// Rows of a product whose sums an engine has in registers: any engine, and one that has relaxed
// multiply-adds and loads factors no sooner than it needs them (V8 from 13 on).
inline constexpr std::int64_t kRows = 4, kRowsInOrder = 6;

// How calls are lowered for an engine, which has sixteen registers of 16 bytes at most.
loop::LowerOptions lower_options(std::int64_t rows = kRows);

struct Module {
  std::string bytes;
  std::vector<std::vector<loop::Stage>> kernels;  // by kernel
  std::vector<std::string> imports;               // functions of the C library's, in order
  std::int64_t scratch_bytes = 0;                 // that a worker needs
  // What is wrong where `*fault`, 0 before, is n afterwards: faults[n - 1]. The data's fault; what
  // the kernel wrote is then of no use.
  std::vector<std::string> faults;
};

// Of sound kernels (loop/verifier.h), whose buffers together have less than 2 GiB.
Module emit(std::span<const loop::Kernel> kernels, const Options& options = {});

// A module that engines without relaxed multiply-adds refuse.
std::string relaxed_probe();

// The same module in the text form, for people.
std::vector<Line> emit_text(std::span<const loop::Kernel> kernels, const Options& options = {});

}  // namespace recut::wasm
