#include "engine/codegen/loop/expand.h"

#include <optional>
#include <utility>

#include "engine/codegen/loop/series.h"

namespace recut::loop {
namespace {

class Expander {
 public:
  Expander(const Kernel& kernel, Functions functions)
      : functions_(functions), out_(kernel), constants_(kernel.values.size()) {}

  Kernel run() {
    Block body = expanded(std::exchange(out_.body, {}));
    out_.body = std::move(body);
    return std::move(out_);
  }

 private:
  Block expanded(Block block) {
    Block done;
    for (Statement& statement : block) {
      if (auto* loop = std::get_if<Loop>(&statement.value))
        loop->body = expanded(std::move(loop->body));
      if (auto* branch = std::get_if<If>(&statement.value))
        branch->body = expanded(std::move(branch->body));
      const auto* define = std::get_if<Define>(&statement.value);
      if (define == nullptr || !expand(*define, statement.note, done))
        done.push_back(std::move(statement));
    }
    return done;
  }

  // Returns false if the definition is legal as it is.
  bool expand(const Define& define, std::uint32_t note, Block& done) {
    if (const auto* constant = std::get_if<Constant>(&define.expression))
      constants_[define.value.index] = *constant;
    const auto* apply = std::get_if<Apply>(&define.expression);
    const Series series =
        apply == nullptr ? nullptr : series_of(apply->op, out_[define.value].type);
    if (series == nullptr) return false;
    std::vector<ScalarTree> operands;
    for (const ValueId operand : apply->operands) {
      const DType type = out_[operand].type;
      const auto& constant = constants_[operand.index];
      operands.push_back(constant ? ScalarTree::constant(type, *constant)
                                  : ScalarTree::value(operand, type));
    }
    series(operands).write(out_, done, note, define.value);
    return true;
  }

  Series series_of(ScalarOp op, DType type) const {
    return functions_ == Functions::of_target ? find_random_series(op) : find_series(op, type);
  }

  Functions functions_;
  Kernel out_;
  std::vector<std::optional<Constant>> constants_;  // by value, of the definitions so far
};

}  // namespace

Kernel expand(const Kernel& kernel, Functions functions) {
  return Expander(kernel, functions).run();
}

}  // namespace recut::loop
