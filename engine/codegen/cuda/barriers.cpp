#include "engine/codegen/cuda/barriers.h"

namespace recut::cuda {

void Barriers::note(const loop::Statement& statement, bool in_worksharing, Uses& uses) const {
  const auto add_use = [&](loop::BufferId buffer, std::uint8_t how) {
    if (kernel_[buffer].access != loop::Access::read) uses[buffer.index] |= how;
  };
  if (const auto* define = std::get_if<loop::Define>(&statement.value))
    if (const auto* load = std::get_if<loop::Load>(&define->expression))
      add_use(load->buffer, kRead);
  if (const auto* store = std::get_if<loop::Store>(&statement.value))
    add_use(store->buffer, in_worksharing ? kStoredByAny : kStoredByFirst);
  if (const auto* branch = std::get_if<loop::If>(&statement.value))
    for (const loop::Statement& inner : branch->body) note(inner, in_worksharing, uses);
  if (const auto* loop = std::get_if<loop::Loop>(&statement.value))
    for (const loop::Statement& inner : loop->body)
      note(inner, in_worksharing || mapping_.worksharing.contains(loop), uses);
}

Barriers::Uses Barriers::uses_of(const loop::Statement& statement) const {
  Uses uses(since_.size(), 0);
  note(statement, false, uses);
  return uses;
}

Barriers::Uses Barriers::uses_of(const loop::Block& block) const {
  Uses uses(since_.size(), 0);
  for (const loop::Statement& statement : block) note(statement, false, uses);
  return uses;
}

bool Barriers::pass(const Uses& uses) {
  bool wait = false;
  for (std::size_t b = 0; b < uses.size(); ++b) {
    const std::uint8_t before = since_[b];
    if ((uses[b] & kRead) != 0) wait |= (before & (kStoredByFirst | kStoredByAny)) != 0;
    if ((uses[b] & kStoredByFirst) != 0) wait |= (before & (kRead | kStoredByAny)) != 0;
    if ((uses[b] & kStoredByAny) != 0) wait |= before != 0;
  }
  if (wait) clear();
  add(uses);
  return wait;
}

void Barriers::add(const Uses& uses) {
  for (std::size_t b = 0; b < uses.size(); ++b) since_[b] |= uses[b];
}

}  // namespace recut::cuda
