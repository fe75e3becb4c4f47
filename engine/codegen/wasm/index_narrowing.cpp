#include "engine/codegen/wasm/index_narrowing.h"

#include <cstdint>
#include <limits>
#include <utility>

namespace recut::wasm {
namespace {

constexpr std::int64_t kNarrowingMaxI32 = std::numeric_limits<std::int32_t>::max();

bool compares(const loop::Expression& expression) {
  const auto* apply = std::get_if<loop::Apply>(&expression);
  return apply != nullptr &&
         loop::scalar_operator(apply->op).signature == loop::Signature::comparison;
}

class NarrowingAnalysis {
 public:
  NarrowingAnalysis(const loop::Kernel& kernel, const loop::Ranges& ranges)
      : kernel_(kernel),
        ranges_(ranges),
        narrow_(kernel.values.size()),
        constant_(kernel.values.size()) {}

  std::vector<bool> run() {
    find(kernel_.body);
    use(kernel_.body);
    while (propagate()) continue;
    return std::move(narrow_);
  }

 private:
  void find(const loop::Block& block) {
    for (const loop::Statement& statement : block) {
      if (const auto* define = std::get_if<loop::Define>(&statement.value)) find(*define);
      if (const auto* loop = std::get_if<loop::Loop>(&statement.value)) find(loop->body);
      if (const auto* branch = std::get_if<loop::If>(&statement.value)) find(branch->body);
    }
  }
  void find(const loop::Define& define) {
    if (const auto* number = std::get_if<loop::IndexNumber>(&define.expression)) {
      const auto range = ranges_.of(number->index);
      narrow_[define.value.index] = range && range->within(-kNarrowingMaxI32, kNarrowingMaxI32);
    }
    if (const auto* constant = std::get_if<loop::Constant>(&define.expression))
      constant_[define.value.index] = kernel_[define.value].type == DType::i64 &&
                                      constant->integer >= -kNarrowingMaxI32 &&
                                      constant->integer <= kNarrowingMaxI32;
  }

  void use(const loop::Block& block) {
    for (const loop::Statement& statement : block)
      std::visit([&](const auto& one) { use(one); }, statement.value);
  }
  void use(const loop::Define& define) {
    if (compares(define.expression)) {
      const auto& operands = std::get<loop::Apply>(define.expression).operands;
      compared_.push_back({operands[0], operands[1]});
    } else {
      for_each_used(define.expression, [&](loop::ValueId value) { widen(value); });
    }
    if (const auto* load = std::get_if<loop::Load>(&define.expression)) use(load->at);
  }
  void use(const loop::Store& store) {
    use(store.at);
    widen(store.value);
  }
  void use(const loop::Declare& declare) { widen(declare.initial); }
  void use(const loop::Update& update) {
    widen(update.value);
    if (update.times.valid()) widen(update.times);
  }
  void use(const loop::Loop& loop) { use(loop.body); }
  void use(const loop::If& branch) { use(branch.body); }
  void use(const loop::Index& index) {
    for_each_used(index, [&](loop::ValueId value) { widen(value); });
  }
  void widen(loop::ValueId value) { narrow_[value.index] = false; }

  // Propagation to a fixed point: both sides of a comparison are narrow, or none. Returns true if
  // something changed.
  bool propagate() {
    bool changed = false;
    for (const auto& [a, b] : compared_)
      for (const auto& [one, other] : {std::pair(a, b), std::pair(b, a)})
        if (narrow_[one.index] && !narrow_[other.index] && !constant_[other.index]) {
          widen(one);
          changed = true;
        }
    return changed;
  }

  const loop::Kernel& kernel_;
  const loop::Ranges& ranges_;
  std::vector<bool> narrow_, constant_;
  std::vector<std::pair<loop::ValueId, loop::ValueId>> compared_;
};

}  // namespace

std::vector<bool> narrowable_indices(const loop::Kernel& kernel, const loop::Ranges& ranges) {
  return NarrowingAnalysis(kernel, ranges).run();
}

}  // namespace recut::wasm
