#include "engine/autodiff/rules/index_values.h"

#include <algorithm>

#include "engine/autodiff/rules/formula.h"

namespace recut::autodiff {
namespace {

// The dimensions of self that the call indexes. Masks together make one dimension of positions, the
// last one; only values and other indices can tell how long it is.
struct IndexedDimensions {
  std::vector<bool> indexed;  // by dimension of self
  Shape positions;            // of the indices, broadcast together; a mask counts as one
  std::vector<NodeId> masks;
  int tensors = 0;     // index tensors that aren't masks
  std::size_t at = 0;  // where the positions stand among the dimensions of the indexed part

  explicit IndexedDimensions(VjpContext& ctx) {
    for (const NodeId id : ctx.call().nodes("indices")) {
      if (!id.valid()) {
        indexed.push_back(false);
        continue;
      }
      const TensorType& index = ctx.call().tensor(id);
      if (index.dtype == DType::boolean || index.dtype == DType::u8) {
        masks.push_back(id);
        indexed.insert(indexed.end(), index.shape.size(), true);
        continue;
      }
      ++tensors;
      indexed.push_back(true);
      if (const auto both = broadcast(positions, index.shape)) positions = *both;
    }
    indexed.resize(ctx["self"].shape().size(), false);
    if (positions.empty()) positions.push_back(1);
    const auto first = std::find(indexed.begin(), indexed.end(), true);
    const auto behind = std::find(first, indexed.end(), false);
    if (std::find(behind, indexed.end(), true) == indexed.end())
      at = static_cast<std::size_t>(first - indexed.begin());
  }

  // The shape of the indexed part.
  Shape shape(const Shape& self, const Shape& of_positions) const {
    Shape out;
    for (std::size_t d = 0; d < self.size(); ++d)
      if (!indexed[d]) out.push_back(self[d]);
    out.insert(out.begin() + static_cast<std::ptrdiff_t>(at), of_positions.begin(),
               of_positions.end());
    return out;
  }
};

// The length of `values` along a dimension of the shape that they are broadcast to.
std::int64_t length_at(const Value& values, const Shape& shape, std::size_t dimension) {
  const auto behind = static_cast<std::int64_t>(shape.size() - dimension);
  return behind > values.rank() ? 1 : values.size(values.rank() - behind);
}

// The gradient of each element of self times how often the element is indexed.
Value indexed_gradient(VjpContext& ctx, const IndexedDimensions& indexing) {
  const Value grad = ctx.grad();
  if (indexing.masks.size() == 1 && indexing.tensors == 0) {
    const Value mask = ctx.b.convert(ctx.b.value(indexing.masks.front()), DType::boolean);
    Shape shape = mask.shape();
    const auto first = std::find(indexing.indexed.begin(), indexing.indexed.end(), true);
    const auto behind = (indexing.indexed.end() - first) - mask.rank();
    shape.insert(shape.end(), static_cast<std::size_t>(behind), 1);
    return keep_where(ctx.b.view(mask, shape), grad);
  }
  const DType counting = grad.dtype() == DType::f64 ? DType::f64 : DType::f32;
  const std::string& device = grad.type().device;
  const Value counts =
      ctx.b(Op::index_put, {ctx.b.full(grad.shape(), 0, counting, device), ctx.given("indices"),
                            ctx.b.full({}, 1, counting), true});
  return zero_where(ctx.b(Op::eq_Scalar, {counts, 0}), grad * counts);
}

// The gradient at a known number of positions; a mask with a single true element is broadcast.
Value at_known_positions(VjpContext& ctx, const IndexedDimensions& indexing, std::int64_t count) {
  ArgumentList indices;
  for (const NodeId id : ctx.call().nodes("indices")) {
    if (std::find(indexing.masks.begin(), indexing.masks.end(), id) == indexing.masks.end()) {
      indices.push_back(id.valid() ? Argument(id) : Argument(None{}));
      continue;
    }
    const Value mask = ctx.b.value(id);
    const Value positions = ctx.b(Op::nonzero_static, {mask}, {{"size", count}});
    for (std::int64_t d = 0; d < mask.rank(); ++d) {
      const Value along = ctx.b(Op::select_int, {positions, 1, d});
      const Value first = ctx.b(Op::select_int, {along, 0, 0});
      indices.emplace_back(ctx.b.where(ctx.b(Op::lt_Scalar, {along, 0}), first, along).id());
    }
  }
  return ctx.b.call(Op::index_Tensor, {Argument(ctx.grad().id()), Argument(std::move(indices))});
}

}  // namespace

// Values that know how many positions there are get the gradient at these. Others are the same for
// all of them and get its sum, which needs no shape that depends on values.
Value indexed_values(VjpContext& ctx) {
  const IndexedDimensions indexing(ctx);
  if (indexing.masks.empty()) return ctx.b(Op::index_Tensor, {ctx.grad(), ctx.given("indices")});
  const Value values = ctx["values"];
  const Shape& self = ctx["self"].shape();
  Shape shape = indexing.shape(self, indexing.positions);
  const std::size_t last = indexing.at + indexing.positions.size() - 1;
  shape[last] = std::max(shape[last], length_at(values, shape, last));
  if (values.count() == 0) return zeros(ctx.b, values.type());
  if (shape[last] != 1) return at_known_positions(ctx, indexing, shape[last]);
  for (std::size_t d = indexing.at; d < last; ++d)
    if (length_at(values, shape, d) != 1)
      return ctx.b.fail(
          "values that vary along an index, but are the same for all positions of a mask, have no "
          "derivative rule: give them as many elements as the mask has positions");
  if (values.count() == 1) return ctx.b.sum(indexed_gradient(ctx, indexing));
  std::vector<std::int64_t> dims;
  for (std::size_t d = 0; d < self.size(); ++d)
    if (indexing.indexed[d]) dims.push_back(static_cast<std::int64_t>(d));
  const Value sum = ctx.b.sum(indexed_gradient(ctx, indexing), dims);
  return ctx.b.view(sum, indexing.shape(self, Shape(indexing.positions.size(), 1)));
}

}  // namespace recut::autodiff
