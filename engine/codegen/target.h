// Targets: the languages in which a kernel's code is printed, each generated from the loop form. A
// new target is a folder with its emitter and a row of the table in target.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/codegen/cuda/launch.h"
#include "engine/codegen/library/library_call.h"
#include "engine/codegen/loop/kernel.h"
#include "engine/codegen/lower/lower.h"
#include "engine/cost/device.h"

namespace recut {

// Options of single targets.
enum class TargetOption : std::uint8_t {
  relaxed,           // WebAssembly: relaxed multiply-adds (wasm/emit.h)
  rows,              // WebAssembly: rows of the matmul microkernel's register tile
  matmul_precision,  // CUDA: of f32 in attention
  sm_limits,         // CUDA: of the GPU that the code is for
  module_bytes       // WebAssembly: the module as bytes
};

struct TargetOptions {
  bool relaxed = false;
  std::int64_t rows = 4;
  cuda::MatmulPrecision matmul_precision = cuda::MatmulPrecision::f32;
  SmLimits sm_limits;
};

// One line of code, without its end.
struct TargetLine {
  std::string text;
  std::uint32_t location = loop::kUnknownLocation;  // the source location in its kernel
  loop::BufferId buffer;  // the buffer that it declares, in the loop form; or invalid
  bool remark = false;    // a comment or declaration, which computes nothing
};

struct Target {
  std::string_view id, title;  // "llvm", "LLVM IR"
  std::string_view about;      // in the help: "LLVM IR for this processor"
  std::string_view comment;    // begins a comment: ";"
  std::string_view extension;  // of a file with the code: ".ll"
  std::span<const TargetOption> options;
  // The library kernels that the target has functions of its own for; null: none.
  library::SupportsForm functions = nullptr;
  loop::LowerOptions (*lower)(const TargetOptions& options);
  // The code of verified kernels, those in loop form first. `calls`: of `functions` alone.
  std::vector<TargetLine> (*lines)(std::span<const loop::Kernel> kernels,
                                   std::span<const library::Kernel> calls,
                                   const TargetOptions& options);

  bool takes(TargetOption option) const;
};

std::span<const Target> targets();
const Target* find_target(std::string_view id);  // null: unknown

}  // namespace recut
