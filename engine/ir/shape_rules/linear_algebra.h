// Batches of matrices in the rules of linear algebra. Private to the shape rules.
#pragma once

#include "engine/ir/shape_rules/rules.h"

namespace recut::rules {

// The last two dimensions, and those before them.
struct Matrices {
  Shape batch;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

// Fails unless `type` is a floating-point tensor of at least two dimensions.
Result<Matrices> matrices_of(const TensorType& type);
Result<Matrices> square_matrices_of(const TensorType& type);

// Column-major matrices, like LAPACK's results, or row-major ones, with dtype and device of `like`.
TensorType column_major(const TensorType& like, Shape batch, std::int64_t rows,
                        std::int64_t columns);
TensorType row_major(const TensorType& like, Shape batch, std::int64_t rows, std::int64_t columns);

// [batch…, length] for vectors; [batch…] for numbers.
TensorType vectors(DType dtype, const TensorType& like, Shape batch, std::int64_t length);
TensorType numbers(DType dtype, const TensorType& like, Shape batch);

}  // namespace recut::rules
