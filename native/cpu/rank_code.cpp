#include "native/cpu/rank_code.h"

#include <utility>

#include "engine/codegen/llvm/emit.h"
#include "native/cpu/object_code.h"

namespace recut::cpu {

Result<std::unique_ptr<RankRun>> RankCode::prepare(const Program& program,
                                                   std::vector<Tensor> inputs) {
  llvm_ir::Module module = llvm_ir::emit(program.kernels);
  auto known = code_.find(module.text);
  if (known == code_.end()) {
    auto object = compile_object(module.text, this_machine());
    if (!object) return object.diagnostics();
    StepCode code{std::move(*object), std::move(module.kernels), std::move(module.faults)};
    known = code_.emplace(std::move(module.text), std::move(code)).first;
  }
  auto step = Step::load(program, known->second);
  if (!step) return step.diagnostics();
  const Step& loaded = steps_.emplace_back(std::move(*step));
  auto run = Run::prepare(loaded, std::move(inputs), threads_);
  if (!run) return run.diagnostics();
  return std::unique_ptr<RankRun>(std::make_unique<Run>(std::move(*run)));
}

}  // namespace recut::cpu
