#include "engine/codegen/target.h"

#include <algorithm>

#include "engine/codegen/cuda/attention.h"
#include "engine/codegen/cuda/emit.h"
#include "engine/codegen/llvm/emit.h"
#include "engine/codegen/loop/printer.h"
#include "engine/codegen/wasm/emit.h"

namespace recut {
namespace {

using Kernels = std::span<const loop::Kernel>;
using LibraryKernels = std::span<const library::Kernel>;

bool starts_with_comment(std::string_view line, std::string_view comment) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  return line.starts_with(comment);
}

// A module's text, whose lines all end in '\n', with the source location of each line.
std::vector<TargetLine> located_lines(std::string_view text,
                                      const std::vector<std::uint32_t>& locations,
                                      std::string_view comment) {
  std::vector<TargetLine> lines;
  for (const std::uint32_t location : locations) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    lines.push_back({std::string(line), location, {}, starts_with_comment(line, comment)});
    text.remove_prefix(end + 1);
  }
  return lines;
}

std::vector<TargetLine> loop_lines(Kernels kernels, LibraryKernels, const TargetOptions&) {
  std::vector<TargetLine> lines;
  for (const loop::Kernel& kernel : kernels) {
    if (!lines.empty()) lines.emplace_back();
    for (loop::PrintedLine& line : loop::print_lines(kernel)) {
      const bool declares = line.buffer.valid() || starts_with_comment(line.text, "note ");
      lines.push_back({std::move(line.text), line.location, line.buffer, declares});
    }
  }
  return lines;
}

std::vector<TargetLine> llvm_lines(Kernels kernels, LibraryKernels, const TargetOptions&) {
  const llvm_ir::Module module = llvm_ir::emit(kernels);
  return located_lines(module.text, module.locations, ";");
}

std::vector<TargetLine> wasm_lines(Kernels kernels, LibraryKernels, const TargetOptions& options) {
  std::vector<TargetLine> lines;
  for (wasm::Line& line : wasm::emit_text(kernels, {options.relaxed})) {
    const bool instruction =
        !starts_with_comment(line.text, ";;") && !starts_with_comment(line.text, "(");
    lines.push_back({std::move(line.text), line.location, {}, !instruction});
  }
  return lines;
}

std::vector<TargetLine> cuda_lines(Kernels kernels, LibraryKernels calls,
                                   const TargetOptions& options) {
  cuda::Options emitted;
  emitted.matmul_precision = options.matmul_precision;
  const cuda::Module module = cuda::emit(kernels, calls, emitted);
  return located_lines(module.text, module.locations, "//");
}

loop::LowerOptions portable(const TargetOptions&) { return {}; }
loop::LowerOptions for_engines(const TargetOptions& options) {
  return wasm::lower_options(options.rows);
}
loop::LowerOptions for_gpus(const TargetOptions& options) {
  return cuda::lower_options(options.sm_limits);
}

constexpr TargetOption kOptionsOfWasm[] = {TargetOption::relaxed, TargetOption::rows,
                                           TargetOption::module_bytes};
constexpr TargetOption kOptionsOfCuda[] = {TargetOption::matmul_precision, TargetOption::sm_limits};

constexpr Target kTargets[] = {
    {"loop", "Loop form", "loop nests", ";", ".loop", {}, nullptr, portable, loop_lines},
    {"llvm",
     "LLVM IR",
     "LLVM IR for this processor",
     ";",
     ".ll",
     {},
     nullptr,
     portable,
     llvm_lines},
    {"wasm", "WebAssembly", "WebAssembly text", ";;", ".wat", kOptionsOfWasm, nullptr, for_engines,
     wasm_lines},
    {"cuda", "CUDA", "CUDA C++ for NVRTC, sm_80 and up", "//", ".cu", kOptionsOfCuda,
     cuda::supports_attention, for_gpus, cuda_lines},
};

}  // namespace

bool Target::takes(TargetOption option) const {
  return std::find(options.begin(), options.end(), option) != options.end();
}

std::span<const Target> targets() { return kTargets; }

const Target* find_target(std::string_view id) {
  const auto found = std::find_if(std::begin(kTargets), std::end(kTargets),
                                  [&](const Target& target) { return target.id == id; });
  return found == std::end(kTargets) ? nullptr : found;
}

}  // namespace recut
