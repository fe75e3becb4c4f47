// Gathers at indices that are data, and elements moved to other positions.
#include "engine/codegen/lower/advanced_index.h"
#include "engine/codegen/lower/formula.h"
#include "engine/codegen/lower/nest.h"
#include "engine/codegen/lower/window_space.h"

namespace recut::loop {
namespace {

Index checked(const Site& s, const Quantity& raw, std::int64_t size, bool from_end) {
  return Nest::checked_index(s.lowering, raw, size, from_end);
}

Quantity embedding(const Site& s) {
  const Indices at(s.at.begin(), s.at.end() - 1);
  const Index row = checked(s, s.raw("indices", at), s.call.tensor("weight").shape[0], false);
  return s.raw("weight", {row, s.at.back()});
}

Quantity gather(const Site& s) {
  const Shape& shape = s.call.tensor("self").shape;
  if (shape.empty()) return s.raw("self", {});
  const std::size_t dim = dimension(s, "dim", shape.size());
  Indices place = s.at;
  place[dim] = checked(s, s.raw("index", s.at), shape[dim], false);
  return s.raw("self", place);
}

Quantity index_select(const Site& s) {
  const Shape& shape = s.call.tensor("self").shape;
  const std::size_t rank = s.call.tensor("index").shape.size();
  if (shape.empty()) return s.raw("self", {});
  const std::size_t dim = dimension(s, "dim", shape.size());
  Indices place = s.at;
  const Indices which = rank == 0 ? Indices{} : Indices{s.at[dim]};
  place[dim] = checked(s, s.raw("index", which), shape[dim], false);
  return s.raw("self", place);
}

Quantity index(const Site& s) {
  const Shape& self = s.call.tensor("self").shape;
  return s.raw("self", AdvancedIndex(s.call).place(s.lowering, self, s.at));
}

// Indices are clamped, and read where the mask holds.
Quantity masked_index(const Site& s) {
  const Shape& self = s.call.tensor("self").shape;
  const Scalar number = s.call.scalar("fill");
  Builder* builder = &s.lowering.builder();
  const DType type = value_type(s.dtype());
  const Quantity fill = is_floating(type) ? Quantity::constant(builder, type, number.real)
                                          : Quantity::constant(builder, type, number.integer);
  if (element_count(self) == 0) return fill;
  const Indices place =
      AdvancedIndex(s.call).place(s.lowering, self, s.at, AdvancedIndex::OutOfRange::clamped);
  return select(s.raw("mask").to(DType::boolean), s.raw("self", place), fill);
}

Quantity one_hot(const Site& s) {
  const Indices at(s.at.begin(), s.at.end() - 1);
  const std::int64_t classes = s.lowering.type(s.made).shape.back();
  const Index of = checked(s, s.raw("self", at), classes, false);
  const Quantity found = s.lowering.number(of);
  return found == s.lowering.number(s.at.back());
}

template <bool lower>
Quantity triangle(const Site& s) {
  const std::size_t rank = s.at.size();
  const Index distance = s.at[rank - 1] - s.at[rank - 2] - Index(s.call.integer("diagonal"));
  const Quantity inside =
      lower ? s.lowering.number(distance) <= 0.0 : s.lowering.number(distance) >= 0.0;
  const Quantity x = s.raw("self");
  if (x.type() == DType::boolean) return x & inside;
  return select(inside, x, x.like(0));
}

// Padding is not read: the guard of the load decides.
Quantity constant_pad(const Site& s) {
  const Shape& shape = s.call.tensor("self").shape;
  const auto pads = s.call.integers("pad");
  Indices place = s.at;
  std::optional<Quantity> inside;
  for (std::size_t n = 0; n < pads.size() / 2; ++n) {
    const std::size_t d = shape.size() - 1 - n;
    place[d] = s.at[d] - Index(pads[2 * n]);
    if (pads[2 * n] <= 0 && pads[2 * n + 1] <= 0) continue;
    require_within(s.lowering, inside, place[d], shape[d]);
  }
  if (!inside) return s.raw("self", place);
  const Quantity x = s.lowering.element_where(s.call.node("self"), place, *inside);
  const Scalar value = s.call.scalar("value");
  if (x.type() == DType::boolean)
    return select(*inside, x, Quantity::constant(x.builder(), x.type(), value.integer));
  return select(*inside, x, x.like(x.real() ? value.real : static_cast<double>(value.integer)));
}

Quantity flip(const Site& s) {
  const Shape& shape = s.lowering.type(s.made).shape;
  Indices place = s.at;
  for (const std::int64_t d : s.call.integers("dims")) {
    if (shape.empty()) continue;
    const auto dim = static_cast<std::size_t>(
        wrap_dimension(d, static_cast<std::int64_t>(shape.size())).value());
    place[dim] = Index(shape[dim] - 1) - s.at[dim];
  }
  return s.raw(s.call.op().parameters[0].name, place);
}

Index rolled(const Site& s, const Index& at, std::int64_t shift, std::int64_t size) {
  return s.lowering.builder().remainder(at + Index(floor_remainder(-shift, size)), size);
}

Quantity roll(const Site& s) {
  const Shape& shape = s.lowering.type(s.made).shape;
  const auto shifts = s.call.integers("shifts");
  const auto dims = s.call.integers("dims");
  if (shape.empty()) return s.raw("self", {});
  if (dims.empty()) {
    const Index flat = rolled(s, linearised(s.at, shape), shifts[0], element_count(shape));
    return s.raw("self", delinearised(flat, shape, s.lowering.builder()));
  }
  Indices place = s.at;
  for (std::size_t k = 0; k < dims.size(); ++k) {
    const auto d = static_cast<std::size_t>(
        wrap_dimension(dims[k], static_cast<std::int64_t>(shape.size())).value());
    place[d] = rolled(s, place[d], shifts[k], shape[d]);
  }
  return s.raw("self", place);
}

Quantity repeat(const Site& s) {
  const Shape& shape = s.call.tensor("self").shape;
  const std::size_t added = s.at.size() - shape.size();
  Indices place;
  for (std::size_t d = 0; d < shape.size(); ++d)
    place.push_back(s.lowering.builder().remainder(s.at[added + d], shape[d]));
  return s.raw("self", place);
}

}  // namespace

void add_indexing_formulas(FormulaTable& table) {
  table.push_back({Op::embedding, embedding});
  table.push_back({Op::gather, gather});
  table.push_back({Op::index_select, index_select});
  for (const Op op : {Op::index_Tensor, Op::_unsafe_index_Tensor})
    table.push_back({op, index, has_masks});
  table.push_back({Op::_unsafe_masked_index, masked_index, has_masks});
  table.push_back({Op::one_hot, one_hot});
  table.push_back({Op::tril, triangle<true>});
  table.push_back({Op::triu, triangle<false>});
  table.push_back({Op::constant_pad_nd, constant_pad});
  for (const Op op : {Op::flip, Op::prims_rev}) table.push_back({op, flip});
  table.push_back({Op::roll, roll});
  for (const Op op : {Op::repeat, Op::tile}) table.push_back({op, repeat});
}

}  // namespace recut::loop
