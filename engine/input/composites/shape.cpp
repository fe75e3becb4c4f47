// Composites that move elements: views by another tensor's shape, parts, grids and differences.
#include "engine/input/composite_operators.h"

#include <algorithm>

#include "engine/ir/layout.h"

namespace recut {
namespace {

Value tensor_of(Builder& b, const Call& call, std::string_view parameter = "self") {
  return b.value(call.node(parameter));
}

std::vector<Value> tensors_of(Builder& b, const Call& call) {
  std::vector<Value> values;
  for (const NodeId id : call.nodes("tensors")) values.push_back(b.value(id));
  return values;
}

Expansion expand_as(Builder& b, const Call& call) {
  return b.expand(tensor_of(b, call), call.tensor("other").shape);
}
Expansion view_as(Builder& b, const Call& call) {
  return b.view(tensor_of(b, call), call.tensor("other").shape);
}
Expansion ravel(Builder& b, const Call& call) {
  const Value self = tensor_of(b, call);
  return b.view(self, {self.count()});
}

// All dimensions in reverse order, or the last two swapped.
Expansion reversed(Builder& b, const Call& call) {
  const Value self = tensor_of(b, call);
  std::vector<std::int64_t> dims;
  for (std::int64_t d = self.rank(); d-- > 0;) dims.push_back(d);
  return b.permute(self, dims);
}
Expansion last_swapped(Builder& b, const Call& call) { return b.transpose(tensor_of(b, call)); }

Expansion swapaxes(Builder& b, const Call& call) {
  return b.transpose(tensor_of(b, call), call.integer("axis0"), call.integer("axis1"));
}

// Differences of neighbours, n times.
Expansion diff(Builder& b, const Call& call) {
  Value x = tensor_of(b, call);
  const std::int64_t dim = call.integer("dim");
  std::vector<Value> parts;
  if (call.given("prepend")) parts.push_back(tensor_of(b, call, "prepend"));
  parts.push_back(x);
  if (call.given("append")) parts.push_back(tensor_of(b, call, "append"));
  if (parts.size() > 1) x = b(Op::cat, {parts, dim});
  constexpr std::int64_t kMaxDifferences = 1'000;
  if (call.integer("n") < 0 || call.integer("n") > kMaxDifferences)
    return b.fail("diff: n is out of range");
  for (std::int64_t i = 0; i < call.integer("n") && x.valid(); ++i) {
    const std::int64_t length = x.size(dim);
    const Value after = b(Op::slice_Tensor, {x, dim, 1, length});
    const Value before = b(Op::slice_Tensor, {x, dim, 0, std::max<std::int64_t>(length - 1, 0)});
    x = x.dtype() == DType::boolean ? b(Op::logical_xor, {after, before}) : after - before;
  }
  return x;
}

Expansion broadcast_tensors(Builder& b, const Call& call) {
  std::vector<Value> values = tensors_of(b, call);
  Shape shape;
  for (const Value& value : values) {
    const auto both = broadcast(shape, value.shape());
    if (!both) return b.fail(both.diagnostics().front().message);
    shape = *both;
  }
  for (Value& value : values) value = b.expand(value, shape);
  return values;
}

// Each vector along its own dimension of a common shape.
void spread(Builder& b, std::vector<Value>& vectors) {
  Shape shape;
  for (const Value& vector : vectors) shape.push_back(vector.count());
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    Shape own(vectors.size(), 1);
    own[i] = shape[i];
    vectors[i] = b.expand(b.view(vectors[i], own), shape);
  }
}

// "xy" has the second vector along the first dimension.
Expansion grid_of(Builder& b, const Call& call, bool swapped) {
  std::vector<Value> values = tensors_of(b, call);
  swapped = swapped && values.size() > 1;
  if (swapped) std::swap(values[0], values[1]);
  spread(b, values);
  if (swapped) std::swap(values[0], values[1]);
  return values;
}
Expansion meshgrid(Builder& b, const Call& call) { return grid_of(b, call, false); }
Expansion meshgrid_indexing(Builder& b, const Call& call) {
  return grid_of(b, call, call.text("indexing") == "xy");
}

// Tensors of fewer dimensions get new ones of length 1, as numpy does it.
Expansion hstack(Builder& b, const Call& call) {
  std::vector<Value> values = tensors_of(b, call);
  for (Value& value : values)
    if (value.valid() && value.rank() == 0) value = b.view(value, {1});
  const bool vectors = !values.empty() && values.front().rank() == 1;
  return b(Op::cat, {values, vectors ? 0 : 1});
}
// At least `rank` dimensions: a number, a row, a matrix in a new last dimension.
Value at_least(Builder& b, const Value& x, std::int64_t rank) {
  if (!x.valid() || x.rank() >= rank) return x;
  if (rank == 1) return b.view(x, {1});
  if (rank == 2) return b.view(x, {1, x.count()});
  return x.rank() == 2 ? b(Op::unsqueeze, {x, -1}) : b.view(x, {1, x.count(), 1});
}
Expansion vstack(Builder& b, const Call& call) {
  std::vector<Value> values = tensors_of(b, call);
  for (Value& value : values) value = at_least(b, value, 2);
  return b(Op::cat, {values, 0});
}
Expansion dstack(Builder& b, const Call& call) {
  std::vector<Value> values = tensors_of(b, call);
  for (Value& value : values) value = at_least(b, value, 3);
  return b(Op::cat, {values, 2});
}
// Vectors are columns.
Expansion column_stack(Builder& b, const Call& call) {
  std::vector<Value> values = tensors_of(b, call);
  for (Value& value : values)
    if (value.valid() && value.rank() < 2) value = b.view(value, {value.count(), 1});
  return b(Op::cat, {values, 1});
}
template <std::int64_t rank>
Expansion atleast(Builder& b, const Call& call) {
  return at_least(b, tensor_of(b, call), rank);
}
template <std::int64_t rank>
Expansion all_atleast(Builder& b, const Call& call) {
  std::vector<Value> values = tensors_of(b, call);
  for (Value& value : values) value = at_least(b, value, rank);
  return values;
}

// A vector as the diagonal of a matrix, or a matrix's diagonal.
Expansion diag(Builder& b, const Call& call) {
  const Value x = tensor_of(b, call);
  return b(x.rank() == 1 ? Op::diag_embed : Op::diagonal, {x, call.integer("diagonal")});
}
Expansion diagflat(Builder& b, const Call& call) {
  const Value x = tensor_of(b, call);
  return b(Op::diag_embed, {b.view(x, {x.count()}), call.integer("offset")});
}
template <std::int64_t dim>
Expansion flip(Builder& b, const Call& call) {
  return b(Op::flip, {tensor_of(b, call), {dim}});
}

// Every combination of one element of each, as rows.
Expansion cartesian_prod(Builder& b, const Call& call) {
  std::vector<Value> values = tensors_of(b, call);
  if (values.size() == 1) return values[0];
  for (const Value& value : values)
    if (value.rank() != 1) return Expansion::none();
  spread(b, values);
  const Value rows = b(Op::stack, {values, -1});
  const auto columns = static_cast<std::int64_t>(values.size());
  return b.view(rows, {rows.count() / columns, columns});
}

// The sum over dimensions that broadcasting gave.
Expansion sum_to_size(Builder& b, const Call& call) {
  const Value x = tensor_of(b, call);
  const Shape size = call.integers("size");
  const std::int64_t more = x.rank() - static_cast<std::int64_t>(size.size());
  if (more < 0) return Expansion::none();
  std::vector<std::int64_t> dims;
  for (std::int64_t d = 0; d < x.rank(); ++d) {
    const std::int64_t length = d < more ? 1 : size[static_cast<std::size_t>(d - more)];
    if (d >= more && length != x.size(d) && length != 1) return Expansion::none();
    if (d < more || length != x.size(d)) dims.push_back(d);
  }
  return dims.empty() ? x : b.view(b.sum(x, dims, true), size);
}

// Parts between the given positions, or of nearly equal length.
std::vector<Value> parts_between(Builder& b, const Value& self, std::int64_t dim,
                                 const std::vector<std::int64_t>& ends) {
  std::vector<Value> parts;
  std::int64_t begin = 0;
  for (const std::int64_t end : ends) {
    parts.push_back(b(Op::slice_Tensor, {self, dim, begin, end}));
    begin = end;
  }
  return parts;
}
Expansion split_at(Builder& b, const Call& call, std::int64_t dim) {
  const Value self = tensor_of(b, call);
  std::vector<std::int64_t> ends = call.integers("indices");
  ends.push_back(self.size(dim));
  return parts_between(b, self, dim, ends);
}
Expansion split_into(Builder& b, const Call& call, std::int64_t dim) {
  const Value self = tensor_of(b, call);
  const std::int64_t length = self.size(dim), parts = call.integer("sections");
  if (parts < 1 || parts > layout::kMaxOutputs)
    return b.fail("tensor_split: the number of sections is out of range");
  std::vector<std::int64_t> ends;
  for (std::int64_t i = 1; i <= parts; ++i)
    ends.push_back(i * (length / parts) + std::min(i, length % parts));
  return parts_between(b, self, dim, ends);
}
Expansion tensor_split_indices(Builder& b, const Call& call) {
  return split_at(b, call, call.integer("dim"));
}
Expansion tensor_split_sections(Builder& b, const Call& call) {
  return split_into(b, call, call.integer("dim"));
}
// hsplit splits vectors along their only dimension.
template <std::int64_t dim>
std::int64_t split_dim(const Call& call) {
  return dim == 1 && call.tensor("self").rank() == 1 ? 0 : dim;
}
template <std::int64_t dim>
Expansion split_indices(Builder& b, const Call& call) {
  return split_at(b, call, split_dim<dim>(call));
}
template <std::int64_t dim>
Expansion split_sections(Builder& b, const Call& call) {
  return split_into(b, call, split_dim<dim>(call));
}

}  // namespace

