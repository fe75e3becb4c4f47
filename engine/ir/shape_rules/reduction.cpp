// Rules of reductions, scans and sorts.
#include "engine/ir/shape_rules/rules.h"

namespace recut::rules {
namespace {

// The reduced dimensions of self (a zero-dimensional tensor may name dimension 0).
Result<std::vector<bool>> reduced_dimensions(const Call& call, bool empty_reduces_all) {
  const std::int64_t rank = call.tensor("self").rank();
  std::vector<bool> reduced(static_cast<std::size_t>(rank), true);
  if (!has(call, "dim") || !call.given("dim")) return reduced;
  const auto dims = call.integers("dim");
  if (dims.empty() && empty_reduces_all) return reduced;
  reduced.assign(reduced.size(), false);
  std::vector<bool> seen(static_cast<std::size_t>(rank == 0 ? 1 : rank), false);
  for (const std::int64_t d : dims) {
    const auto wrapped = wrap_dimension(d, rank);
    if (!wrapped) return wrapped.diagnostics();
    const auto at = static_cast<std::size_t>(*wrapped);
    if (seen[at]) return error(fmt::format("dimension {} is named twice", d));
    seen[at] = true;
    if (rank > 0) reduced[at] = true;
  }
  return reduced;
}

bool keeps(const Call& call) { return has(call, "keepdim") && call.boolean("keepdim"); }

Inferred reduce_as(const Call& call, DType dtype, bool empty_reduces_all = true) {
  const TensorType& self = call.tensor("self");
  const auto reduced = reduced_dimensions(call, empty_reduces_all);
  if (!reduced) return reduced.diagnostics();
  Shape shape;
  for (std::size_t d = 0; d < self.shape.size(); ++d) {
    if (!(*reduced)[d])
      shape.push_back(self.shape[d]);
    else if (keeps(call))
      shape.push_back(1);
  }
  return one(make_type(dtype, std::move(shape), self.device));
}

// Fails for an extreme over no elements: a reduced dimension is empty, and the result is not.
Inferred not_from_nothing(const Call& call, Inferred reduced) {
  if (!reduced) return reduced;
  const std::int64_t result_count = element_count(reduced->front().shape);
  if (result_count > 0 && element_count(call.tensor("self").shape) == 0)
    return error(fmt::format("{} has nothing to choose from in {}", call.op().packet,
                             format_shape(call.tensor("self").shape)));
  return reduced;
}

DType given_dtype(const Call& call, DType otherwise) {
  return has(call, "dtype") ? call.maybe_dtype("dtype").value_or(otherwise) : otherwise;
}

Inferred refuse_reduction(const Call& call, DType dtype) {
  return error(fmt::format("{} is not defined for {}; a floating dtype is expected",
                           call.op().packet, short_name(dtype)));
}

DType sum_dtype(const Call& call) {
  const DType self = call.tensor("self").dtype;
  return given_dtype(call, is_floating(self) || is_complex(self) ? self : DType::i64);
}

// Values, and indices of the same shape.
Inferred with_indices(Inferred values) {
  if (!values) return values;
  TensorType indices = values->front();
  indices.dtype = DType::i64;
  return Types{values->front(), std::move(indices)};
}

}  // namespace

// Integers and bools give i64.
Inferred reduce_sum(const Call& call) { return reduce_as(call, sum_dtype(call)); }

// Integers only with a floating dtype given.
Inferred reduce_mean(const Call& call) {
  const DType dtype = given_dtype(call, call.tensor("self").dtype);
  const bool fits = is_floating(dtype) || is_complex(dtype);
  return fits ? reduce_as(call, dtype) : refuse_reduction(call, dtype);
}

// Floating dtype of self, or the one given; real for complex numbers.
Inferred reduce_same(const Call& call) {
  Inferred type = reduce_mean(call);
  if (type) type->front().dtype = real_of(type->front().dtype);
  return type;
}

// Two outputs in the dtype of self; the first, a variance, is real.
Inferred reduce_two(const Call& call) {
  const bool extremes = call.op().packet == "aminmax";
  const Inferred type = extremes ? reduce_extreme(call) : reduce_mean(call);
  if (!type) return type;
  TensorType first = type->front();
  first.dtype = real_of(first.dtype);
  return Types{std::move(first), type->front()};
}

// Integers become f32.
Inferred reduce_to_float(const Call& call) {
  return reduce_as(call, float_of(call.tensor("self").dtype));
}

// Dtype of self; an extreme over no elements is an error.
Inferred reduce_extreme(const Call& call) {
  return not_from_nothing(call, reduce_as(call, call.tensor("self").dtype));
}

// Values and i64 indices along one dimension.
Inferred reduce_with_index(const Call& call) {
  const TensorType& self = call.tensor("self");
  const auto dim = wrap_dimension(call.integer("dim"), self.rank());
  if (!dim) return dim.diagnostics();
  const std::int64_t length = self.rank() == 0 ? 1 : self.shape[static_cast<std::size_t>(*dim)];
  if (has(call, "k") && (call.integer("k") < 1 || call.integer("k") > length))
    return error(fmt::format("k is {}, expected 1 to {}", call.integer("k"), length));
  return with_indices(not_from_nothing(call, reduce_as(call, self.dtype)));
}

// I64.
Inferred reduce_index(const Call& call) {
  const Inferred type = reduce_as(call, DType::i64);
  return call.op().packet == "count_nonzero" ? type : not_from_nothing(call, type);
}

// Bool; u8 stays u8; an empty list reduces nothing.
Inferred reduce_bool(const Call& call) {
  // For backward compatibility, ATen's any and all of u8 give u8.
  const bool bytes = call.tensor("self").dtype == DType::u8;
  return reduce_as(call, bytes ? DType::u8 : DType::boolean, false);
}

// Reduces all elements.
Inferred reduce_median(const Call& call) {
  const TensorType& self = call.tensor("self");
  return one(make_type(self.dtype, {}, self.device));
}

Inferred trace(const Call& call) {
  const TensorType& self = call.tensor("self");
  if (self.rank() != 2) return error("trace takes a matrix");
  return one(make_type(sum_dtype(call), {}, self.device));
}

Inferred dist(const Call& call) {
  const auto shape = broadcast_all(call);
  if (!shape) return shape.diagnostics();
  return one(make_type(float_of(tensors_dtype(call)), {}, device_of(call)));
}

// Scans and sorts
// ----------------------------------------------------------------------------------

// Shape of self; integers and bools give i64.
Inferred scan(const Call& call) {
  const TensorType& self = call.tensor("self");
  const auto dim = wrap_dimension(call.integer("dim"), self.rank());
  if (!dim) return dim.diagnostics();
  return one(elementwise_type(call, sum_dtype(call), self.shape));
}

Inferred scan_same(const Call& call) {
  const TensorType& self = call.tensor("self");
  if (has(call, "dim")) {
    const auto dim = wrap_dimension(call.integer("dim"), self.rank());
    if (!dim) return dim.diagnostics();
  }
  return one(elementwise_type(call, self.dtype, self.shape));
}

Inferred scan_with_index(const Call& call) { return with_indices(scan_same(call)); }

Inferred sort(const Call& call) { return with_indices(scan_same(call)); }

Inferred argsort(const Call& call) {
  Inferred type = scan_same(call);
  if (type) type->front().dtype = DType::i64;
  return type;
}

Inferred topk(const Call& call) {
  const TensorType& self = call.tensor("self");
  const std::int64_t k = call.integer("k");
  const auto dim = wrap_dimension(call.integer("dim"), self.rank());
  if (!dim) return dim.diagnostics();
  const auto at = static_cast<std::size_t>(*dim);
  const std::int64_t length = self.rank() == 0 ? 1 : self.shape[at];
  if (k < 0 || k > length) return error(fmt::format("k is {}, expected 0 to {}", k, length));
  Shape shape = self.shape;
  if (!shape.empty()) shape[at] = k;
  return with_indices(one(make_type(self.dtype, std::move(shape), self.device)));
}

Inferred search(const Call& call) {
  const DType dtype = call.boolean("out_int32") ? DType::i32 : DType::i64;
  const bool bucketize = has(call, "boundaries");
  const TensorType& sorted = call.tensor(bucketize ? "boundaries" : "sorted_sequence");
  const bool shared = sorted.rank() == 1;
  if (!shared && (bucketize || sorted.rank() == 0 || !call.is_tensor("self")))
    return error(
        fmt::format("can't search in {}: one dimension is expected", format_shape(sorted.shape)));
  if (!call.is_tensor("self")) return one(make_type(dtype, {}, sorted.device));
  const TensorType& self = call.tensor("self");
  const auto prefix = [](const Shape& s) {
    return Shape(s.begin(), s.end() - (s.empty() ? 0 : 1));
  };
  if (!shared && (sorted.rank() != self.rank() || prefix(sorted.shape) != prefix(self.shape)))
    return error(fmt::format("can't search {} in {}: all dimensions but the last have to agree",
                             format_shape(self.shape), format_shape(sorted.shape)));
  return one(make_type(dtype, self.shape, self.device));
}

Inferred isin(const Call& call) {
  const bool number = has(call, "element");
  if (number) return one(make_type(DType::boolean, {}, call.tensor("test_elements").device));
  const TensorType& elements = call.tensor("elements");
  return one(make_type(DType::boolean, elements.shape, elements.device));
}

// Histograms and segments
// --------------------------------------------------------------------------

Inferred histc(const Call& call) {
  const TensorType& self = call.tensor("self");
  if (call.integer("bins") < 1) return error("at least one bin is expected");
  return sized(self.dtype, {call.integer("bins")}, self.device);
}

Inferred histogram(const Call& call) {
  const TensorType& self = call.tensor("self");
  const bool edges_given = call.is_tensor("bins");
  if (edges_given && call.tensor("bins").rank() != 1)
    return error("bins has to have one dimension");
  const std::int64_t bins = edges_given ? call.tensor("bins").shape[0] - 1 : call.integer("bins");
  if (bins < (edges_given ? 0 : 1) || bins > kMaxBytes) return error("bins are expected");
  Inferred counts = sized(self.dtype, {bins}, self.device);
  if (!counts) return counts;
  const Inferred edges = sized(self.dtype, {bins + 1}, self.device);
  if (!edges) return edges;
  return Types{counts->front(), edges->front()};
}

}  // namespace recut::rules
