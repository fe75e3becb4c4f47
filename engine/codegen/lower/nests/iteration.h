// Steps that end where an element's own data says. The loop form has no loop of unknown length: a
// loop over all steps that there may be is cut into levels, and once nothing is left to do each
// level skips what it holds.
#pragma once

#include <functional>

#include "engine/codegen/lower/nest.h"
#include "engine/codegen/lower/scratch.h"

namespace recut::loop {

// What a call does with each element of its output by itself, in f64 whatever the dtype.
class Iteration {
 public:
  explicit Iteration(const Nest& n) : nest(n), builder(n.lowering.builder()) {}

  const Nest& nest;
  Builder& builder;

  // Calls body(place) for the output's elements, in parallel, each with scratch of its own.
  void for_each_element(const std::function<void(const Indices&)>& body) const;
  // Calls step(k) for k = 0, 1, … below `most` as long as `going`, which reads scratch, holds.
  void each_while(std::int64_t most, const std::function<Quantity()>& going,
                  const std::function<void(const Index&)>& step) const;
  void when(const Quantity& condition, const std::function<void()>& body) const;

  // An operand's element as an operator on real numbers sees it, read once.
  Quantity operand(std::string_view parameter, const Indices& at) const;
  // The index of a step, as a number.
  Quantity as_real(const Index& index) const { return nest.lowering.number(index).to(DType::f64); }
  Quantity real(double value) const { return nest.lowering.constant(DType::f64, value); }
  Scratch number(const std::string& name, const Quantity& initial) const;
};

}  // namespace recut::loop
