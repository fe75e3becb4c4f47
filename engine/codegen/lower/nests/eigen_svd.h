// Eigenvalues and singular values by Jacobi rotations, as in engine/eval (Demmel and Veselić 1992;
// one-sided: Hestenes 1958), of single matrices in scratch.
#pragma once

#include "engine/codegen/lower/nests/scratch_matrix.h"

namespace recut::loop {

// Diagonalizes `a`: its diagonal holds the eigenvalues, unsorted, and the columns of `v` the
// eigenvectors. Only one triangle of `a` is read.
void diagonalise(const MatrixWork& work, const ScratchMatrix& a, const ScratchMatrix& v,
                 bool lower);

// Makes the columns of `u` orthogonal (rows >= columns). `v` becomes the product of the rotations,
// and `values` (one column) the norms of the columns: the singular values, unsorted.
void orthogonalise(const MatrixWork& work, const ScratchMatrix& u, const ScratchMatrix& v,
                   const ScratchMatrix& values);

// The same, then normalizes the columns of `u`; one of norm 0 stays.
void decompose(const MatrixWork& work, const ScratchMatrix& u, const ScratchMatrix& v,
               const ScratchMatrix& values);

// Reads the operand's matrix; a run-time fault unless every element is finite.
void read_finite(const MatrixWork& work, const ScratchMatrix& m, std::string_view parameter,
                 const Indices& batch);

// Column numbers 0 ... count - 1 sorted by value: stable and ascending, or the reverse of that.
Scratch sorted(const MatrixWork& work, std::int64_t count,
               const std::function<ScalarExpr(const Index&)>& value, bool descending);
// The column at position k of that order.
Index column_of(const MatrixWork& work, const Scratch& order, const Index& k, std::int64_t count);

}  // namespace recut::loop
