#include "engine/codegen/cuda/nest.h"

namespace recut::cuda {
namespace {

// The loop at the end of a block, if only rematerializable definitions come before it.
const loop::Loop* only_loop(const loop::Block& block) {
  for (const loop::Statement& statement : block) {
    const auto* define = std::get_if<loop::Define>(&statement.value);
    if (define != nullptr && !std::holds_alternative<loop::ReadAccumulator>(define->expression))
      continue;
    const auto* loop = std::get_if<loop::Loop>(&statement.value);
    return &statement == &block.back() ? loop : nullptr;
  }
  return nullptr;
}

}  // namespace

std::int64_t Nest::iterations(const loop::Kernel& kernel) const {
  std::int64_t count = 1;
  for (const loop::Loop* loop : loops) count *= kernel[loop->variable].extent;
  return count;
}

Nest nest_of(const loop::Loop& outermost) {
  Nest nest;
  for (const loop::Loop* loop = &outermost; loop != nullptr;) {
    nest.before_loop.push_back(nest.before.size());
    nest.loops.push_back(loop);
    nest.body = &loop->body;
    loop = only_loop(*nest.body);
    if (loop == nullptr) break;
    for (std::size_t i = 0; i + 1 < nest.body->size(); ++i) nest.before.push_back(&(*nest.body)[i]);
  }
  return nest;
}

Nest first_of(Nest nest, std::size_t loops) {
  if (loops == nest.loops.size()) return nest;
  nest.before.resize(nest.before_loop[loops - 1]);
  nest.before_loop.resize(loops);
  nest.loops.resize(loops);
  nest.body = &nest.loops.back()->body;
  return nest;
}

}  // namespace recut::cuda
