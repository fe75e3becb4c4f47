#include "engine/autodiff/rules/formula.h"

#include <algorithm>

#include "engine/autodiff/tape.h"

namespace recut::autodiff {
namespace {

std::vector<bool> reduced_dims(std::size_t rank, const std::vector<std::int64_t>& dims) {
  std::vector<bool> reduced(rank, dims.empty());
  for (const std::int64_t d : dims) {
    const auto wrapped = wrap_dimension(d, static_cast<std::int64_t>(rank));
    if (wrapped && static_cast<std::size_t>(*wrapped) < rank)
      reduced[static_cast<std::size_t>(*wrapped)] = true;
  }
  return reduced;
}

}  // namespace

Value with_dims_kept(const Value& value, const Shape& shape, std::vector<std::int64_t> dims,
                     bool keepdim) {
  if (!value.valid() || keepdim) return value;
  Shape kept = shape;
  const auto reduced = reduced_dims(shape.size(), dims);
  for (std::size_t d = 0; d < kept.size(); ++d)
    if (reduced[d]) kept[d] = 1;
  return value.builder()->view(value, kept);
}

std::int64_t elements_in(const Shape& shape, const std::vector<std::int64_t>& dims) {
  std::int64_t count = 1;
  const auto reduced = reduced_dims(shape.size(), dims);
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (reduced[d]) count *= shape[d];
  return count;
}

Value product(std::initializer_list<Value> factors) {
  Value result = *factors.begin();
  for (auto factor = factors.begin() + 1; factor != factors.end(); ++factor)
    result = result * *factor;
  return result;
}

Value total(std::initializer_list<Value> terms) {
  Value result = *terms.begin();
  for (auto term = terms.begin() + 1; term != terms.end(); ++term) result = result + *term;
  return result;
}

std::vector<Value> gradients_of(VjpContext& ctx, const Value& y, const Value& gradient,
                                const std::vector<Value>& operands) {
  if (!y.valid() || !gradient.valid()) return std::vector<Value>(operands.size());
  std::vector<NodeId> leaves;
  for (const Value& operand : operands) leaves.push_back(operand.id());
  // The slice ends at the call's operands.
  std::vector<NodeId> boundary;
  for (const Parameter& parameter : ctx.call().op().parameters)
    for (const NodeId id : ctx.call().nodes(parameter.name)) boundary.push_back(id);
  const auto tape = backward_slice(ctx.b.graph(), std::vector<NodeId>{y.id()}, [&](NodeId id) {
    return std::find(boundary.begin(), boundary.end(), id) != boundary.end();
  });
  MissingRules missing_rules;
  const std::vector<Seed> seeds = {{y.id(), gradient}};
  auto gradients = pull_back(ctx.b, tape, seeds, leaves, missing_rules);
  if (!missing_rules.empty()) ctx.b.fail(missing_rules.first());
  return gradients;
}

Value reduced(const Value& elements, std::int64_t reduction) {
  if (!elements.valid() || reduction == 0) return elements;
  return unary(reduction == 1 ? Op::mean : Op::sum, elements);
}

}  // namespace recut::autodiff
