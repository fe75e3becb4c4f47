#include "engine/codegen/loop/legalize.h"

#include <optional>
#include <utility>

#include "engine/codegen/loop/expansions.h"

namespace recut::loop {
namespace {

class Legalizer {
 public:
  Legalizer(const Kernel& kernel, MathFunctions functions)
      : functions_(functions), out_(kernel), constants_(kernel.values.size()) {}

  Kernel run() {
    Block body = legalized(std::exchange(out_.body, {}));
    out_.body = std::move(body);
    return std::move(out_);
  }

 private:
  Block legalized(Block block) {
    Block done;
    for (Statement& statement : block) {
      if (auto* loop = std::get_if<Loop>(&statement.value))
        loop->body = legalized(std::move(loop->body));
      if (auto* branch = std::get_if<If>(&statement.value))
        branch->body = legalized(std::move(branch->body));
      const auto* define = std::get_if<Define>(&statement.value);
      if (define == nullptr || !legalize(*define, statement.location, done))
        done.push_back(std::move(statement));
    }
    return done;
  }

  // Returns false if the definition is legal as it is.
  bool legalize(const Define& define, std::uint32_t location, Block& done) {
    if (const auto* constant = std::get_if<Constant>(&define.expression))
      constants_[define.value.index] = *constant;
    const auto* apply = std::get_if<Apply>(&define.expression);
    const ScalarExpansion expansion =
        apply == nullptr ? nullptr : expansion_of(apply->op, out_[define.value].type);
    if (expansion == nullptr) return false;
    std::vector<ScalarTree> operands;
    for (const ValueId operand : apply->operands) {
      const DType type = out_[operand].type;
      const auto& constant = constants_[operand.index];
      operands.push_back(constant ? ScalarTree::constant(type, *constant)
                                  : ScalarTree::value(operand, type));
    }
    expansion(operands).write(out_, done, location, define.value);
    return true;
  }

  ScalarExpansion expansion_of(ScalarOp op, DType type) const {
    return functions_ == MathFunctions::native ? find_random_expansion(op)
                                               : find_expansion(op, type);
  }

  MathFunctions functions_;
  Kernel out_;
  std::vector<std::optional<Constant>> constants_;  // by value, of the definitions so far
};

}  // namespace

Kernel legalize(const Kernel& kernel, MathFunctions functions) {
  return Legalizer(kernel, functions).run();
}

}  // namespace recut::loop
