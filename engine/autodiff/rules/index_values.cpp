#include "engine/autodiff/rules/index_values.h"

#include <algorithm>

#include "engine/autodiff/rules/formula.h"

namespace recut::autodiff {
namespace {

// How the call takes self's dimensions apart. Masks make one dimension of places together, the last
// one; how long it is, only values and other indices can tell.
struct Taken {
  std::vector<bool> indexed;  // by dimension of self
  Shape places;               // of the indices, broadcast together; a mask counts as one place
  std::vector<NodeId> masks;
  int tensors = 0;     // those that are no masks
  std::size_t at = 0;  // where the places stand among the dimensions of what is taken

  explicit Taken(VjpContext& ctx) {
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
      if (const auto both = broadcast(places, index.shape)) places = *both;
    }
    indexed.resize(ctx["self"].shape().size(), false);
    if (places.empty()) places.push_back(1);
    const auto first = std::find(indexed.begin(), indexed.end(), true);
    const auto behind = std::find(first, indexed.end(), false);
    if (std::find(behind, indexed.end(), true) == indexed.end())
      at = static_cast<std::size_t>(first - indexed.begin());
  }

  // The shape of what is taken.
  Shape shape(const Shape& self, const Shape& of_places) const {
    Shape out;
    for (std::size_t d = 0; d < self.size(); ++d)
      if (!indexed[d]) out.push_back(self[d]);
    out.insert(out.begin() + static_cast<std::ptrdiff_t>(at), of_places.begin(), of_places.end());
    return out;
  }
};

// The length of `values` along a dimension of the shape that they are broadcast to.
std::int64_t length_at(const Value& values, const Shape& shape, std::size_t dimension) {
  const auto behind = static_cast<std::int64_t>(shape.size() - dimension);
  return behind > values.rank() ? 1 : values.size(values.rank() - behind);
}

// The gradient where it is taken, as often as it is, and 0 elsewhere.
Value taken_gradient(VjpContext& ctx, const Taken& taken) {
  const Value grad = ctx.grad();
  if (taken.masks.size() == 1 && taken.tensors == 0) {
    const Value mask = ctx.b.convert(ctx.b.value(taken.masks.front()), DType::boolean);
    Shape shape = mask.shape();
    const auto first = std::find(taken.indexed.begin(), taken.indexed.end(), true);
    const auto behind = (taken.indexed.end() - first) - mask.rank();
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

// The gradient at places of which there are so many. A mask that holds at one alone stands for all
// of them.
Value at_known_places(VjpContext& ctx, const Taken& taken, std::int64_t count) {
  ArgumentList indices;
  for (const NodeId id : ctx.call().nodes("indices")) {
    if (std::find(taken.masks.begin(), taken.masks.end(), id) == taken.masks.end()) {
      indices.push_back(id.valid() ? Argument(id) : Argument(None{}));
      continue;
    }
    const Value mask = ctx.b.value(id);
    const Value places = ctx.b(Op::nonzero_static, {mask}, {{"size", count}});
    for (std::int64_t d = 0; d < mask.rank(); ++d) {
      const Value along = ctx.b(Op::select_int, {places, 1, d});
      const Value first = ctx.b(Op::select_int, {along, 0, 0});
      indices.emplace_back(ctx.b.where(ctx.b(Op::lt_Scalar, {along, 0}), first, along).id());
    }
  }
  return ctx.b.call(Op::index_Tensor, {Argument(ctx.grad().id()), Argument(std::move(indices))});
}

}  // namespace

// Values that know how many places there are get the gradient at these. Others are the same for all
// of them and get its sum, which needs no shape that depends on values.
Value indexed_values(VjpContext& ctx) {
  const Taken taken(ctx);
  if (taken.masks.empty()) return ctx.b(Op::index_Tensor, {ctx.grad(), ctx.given("indices")});
  const Value values = ctx["values"];
  const Shape& self = ctx["self"].shape();
  Shape shape = taken.shape(self, taken.places);
  const std::size_t last = taken.at + taken.places.size() - 1;
  shape[last] = std::max(shape[last], length_at(values, shape, last));
  if (values.count() == 0) return zeros(ctx.b, values.type());
  if (shape[last] != 1) return at_known_places(ctx, taken, shape[last]);
  for (std::size_t d = taken.at; d < last; ++d)
    if (length_at(values, shape, d) != 1)
      return ctx.b.fail(
          "values that vary along an index, but are the same for all places of a mask, have no "
          "derivative rule: give them as many elements as the mask has places");
  if (values.count() == 1) return ctx.b.sum(taken_gradient(ctx, taken));
  std::vector<std::int64_t> dims;
  for (std::size_t d = 0; d < self.size(); ++d)
    if (taken.indexed[d]) dims.push_back(static_cast<std::int64_t>(d));
  const Value sum = ctx.b.sum(taken_gradient(ctx, taken), dims);
  return ctx.b.view(sum, taken.shape(self, Shape(taken.places.size(), 1)));
}

}  // namespace recut::autodiff
