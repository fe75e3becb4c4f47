// Factorisations are parallel over the matrices of a batch only. Each matrix is copied to scratch,
// factored there by serial loops, and written out.
//
// Blocked algorithms as in LAPACK would reuse caches better, but pay off for large matrices only,
// and their pivots would be hard to keep equal to eval's. Scratch limits the size (beyond_scratch);
// larger matrices are reported as unsupported. A transposed ScratchMatrix swaps its two strides and
// copies nothing.
#include "engine/codegen/lower/nests/scratch_matrix.h"

#include <algorithm>

namespace recut::loop {

ScratchMatrix::ScratchMatrix(Builder& builder, const std::string& name, std::int64_t row_count,
                             std::int64_t column_count)
    : rows(row_count),
      columns(column_count),
      numbers_(builder, name, DType::f64, std::max<std::int64_t>(row_count * column_count, 1)),
      row_step_(column_count),
      column_step_(1) {}

ScratchMatrix ScratchMatrix::transposed() const {
  ScratchMatrix other = *this;
  std::swap(other.rows, other.columns);
  std::swap(other.row_step_, other.column_step_);
  return other;
}

// Loops
// ----------------------------------------------------------------------------------------------

void MatrixWork::for_each_matrix(const Shape& batch,
                                 const std::function<void(const Indices&)>& body) const {
  const std::size_t depth = builder.depth();
  const Index at = builder.open_any_loop("b", element_count(batch), Builder::Order::parallel);
  body(delinearize(at, batch, builder));
  builder.close_to(depth);
}

void MatrixWork::each(std::int64_t extent, const Body& body) const {
  const std::size_t depth = builder.depth();
  body(builder.open_loop("i", extent));
  builder.close_to(depth);
}

void MatrixWork::each_after(const Index& first, std::int64_t extent, const Body& body) const {
  each(extent, [&](const Index& i) { when(number(i) > number(first), [&] { body(i); }); });
}

void MatrixWork::each_before(const Index& end, std::int64_t extent, const Body& body) const {
  each(extent, [&](const Index& i) { when(number(i) < number(end), [&] { body(i); }); });
}

void MatrixWork::when(const ScalarExpr& condition, const std::function<void()>& body) const {
  const std::size_t depth = builder.depth();
  builder.open_if(condition.id());
  body();
  builder.close_to(depth);
}

Scratch MatrixWork::integers(const std::string& name, std::int64_t count) const {
  return {builder, name, DType::i64, std::max<std::int64_t>(count, 1)};
}

// Matrices
// -------------------------------------------------------------------------------------------

void MatrixWork::fill(const ScratchMatrix& m, const Element& element) const {
  each(m.rows, [&](const Index& i) {
    each(m.columns, [&](const Index& j) { m.put(i, j, element(i, j)); });
  });
}

void MatrixWork::fill_identity(const ScratchMatrix& m) const {
  fill(m, [&](const Index& i, const Index& j) {
    return select(number(i) == number(j), real(1), real(0));
  });
}

void MatrixWork::swap(const ScratchMatrix& m, const MatrixIndex& a, const MatrixIndex& b) const {
  const ScalarExpr first = m.at(a.row, a.column);
  const ScalarExpr second = m.at(b.row, b.column);
  m.put(a.row, a.column, second);
  m.put(b.row, b.column, first);
}

void MatrixWork::read(const ScratchMatrix& m, std::string_view parameter,
                      const Indices& batch) const {
  const Indices position = broadcast_index(batch, batch_shape(nest.shape_of(parameter)));
  fill(m, [&](const Index& i, const Index& j) {
    Indices at = position;
    at.insert(at.end(), {i, j});
    return nest.raw(parameter, at).to(DType::f64);
  });
}

void MatrixWork::read_vector(const ScratchMatrix& m, std::string_view parameter,
                             const Indices& batch) const {
  const Shape& shape = nest.shape_of(parameter);
  const Indices position = broadcast_index(batch, Shape(shape.begin(), shape.end() - 1));
  fill(m, [&](const Index& i, const Index&) {
    Indices at = position;
    at.push_back(i);
    return nest.raw(parameter, at).to(DType::f64);
  });
}

void MatrixWork::write(std::size_t output, const Indices& batch, const Element& element) const {
  if (!nest.is_requested(output)) return;
  const Shape& shape = nest.type(output).shape;
  each(matrix_rows(shape), [&](const Index& i) {
    each(shape.back(), [&](const Index& j) {
      Indices at = batch;
      at.insert(at.end(), {i, j});
      nest.lowering.write(nest.output(output), at, element(i, j));
    });
  });
}

void MatrixWork::write(std::size_t output, const Indices& batch, const ScratchMatrix& m) const {
  write(output, batch, [&](const Index& i, const Index& j) { return m.at(i, j); });
}

void MatrixWork::write_vector(std::size_t output, const Indices& batch,
                              const std::function<ScalarExpr(const Index&)>& element) const {
  if (!nest.is_requested(output)) return;
  each(nest.type(output).shape.back(), [&](const Index& i) {
    Indices at = batch;
    at.push_back(i);
    nest.lowering.write(nest.output(output), at, element(i));
  });
}

void MatrixWork::write_number(std::size_t output, const Indices& batch,
                              const ScalarExpr& number) const {
  if (nest.is_requested(output)) nest.lowering.write(nest.output(output), batch, number);
}

std::string_view first_parameter(const Call& call) { return call.op().parameters[0].name; }

Shape batch_shape(const Shape& shape) { return {shape.begin(), shape.end() - 2}; }

std::int64_t matrix_rows(const Shape& shape) { return shape[shape.size() - 2]; }

std::optional<std::string> beyond_scratch(std::int64_t numbers) {
  if (numbers <= kMaxScratchBytes / 8) return std::nullopt;
  return "matrices that don't fit into scratch";
}

// Triangles
// ------------------------------------------------------------------------------------------

void solve_triangular(const MatrixWork& work, const ScratchMatrix& a, Triangle triangle,
                      const ScratchMatrix& b) {
  const Index last(a.rows - 1);
  const auto row = [&](const Index& step) { return triangle.upper ? last - step : step; };
  work.each(a.rows, [&](const Index& step) {
    const Index i = row(step);
    work.each_before(step, a.rows, [&](const Index& done) {
      const Index j = row(done);
      const ScalarExpr factor = a.at(i, j);
      work.each(b.columns, [&](const Index& k) { b.put(i, k, b.at(i, k) - factor * b.at(j, k)); });
    });
    if (triangle.unit) return;
    const ScalarExpr diagonal = a.at(i, i);
    work.each(b.columns, [&](const Index& k) { b.put(i, k, b.at(i, k) / diagonal); });
  });
}

ScalarExpr triangle_element(const MatrixWork& work, const ScratchMatrix& a, Triangle triangle,
                            const Index& i, const Index& j) {
  const ScalarExpr row = work.number(i), column = work.number(j);
  const ScalarExpr inside = triangle.upper ? column >= row : column <= row;
  const ScalarExpr element = select(inside, a.at(i, j), work.real(0));
  return triangle.unit ? select(row == column, work.real(1), element) : element;
}

}  // namespace recut::loop
