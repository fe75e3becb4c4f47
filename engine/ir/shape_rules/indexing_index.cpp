// Rules of advanced indexing, and of indices along one dimension. Index tensors broadcast together;
// their dimensions replace the indexed ones, in place if these are adjacent, else in front (numpy).
// With a mask, the number of elements is data-dependent and taken from the recorded type.
#include <algorithm>

#include "engine/ir/shape_rules/rules.h"

namespace recut::rules {
namespace {

bool is_mask(const TensorType& type) {
  return type.dtype == DType::boolean || type.dtype == DType::u8;
}

// The dimensions that an indexing expression replaces.
struct Indexing {
  Shape broadcast;               // of the index tensors; of unknown first size where masks are
  std::vector<bool> is_indexed;  // by dimension of self
  bool has_mask = false;
};

Result<Indexing> read_indices(const Call& call, const TensorType& self) {
  Indexing indexing;
  for (const NodeId id : call.nodes("indices")) {
    if (!id.valid()) {
      indexing.is_indexed.push_back(false);
      continue;
    }
    const TensorType& index = call.tensor(id);
    if (is_mask(index)) {
      // A mask takes as many dimensions as it has (a zero-dimensional one would add one).
      const std::size_t first = indexing.is_indexed.size();
      if (index.shape.empty() || first + index.shape.size() > self.shape.size() ||
          !std::equal(index.shape.begin(), index.shape.end(),
                      self.shape.begin() + static_cast<std::ptrdiff_t>(first)))
        return error(fmt::format("a mask of shape {} does not fit dimension {} and after of {}",
                                 format_shape(index.shape), first, format_shape(self.shape)));
      indexing.has_mask = true;
      indexing.is_indexed.insert(indexing.is_indexed.end(), index.shape.size(), true);
      continue;
    }
    if (!is_integral(index.dtype))
      return error(
          fmt::format("indices are {}, expected integers or bool", short_name(index.dtype)));
    auto both = broadcast(indexing.broadcast, index.shape);
    if (!both) return both.diagnostics();
    indexing.broadcast = std::move(*both);
    indexing.is_indexed.push_back(true);
  }
  if (indexing.is_indexed.size() > self.shape.size())
    return error(fmt::format("{} indices for a tensor of shape {}", indexing.is_indexed.size(),
                             format_shape(self.shape)));
  indexing.is_indexed.resize(self.shape.size(), false);
  return indexing;
}

// Index dimensions stand where the index tensors do if those are neighbours, else in front.
Shape indexed_shape(const Indexing& indexing, const Shape& self) {
  const auto& is_indexed = indexing.is_indexed;
  const auto first = std::find(is_indexed.begin(), is_indexed.end(), true);
  if (first == is_indexed.end()) return self;
  const auto behind = std::find(first, is_indexed.end(), false);
  const bool neighbours = std::find(behind, is_indexed.end(), true) == is_indexed.end();
  Shape shape;
  for (std::size_t d = 0; d < self.size(); ++d)
    if (!is_indexed[d]) shape.push_back(self[d]);
  const auto insertion = neighbours ? shape.begin() + (first - is_indexed.begin()) : shape.begin();
  shape.insert(insertion, indexing.broadcast.begin(), indexing.broadcast.end());
  return shape;
}

Result<Done> check_values(const Call& call, const Indexing& indexing, const TensorType& self,
                          const TensorType& values) {
  if (values.dtype != self.dtype)
    return error(fmt::format("values are {}, expected {} as self is", short_name(values.dtype),
                             short_name(self.dtype)));
  if (indexing.has_mask) return Done{};  // the number of elements depends on the mask
  const Shape shape = indexed_shape(indexing, self.shape);
  const auto both = broadcast(shape, values.shape);
  if (!both || *both != shape)
    return error(fmt::format("values of shape {} for {} indexed positions of {}",
                             format_shape(values.shape), format_shape(shape), call.op().name));
  return Done{};
}

}  // namespace

Inferred index(const Call& call) {
  const TensorType& self = call.tensor("self");
  const auto indexing = read_indices(call, self);
  if (!indexing) return indexing.diagnostics();
  if (indexing->has_mask) return recorded(call);
  return one(make_type(self.dtype, indexed_shape(*indexing, self.shape), self.device));
}

Inferred index_put(const Call& call) {
  const TensorType& self = call.tensor("self");
  const auto indexing = read_indices(call, self);
  if (!indexing) return indexing.diagnostics();
  if (const auto ok = check_values(call, *indexing, self, call.tensor("values")); !ok)
    return ok.diagnostics();
  return one(dense_like(self));
}

Inferred masked_index(const Call& call) {
  const TensorType& self = call.tensor("self");
  const auto indexing = read_indices(call, self);
  if (!indexing) return indexing.diagnostics();
  if (indexing->has_mask) return error("indices have to be integers");
  auto shape = broadcast(indexed_shape(*indexing, self.shape), call.tensor("mask").shape);
  if (!shape) return shape.diagnostics();
  return one(make_type(self.dtype, std::move(*shape), self.device));
}

Inferred masked_index_put(const Call& call) {
  const TensorType& self = call.tensor("self");
  const auto indexing = read_indices(call, self);
  if (!indexing) return indexing.diagnostics();
  if (indexing->has_mask) return error("indices have to be integers");
  const auto values = broadcast(call.tensor("values").shape, call.tensor("mask").shape);
  if (!values) return values.diagnostics();
  const Shape indexed = indexed_shape(*indexing, self.shape);
  const auto both = broadcast(indexed, *values);
  if (!both || *both != indexed)
    return error(fmt::format("values of shape {} for indexed positions {}", format_shape(*values),
                             format_shape(indexed)));
  return one(dense_like(self));
}

namespace {

// An index of at most one dimension, along a dimension of self.
Result<std::int64_t> check_single_index(const Call& call) {
  const TensorType& self = call.tensor("self");
  const TensorType& index = call.tensor("index");
  const auto dim = wrap_dimension(call.integer("dim"), self.rank());
  if (!dim) return dim.diagnostics();
  if (!is_integral(index.dtype))
    return error(fmt::format("indices are {}, expected integers", short_name(index.dtype)));
  if (index.rank() > 1)
    return error(
        fmt::format("an index of one dimension is expected, found {}", format_shape(index.shape)));
  return *dim;
}

}  // namespace

Inferred index_select(const Call& call) {
  const auto dim = check_single_index(call);
  if (!dim) return dim.diagnostics();
  const TensorType& self = call.tensor("self");
  const std::int64_t count = element_count(call.tensor("index").shape);
  Shape shape = self.shape;
  if (!shape.empty())
    shape[static_cast<std::size_t>(*dim)] = count;
  else if (count != 1)
    return error(fmt::format("{} indices into a zero-dimensional tensor, expected 1", count));
  return one(make_type(self.dtype, std::move(shape), self.device));
}

// Index_add, index_copy, index_reduce.
Inferred index_add(const Call& call) {
  const auto dim = check_single_index(call);
  if (!dim) return dim.diagnostics();
  const TensorType& self = call.tensor("self");
  const TensorType& source = call.tensor("source");
  if (source.dtype != self.dtype)
    return error(fmt::format("source is {}, expected {} as self is", short_name(source.dtype),
                             short_name(self.dtype)));
  // A zero-dimensional tensor on either side counts as one of one element.
  Shape expected = self.shape.empty() ? Shape{1} : self.shape;
  expected[static_cast<std::size_t>(*dim)] = element_count(call.tensor("index").shape);
  const Shape found = source.shape.empty() ? Shape{1} : source.shape;
  if (found != expected)
    return error(fmt::format("a source of shape {} is expected, found {}", format_shape(expected),
                             format_shape(source.shape)));
  return one(dense_like(self));
}

Inferred index_fill(const Call& call) {
  if (const auto dim = check_single_index(call); !dim) return dim.diagnostics();
  if (call.is_tensor("value") && call.tensor("value").rank() != 0)
    return error(fmt::format("the value has shape {}, expected one number",
                             format_shape(call.tensor("value").shape)));
  return one(dense_like(call.tensor("self")));
}

Inferred nonzero_static(const Call& call) {
  const TensorType& in = call.tensor("self");
  const std::int64_t size = call.integer("size");
  if (size < 0) return error(fmt::format("size {} is negative", size));
  return one(make_type(DType::i64, {size, in.rank()}, in.device));
}

}  // namespace recut::rules
