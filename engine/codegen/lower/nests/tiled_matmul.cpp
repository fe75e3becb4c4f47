#include "engine/codegen/lower/nests/tiled_matmul.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "engine/codegen/lower/scratch.h"

namespace recut::loop {
namespace {

// Thresholds below which packing does not pay. A transposed right operand needs more rows, as do
// few columns or a small depth.
constexpr std::int64_t kMinRows = 8, kManyRows = 32, kMinColumns = 16, kFewColumns = 9,
                       kMinDepth = 16, kSmallDepth = 8, kMinProducts = 1 << 15;
// The maximal tile. Its block of the right operand and its sums take 64 KiB each.
constexpr std::int64_t kTileRows = 256, kTileColumnBytes = 256, kTileDepth = 256;
// With fewer tiles than this, tiles are made smaller, so that threads share the work.
constexpr std::int64_t kEnoughTiles = 16, kMinTileRows = 32;
// Shorter runs are not read as vectors.
constexpr std::int64_t kMinLanes = 4;
// Panels of fewer bytes are packed together, so that conditions for all columns of a step are
// computed once.
constexpr std::int64_t kPackedBytes = 64;

std::int64_t quotient_up(std::int64_t a, std::int64_t by) { return (a + by - 1) / by; }

// The number of parts of at most `most`; an even split is preferred if it takes less than twice the
// minimum.
std::int64_t parts_of(std::int64_t whole, std::int64_t most) {
  const std::int64_t least = quotient_up(whole, most);
  for (std::int64_t parts = least; parts < 2 * least; ++parts)
    if (whole % parts == 0) return parts;
  return least;
}

// The tiling of one dimension: `tiles` of `size` lines, a multiple of the panel. They may cover
// more lines than there are.
struct Tiling {
  std::int64_t lines, panel, size, tiles;

  Tiling(std::int64_t all, std::int64_t lines_of_panel, std::int64_t most) : lines(all) {
    panel = lines_of_panel;
    const std::int64_t panels = quotient_up(lines, panel);
    tiles = parts_of(panels, std::max<std::int64_t>(1, most / panel));
    size = quotient_up(panels, tiles) * panel;
    tiles = quotient_up(lines, size);
  }

  bool is_even() const { return size * tiles == lines; }
  std::int64_t panels() const { return size / panel; }
};

class Tiles {
 public:
  Tiles(Lowering& lowering, const TiledMatmul& product)
      : lowering_(lowering),
        builder_(lowering.builder()),
        p_(product),
        bytes_(item_bytes(product.type)),
        columns_(p_.columns, lowering.options.registers->bytes / bytes_, kTileColumnBytes / bytes_),
        rows_(row_tiling()),
        depth_(p_.depth, p_.depth_unit, kTileDepth),
        reads_left_(p_.left.contiguous_along_depth && !p_.left.converts && rows_.is_even() &&
                    depth_.is_even()),
        writes_sums_(p_.writes_all && depth_.tiles == 1 && rows_.is_even() && columns_.is_even()),
        right_(builder_, "right", p_.type, depth_.size * columns_.size) {
    if (!writes_sums_) sums_.emplace(builder_, "sums", p_.type, rows_.size * columns_.size);
    if (!reads_left_) left_.emplace(builder_, "left", p_.type, depth_.size * rows_.panel);
  }

  void run() {
    const std::size_t outside = builder_.depth();
    Shape grid = p_.batch;
    grid.insert(grid.end(), {rows_.tiles, columns_.tiles});
    const Index number =
        builder_.open_any_loop("tile", element_count(grid), Builder::Order::parallel);
    batch_ = delinearize(number, grid, builder_);
    column_tile_ = batch_.back();
    batch_.pop_back();
    row_tile_ = batch_.back();
    batch_.pop_back();
    if (depth_.tiles > 1) clear();
    multiply_blocks();
    if (!writes_sums_) write();
    builder_.close_to(outside);
  }

