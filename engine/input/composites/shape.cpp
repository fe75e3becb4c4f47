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

// Each vector along its own dimension. "xy" has the second vector along the first dimension.
Expansion grid_of(Builder& b, const Call& call, bool swapped) {
  std::vector<Value> values = tensors_of(b, call);
  swapped = swapped && values.size() > 1;
  if (swapped) std::swap(values[0], values[1]);
  Shape shape;
  for (const Value& value : values) shape.push_back(value.count());
  for (std::size_t i = 0; i < values.size(); ++i) {
    Shape own(values.size(), 1);
    own[i] = values[i].count();
    values[i] = b.expand(b.view(values[i], own), shape);
  }
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
Expansion vstack(Builder& b, const Call& call) {
  std::vector<Value> values = tensors_of(b, call);
  for (Value& value : values)
    if (value.valid() && value.rank() < 2) value = b.view(value, {1, value.count()});
  return b(Op::cat, {values, 0});
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
Expansion tensor_split_indices(Builder& b, const Call& call) {
  const Value self = tensor_of(b, call);
  std::vector<std::int64_t> ends = call.integers("indices");
  ends.push_back(self.size(call.integer("dim")));
  return parts_between(b, self, call.integer("dim"), ends);
}
Expansion tensor_split_sections(Builder& b, const Call& call) {
  const Value self = tensor_of(b, call);
  const std::int64_t length = self.size(call.integer("dim")), parts = call.integer("sections");
  if (parts < 1 || parts > layout::kMaxOutputs)
    return b.fail("tensor_split: the number of sections is out of range");
  std::vector<std::int64_t> ends;
  for (std::int64_t i = 1; i <= parts; ++i)
    ends.push_back(i * (length / parts) + std::min(i, length % parts));
  return parts_between(b, self, call.integer("dim"), ends);
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
      {"aten::tensor_split.indices(Tensor self, SymInt[] indices, int dim=0) -> Tensor[]",
       tensor_split_indices},
      {"aten::tensor_split.sections(Tensor self, SymInt sections, int dim=0) -> Tensor[]",
       tensor_split_sections},
  };
}

}  // namespace recut
