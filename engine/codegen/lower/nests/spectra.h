// Eigenvalues and singular values by Jacobi's rotations, as engine/eval has them (Demmel and
// Veselić 1992; one-sided: Hestenes 1958), for single matrices in scratch.
#pragma once

#include "engine/codegen/lower/nests/matrices.h"

namespace recut::loop {

// `a` becomes diagonal, with its eigenvalues in no order, and the columns of `v` its eigenvectors.
// Only a triangle of `a` is read.
void diagonalise(const MatrixWork& work, const ScratchMatrix& a, const ScratchMatrix& v,
                 bool lower);

// Makes the columns of `u` orthogonal, where it has at least as many rows; `v` becomes the rotation
// that did it, and `values` (of one column) the columns' norms: the singular values, in no order.
void orthogonalise(const MatrixWork& work, const ScratchMatrix& u, const ScratchMatrix& v,
                   const ScratchMatrix& values);

// The same, and then each column of `u` over its norm; one of norm 0 stays.
void decompose(const MatrixWork& work, const ScratchMatrix& u, const ScratchMatrix& v,
               const ScratchMatrix& values);

// The operand's matrix, of which every element has to be finite, or the run ends.
void read_finite(const MatrixWork& work, const ScratchMatrix& m, std::string_view parameter,
                 const Indices& batch);

// Numbers of columns, 0 ... count - 1, in the order of their values: ascending, equals in their own
// order; or the reverse of that.
Scratch sorted(const MatrixWork& work, std::int64_t count,
               const std::function<Quantity(const Index&)>& value, bool descending);
// The column that such an order has at place k.
Index column_of(const MatrixWork& work, const Scratch& order, const Index& k, std::int64_t count);

}  // namespace recut::loop
