// Rules of factorisations, spectra and functions of matrices. Leading dimensions are batches.
// Outputs have LAPACK's column-major strides where PyTorch's have.
#include "engine/ir/shape_rules/linear_algebra.h"

#include <algorithm>

namespace recut::rules {

Result<Matrices> matrices_of(const TensorType& type) {
  if (type.rank() < 2 || !is_floating(type.dtype))
    return error(fmt::format("{} is no floating matrix or batch of them", format(type)));
  Matrices m;
  m.batch.assign(type.shape.begin(), type.shape.end() - 2);
  m.rows = type.shape[type.shape.size() - 2];
  m.columns = type.shape.back();
  return m;
}

Result<Matrices> square_matrices_of(const TensorType& type) {
  auto m = matrices_of(type);
  if (m && m->rows != m->columns)
    return error(fmt::format("matrices of shape {} are not square", format_shape(type.shape)));
  return m;
}

TensorType row_major(const TensorType& like, Shape batch, std::int64_t rows, std::int64_t columns) {
  batch.push_back(rows);
  batch.push_back(columns);
  return make_type(like.dtype, std::move(batch), like.device);
}

TensorType column_major(const TensorType& like, Shape batch, std::int64_t rows,
                        std::int64_t columns) {
  TensorType out = row_major(like, std::move(batch), rows, columns);
  const std::size_t rank = out.shape.size();
  out.strides[rank - 2] = 1;
  out.strides[rank - 1] = std::max<std::int64_t>(rows, 1);
  return out;
}

TensorType vectors(DType dtype, const TensorType& like, Shape batch, std::int64_t length) {
  batch.push_back(length);
  return make_type(dtype, std::move(batch), like.device);
}

TensorType numbers(DType dtype, const TensorType& like, Shape batch) {
  return make_type(dtype, std::move(batch), like.device);
}

namespace {

// The first operand; its name differs between schemas.
const TensorType& first(const Call& call) { return call.tensor(call.op().parameters[0].name); }

// The first types, as many as the schema declares: variants with fewer outputs share a rule.
Types only_declared(const Call& call, Types types) {
  types.resize(std::min(types.size(), call.op().outputs));
  return types;
}

}  // namespace

Inferred square_like_self(const Call& call) {
  const TensorType& a = first(call);
  auto m = square_matrices_of(a);
  if (!m) return m.diagnostics();
  return one(column_major(a, m->batch, m->rows, m->columns));
}

Inferred square_and_info(const Call& call) {
  auto types = square_like_self(call);
  if (!types) return types;
  const TensorType& a = first(call);
  types->push_back(numbers(DType::i32, a, Shape(a.shape.begin(), a.shape.end() - 2)));
  return types;
}

Inferred geqrf(const Call& call) {
  const TensorType& a = first(call);
  auto m = matrices_of(a);
  if (!m) return m.diagnostics();
  return Types{column_major(a, m->batch, m->rows, m->columns),
               vectors(a.dtype, a, m->batch, std::min(m->rows, m->columns))};
}

Inferred linalg_qr(const Call& call) {
  const TensorType& a = first(call);
  auto m = matrices_of(a);
  if (!m) return m.diagnostics();
  const std::string_view mode = call.text("mode");
  if (mode != "reduced" && mode != "complete" && mode != "r")
    return error(fmt::format("mode is '{}', expected reduced, complete or r", mode));
  const std::int64_t k = mode == "complete" ? m->rows : std::min(m->rows, m->columns);
  TensorType q =
      mode == "r" ? make_type(a.dtype, {0}, a.device) : column_major(a, m->batch, m->rows, k);
  return Types{std::move(q), column_major(a, m->batch, k, m->columns)};
}

Inferred householder_product(const Call& call) {
  const TensorType& a = first(call);
  const TensorType& tau = call.tensor(call.op().parameters[1].name);
  auto m = matrices_of(a);
  if (!m) return m.diagnostics();
  const Shape batch(tau.shape.begin(), tau.shape.end() - (tau.shape.empty() ? 0 : 1));
  if (tau.shape.empty() || batch != m->batch || m->rows < m->columns ||
      tau.shape.back() > m->columns)
    return error(fmt::format("vectors of shape {} with factors of shape {}", format_shape(a.shape),
                             format_shape(tau.shape)));
  return one(column_major(a, m->batch, m->rows, m->columns));
}

Inferred ormqr(const Call& call) {
  const TensorType& a = first(call);
  const TensorType& tau = call.tensor("input2");
  const TensorType& c = call.tensor("input3");
  auto vectors_of_a = matrices_of(a);
  auto m = matrices_of(c);
  if (!vectors_of_a) return vectors_of_a.diagnostics();
  if (!m) return m.diagnostics();
  const std::int64_t order = call.boolean("left") ? m->rows : m->columns;
  Shape expected = m->batch;
  if (!tau.shape.empty()) expected.push_back(tau.shape.back());
  if (vectors_of_a->batch != m->batch || vectors_of_a->rows != order || tau.shape != expected ||
      tau.shape.empty() || tau.shape.back() > std::min(order, vectors_of_a->columns))
    return error(fmt::format("{} reflections in {} can't multiply {}", format_shape(tau.shape),
                             format_shape(a.shape), format_shape(c.shape)));
  return one(column_major(c, m->batch, m->rows, m->columns));
}

Inferred linalg_lu(const Call& call) {
  const TensorType& a = first(call);
  auto m = matrices_of(a);
  if (!m) return m.diagnostics();
  const std::int64_t k = std::min(m->rows, m->columns);
  TensorType p = call.boolean("pivot") ? row_major(a, m->batch, m->rows, m->rows)
                                       : make_type(a.dtype, {0}, a.device);
  return Types{std::move(p), row_major(a, m->batch, m->rows, k),
               row_major(a, m->batch, k, m->columns)};
}

Inferred linalg_lu_factor(const Call& call) {
  const TensorType& a = first(call);
  auto m = matrices_of(a);
  if (!m) return m.diagnostics();
  return only_declared(call, {column_major(a, m->batch, m->rows, m->columns),
                              vectors(DType::i32, a, m->batch, std::min(m->rows, m->columns)),
                              numbers(DType::i32, a, m->batch)});
}

Inferred lu_unpack(const Call& call) {
  const TensorType& a = call.tensor("LU_data");
  auto m = matrices_of(a);
  if (!m) return m.diagnostics();
  const std::int64_t k = std::min(m->rows, m->columns);
  const bool with_pivots = call.boolean("unpack_pivots");
  const Shape& pivots = call.tensor("LU_pivots").shape;
  if (with_pivots && pivots != vectors(DType::i32, a, m->batch, k).shape)
    return error(fmt::format("pivots of shape {} for factors of shape {}", format_shape(pivots),
                             format_shape(a.shape)));
  const TensorType nothing = make_type(a.dtype, {0}, a.device);
  const bool with_data = call.boolean("unpack_data");
  return Types{with_pivots ? row_major(a, m->batch, m->rows, m->rows) : nothing,
               with_data ? row_major(a, m->batch, m->rows, k) : nothing,
               with_data ? row_major(a, m->batch, k, m->columns) : nothing};
}

Inferred linalg_ldl_factor(const Call& call) {
  const TensorType& a = first(call);
  auto m = square_matrices_of(a);
  if (!m) return m.diagnostics();
  return only_declared(
      call, {column_major(a, m->batch, m->rows, m->columns),
             vectors(DType::i32, a, m->batch, m->rows), numbers(DType::i32, a, m->batch)});
}

Inferred linalg_det(const Call& call) {
  const TensorType& a = first(call);
  auto m = square_matrices_of(a);
  if (!m) return m.diagnostics();
  return only_declared(
      call, {numbers(a.dtype, a, m->batch), column_major(a, m->batch, m->rows, m->columns),
             vectors(DType::i32, a, m->batch, m->rows)});
}

Inferred linalg_slogdet(const Call& call) {
  auto types = linalg_det(call);
  if (!types) return types;
  const TensorType number = numbers(first(call).dtype, first(call), types->front().shape);
  const TensorType& a = first(call);
  auto m = square_matrices_of(a);
  return only_declared(call, {number, number, column_major(a, m->batch, m->rows, m->columns),
                              vectors(DType::i32, a, m->batch, m->rows)});
}

Inferred linalg_eigh(const Call& call) {
  const TensorType& a = first(call);
  auto m = square_matrices_of(a);
  if (!m) return m.diagnostics();
  const bool with_vectors = !call.op().parameter("compute_v") || call.boolean("compute_v");
  TensorType v = with_vectors ? column_major(a, m->batch, m->rows, m->columns)
                              : make_type(a.dtype, {0}, a.device);
  return Types{vectors(a.dtype, a, m->batch, m->rows), std::move(v)};
}

Inferred linalg_eigvalsh(const Call& call) {
  const TensorType& a = first(call);
  auto m = square_matrices_of(a);
  if (!m) return m.diagnostics();
  return one(vectors(a.dtype, a, m->batch, m->rows));
}

Inferred linalg_svd(const Call& call) {
  const TensorType& a = first(call);
  auto m = matrices_of(a);
  if (!m) return m.diagnostics();
  const std::int64_t k = std::min(m->rows, m->columns);
  TensorType s = vectors(a.dtype, a, m->batch, k);
  if (call.op().parameter("compute_uv") && !call.boolean("compute_uv")) {
    const TensorType nothing = make_type(a.dtype, {0}, a.device);
    return Types{nothing, std::move(s), nothing};
  }
  const bool full = call.boolean("full_matrices");
  return Types{column_major(a, m->batch, m->rows, full ? m->rows : k), std::move(s),
               column_major(a, m->batch, full ? m->columns : k, m->columns)};
}

Inferred linalg_svdvals(const Call& call) {
  const TensorType& a = first(call);
  auto m = matrices_of(a);
  if (!m) return m.diagnostics();
  return one(vectors(a.dtype, a, m->batch, std::min(m->rows, m->columns)));
}

Inferred matrix_function(const Call& call) {
  const TensorType& a = first(call);
  auto m = square_matrices_of(a);
  if (!m) return m.diagnostics();
  return one(row_major(a, m->batch, m->rows, m->columns));
}

Inferred linalg_cross(const Call& call) {
  auto shape = broadcast_all(call);
  if (!shape) return shape.diagnostics();
  const auto dim = wrap_dimension(call.integer("dim"), static_cast<std::int64_t>(shape->size()));
  if (!dim) return dim.diagnostics();
  for (const std::string_view parameter : {"self", "other"}) {
    const Shape& s = call.tensor(parameter).shape;
    if (s.size() != shape->size() || s.empty() || s[static_cast<std::size_t>(*dim)] != 3)
      return error(fmt::format("{} of shape {} holds no vectors of three along dimension {}",
                               parameter, format_shape(s), *dim));
  }
  return one(elementwise_type(call, result_dtype(call), std::move(*shape)));
}

}  // namespace recut::rules