 private:
  // Rows that do not fill a register tile go to smaller groups.
  std::int64_t high() const { return lowering_.options.registers->rows; }
  std::int64_t low() const {
    return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(high())));
  }

  // Rows that are contiguous in memory are packed a vector at a time, or several groups where a
  // vector is no multiple of a group.
  std::int64_t rows_of_panel() const {
    const std::int64_t several = 4 * low();
    if (high() > low() && p_.rows % several == 0) return several;
    const std::int64_t vector = std::max(low(), columns_.panel);
    return !p_.left.contiguous_along_depth && p_.rows % vector == 0 ? vector : low();
  }

  Tiling row_tiling() const {
    const std::int64_t panel = rows_of_panel();
    const std::int64_t others = element_count(p_.batch) * columns_.tiles;
    std::int64_t most = kTileRows;
    while (most > kMinTileRows && others * quotient_up(p_.rows, most) < kEnoughTiles) most /= 2;
    return {p_.rows, panel, most};
  }

  ScalarExpr zero() const { return lowering_.constant(p_.type, 0); }

  // Adds index < end to a condition where the tiling has excess lines.
  void bound(std::optional<ScalarExpr>& inside, const Index& index, const Tiling& tiling) const {
    if (tiling.is_even()) return;
    const ScalarExpr within = lowering_.number(index) < static_cast<double>(tiling.lines);
    inside = inside ? *inside & within : within;
  }

  void clear() {
    const std::size_t depth = builder_.depth();
    const Index i = builder_.open_loop("i", rows_.size * columns_.panels());
    const Index j = lane();
    sums_->write(columns_.panel * i + j, zero());
    builder_.close_to(depth);
  }

  // The vectorized loop over a panel's columns.
  Index lane() {
    return builder_.open_loop("j", columns_.panel, Builder::Order::serial, columns_.panel);
  }

  void multiply_blocks() {
    const std::size_t depth = builder_.depth();
    const Index first_k = depth_.size * builder_.open_loop("block", depth_.tiles);
    pack_right(first_k);
    if (left_) {
      const Index first = rows_.panel * builder_.open_loop("rows", rows_.panels());
      pack_left(rows_.size * row_tile_ + first, first_k);
      multiply_rows(first, rows_.panel, first_k);
    } else {
      multiply_rows(0, rows_.size, first_k);
    }
    builder_.close_to(depth);
  }

  // Multiplies `count` rows of the tile from `first` on, in groups.
  void multiply_rows(const Index& first, std::int64_t count, const Index& first_k) {
    std::int64_t last = 0;  // rows in groups of fewer
    while ((count - last) % high() != 0) last += low();
    multiply_groups(first, 0, count - last, high(), first_k);
    multiply_groups(first, count - last, last, low(), first_k);
  }

  void multiply_groups(const Index& first, std::int64_t begin, std::int64_t count,
                       std::int64_t height, const Index& first_k) {
    if (count == 0) return;
    const std::size_t depth = builder_.depth();
    const Index row =
        Index(begin) + height * builder_.open_loop(left_ ? "few" : "rows", count / height);
    const Index columns = builder_.open_loop("columns", columns_.panels());
    multiply({rows_.size * row_tile_ + first + row, first_k, row, first + row, columns}, height);
    builder_.close_to(depth);
  }

