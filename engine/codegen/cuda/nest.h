// Perfectly nested loops: what can be counted by one number.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/codegen/loop/kernel.h"

namespace recut::cuda {

// Loops inside of each other with nothing but definitions before the next one. The definitions are
// repeated by whoever runs an iteration.
struct Nest {
  std::vector<const loop::Loop*> loops;        // outermost first
  std::vector<const loop::Statement*> before;  // all definitions between them
  std::vector<std::size_t> before_loop;        // how many of them stand before each loop
  const loop::Block* body = nullptr;           // of the last loop
  std::int64_t iterations(const loop::Kernel& kernel) const;
};

// As deep as it goes.
Nest nest_of(const loop::Loop& outermost);
// Its first loops alone.
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
