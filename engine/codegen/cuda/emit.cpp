// One translation unit for all kernels: the helpers that they use, then a __global__ function for
// each stage of each kernel. The mapping (mapping.h) is decided first; the launch parameters and
// the head comment ("// 4096 items, 4 consecutive items per thread") follow from it, and KernelCode
// writes the body.
#include "engine/codegen/cuda/emit.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/codegen/cuda/attention.h"
#include "engine/codegen/cuda/kernel_code.h"
#include "engine/codegen/cuda/scalar_code.h"
#include "engine/codegen/loop/legalize.h"

namespace recut::cuda {
namespace {

using loop::Kernel;

class Emitter {
 public:
  explicit Emitter(const Options& options) : options_(options) {}

  Module run(std::span<const Kernel> kernels, std::span<const library::Kernel> library) {
    for (const Kernel& kernel : kernels) add(loop::legalize(kernel, loop::MathFunctions::native));
    for (const library::Kernel& kernel : library) add(kernel);
    Text all;
    all.lines(helpers_.text());
    all.append(text_);
    module_.text = all.text();
    module_.locations = all.locations();
    return std::move(module_);
  }

 private:
  void add(const Kernel& kernel) {
    module_.kernels.emplace_back();
    text_.line(fmt::format("// kernel {}", kernel.name));
    for (std::uint32_t n = 0; n < kernel.locations.size(); ++n) {
      text_.set_location(n);
      text_.line("// " + kernel.locations[n]);
    }
    text_.set_location(loop::kUnknownLocation);
    const loop::Ranges ranges = all_ranges(kernel);
    for (const loop::StageCode& stage : loop::stages_of(kernel)) add_launch(kernel, ranges, stage);
  }

  void add(const library::Kernel& kernel) {
    module_.library.emplace_back();
    if (!supports_attention(kernel)) return;
    module_.library.back() = emit_attention(kernel, fmt::format("attention_{}", calls_++),
                                            options_.matmul_precision, helpers_, text_);
  }

  void add_launch(const Kernel& kernel, const loop::Ranges& ranges, const loop::StageCode& stage) {
    auto& launches = module_.kernels.back();
    const Mapping mapping = map_stage(kernel, ranges, stage);
    const std::int64_t most = std::max<std::int64_t>(options_.max_blocks / mapping.cluster, 1);
    const std::int64_t blocks =
        mapping.cluster * std::clamp<std::int64_t>(mapping.blocks(), 1, most);
    KernelCode code(kernel, mapping, ranges, {helpers_, module_.faults});
    const Text body = code.run(stage, blocks);
    Launch launch{fmt::format("kernel_{}_{}", module_.kernels.size() - 1, launches.size()),
                  blocks,
                  mapping.threads,
                  mapping.scratch_bytes + mapping.partials_bytes,
                  mapping.cluster,
                  mapping.cooperative};
    text_.line(shape(mapping));
    if (mapping.cooperative)
      text_.line(fmt::format("__device__ unsigned {}_arrived[{}];", launch.symbol,
                             blocks / mapping.cluster));
    text_.line(fmt::format("extern \"C\" __global__ void {}__launch_bounds__({}) {}(",
                           mapping.cluster > 1 && !mapping.cooperative
                               ? fmt::format("__cluster_dims__({}) ", mapping.cluster)
                               : "",
                           bounds(mapping), launch.symbol));
    for (const std::string& one : parameters(kernel, code.names())) text_.line("    " + one);
    if (mapping.cooperative)
      text_.line(
          fmt::format("  CooperativeGroup cooperative = {{{}_arrived + blockIdx.x / {}, 0}};",
                      launch.symbol, mapping.cluster));
    text_.append(body);
    text_.line("}");
    text_.line("");
    launches.push_back(std::move(launch));
  }

  // A comment on the mapping.
  static std::string shape(const Mapping& mapping) {
    std::string each = "a thread each";
    if (mapping.vector_width > 1)
      each = fmt::format("{} consecutive items per thread", mapping.vector_width);
    if (mapping.sum_tile.columns > 0)
      each = fmt::format("sums in order, by {} threads for {}", mapping.threads,
                         mapping.sum_tile.columns);
    if (mapping.scatter)
      each = fmt::format("scatter-add to {} rows, {} per block", mapping.scatter.rows,
                         mapping.scatter.rows_per_block);
    if (mapping.transpose)
      each =
          fmt::format("tiles of {0} by {0}, transposed in shared memory", TiledTranspose::kTileDim);
    if (mapping.group > 1) each = fmt::format("{} threads each", mapping.group);
    if (mapping.interleaved > 1)
      each = fmt::format("{} threads each, {} side by side in {}{} block{}", mapping.group,
                         mapping.interleaved, mapping.cooperative ? "a cooperative group of " : "",
                         mapping.cluster, mapping.cluster == 1 ? "" : "s");
    else if (mapping.cluster > 1)
      each = fmt::format("{} blocks of {} threads each", mapping.cluster, mapping.threads);
    return fmt::format("// {} item{}, {}", mapping.count, mapping.count == 1 ? "" : "s", each);
  }

  // Ordered sums need many registers for loads in flight, so one block per SM is enough.
  static std::string bounds(const Mapping& mapping) {
    return fmt::format("{}{}", mapping.threads, mapping.sum_tile.columns > 0 ? ", 1" : "");
  }

  static std::vector<std::string> parameters(const Kernel& kernel, const Identifiers& names) {
    std::vector<std::string> lines;
    for (std::uint32_t b = 0; b < parameter_count(kernel); ++b) {
      const loop::Buffer& buffer = kernel.buffers[b];
      const char* access = buffer.access == loop::Access::read ? "const " : "";
      lines.push_back(fmt::format("{}{}* __restrict__ {},", access, memory_type_name(buffer.dtype),
                                  names.of(loop::BufferId(b))));
    }
    lines.emplace_back("long long seed, long long* fault) {");
    return lines;
  }

  const Options& options_;
  Module module_;
  Text text_;
  Helpers helpers_;
  int calls_ = 0;  // of attention
};

}  // namespace

loop::LowerOptions lower_options(const SmLimits& limits) {
  constexpr std::int64_t kLanesOfBlock = 1024, kLanesOfCluster = 8192;
  constexpr int kMinSms = 16;
  loop::LowerOptions options;
  options.group_lanes = limits.clusters ? kLanesOfCluster : kLanesOfBlock;
  if (limits.count < kMinSms) return options;
  options.column_threads = kCooperativeBlockThreads;
  while (2 * options.column_threads <=
         kCooperativeBlockThreads * std::min(limits.count, kMaxCooperativeBlocks))
    options.column_threads *= 2;
  return options;
}

Module emit(std::span<const Kernel> kernels, const Options& options) {
  return emit(kernels, {}, options);
}

Module emit(std::span<const Kernel> kernels, std::span<const library::Kernel> library,
            const Options& options) {
  return Emitter(options).run(kernels, library);
}

}  // namespace recut::cuda