  // Packs panel by panel, k by k, in the order in which the loop over k reads.
  void pack_right(const Index& first_k) {
    const std::size_t depth = builder_.depth();
    const std::int64_t together = panels_together(), width = together * columns_.panel;
    const Index first = builder_.open_loop("columns", columns_.panels() / together);
    const auto write = [&](const Index& k, const Index& j) {
      const Index column = columns_.size * column_tile_ + width * first + j;
      std::optional<ScalarExpr> inside;
      bound(inside, column, columns_);
      bound(inside, first_k + k, depth_);
      const Index panel = together * first + builder_.quotient(j, columns_.panel);
      right_.write(
          columns_.panel * (depth_.size * panel + k) + builder_.remainder(j, columns_.panel),
          p_.right.element(batch_, column, first_k + k, inside));
    };
    if (const std::int64_t line = line_along_depth(); line > 1) {
      const Index j = builder_.open_loop("j", columns_.panel);
      const Index part = builder_.open_loop("part", depth_.size / line);
      const std::int64_t lanes = line < kLanes ? kMinLanes : kLanes;
      write(line * part + builder_.open_loop("k", line, Builder::Order::serial, lanes), j);
    } else if (p_.right.contiguous_along_depth) {
      const Index k = builder_.open_loop("k", depth_.size);
      write(k, builder_.open_loop("j", columns_.panel));
    } else {
      const std::int64_t lanes_of_line = p_.right.neighbours;
      const std::int64_t lanes =
          lanes_of_line >= kMinLanes ? std::min(width, lanes_of_line) : width;
      const Index part = builder_.open_loop("part", width / lanes);
      const Index k = builder_.open_loop("k", depth_.size);
      write(k, lanes * part + builder_.open_loop("j", lanes, Builder::Order::serial, lanes));
    }
    builder_.close_to(depth);
  }

  std::int64_t panels_together() const {
    const std::int64_t most = kPackedBytes / (columns_.panel * bytes_);
    if (p_.right.contiguous_along_depth || most < 2 || columns_.panel < kLanes) return 1;
    return columns_.panels() % most == 0 ? most : 1;
  }

  // The run along k that lanes read from a right operand that is contiguous along it; 1 where that
  // does not pay.
  std::int64_t line_along_depth() const {
    if (!p_.right.contiguous_along_depth || p_.right.neighbours < kMinLanes) return 1;
    const bool whole = p_.right.neighbours % kLanes == 0;
    const std::int64_t line = whole ? kLanes : p_.right.neighbours;
    return depth_.size % line == 0 ? line : 1;
  }

  void pack_left(const Index& first_row, const Index& first_k) {
    const std::size_t depth = builder_.depth();
    const Index k = builder_.open_loop("k", depth_.size);
    const Index r = builder_.open_loop("r", rows_.panel, Builder::Order::serial,
                                       p_.left.contiguous_along_depth ? 1 : rows_.panel);
    std::optional<ScalarExpr> inside;
    bound(inside, first_row + r, rows_);
    bound(inside, first_k + k, depth_);
    left_->write(rows_.panel * k + r, p_.left.element(batch_, first_row + r, first_k + k, inside));
    builder_.close_to(depth);
  }

  // The origin of a block of accumulators.
  struct BlockOrigin {
    Index row, k;                // of the product
    Index row_of_panel;          // in the packed left operand
    Index row_of_tile, columns;  // of the sums; columns: a panel number
  };

  // The microkernel: `height` rows by a panel of columns, a vector of sums a row.
  void multiply(const BlockOrigin& at, std::int64_t height) {
    const std::size_t depth = builder_.depth();
    const Index j = lane();
    const auto position = [&](std::int64_t r) {
      return columns_.size * (at.row_of_tile + Index(r)) + columns_.panel * at.columns + j;
    };
    std::vector<AccumulatorId> sums;
    for (std::int64_t r = 0; r < height; ++r) {
      const ScalarExpr initial = depth_.tiles > 1 ? sums_->read(position(r)) : zero();
      sums.push_back(builder_.accumulator("sum", Combine::add, initial.id(), 1));
    }
    const std::size_t inside = builder_.depth();
    const Index k = builder_.open_loop("k", depth_.size);
    const ValueId right = right_.read(columns_.panel * (depth_.size * at.columns + k) + j).id();
    for (std::int64_t r = 0; r < height; ++r) {
      const ScalarExpr left =
          left_ ? left_->read(rows_.panel * k + at.row_of_panel + Index(r))
                : p_.left.element(batch_, at.row + Index(r), at.k + k, std::nullopt);
      builder_.update_product(sums[static_cast<std::size_t>(r)], left.id(), right);
    }
    builder_.close_to(inside);
    for (std::int64_t r = 0; r < height; ++r) {
      const ScalarExpr sum{&builder_, builder_.read(sums[static_cast<std::size_t>(r)])};
      if (writes_sums_)
        p_.write(batch_, at.row + Index(r),
                 columns_.size * column_tile_ + columns_.panel * at.columns + j, sum);
      else
        sums_->write(position(r), sum);
    }
    builder_.close_to(depth);
  }

