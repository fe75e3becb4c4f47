// Concatenation, and tensors with a part replaced: one nest for each part.
#include "engine/codegen/lower/nest.h"
#include "engine/ir/storage_view.h"

namespace recut::loop {
namespace {

// Copies one operand; `moved` maps an index of the operand to one of the output. The loops follow
// the output's strides.
void copy_to(const Nest& nest, NodeId from, const std::function<Indices(const Indices&)>& moved) {
  const TensorType& type = nest.call.tensor(from);
  const Layout to = output_layout(nest.type());
  const Strides strides =
      to.shape.size() == type.shape.size() ? to.strides : contiguous_strides(type.shape);
  nest.lowering.for_each(type.shape, strides, [&](const Indices& at) {
    nest.lowering.write(nest.output(), moved(at), nest.lowering.element(from, at));
  });
}

void cat(const Nest& nest) {
  const std::size_t rank = nest.type().shape.size();
  const std::size_t dim = nest.dimension("dim", rank);
  std::int64_t start = 0;
  for (const NodeId id : nest.call.nodes("tensors")) {
    const Shape& shape = nest.call.tensor(id).shape;
    // ATen skips legacy empty tensors of another rank.
    if (shape.size() != rank) continue;
    copy_to(nest, id, [&](Indices at) {
      at[dim] = at[dim] + Index(start);
      return at;
    });
    start += shape[dim];
  }
}

void stack(const Nest& nest) {
  const std::size_t dim = nest.dimension("dim", nest.type().shape.size());
  std::int64_t layer = 0;
  for (const NodeId id : nest.call.nodes("tensors")) {
    copy_to(nest, id, [&](Indices at) {
      at.insert(at.begin() + static_cast<std::ptrdiff_t>(dim), Index(layer));
      return at;
    });
    ++layer;
  }
}

// Parts
// ------------------------------------------------------------------------------------------

layout::Rule part_rule(Op op) {
  switch (op) {
    case Op::slice_scatter:
    case Op::slice_backward:
      return layout::slice;
    case Op::select_scatter:
    case Op::select_backward:
      return layout::select;
    default:
      return layout::diagonal;
  }
}

// The part is a view of the output; the store goes through the view map.
void write_part(const Nest& nest, std::string_view from) {
  const Layout whole = output_layout(nest.type());
  auto part = part_rule(nest.call.op().op)(nest.call, whole, 0);
  RECUT_CHECK(part.ok(), "the operator's shape rule has looked at its part");
  const ViewMap view_map{nest.output(), {*part}};
  nest.lowering.for_each(part->shape, part->strides, [&](const Indices& at) {
    nest.lowering.write_through(view_map, at, nest.raw(from, at));
  });
}

void scatter_part(const Nest& nest) {
  copy_to(nest, nest.call.node("self"), [](const Indices& at) { return at; });
  write_part(nest, "src");
}

// src goes to offsets of self's own storage. They may collide: the last one wins. Elements outside
// of self are dropped; offsets outside of the storage are a fault.
void as_strided_scatter(const Nest& nest) {
  const NodeId self = nest.call.node("self");
  copy_to(nest, self, [](const Indices& at) { return at; });
  Lowering& lowering = nest.lowering;
  Builder& builder = lowering.builder();
  const auto view = storage_view(lowering.graph(), self);
  RECUT_CHECK(view.ok(), "lower() has looked at every operand's view map");
  const Layout& own = view->shown;
  const auto part = layout::as_strided(nest.call, own, 0);
  RECUT_CHECK(part.ok(), "the operator's shape rule has looked at its part");
  const std::size_t depth = builder.depth();
  const Index n = builder.open_loop("n", element_count(part->shape));
  const Indices at = delinearize(n, part->shape, builder);
  Index position = element_offset({nest.output(), {*part}}, at, builder);
  const std::int64_t stored = layout::extent(view->whole), count = element_count(own.shape);
  if (!layout::is_within(*part, stored))
    position = nest.checked(lowering.number(position), stored, false);
  position = position - Index(own.offset);
  if (!layout::is_within({part->shape, part->strides, part->offset - own.offset}, count)) {
    const ScalarExpr number = lowering.number(position);
    builder.open_if(((number >= 0.0) & (number < static_cast<double>(count))).id());
  }
  const Indices to = index_at_offset({own.shape, own.strides}, position, builder);
  lowering.write(nest.output(), to, nest.raw("src", at));
  builder.close_to(depth);
}

std::optional<std::string> gaps(const Call& call) {
  if (!is_dense(call.tensor("self"))) return "a tensor whose elements don't fill its storage";
  return std::nullopt;
}

void part_backward(const Nest& nest) {
  write_zeros(nest);
  write_part(nest, "grad_output");
}

// resize: the first elements of the storage under another shape, in storage order; 0 beyond them.
void resize(const Nest& nest) {
  const TensorType& self = nest.call.tensor("self");
  const std::int64_t count = element_count(self.shape);
  if (count == 0) return write_zeros(nest);
  const Layout from{self.shape, is_dense(self) ? self.strides : contiguous_strides(self.shape)};
  const Layout to = output_layout(nest.type());
  Lowering& lowering = nest.lowering;
  Builder& builder = lowering.builder();
  lowering.for_each(to.shape, to.strides, [&](const Indices& at) {
    const Index position = element_offset({nest.output(), {to}}, at, builder);
    std::optional<ScalarExpr> inside;
    if (count < element_count(to.shape))
      inside = lowering.number(position) < static_cast<double>(count);
    lowering.write(nest.output(), at,
                   nest.raw_where("self", index_at_offset(from, position, builder), inside));
  });
}

}  // namespace

void add_data_movement_nests(NestTable& table) {
  table.push_back({Op::cat, cat});
  table.push_back({Op::stack, stack});
  for (const Op op : {Op::slice_scatter, Op::select_scatter, Op::diagonal_scatter})
    table.push_back({op, scatter_part});
  table.push_back({Op::as_strided_scatter, as_strided_scatter, gaps});
  for (const Op op : {Op::slice_backward, Op::select_backward, Op::diagonal_backward})
    table.push_back({op, part_backward});
  table.push_back({Op::resize, resize});
}

}  // namespace recut::loop
