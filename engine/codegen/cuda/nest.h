// Perfectly nested loops, which can be linearized.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/codegen/loop/kernel.h"

namespace recut::cuda {

// Nested loops with only definitions in front of each inner loop. Each iteration rematerializes
// these definitions.
struct Nest {
  std::vector<const loop::Loop*> loops;        // outermost first
  std::vector<const loop::Statement*> before;  // all definitions between the loops
  std::vector<std::size_t> before_loop;        // by loop: the number of definitions in front of it
  const loop::Block* body = nullptr;           // of the last loop
  std::int64_t iterations(const loop::Kernel& kernel) const;
};

// The deepest nest that starts with this loop.
Nest nest_of(const loop::Loop& outermost);
// The nest of its first loops.
Nest first_of(Nest nest, std::size_t loops);

// Calls visit(const loop::Statement&) for all statements of a block, outer ones first.
template <class Visit>
void for_each_statement(const loop::Block& block, Visit&& visit) {
  for (const loop::Statement& statement : block) {
    visit(statement);
    if (const auto* loop = std::get_if<loop::Loop>(&statement.value))
      for_each_statement(loop->body, visit);
    if (const auto* branch = std::get_if<loop::If>(&statement.value))
      for_each_statement(branch->body, visit);
  }
}

}  // namespace recut::cuda
