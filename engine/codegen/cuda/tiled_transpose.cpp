#include "engine/codegen/cuda/tiled_transpose.h"

#include <algorithm>

#include "engine/codegen/cuda/vectorized_access.h"

namespace recut::cuda {
namespace {

constexpr std::int64_t kMinExtent = TiledTranspose::kTileDim / 2;  // of either loop

bool is_of_loops(const loop::Index& index) {
  bool all = true;
  loop::for_each_atom(index,
                      [&](const loop::Atom& atom) { all &= atom.kind != loop::AtomKind::value; });
  return all;
}

// True for a body of loads, scalars and stores.
bool is_straight(const loop::Block& body) {
  return std::all_of(body.begin(), body.end(), [](const loop::Statement& statement) {
    if (const auto* store = std::get_if<loop::Store>(&statement.value)) return !store->combine;
    const auto* define = std::get_if<loop::Define>(&statement.value);
    return define != nullptr && !std::holds_alternative<loop::ReadAccumulator>(define->expression);
  });
}

std::vector<const loop::Load*> transposed_loads(const Nest& items, std::size_t across) {
  const loop::LoopId along = items.loops.back()->variable, other = items.loops[across]->variable;
  std::vector<const loop::Load*> loads;
  for (const loop::Statement& statement : *items.body) {
    const auto* define = std::get_if<loop::Define>(&statement.value);
    const auto* load = define == nullptr ? nullptr : std::get_if<loop::Load>(&define->expression);
    if (load == nullptr || load->where.valid() || !is_of_loops(load->at)) continue;
    if (access_stride(load->at, along, 1, *items.body) == AccessStride::other &&
        access_stride(load->at, other, 1, *items.body) == AccessStride::unit)
      loads.push_back(load);
  }
  return loads;
}

void lay_out(const loop::Kernel& kernel, const Nest& items, TiledTranspose& transpose) {
  for (const loop::Load* load : transpose.loads) {
    transpose.tile_offsets.push_back(transpose.bytes);
    const std::int64_t bytes = TiledTranspose::kTilePitch * TiledTranspose::kTileDim *
                               item_bytes(kernel[load->buffer].dtype);
    transpose.bytes += (bytes + 15) / 16 * 16;
  }
  transpose.tiles = 1;
  for (std::size_t i = 0; i < items.loops.size(); ++i) {
    const std::int64_t extent = kernel[items.loops[i]->variable].extent;
    const bool side = i == transpose.across || i + 1 == items.loops.size();
    transpose.tiles *=
        side ? (extent + TiledTranspose::kTileDim - 1) / TiledTranspose::kTileDim : extent;
  }
}

}  // namespace

TiledTranspose tiled_transpose_of(const loop::Kernel& kernel, const Nest& items) {
  TiledTranspose transpose;
  const auto extent = [&](std::size_t i) { return kernel[items.loops[i]->variable].extent; };
  const std::size_t last = items.loops.size() - 1;
  if (extent(last) < kMinExtent || !is_straight(*items.body)) return transpose;
  for (std::size_t i = 0; i < last; ++i) {
    if (extent(i) < kMinExtent) continue;
    std::vector<const loop::Load*> loads = transposed_loads(items, i);
    if (loads.empty() || loads.size() < transpose.loads.size()) continue;
    transpose.across = i;
    transpose.loads = std::move(loads);
  }
  if (transpose) lay_out(kernel, items, transpose);
  return transpose;
}

}  // namespace recut::cuda
