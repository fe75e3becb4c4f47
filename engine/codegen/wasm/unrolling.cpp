#include "engine/codegen/wasm/unrolling.h"

namespace recut::wasm {
namespace {

// The maximum number of statements of an unrolled loop. Partial unrolling of longer loops gains
// nothing in matrix products, and V8 11 runs out of registers with it.
constexpr std::int64_t kMaxStatements = 48;

bool is_plain(const loop::Index& index, loop::LoopId variable) {
  for (const loop::Term& term : index.terms) {
    const bool stands_alone = term.atom.of == nullptr;
    if (stands_alone && term.factor < 0 && term.atom.kind == loop::AtomKind::loop &&
        term.atom.id == variable.index)
      return false;
    if (stands_alone) continue;
    bool inside = false;
    loop::for_each_atom(*term.atom.of, [&](const loop::Atom& atom) {
      inside |= atom.kind == loop::AtomKind::loop && atom.id == variable.index;
    });
    if (inside) return false;
  }
  return true;
}

bool is_plain(const loop::Statement& statement, loop::LoopId variable) {
  if (const auto* define = std::get_if<loop::Define>(&statement.value)) {
    if (const auto* load = std::get_if<loop::Load>(&define->expression))
      return !load->where.valid() && is_plain(load->at, variable);
    return std::holds_alternative<loop::Constant>(define->expression) ||
           std::holds_alternative<loop::Apply>(define->expression);
  }
  if (const auto* store = std::get_if<loop::Store>(&statement.value))
    return is_plain(store->at, variable);
  return std::holds_alternative<loop::Update>(statement.value);
}

}  // namespace

bool is_unrolled(const loop::Kernel& kernel, const loop::Loop& loop) {
  if (loop.lanes > 1) return false;
  for (const loop::Statement& statement : loop.body)
    if (!is_plain(statement, loop.variable)) return false;
  const std::int64_t extent = kernel[loop.variable].extent;
  const auto statements = static_cast<std::int64_t>(loop.body.size());
  return extent * statements <= kMaxStatements;
}

bool is_short(const loop::Loop& loop) {
  constexpr std::int64_t kCopies = 4;
  for (const loop::Statement& statement : loop.body)
    if (std::holds_alternative<loop::Loop>(statement.value)) return false;
  return kCopies * static_cast<std::int64_t>(loop.body.size()) <= kMaxStatements;
}

}  // namespace recut::wasm
