// The loop form as WebAssembly: a module whose functions run on an imported memory.
//
//   parallel %i in 0..1024 lanes 8      a function over a worker's range: a loop over vectors of
//   { ... }                             128 bits, and a scalar epilogue
//
// An exported function has the signature
//   (buffers: i32, first: i64, last: i64, seed: i64, fault: i32, scratch: i32)
// `buffers`: the address of a list of addresses of buffers, in the kernel's order, none
// overlapping. `fault`: the address of an i64. `scratch`: the address of the worker's scratch, a
// multiple of 64. Stages of a kernel run one after another.
//
// Imports from "recut": "memory", and the functions of the C library that the kernels call, on f64
// ("sin", "pow") or f32 ("nextafterf").
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
  // Use relaxed multiply-adds (WebAssembly 3.0) for products in sums: they round once on machines
  // with fast FMA. Otherwise products are rounded twice.
  bool relaxed = false;
  // The memory is shared by threads, each with its own instance of the module. Only one instance
  // has the C library's functions, so stages that call them aren't parallel.
  bool shared = false;
};

// Rows of a matrix product's register tile: for any engine, and for an engine with relaxed
// multiply-adds that doesn't hoist loads of operands (V8 from 13 on).
inline constexpr std::int64_t kRows = 4, kRowsInOrder = 6;

// Lowering options for engines, which have at most sixteen vector registers of 16 bytes.
loop::LowerOptions lower_options(std::int64_t rows = kRows);

struct Module {
  std::string bytes;
  std::vector<std::vector<loop::Stage>> kernels;  // by kernel
  std::vector<std::string> imports;               // functions of the C library's, in order
  std::int64_t scratch_bytes = 0;                 // that a worker needs
  // Messages of runtime errors. If `*fault`, 0 before, is n after a run, the error is faults[n -
  // 1]: bad data, and the kernel's results are undefined.
  std::vector<std::string> faults;
};

// The kernels must be verified (loop/verifier.h); their buffers together have less than 2 GiB.
Module emit(std::span<const loop::Kernel> kernels, const Options& options = {});

// A module that fails to validate on engines without relaxed multiply-adds.
std::string relaxed_probe();

// The same module in the text form, for users.
std::vector<Line> emit_text(std::span<const loop::Kernel> kernels, const Options& options = {});

}  // namespace recut::wasm