std::vector<CompositeRow> shape_composites() {
  return {
      {"aten::expand_as(Tensor self, Tensor other) -> Tensor", expand_as},
      {"aten::view_as(Tensor self, Tensor other) -> Tensor", view_as},
      {"aten::reshape_as(Tensor self, Tensor other) -> Tensor", view_as},
      {"aten::ravel(Tensor self) -> Tensor", ravel},
      {"aten::numpy_T(Tensor self) -> Tensor", reversed},
      {"aten::mT(Tensor self) -> Tensor", last_swapped},
      {"aten::swapaxes(Tensor self, int axis0, int axis1) -> Tensor", swapaxes},
      {"aten::diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> "
       "Tensor",
       diff},
      {"aten::broadcast_tensors(Tensor[] tensors) -> Tensor[]", broadcast_tensors},
      {"aten::meshgrid(Tensor[] tensors) -> Tensor[]", meshgrid},
      {"aten::meshgrid.indexing(Tensor[] tensors, *, str indexing) -> Tensor[]", meshgrid_indexing},
      {"aten::hstack(Tensor[] tensors) -> Tensor", hstack},
      {"aten::vstack(Tensor[] tensors) -> Tensor", vstack},
      {"aten::row_stack(Tensor[] tensors) -> Tensor", vstack},
      {"aten::dstack(Tensor[] tensors) -> Tensor", dstack},
      {"aten::column_stack(Tensor[] tensors) -> Tensor", column_stack},
      {"aten::atleast_1d(Tensor self) -> Tensor", atleast<1>},
      {"aten::atleast_2d(Tensor self) -> Tensor", atleast<2>},
      {"aten::atleast_3d(Tensor self) -> Tensor", atleast<3>},
      {"aten::atleast_1d.Sequence(Tensor[] tensors) -> Tensor[]", all_atleast<1>},
      {"aten::atleast_2d.Sequence(Tensor[] tensors) -> Tensor[]", all_atleast<2>},
      {"aten::atleast_3d.Sequence(Tensor[] tensors) -> Tensor[]", all_atleast<3>},
      {"aten::diag(Tensor self, int diagonal=0) -> Tensor", diag},
      {"aten::diagflat(Tensor self, int offset=0) -> Tensor", diagflat},
      {"aten::fliplr(Tensor self) -> Tensor", flip<1>},
      {"aten::flipud(Tensor self) -> Tensor", flip<0>},
      {"aten::cartesian_prod(Tensor[] tensors) -> Tensor", cartesian_prod},
      {"aten::sum_to_size(Tensor self, SymInt[] size) -> Tensor", sum_to_size},
      {"aten::hsplit.int(Tensor self, int sections) -> Tensor[]", split_sections<1>},
      {"aten::hsplit.array(Tensor self, int[] indices) -> Tensor[]", split_indices<1>},
      {"aten::vsplit.int(Tensor self, int sections) -> Tensor[]", split_sections<0>},
      {"aten::vsplit.array(Tensor self, int[] indices) -> Tensor[]", split_indices<0>},
      {"aten::dsplit.int(Tensor self, int sections) -> Tensor[]", split_sections<2>},
      {"aten::dsplit.array(Tensor self, int[] indices) -> Tensor[]", split_indices<2>},
      {"aten::tensor_split.indices(Tensor self, SymInt[] indices, int dim=0) -> Tensor[]",
       tensor_split_indices},
      {"aten::tensor_split.sections(Tensor self, SymInt sections, int dim=0) -> Tensor[]",
       tensor_split_sections},
  };
}

}  // namespace recut
