#include "native/cpu/rank_code.h"

#include <utility>

#include "engine/codegen/llvm/emit.h"
#include "native/cpu/object_code.h"

namespace recut::cpu {

Result<std::unique_ptr<RankRun>> RankCode::prepare(const Program& program,
                                                   std::vector<Tensor> inputs) {
  llvm_ir::Module module = llvm_ir::emit(program.kernels);
  auto object = objects_.find(module.text);
  if (object == objects_.end()) {
    auto compiled = compile_object(module.text, this_machine());
    if (!compiled) return compiled.diagnostics();
    object = objects_.emplace(std::move(module.text), std::move(*compiled)).first;
  }
  // The text of uneven ranks may be the same: the extents of its stages are given as it runs.
  auto step =
      Step::load(program, {object->second, std::move(module.kernels), std::move(module.faults)});
  if (!step) return step.diagnostics();
  const Step& loaded = steps_.emplace_back(std::move(*step));
  auto run = Run::prepare(loaded, std::move(inputs), threads_);
  if (!run) return run.diagnostics();
  return std::unique_ptr<RankRun>(std::make_unique<Run>(std::move(*run)));
}

}  // namespace recut::cpu
