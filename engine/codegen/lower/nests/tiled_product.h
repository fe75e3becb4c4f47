// Matrix products in tiles, after GotoBLAS (Goto and van de Geijn, Anatomy of High-Performance
// Matrix Multiplication, 2008) and BLIS (Van Zee and van de Geijn 2015): blocks of the factors are
// packed into scratch, and a few rows of sums stay in registers while a loop over k adds to them.
//
// A sum's products are added one after another from k = 0 on, however the tiles are cut.
#pragma once

#include <functional>
#include <optional>

#include "engine/codegen/lower/nest.h"

namespace recut::loop {

// One side of a product: its lines are the rows of the left, the columns of the right.
struct Factor {
  // Element k of a line, of the product's type; 0 where there is a condition that doesn't hold.
  std::function<Quantity(const Indices& batch, const Index& line, const Index& k,
                         const std::optional<Quantity>& inside)>
      element;
  bool runs_along_depth = false;  // neighbours along k are neighbours in memory, not lines
  // So many neighbours lie at equal steps, from a multiple of it on; 0: all of them, or nobody
  // knows.
  std::int64_t neighbours = 0;
  bool converts = false;  // an element isn't what stands in memory
};

// An operand of `nest`: batch dimensions, then one of lines and one along which products are
// summed.
Factor factor_of(const Nest& nest, std::string_view parameter, std::size_t lines, std::size_t depth,
                 DType type);

// out[batch, row, column] = sum over k < depth of left[batch, row, k] * right[batch, k, column].
struct TiledProduct {
  Shape batch;
  std::int64_t rows = 0, columns = 0, depth = 0;
  std::int64_t depth_unit = 1;  // blocks of the depth, which is a multiple of it, are, too
  DType type = DType::f32;
  Factor left, right;
  bool writes_all = true;  // else only where some condition holds
  std::function<void(const Indices& batch, const Index& row, const Index& column,
                     const Quantity& sum)>
      write;

  // The same with rows for columns.
  TiledProduct turned() const;
};

// Whether tiles are quicker than loops over single sums: enough of products, and no short
// dimension.
bool is_worth_tiles(const Lowering& lowering, const TiledProduct& product);

void in_tiles(Lowering& lowering, const TiledProduct& product);

}  // namespace recut::loop