  // Tiles at the right edge may have fewer columns.
  void write() {
    const std::int64_t last = p_.columns - columns_.size * (columns_.tiles - 1);
    if (columns_.tiles == 1 || last == columns_.size) return write_columns(last);
    const auto edge = static_cast<double>(columns_.tiles - 1);
    const ScalarExpr tile = lowering_.number(column_tile_);
    builder_.open_if((tile < edge).id());
    write_columns(columns_.size);
    builder_.close();
    builder_.open_if((tile >= edge).id());
    write_columns(last);
    builder_.close();
  }

  void write_columns(std::int64_t count) {
    const std::size_t depth = builder_.depth();
    const Index i = builder_.open_loop("i", rows_.size);
    const Index row = rows_.size * row_tile_ + i;
    std::optional<ScalarExpr> inside;
    bound(inside, row, rows_);
    if (inside) builder_.open_if(inside->id());
    const Index j = builder_.open_loop("j", count, Builder::Order::serial, lanes_for(count));
    p_.write(batch_, row, columns_.size * column_tile_ + j, sums_->read(columns_.size * i + j));
    builder_.close_to(depth);
  }

  Lowering& lowering_;
  Builder& builder_;
  const TiledMatmul& p_;
  const std::int64_t bytes_;
  const Tiling columns_, rows_, depth_;
  const bool reads_left_;   // read in place, not packed
  const bool writes_sums_;  // directly from registers
  const Scratch right_;
  std::optional<Scratch> left_, sums_;
  Indices batch_;
  Index row_tile_, column_tile_;
};

}  // namespace

MatmulOperand matmul_operand_of(const Nest& nest, std::string_view parameter, std::size_t lines,
                                std::size_t depth, DType type) {
  const Strides strides = walking_strides(nest.lowering, nest.call.node(parameter));
  MatmulOperand operand;
  operand.contiguous_along_depth = strides[depth] < strides[lines];
  operand.converts = nest.dtype_of(parameter) != type;
  operand.element = [=, &nest](const Indices& batch, const Index& line, const Index& k,
                               const std::optional<ScalarExpr>& inside) {
    Indices at = batch;
    at.resize(batch.size() + 2);
    at[lines] = line;
    at[depth] = k;
    return nest.raw_where(parameter, at, inside).to(type);
  };
  return operand;
}

TiledMatmul TiledMatmul::transposed() const {
  TiledMatmul t = *this;
  std::swap(t.rows, t.columns);
  std::swap(t.left, t.right);
  t.write = [write = write](const Indices& at, const Index& row, const Index& column,
                            const ScalarExpr& sum) { write(at, column, row, sum); };
  return t;
}

bool is_tiling_profitable(const Lowering& lowering, const TiledMatmul& p) {
  const bool needs_transpose = p.right.contiguous_along_depth && p.right.neighbours < kMinLanes;
  const bool many = p.rows >= kManyRows;
  return lowering.options.registers && p.rows >= (needs_transpose ? kManyRows : kMinRows) &&
         p.columns >= (many ? kFewColumns : kMinColumns) &&
         p.depth >= (many ? kSmallDepth : kMinDepth) &&
         p.rows * p.columns >= quotient_up(kMinProducts, p.depth);
}

void emit_tiles(Lowering& lowering, const TiledMatmul& product) { Tiles(lowering, product).run(); }

}  // namespace recut::loop
