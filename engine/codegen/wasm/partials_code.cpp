// An accumulator with L lanes is L partials. Up to 32 of them are locals, as vectors; more are in
// the worker's scratch. In locals the lane of an update has to be a constant, so loops over them
// are written out; where a scalar loop needs a variable lane, the partials are spilled for that
// loop. Reading combines halves until one is left, in the loop form's order.
#include <algorithm>

#include "engine/codegen/wasm/function_builder.h"
#include "engine/codegen/wasm/kernel_code.h"

namespace recut::wasm {
namespace {

// The number of partials that stay in locals.
constexpr std::int64_t kMaxPartialsInLocals = 32;

// A range of lanes.
WasmValue chunk_of(const WasmValue& all, std::int64_t first, std::int64_t width) {
  WasmValue part = all;
  const std::size_t begin = pieces_of(all.type, first), count = pieces_of(all.type, width);
  part.lanes = width;
  part.pieces.assign(all.pieces.begin() + static_cast<std::ptrdiff_t>(begin),
                     all.pieces.begin() + static_cast<std::ptrdiff_t>(begin + count));
  return part;
}

// Collects the accumulators with partials that a block updates.
void add_updated(const loop::Kernel& kernel, const loop::Block& block,
                 std::vector<loop::AccumulatorId>& found) {
  for (const loop::Statement& statement : block) {
    const auto* update = std::get_if<loop::Update>(&statement.value);
    if (update != nullptr && kernel[update->accumulator].lanes > 1)
      found.push_back(update->accumulator);
    if (const auto* loop = std::get_if<loop::Loop>(&statement.value))
      add_updated(kernel, loop->body, found);
    if (const auto* branch = std::get_if<loop::If>(&statement.value))
      add_updated(kernel, branch->body, found);
  }
}

}  // namespace

bool KernelCode::stays_in_memory(loop::AccumulatorId id) const {
  const std::int64_t lanes = kernel_[id].lanes;
  return lanes > 1 && (lanes < kMinWidth || lanes > kMaxPartialsInLocals);
}

// Stores a value in the locals of another.
void KernelCode::hold(const WasmValue& held, const WasmValue& value) {
  for (std::size_t piece = 0; piece < held.pieces.size(); ++piece) {
    if (held.is_vector())
      fn_.push(value, piece);
    else
      fn_.push(value);
    fn_.set(held.pieces[piece]);
  }
}

void KernelCode::execute(const loop::Declare& declare) {
  const loop::Accumulator& accumulator = kernel_[declare.accumulator];
  const WasmValue& initial = values_[declare.initial.index];
  Partials& partials = partials_[declare.accumulator.index];
  partials.lanes = accumulator.lanes > 1 ? accumulator.lanes : lane_ ? lane_->width : 1;
  partials.in_memory = stays_in_memory(declare.accumulator);
  const loop::Constant neutral = loop::neutral(accumulator.combine, accumulator.type);
  const WasmValue neutral_value =
      FunctionBuilder::constant(accumulator.type, {neutral.real, neutral.integer});
  if (partials.in_memory) {
    for (std::int64_t lane = 0; lane < accumulator.lanes; lane += kMinWidth)
      if (accumulator.lanes < kMinWidth)
        store_number(fn_, accumulator.type, partial_address(declare.accumulator, i32(1)),
                     neutral_value);
      else
        store_lanes(fn_, accumulator.type, partial_address(declare.accumulator, i32(lane)),
                    neutral_value, kMinWidth);
    return store_number(fn_, accumulator.type, partial_address(declare.accumulator, i32(0)),
                        initial);
  }
  if (accumulator.lanes > 1) {
    partials.held = fn_.each_lane(accumulator.type, accumulator.lanes, [&](std::int64_t lane) {
      fn_.push(lane == 0 ? initial : neutral_value);
    });
    return;
  }
  if (partials.lanes == 1) {
    fn_.push(initial);
    partials.held = fn_.pop_value(accumulator.type);
    return;
  }
  partials.held = fn_.vectors(accumulator.type, partials.lanes,
                              [&](std::size_t piece) { fn_.push(initial, piece); });
}

// The address of a partial; `lane` is an i32, maybe a constant.
Address KernelCode::partial_address(loop::AccumulatorId id, const WasmValue& lane) {
  const loop::Accumulator& accumulator = kernel_[id];
  const std::int64_t bytes = item_bytes(accumulator.type);
  auto& scratch_offset = partials_[id.index].scratch_offset;
  if (!scratch_offset) scratch_offset = reserve(accumulator.lanes * bytes);
  const auto offset = static_cast<std::uint64_t>(*scratch_offset);
  if (lane.known)
    return {kScratch, offset + static_cast<std::uint64_t>(lane.known->integer * bytes)};
  fn_.push(lane);
  fn_.i32(bytes);
  fn_.emit(Op::i32_mul);
  fn_.get(kScratch);
  fn_.emit(Op::i32_add);
  return {fn_.pop_to_local(Type::i32), offset};
}

// The accumulators with partials that a loop with lanes updates.
std::vector<loop::AccumulatorId> KernelCode::updated_partials(const loop::Loop& loop) const {
  if (loop.lanes == 1) return {};
  std::vector<loop::AccumulatorId> found;
  add_updated(kernel_, loop.body, found);
  const auto order = [](loop::AccumulatorId a, loop::AccumulatorId b) { return a.index < b.index; };
  std::sort(found.begin(), found.end(), order);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

// Spills partials to memory, or reloads them: a scalar loop addresses them by a variable lane.
void KernelCode::spill_or_reload(const std::vector<loop::AccumulatorId>& all, bool to_memory) {
  for (const loop::AccumulatorId id : all) {
    Partials& partials = partials_[id.index];
    if (stays_in_memory(id) || partials.in_memory == to_memory) continue;
    partials.in_memory = to_memory;
    const DType type = kernel_[id].type;
    for (std::int64_t lane = 0; lane < partials.lanes; lane += kMinWidth) {
      const Address at = partial_address(id, i32(lane));
      const WasmValue part = chunk_of(partials.held, lane, kMinWidth);
      if (to_memory)
        store_lanes(fn_, type, at, part, kMinWidth);
      else
        hold(part, load_lanes(fn_, type, at, kMinWidth));
    }
  }
}

void KernelCode::execute(const loop::Update& update) {
  Partials& partials = partials_[update.accumulator.index];
  const loop::Accumulator& accumulator = kernel_[update.accumulator];
  if (accumulator.lanes == 1) return update_held(update, partials.held);
  if (lane_ && !partials.in_memory)
    return update_held(update,
                       chunk_of(partials.held, lane_->partial.known->integer, lane_->width));
  if (lane_) {
    const Address at = partial_address(update.accumulator, lane_->partial);
    const WasmValue partial = load_lanes(fn_, accumulator.type, at, lane_->width);
    return store_lanes(fn_, accumulator.type, at, updated(update, partial, 0), lane_->width);
  }
  if (!partials.in_memory) {
    const std::int64_t lane = iteration_.known->integer & (accumulator.lanes - 1);
    const WasmValue number = fn_.lane(partials.held, lane);
    return fn_.set_lane(partials.held, lane, updated(update, number, 0));
  }
  const WasmValue lane =
      combine_code(fn_, host_, loop::Combine::bit_and, iteration_, i32(accumulator.lanes - 1));
  const Address at = partial_address(update.accumulator, lane);
  store_number(fn_, accumulator.type, at,
               updated(update, load_number(fn_, accumulator.type, at), 0));
}

// A few lanes at a time, to limit register pressure.
void KernelCode::update_held(const loop::Update& update, const WasmValue& held) {
  if (!held.is_vector()) return hold(held, updated(update, held, 0));
  for (std::int64_t lane = 0; lane < held.lanes; lane += kMinWidth) {
    const WasmValue part = chunk_of(held, lane, kMinWidth);
    hold(part, updated(update, part, lane));
  }
}

// The new value of partials, with the values' lanes from `first` on.
WasmValue KernelCode::updated(const loop::Update& update, const WasmValue& partial,
                              std::int64_t first) {
  const auto lanes_of = [&](loop::ValueId value) {
    const WasmValue& all = values_[value.index];
    return all.lanes > partial.lanes ? chunk_of(all, first, partial.lanes) : all;
  };
  const WasmValue by = lanes_of(update.value);
  if (update.times.valid())
    return multiply_add_code(fn_, host_, by, lanes_of(update.times), partial);
  return combine_code(fn_, host_, kernel_[update.accumulator].combine, partial, by);
}

WasmValue KernelCode::code(const loop::ReadAccumulator& read, loop::ValueId) {
  const loop::Accumulator& accumulator = kernel_[read.accumulator];
  const Partials& partials = partials_[read.accumulator.index];
  if (accumulator.lanes == 1) {
    WasmValue copy = partials.held;
    copy.level = fn_.level();
    for (Local& piece : copy.pieces) {
      fn_.get(piece);
      piece = fn_.pop_to_local(partials.held.is_vector() ? Type::v128 : type_of(accumulator.type));
    }
    return copy;
  }
  const std::int64_t width = std::min(accumulator.lanes, kMinWidth);
  std::vector<WasmValue> parts;
  for (std::int64_t lane = 0; lane < accumulator.lanes; lane += width) {
    if (!partials.in_memory) {
      parts.push_back(chunk_of(partials.held, lane, width));
      continue;
    }
    const Address at = partial_address(read.accumulator, i32(lane));
    if (width == kMinWidth)
      parts.push_back(load_lanes(fn_, accumulator.type, at, width));
    else
      for (std::int64_t k = 0; k < width; ++k)
        parts.push_back(
            load_number(fn_, accumulator.type, partial_address(read.accumulator, i32(k))));
  }
  WasmValue all = combined(accumulator, std::move(parts));
  if (!all.is_vector()) return all;
  parts.clear();
  for (std::int64_t lane = 0; lane < width; ++lane) parts.push_back(fn_.lane(all, lane));
  return combined(accumulator, std::move(parts));
}

// Combines the lower half with the upper half, until one value is left.
WasmValue KernelCode::combined(const loop::Accumulator& accumulator, std::vector<WasmValue> parts) {
  while (parts.size() > 1) {
    const std::size_t half = parts.size() / 2;
    for (std::size_t p = 0; p < half; ++p)
      parts[p] = combine_code(fn_, host_, accumulator.combine, parts[p], parts[p + half]);
    parts.resize(half);
  }
  return parts.front();
}

}  // namespace recut::wasm
