// The body of a tiled transpose.
#include <fmt/format.h>

#include "engine/codegen/cuda/index_code.h"
#include "engine/codegen/cuda/kernel_code.h"
#include "engine/codegen/cuda/scalar_code.h"

namespace recut::cuda {
namespace {

constexpr int kTileDim = TiledTranspose::kTileDim, kTilePitch = TiledTranspose::kTilePitch;
constexpr int kTileRowsAtOnce =
    TiledTranspose::kThreads / kTileDim;  // rows that a block handles at a time

}  // namespace

void KernelCode::items_of_transpose(const loop::StageCode& stage, std::int64_t blocks) {
  block(stage.shared);
  if (mapping_.count == 0) return;
  text_.set_location(stage.location);
  const Nest& nest = *mapping_.items;
  const std::int64_t tiles = mapping_.transpose.tiles;
  const bool again = blocks < tiles, wide = int_type_name(tiles + blocks) != "int";
  const std::string tile = names_.fresh("tile");
  const std::string type = int_type_name(tiles + blocks);
  if (again)
    text_.open(fmt::format("for ({0} {1} = blockIdx.x; {1} < {2}; {1} += {3})", type, tile, tiles,
                           blocks));
  else
    text_.line(fmt::format("const {} {} = blockIdx.x;", type, tile));
  std::vector<int> sizes(nest.loops.size(), 1);
  TileOrigin origin{
      nest.loops[mapping_.transpose.across]->variable, nest.loops.back()->variable, {}, {}};
  sizes[mapping_.transpose.across] = sizes.back() = kTileDim;
  const std::string across = variable(origin.across), along = variable(origin.along);
  origin.first_across = loops_[origin.across.index] = names_.fresh("first_" + across);
  origin.first_along = loops_[origin.along.index] = names_.fresh("first_" + along);
  delinearize(nest, tile, wide, sizes);
  loops_[origin.across.index] = across;
  loops_[origin.along.index] = along;
  load_transpose_tile(origin);
  text_.line("__syncthreads();");
  run_transpose_tile(origin);
  if (!again) return;
  text_.line("__syncthreads();");
  text_.close();
}

// Loops over the rows of a tile; a warp runs along a row. `transposed`: rows along the loop
// `across`.
void KernelCode::open_tile_rows(const TileOrigin& origin, bool transposed,
                                const std::string& turn) {
  const loop::LoopId inner = transposed ? origin.across : origin.along;
  const loop::LoopId outer = transposed ? origin.along : origin.across;
  const std::string& first_inner = transposed ? origin.first_across : origin.first_along;
  const std::string& first_outer = transposed ? origin.first_along : origin.first_across;
  text_.line("#pragma unroll");
  text_.open(
      fmt::format("for (int {0} = 0; {0} < {1}; {0} += {2})", turn, kTileDim, kTileRowsAtOnce));
  const auto declare = [&](loop::LoopId id, const std::string& position) {
    text_.line(fmt::format("const {} {} = {};", int_type_name(kernel_[id].extent + kTileDim),
                           variable(id), position));
  };
  declare(inner, fmt::format("{} + int(threadIdx.x % {})", first_inner, kTileDim));
  declare(outer, fmt::format("{} + {} + int(threadIdx.x / {})", first_outer, turn, kTileDim));
  std::string inside;
  for (const loop::LoopId id : {origin.across, origin.along})
    if (kernel_[id].extent % kTileDim != 0)
      inside +=
          fmt::format("{}{} < {}", inside.empty() ? "" : " && ", variable(id), kernel_[id].extent);
  text_.open(inside.empty() ? "" : fmt::format("if ({})", inside));
}

void KernelCode::close_tile_rows() {
  text_.close();
  text_.close();
}

// A row of shared memory holds the loads of one iteration of the last loop.
void KernelCode::load_transpose_tile(const TileOrigin& origin) {
  const TiledTranspose& transpose = mapping_.transpose;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < transpose.loads.size(); ++i) {
    const loop::BufferId buffer = transpose.loads[i]->buffer;
    const std::string type = memory_type_name(kernel_[buffer].dtype);
    names.push_back(names_.fresh(names_.of(buffer) + "_tile"));
    text_.line(fmt::format("{}* const {} = {};", type, names.back(),
                           shared_pointer(type, transpose.tile_offsets[i])));
  }
  const std::string turn = names_.fresh("line");
  open_tile_rows(origin, true, turn);
  for (std::size_t i = 0; i < transpose.loads.size(); ++i) {
    const loop::Load& load = *transpose.loads[i];
    text_.line(fmt::format("{}[({} + threadIdx.x / {}) * {} + threadIdx.x % {}] = {};", names[i],
                           turn, kTileDim, kTilePitch, kTileDim, element(load.buffer, load.at)));
    replaced_[&load] = names[i];
  }
  close_tile_rows();
}

void KernelCode::run_transpose_tile(const TileOrigin& origin) {
  const std::string turn = names_.fresh("line");
  open_tile_rows(origin, false, turn);
  for (auto& [load, name] : replaced_)
    name = fmt::format("{}[threadIdx.x % {} * {} + {} + threadIdx.x / {}]", name, kTileDim,
                       kTilePitch, turn, kTileDim);
  for (const loop::Statement* one : mapping_.items->before) statement(*one);
  block(*mapping_.items->body);
  replaced_.clear();
  close_tile_rows();
}

}  // namespace recut::cuda
