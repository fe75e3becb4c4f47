// Loops with a data-dependent end. The loop form has only constant trip counts: a loop over the
// maximal number of steps is split into levels, and once nothing is left to do each level skips its
// body.
#pragma once

#include <functional>

#include "engine/codegen/lower/nest.h"
#include "engine/codegen/lower/scratch.h"

namespace recut::loop {

// An iterative computation of each output element on its own, in f64 for every dtype.
class Iteration {
 public:
  explicit Iteration(const Nest& n) : nest(n), builder(n.lowering.builder()) {}

  const Nest& nest;
  Builder& builder;

  // Calls body(index) for the output's elements, in parallel, each with its own scratch.
  void for_each_element(const std::function<void(const Indices&)>& body) const;
  // Calls step(k) for k = 0, 1, … below `most` while `going`, which reads scratch, holds.
  void each_while(std::int64_t most, const std::function<ScalarExpr()>& going,
                  const std::function<void(const Index&)>& step) const;
  void when(const ScalarExpr& condition, const std::function<void()>& body) const;

  // An operand's element as a real number, loaded once.
  ScalarExpr operand(std::string_view parameter, const Indices& at) const;
  // The number of a step as a real number.
  ScalarExpr as_real(const Index& index) const {
    return nest.lowering.number(index).to(DType::f64);
  }
  ScalarExpr real(double value) const { return nest.lowering.constant(DType::f64, value); }
  Scratch number(const std::string& name, const ScalarExpr& initial) const;
};

}  // namespace recut::loop
