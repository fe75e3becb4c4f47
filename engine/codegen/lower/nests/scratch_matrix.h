// Single matrices in scratch, and the steps that factorisations share. Everything is in f64, as in
// eval: pivots are chosen by comparisons, so other rounding may give other factors.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "engine/codegen/lower/nest.h"
#include "engine/codegen/lower/scratch.h"

namespace recut::loop {

struct MatrixIndex {
  Index row, column;
};

// A row-major matrix of a batch, in scratch.
class ScratchMatrix {
 public:
  ScratchMatrix(Builder& builder, const std::string& name, std::int64_t rows, std::int64_t columns);

  ScalarExpr at(const Index& i, const Index& j) const { return numbers_.read(position(i, j)); }
  void put(const Index& i, const Index& j, const ScalarExpr& value) const {
    numbers_.write(position(i, j), value.to(DType::f64));
  }
  // A transposed view of the same scratch.
  ScratchMatrix transposed() const;

  std::int64_t rows, columns;

 private:
  Index position(const Index& i, const Index& j) const { return row_step_ * i + column_step_ * j; }

  Scratch numbers_;
  std::int64_t row_step_, column_step_;
};

// Loops of a call over the matrices of a batch (parallel) and their rows and columns (serial).
class MatrixWork {
 public:
  using Body = std::function<void(const Index&)>;

  explicit MatrixWork(const Nest& n) : nest(n), builder(n.lowering.builder()) {}

  const Nest& nest;
  Builder& builder;

  // Calls body for the indices of a batch, in parallel.
  void for_each_matrix(const Shape& batch, const std::function<void(const Indices&)>& body) const;
  void each(std::int64_t extent, const Body& body) const;
  // Iterates first + 1 ... extent - 1, or indices below `end`.
  void each_after(const Index& first, std::int64_t extent, const Body& body) const;
  void each_before(const Index& end, std::int64_t extent, const Body& body) const;
  void when(const ScalarExpr& condition, const std::function<void()>& body) const;

  ScalarExpr number(const Index& index) const { return nest.lowering.number(index); }
  ScalarExpr real(double value) const { return nest.lowering.constant(DType::f64, value); }
  ScalarExpr whole(std::int64_t value) const {
    return ScalarExpr::constant(&builder, DType::i64, value);
  }

  ScratchMatrix matrix(const std::string& name, std::int64_t rows, std::int64_t columns) const {
    return {builder, name, rows, columns};
  }
  Scratch integers(const std::string& name, std::int64_t count) const;

  using Element = std::function<ScalarExpr(const Index& i, const Index& j)>;
  void fill(const ScratchMatrix& m, const Element& element) const;
  void fill_identity(const ScratchMatrix& m) const;
  void swap(const ScratchMatrix& m, const MatrixIndex& a, const MatrixIndex& b) const;
  // Reads the operand's matrix at a batch index that its own batch broadcasts to.
  void read(const ScratchMatrix& m, std::string_view parameter, const Indices& batch) const;
  // Reads a vector as a single column.
  void read_vector(const ScratchMatrix& m, std::string_view parameter, const Indices& batch) const;
  // Writes an output's matrix, if the output is requested.
  void write(std::size_t output, const Indices& batch, const Element& element) const;
  void write(std::size_t output, const Indices& batch, const ScratchMatrix& m) const;
  void write_vector(std::size_t output, const Indices& batch,
                    const std::function<ScalarExpr(const Index& i)>& element) const;
  void write_number(std::size_t output, const Indices& batch, const ScalarExpr& number) const;

  // A run-time fault unless `info` is 0.
  void require_zero(const ScalarExpr& info) const { builder.check(info.id(), 1); }
};

// The name of the first parameter: A, self or input.
std::string_view first_parameter(const Call& call);
Shape batch_shape(const Shape& shape);
std::int64_t matrix_rows(const Shape& shape);

// Unsupported: more scratch elements than a kernel may have.
std::optional<std::string> beyond_scratch(std::int64_t numbers);

// Triangles
// ------------------------------------------------------------------------------------------

struct Triangle {
  bool upper = false;
  bool unit = false;  // ones on the diagonal, which isn't read

  Triangle transposed() const { return {!upper, unit}; }
};

// b := a^-1 b; the other triangle of `a` is not read.
void solve_triangular(const MatrixWork& work, const ScratchMatrix& a, Triangle triangle,
                      const ScratchMatrix& b);

// An element of a triangle; 0 in the other one.
ScalarExpr triangle_element(const MatrixWork& work, const ScratchMatrix& a, Triangle triangle,
                            const Index& i, const Index& j);

}  // namespace recut::loop
