// Matrix products in tiles, after GotoBLAS (Goto and van de Geijn, Anatomy of High-Performance
// Matrix Multiplication, 2008) and BLIS (Van Zee and van de Geijn 2015): blocks of the operands are
// packed into scratch, and a few rows of sums stay in registers while a loop over k adds to them.
//
// A sum's products are added one after another from k = 0 on, however the tiles are cut.
#pragma once

#include <functional>
#include <optional>

#include "engine/codegen/lower/nest.h"

namespace recut::loop {

// One operand of a product: its lines are the rows of the left one, the columns of the right one.
struct MatmulOperand {
  // Element k of a line, in the product's type; 0 where a given condition is false.
  std::function<ScalarExpr(const Indices& batch, const Index& line, const Index& k,
                           const std::optional<ScalarExpr>& inside)>
      element;
  bool contiguous_along_depth = false;  // contiguous along k, rather than across lines
  // The length of runs at equal steps, from any multiple of it on; 0: all elements, or unknown.
  std::int64_t neighbours = 0;
  bool converts = false;  // an element differs from its bits in memory
};

// The operand of `nest` with batch dimensions, then one of lines and one of depth (k).
MatmulOperand matmul_operand_of(const Nest& nest, std::string_view parameter, std::size_t lines,
                                std::size_t depth, DType type);

// out[batch, row, column] = sum over k < depth of left[batch, row, k] * right[batch, k, column].
struct TiledMatmul {
  Shape batch;
  std::int64_t rows = 0, columns = 0, depth = 0;
  std::int64_t depth_unit = 1;  // divides the depth, and its blocks
  DType type = DType::f32;
  MatmulOperand left, right;
  bool writes_all = true;  // false: `write` is conditional
  std::function<void(const Indices& batch, const Index& row, const Index& column,
                     const ScalarExpr& sum)>
      write;

  // The transposed product.
  TiledMatmul transposed() const;
};

// True where tiles are faster than plain loops: enough products, and no short dimension.
bool is_tiling_profitable(const Lowering& lowering, const TiledMatmul& product);

void emit_tiles(Lowering& lowering, const TiledMatmul& product);

}  // namespace recut::loop
