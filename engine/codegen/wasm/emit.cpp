#include "engine/codegen/wasm/emit.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/codegen/loop/legalize.h"
#include "engine/codegen/wasm/coalesce_locals.h"
#include "engine/codegen/wasm/kernel_code.h"
#include "engine/codegen/wasm/stackify.h"

namespace recut::wasm {
namespace {

bool calls_any(const Function& function) {
  return std::any_of(function.body.begin(), function.body.end(),
                     [](const Instruction& instruction) { return instruction.op == Op::call; });
}

class Emitter {
 public:
  explicit Emitter(const Options& options) {
    host_.relaxed = options.relaxed;
    contents_.shared = options.shared;
    host_.function = [&](std::string_view name, const Signature& signature) {
      return number_of(name, signature);
    };
  }

  void add(std::span<const loop::Kernel> kernels) {
    for (const loop::Kernel& kernel : kernels) add(loop::legalize(kernel));
  }

  Module module() {
    module_.bytes = encode(contents_);
    for (const ImportedFunction& import : contents_.imports) module_.imports.push_back(import.name);
    return std::move(module_);
  }

  std::vector<Line> text() const { return print(contents_); }

 private:
  // Imports are numbered before functions, and added on first use.
  std::uint64_t number_of(std::string_view name, const Signature& signature) {
    auto& all = contents_.imports;
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const ImportedFunction& one) { return one.name == name; });
    if (found != all.end()) return static_cast<std::uint64_t>(found - all.begin());
    all.push_back({std::string(name), signature});
    return all.size() - 1;
  }

  void add(const loop::Kernel& kernel) {
    module_.kernels.emplace_back();
    for (const loop::StageCode& stage : loop::stages_of(kernel)) add_stage(kernel, stage);
  }

  void add_stage(const loop::Kernel& kernel, const loop::StageCode& part) {
    FunctionBuilder builder(kParameters);
    KernelCode code(kernel, builder, host_, module_.faults);
    code.block(part.shared);
    if (part.loop != nullptr) {
      builder.set_location(part.location);
      code.partial_loop(*part.loop);
    }
    loop::Stage stage = loop::stage_of(kernel, part);
    auto& stages = module_.kernels.back();
    stage.symbol = fmt::format("kernel_{}_{}", module_.kernels.size() - 1, stages.size());
    Function function{stage.symbol,
                      {{Type::i32, Type::i64, Type::i64, Type::i64, Type::i32, Type::i32}, {}},
                      builder.locals(),
                      stackify(builder.body(), kParameters + builder.locals().size()),
                      {},
                      {}};
    coalesce_locals(function);
    if (contents_.shared && calls_any(function)) stage.parallel = false;
    if (stages.empty()) {
      function.remarks = {"kernel " + kernel.name};
      function.locations = kernel.locations;
    }
    contents_.functions.push_back(std::move(function));
    stages.push_back(std::move(stage));
    module_.scratch_bytes = std::max(module_.scratch_bytes, code.scratch_bytes());
  }

  Module module_;
  ModuleContents contents_;
  Host host_;
};

}  // namespace

loop::LowerOptions lower_options(std::int64_t rows) {
  loop::LowerOptions options;
  options.registers = loop::RegisterTile{rows, 32};
  return options;
}

Module emit(std::span<const loop::Kernel> kernels, const Options& options) {
  Emitter emitter(options);
  emitter.add(kernels);
  return emitter.module();
}

std::string relaxed_probe() {
  Function function;
  function.name = "probe";
  function.locals = {Type::v128};
  for (int i = 0; i < 3; ++i) function.body.push_back({Op::v128_const});
  function.body.push_back({Op::f32x4_relaxed_madd});
  function.body.push_back({Op::local_set});
  ModuleContents contents;
  contents.functions.push_back(std::move(function));
  return encode(contents);
}

std::vector<Line> emit_text(std::span<const loop::Kernel> kernels, const Options& options) {
  Emitter emitter(options);
  emitter.add(kernels);
  return emitter.text();
}

}  // namespace recut::wasm
