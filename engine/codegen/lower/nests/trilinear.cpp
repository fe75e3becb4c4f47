// _trilinear: sums of products of three operands, with inserted and broadcast dimensions.
#include "engine/codegen/lower/nest.h"

namespace recut::loop {
namespace {

struct TrilinearOperand {
  std::string_view name;
  std::vector<bool> inserted;  // by dimension of the space: the operand has none there

  TrilinearOperand(const Nest& nest, std::string_view parameter, std::string_view expand)
      : name(parameter) {
    const auto expanded = nest.call.integers(expand);
    inserted.resize(nest.shape_of(parameter).size() + expanded.size(), false);
    for (const std::int64_t d : expanded) inserted[static_cast<std::size_t>(d)] = true;
  }

  ScalarExpr element(const Nest& nest, const Indices& at) const {
    const Shape& shape = nest.shape_of(name);
    Indices position;
    for (std::size_t d = 0; d < inserted.size(); ++d)
      if (!inserted[d]) position.push_back(shape[position.size()] == 1 ? Index(0) : at[d]);
    return nest.real(name, position);
  }

  // Makes a space as large as the operand.
  void extend(const Nest& nest, Shape& space) const {
    space.resize(inserted.size(), 1);
    std::size_t from = 0;
    for (std::size_t d = 0; d < inserted.size(); ++d) {
      if (inserted[d]) continue;
      const std::int64_t size = nest.shape_of(name)[from++];
      if (size != 1) space[d] = size;
    }
  }
};

void trilinear(const Nest& nest) {
  const TrilinearOperand operands[] = {
      {nest, "i1", "expand1"}, {nest, "i2", "expand2"}, {nest, "i3", "expand3"}};
  ReductionSpace space;
  for (const TrilinearOperand& operand : operands) operand.extend(nest, space.shape);
  const std::size_t rank = space.shape.size();
  space.reduced.resize(rank, false);
  for (const std::int64_t d : nest.call.integers("sumdim"))
    space.reduced[static_cast<std::size_t>(
        wrap_dimension(d, static_cast<std::int64_t>(rank)).value())] = true;
  space.strides = contiguous_strides(space.shape);
  const ScalarExpr zero = nest.lowering.constant(nest.computing(nest.type().dtype), 0);
  for_each_ordered_reduction(nest.lowering, space, [&](Reducer& reducer) {
    const ScalarExpr sum = reducer.reduce({"sum", Combine::add, zero, [&](const Indices& at) {
                                             return operands[0].element(nest, at) *
                                                    operands[1].element(nest, at) *
                                                    operands[2].element(nest, at);
                                           }});
    nest.lowering.write(nest.output(),
                        reduced_index(reducer.at(), space.reduced, nest.type().shape.size()), sum);
  });
}

}  // namespace

void add_trilinear_nests(NestTable& table) { table.push_back({Op::_trilinear, trilinear}); }

}  // namespace recut::loop
