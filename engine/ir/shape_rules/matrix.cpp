// Rules of matrix products and of pairwise distances. The rule of matmul covers vectors, matrices
// and broadcast batches.
#include <algorithm>
#include <utility>

#include "engine/ir/shape_rules/rules.h"

namespace recut::rules {
namespace {

Diagnostic no_product(const TensorType& a, const TensorType& b) {
  return error(
      fmt::format("can't multiply {} by {}", format_shape(a.shape), format_shape(b.shape)));
}

// `out`, once `addend` is known to broadcast to it.
Inferred plus(const TensorType& addend, TensorType out) {
  auto both = broadcast(addend.shape, out.shape);
  if (!both || *both != out.shape)
    return error(fmt::format("{} can't be added to a product of shape {}",
                             format_shape(addend.shape), format_shape(out.shape)));
  return one(std::move(out));
}

// [batch…, n, k] times [batch…, k, m]; both have the same rank.
Inferred product(const TensorType& a, const TensorType& b, std::int64_t rank) {
  if (a.rank() != rank || b.rank() != rank) return no_product(a, b);
  const auto r = static_cast<std::size_t>(rank);
  if (a.shape[r - 1] != b.shape[r - 2]) return no_product(a, b);
  Shape shape(a.shape);
  for (std::size_t i = 0; i + 2 < r; ++i)
    if (a.shape[i] != b.shape[i]) return no_product(a, b);
  if (a.dtype != b.dtype)
    return error(fmt::format("can't multiply {} by {}: one dtype is expected", short_name(a.dtype),
                             short_name(b.dtype)));
  shape[r - 1] = b.shape[r - 1];
  return one(make_type(a.dtype, std::move(shape), a.device));
}

TensorType last_two_as_one(const TensorType& type, std::size_t keep) {
  Shape shape(type.shape.end() - static_cast<std::ptrdiff_t>(keep), type.shape.end());
  return make_type(type.dtype, std::move(shape), type.device);
}

bool is_vector_of(const TensorType& v, std::int64_t length) {
  return v.rank() == 1 && v.shape[0] == length;
}

// The dimensions of one operand of _trilinear after its insertions; 1 where one was inserted.
Result<Shape> expanded(const Call& call, std::string_view operand, std::string_view expand,
                       std::size_t rank) {
  const TensorType& in = call.tensor(operand);
  const auto inserted = call.integers(expand);
  if (in.shape.size() + inserted.size() != rank)
    return error(fmt::format("{} with {} dimensions inserted has not {} dimensions", operand,
                             inserted.size(), rank));
  std::vector<bool> is_new(rank, false);
  for (const std::int64_t d : inserted) {
    if (d < 0 || d >= static_cast<std::int64_t>(rank) || is_new[static_cast<std::size_t>(d)])
      return error(fmt::format("{} can't have a dimension inserted at {}", operand, d));
    is_new[static_cast<std::size_t>(d)] = true;
  }
  Shape shape;
  std::size_t from = 0;
  for (std::size_t i = 0; i < rank; ++i) shape.push_back(is_new[i] ? 1 : in.shape[from++]);
  return shape;
}

Result<Shape> trilinear_shape(const Call& call) {
  const std::size_t rank = call.tensor("i1").shape.size() + call.integers("expand1").size();
  Shape all(rank, 1);
  static constexpr std::string_view kOperands[][2] = {
      {"i1", "expand1"}, {"i2", "expand2"}, {"i3", "expand3"}};
  for (const auto& [operand, expand] : kOperands) {
    auto shape = expanded(call, operand, expand, rank);
    if (!shape) return shape.diagnostics();
    auto both = broadcast(all, *shape);
    if (!both) return both.diagnostics();
    all = std::move(*both);
  }
  return all;
}

}  // namespace

Inferred mm(const Call& call) { return product(call.tensor("self"), call.tensor("mat2"), 2); }

Inferred int_mm(const Call& call) {
  auto types = mm(call);
  if (types) types->front().dtype = DType::i32;
  return types;
}

// Scales of one number, or of one for each row or column; scales of blocks are refused.
Inferred scaled_mm(const Call& call) {
  const TensorType& a = call.tensor("self");
  TensorType b = call.tensor("mat2");
  const DType dtype = call.maybe_dtype("out_dtype").value_or(a.dtype);
  for (const DType in : {a.dtype, b.dtype})
    if (!is_float8(in)) return error(fmt::format("{} is no 8-bit real", short_name(in)));
  if (!is_floating(dtype)) return error(fmt::format("out_dtype is {}", short_name(dtype)));
  b.dtype = a.dtype;  // the two formats mix
  auto types = product(a, b, 2);
  if (!types) return types;
  TensorType& out = types->front();
  out.dtype = dtype;
  const Shape rows{out.shape[0], 1}, columns{1, out.shape[1]};
  for (const auto& [name, each] : {std::pair{"scale_a", rows}, std::pair{"scale_b", columns}}) {
    const Shape& scale = call.tensor(name).shape;
    if (element_count(scale) != 1 && scale != each)
      return error(fmt::format("{} has shape {}, expected one number or {}", name,
                               format_shape(scale), format_shape(each)));
  }
  if (call.is_tensor("scale_result") && element_count(call.tensor("scale_result").shape) != 1)
    return error("scale_result is one number");
  return call.is_tensor("bias") ? plus(call.tensor("bias"), out) : types;
}

// Two matrices, or a matrix and a batch of them, with the groups' ends; or two batches without.
Inferred grouped_mm(const Call& call) {
  const TensorType& a = call.tensor("self");
  const TensorType& b = call.tensor("mat2");
  const bool grouped = call.is_tensor("offs");
  const auto matrices = [](const TensorType& t) { return t.rank() == 2 || t.rank() == 3; };
  if (!matrices(a) || !matrices(b)) return no_product(a, b);
  if (call.is_tensor("bias")) return error("a bias isn't defined for groups");
  if (grouped == (a.rank() == 3 && b.rank() == 3))
    return error("two batches take no offs, other operands do");
  if (a.shape.back() != b.shape[b.shape.size() - 2]) return no_product(a, b);
  if (a.dtype != b.dtype)
    return error(fmt::format("can't multiply {} by {}: one dtype is expected", short_name(a.dtype),
                             short_name(b.dtype)));
  const std::int64_t rows = a.shape[a.shape.size() - 2], columns = b.shape.back();
  Shape shape{rows, columns};
  if (grouped) {
    const TensorType& ends = call.tensor("offs");
    if (ends.rank() != 1 || !is_integral(ends.dtype)) return error("offs is a list of integers");
    for (const TensorType* batch : {&a, &b})
      if (batch->rank() == 3 && batch->shape[0] != ends.shape[0])
        return error(
            fmt::format("offs has {} ends for {} matrices", ends.shape[0], batch->shape[0]));
    if (a.rank() == 2 && b.rank() == 2) shape.insert(shape.begin(), ends.shape[0]);
  } else {
    if (a.shape[0] != b.shape[0]) return no_product(a, b);
    shape.insert(shape.begin(), a.shape[0]);
  }
  return sized(call.maybe_dtype("out_dtype").value_or(a.dtype), std::move(shape), a.device);
}

Inferred bmm(const Call& call) { return product(call.tensor("self"), call.tensor("mat2"), 3); }

Inferred addmm(const Call& call) {
  auto types = product(call.tensor("mat1"), call.tensor("mat2"), 2);
  return types ? plus(call.tensor("self"), types->front()) : types;
}

Inferred baddbmm(const Call& call) {
  auto types = product(call.tensor("batch1"), call.tensor("batch2"), 3);
  return types ? plus(call.tensor("self"), types->front()) : types;
}

Inferred addbmm(const Call& call) {
  auto types = product(call.tensor("batch1"), call.tensor("batch2"), 3);
  return types ? plus(call.tensor("self"), last_two_as_one(types->front(), 2)) : types;
}

Inferred mv(const Call& call) {
  const TensorType& a = call.tensor("self");
  const TensorType& v = call.tensor("vec");
  if (a.rank() != 2 || !is_vector_of(v, a.shape[1])) return no_product(a, v);
  return one(make_type(a.dtype, {a.shape[0]}, a.device));
}

Inferred addmv(const Call& call) {
  const TensorType& a = call.tensor("mat");
  const TensorType& v = call.tensor("vec");
  if (a.rank() != 2 || !is_vector_of(v, a.shape[1])) return no_product(a, v);
  return plus(call.tensor("self"), make_type(a.dtype, {a.shape[0]}, a.device));
}

Inferred addr(const Call& call) {
  const TensorType& a = call.tensor("vec1");
  const TensorType& b = call.tensor("vec2");
  if (a.rank() != 1 || b.rank() != 1) return no_product(a, b);
  return plus(call.tensor("self"),
              make_type(result_dtype(call), {a.shape[0], b.shape[0]}, a.device));
}

Inferred outer(const Call& call) {
  const TensorType& a = call.tensor("self");
  const TensorType& b = call.tensor("vec2");
  if (a.rank() != 1 || b.rank() != 1) return no_product(a, b);
  return one(make_type(result_dtype(call), {a.shape[0], b.shape[0]}, a.device));
}

Inferred dot(const Call& call) {
  const TensorType& a = call.tensor("self");
  const TensorType& b = call.tensor(call.op().parameters[1].name);
  if (a.rank() != 1 || !is_vector_of(b, a.shape[0])) return no_product(a, b);
  return one(make_type(a.dtype, {}, a.device));
}

Inferred inner(const Call& call) {
  const TensorType& a = call.tensor("self");
  const TensorType& b = call.tensor("other");
  if (a.rank() == 0 || b.rank() == 0)
    return one(make_type(a.dtype, a.rank() == 0 ? b.shape : a.shape, a.device));
  if (a.shape.back() != b.shape.back()) return no_product(a, b);
  Shape shape(a.shape.begin(), a.shape.end() - 1);
  shape.insert(shape.end(), b.shape.begin(), b.shape.end() - 1);
  return one(make_type(a.dtype, std::move(shape), a.device));
}

Inferred matmul(const Call& call) {
  const TensorType& a = call.tensor("self");
  const TensorType& b = call.tensor("other");
  if (a.rank() == 0 || b.rank() == 0) return no_product(a, b);
  // A vector on the left is a row, on the right a column; the added dimension is removed again.
  Shape left = a.rank() == 1 ? Shape{1, a.shape[0]} : a.shape;
  Shape right = b.rank() == 1 ? Shape{b.shape[0], 1} : b.shape;
  if (left.back() != right[right.size() - 2]) return no_product(a, b);
  auto batch =
      broadcast(Shape(left.begin(), left.end() - 2), Shape(right.begin(), right.end() - 2));
  if (!batch) return no_product(a, b);
  Shape shape = std::move(*batch);
  if (a.rank() > 1) shape.push_back(left[left.size() - 2]);
  if (b.rank() > 1) shape.push_back(right.back());
  return one(make_type(a.dtype, std::move(shape), a.device));
}

Inferred linear(const Call& call) {
  const TensorType& in = call.tensor("input");
  const TensorType& weight = call.tensor("weight");
  if (in.rank() == 0 || weight.rank() == 0 || weight.rank() > 2 ||
      in.shape.back() != weight.shape.back())
    return no_product(in, weight);
  Shape shape(in.shape.begin(), in.shape.end() - 1);
  if (weight.rank() == 2) shape.push_back(weight.shape[0]);
  TensorType out = make_type(in.dtype, std::move(shape), in.device);
  return call.is_tensor("bias") ? plus(call.tensor("bias"), std::move(out)) : one(std::move(out));
}

Inferred trilinear(const Call& call) {
  auto all = trilinear_shape(call);
  if (!all) return all.diagnostics();
  std::vector<bool> summed(all->size(), false);
  for (const std::int64_t d : call.integers("sumdim")) {
    const auto wrapped = wrap_dimension(d, static_cast<std::int64_t>(all->size()));
    if (!wrapped) return wrapped.diagnostics();
    if (summed.empty()) return error("numbers have no dimensions to sum over");
    summed[static_cast<std::size_t>(*wrapped)] = true;
  }
  Shape shape;
  for (std::size_t i = 0; i < all->size(); ++i)
    if (!summed[i]) shape.push_back((*all)[i]);
  return one(make_type(call.tensor("i1").dtype, std::move(shape), call.tensor("i1").device));
}

Inferred cdist(const Call& call) {
  const TensorType& a = call.tensor("x1");
  const TensorType& b = call.tensor("x2");
  if (a.rank() < 2 || b.rank() < 2 || a.shape.back() != b.shape.back())
    return error(fmt::format("{} and {} don't hold rows of one length", format_shape(a.shape),
                             format_shape(b.shape)));
  auto batch = broadcast(Shape(a.shape.begin(), a.shape.end() - 2),
                         Shape(b.shape.begin(), b.shape.end() - 2));
  if (!batch) return batch.diagnostics();
  batch->push_back(a.shape[a.shape.size() - 2]);
  batch->push_back(b.shape[b.shape.size() - 2]);
  return one(make_type(a.dtype, std::move(*batch), a.device));
}

Inferred cdist_backward(const Call& call) {
  auto distances = cdist(call);
  if (!distances) return distances;
  for (const std::string_view parameter : {"grad", "cdist"})
    if (call.tensor(parameter).shape != distances->front().shape)
      return error(fmt::format("{} of shape {}, expected {}", parameter,
                               format_shape(call.tensor(parameter).shape),
                               format_shape(distances->front().shape)));
  const TensorType& in = call.tensor("x1");
  Shape shape(distances->front().shape.begin(), distances->front().shape.end() - 1);
  shape.push_back(in.shape.back());
  return one(make_type(in.dtype, std::move(shape), in.device));
}

Inferred pdist(const Call& call) {
  const TensorType& in = call.tensor("self");
  if (in.rank() != 2)
    return error(fmt::format("{} is not a matrix of rows", format_shape(in.shape)));
  const std::int64_t n = in.shape[0];
  if (n > (std::int64_t{1} << 31)) return error(fmt::format("{} rows are too many", n));
  return one(make_type(in.dtype, {n < 2 ? 0 : n * (n - 1) / 2}, in.device));
}

Inferred pdist_backward(const Call& call) {
  auto distances = pdist(call);
  if (!distances) return distances;
  for (const std::string_view parameter : {"grad", "pdist"})
    if (call.tensor(parameter).shape != distances->front().shape)
      return error(fmt::format("{} of shape {}, expected {}", parameter,
                               format_shape(call.tensor(parameter).shape),
                               format_shape(distances->front().shape)));
  const TensorType& in = call.tensor("self");
  return one(make_type(in.dtype, in.shape, in.device));
}

}  // namespace recut::rules
