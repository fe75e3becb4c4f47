#include "engine/codegen/llvm/emit.h"

#include <fmt/format.h>

#include "engine/codegen/llvm/kernel_code.h"
#include "engine/codegen/loop/legalize.h"

namespace recut::llvm_ir {
namespace {

using loop::Kernel;

class Emitter {
 public:
  Module run(std::span<const Kernel> kernels) {
    for (const Kernel& kernel : kernels) add(loop::legalize(kernel));
    text_.add_lines(declarations_.text());
    module_.text = std::move(text_.text);
    module_.locations = std::move(text_.locations);
    return std::move(module_);
  }

 private:
  void add(const Kernel& kernel) {
    module_.kernels.emplace_back();
    text_.add(fmt::format("; kernel {}", kernel.name));
    for (std::uint32_t n = 0; n < kernel.locations.size(); ++n)
      text_.add("; " + kernel.locations[n], n);
    for (const loop::StageCode& stage : loop::stages_of(kernel)) add_stage(kernel, stage);
  }

  void add_stage(const Kernel& kernel, const loop::StageCode& stage) {
    IrBuilder builder(declarations_);
    KernelCode code(kernel, builder, module_.faults);
    code.block(stage.shared);
    if (stage.loop != nullptr) {
      builder.set_location(stage.location);
      code.partial_loop(*stage.loop);
    }
    finish(kernel, builder, loop::stage_of(kernel, stage));
  }

  // An internal function with a noalias parameter for each buffer, and the exported one that loads
  // the pointers from a list.
  void finish(const Kernel& kernel, const IrBuilder& builder, loop::Stage stage) {
    auto& stages = module_.kernels.back();
    stage.symbol = fmt::format("kernel_{}_{}", module_.kernels.size() - 1, stages.size());
    std::string parameters, found, given;
    for (std::uint32_t b = 0; b < parameter_count(kernel); ++b) {
      const std::string name = buffer_name(loop::BufferId(b));
      parameters += fmt::format("ptr noalias {}, ", name);
      found += fmt::format(
          "  %p{} = getelementptr ptr, ptr %buffers, i64 {}\n  {} = load ptr, ptr %p{}\n", b, b,
          name, b);
      given += fmt::format("ptr {}, ", name);
    }
    constexpr std::string_view kRest = "i64 %first, i64 %last, i64 %seed, ptr %fault";
    text_.add(
        fmt::format("define internal void @{}_code({}{}) {{", stage.symbol, parameters, kRest));
    text_.add(builder.text());
    text_.add_lines(
        fmt::format("  ret void\n}}\n\n"
                    "define void @{0}(ptr %buffers, {1}) {{\n{2}  call void @{0}_code({3}{1})\n"
                    "  ret void\n}}\n\n",
                    stage.symbol, kRest, found, given));
    stages.push_back(std::move(stage));
  }

  Module module_;
  LocatedText text_;
  Declarations declarations_;
};

}  // namespace

Module emit(std::span<const Kernel> kernels) { return Emitter().run(kernels); }

}  // namespace recut::llvm_ir
