// Loads and stores of a kernel's function.
#include <cmath>

#include "engine/codegen/wasm/kernel_code.h"

namespace recut::wasm {

Local KernelCode::base_of(loop::BufferId id) {
  return fn_.once(0, {"begin", {id.index}}, [&] {
    if (kernel_[id].access == loop::Access::scratch) {
      auto& scratch_offset = scratch_offsets_[id.index];
      if (!scratch_offset)
        scratch_offset = reserve(kernel_[id].elements * item_bytes(kernel_[id].dtype));
      fn_.get(kScratch);
      fn_.i32(*scratch_offset);
      fn_.emit(Op::i32_add);
    } else {
      fn_.get(kBuffers);
      fn_.emit(Instruction{Op::i32_load, 2, 0, 0, 4 * std::uint64_t{id.index}, 0});
    }
    return fn_.pop_to_local(Type::i32);
  });
}

// Lanes and unrolled iterations are at constant offsets from the first one.
Address KernelCode::address(loop::BufferId buffer, const loop::Index& at) {
  std::int64_t beyond = 0;
  if (unroll_offset_)
    for (const loop::Term& term : at.terms)
      if (term.atom.kind == loop::AtomKind::loop && term.atom.id == unroll_offset_->variable.index)
        beyond += term.factor * unroll_offset_->by;
  const auto lane = one_lane_;
  const auto step = lane ? step_of_lanes(at) : std::nullopt;
  if (step) {
    beyond += *step * *lane;
    one_lane_.reset();
  }
  Address address = plain_address(buffer, at);
  one_lane_ = lane;
  address.offset += static_cast<std::uint64_t>(beyond * item_bytes(kernel_[buffer].dtype));
  return address;
}

// The constant term becomes the instruction's offset, if the rest of the index is never negative.
Address KernelCode::plain_address(loop::BufferId buffer, const loop::Index& at) {
  const std::int64_t bytes = item_bytes(kernel_[buffer].dtype);
  loop::Index rest = at;
  rest.constant = 0;
  const auto range = ranges_.of(rest);
  if (at.constant < 0 || !range || range->min < 0) rest.constant = at.constant;
  const auto offset = static_cast<std::uint64_t>((at.constant - rest.constant) * bytes);
  if (rest.terms.empty() && rest.constant == 0) return {base_of(buffer), offset};
  return {sum_of(buffer, rest, level_of(rest)), offset};
}

// The stride between lanes in elements, if it is constant and positive.
std::optional<std::int64_t> KernelCode::step_of_lanes(const loop::Index& at) const {
  std::int64_t step = 0;
  for (const loop::Term& term : at.terms) {
    if (!varies(term.atom)) continue;
    const auto own =
        is_lane(term.atom) ? std::optional<std::int64_t>(1) : step_within_divisor(term.atom);
    if (!own) return std::nullopt;
    step += term.factor * *own;
  }
  if (step <= 0) return std::nullopt;
  return step;
}

bool KernelCode::is_contiguous(const loop::Index& at) const { return step_of_lanes(at) == 1; }

WasmValue KernelCode::code(const loop::Load& load, loop::ValueId value) {
  const DType dtype = kernel_[load.buffer].dtype, type = kernel_[value].type;
  if (load.where.valid()) return load_masked(load, type);
  if (!lane_ || !varies(load.at)) {
    const Address at = address(load.buffer, load.at);
    const bool splats = lane_ && (dtype == DType::f32 || dtype == DType::f64);
    return splats ? load_splat(fn_, dtype, at) : load_number(fn_, dtype, at);
  }
  if (is_contiguous(load.at))
    return load_lanes(fn_, dtype, address(load.buffer, load.at), lane_->width);
  return gather(load, type);
}

WasmValue KernelCode::load_masked(const loop::Load& load, DType type) {
  const WasmValue& where = values_[load.where.index];
  const bool differs = where.is_vector() || (lane_ && varies(load.at));
  if (kernel_[load.buffer].elements == 0) return FunctionBuilder::constant(type, {0, 0});
  if (!differs) return load_masked_scalar(load, where);
  return step_of_lanes(load.at) ? load_masked_lanes(load, type) : gather(load, type);
}

// One element, or 0. Where the condition is false, element 0 is read, which exists, and then
// dropped.
WasmValue KernelCode::load_masked_scalar(const loop::Load& load, const WasmValue& where) {
  const DType dtype = kernel_[load.buffer].dtype;
  const Address at = address(load.buffer, load.at);
  fn_.get(at.base);
  fn_.i32(static_cast<std::int64_t>(at.offset));
  fn_.emit(Op::i32_add);
  fn_.get(base_of(load.buffer));
  fn_.push(where);
  fn_.emit(Op::select);
  const WasmValue found = load_number(fn_, dtype, {fn_.pop_to_local(Type::i32), 0});
  return select_code(fn_, where, found, FunctionBuilder::constant(found.type, {0, 0}));
}

// A contiguous access within the buffer is one vector load, masked afterwards. A strided one loads
// all lanes if all conditions hold. Otherwise lanes are loaded one by one.
WasmValue KernelCode::load_masked_lanes(const loop::Load& load, DType type) {
  const WasmValue& where = values_[load.where.index];
  const loop::Buffer& buffer = kernel_[load.buffer];
  const bool contiguous =
      is_contiguous(load.at) && buffer.elements >= lane_->width && fits_i32(load.at);
  const WasmValue result = fn_.vectors(type, lane_->width, [&](std::size_t) { fn_.v128(0, 0); });
  fn_.open();
  loop::Load everywhere = load;
  everywhere.where = {};
  const WasmValue all =
      contiguous ? load_lanes(fn_, buffer.dtype, address(load.buffer, load.at), lane_->width)
                 : gather(everywhere, type);
  const bool drops = contiguous && where.is_vector();
  hold(result, drops ? select_code(fn_, where, all, FunctionBuilder::constant(type, {0, 0})) : all);
  auto together = fn_.close();
  fn_.open();
  if (where.is_vector()) hold(result, gather(load, type));
  auto gathered = fn_.close();
  if (drops) {
    fn_.push(index(load.at));  // of the first lane
    fn_.i32(buffer.elements - lane_->width);
    fn_.emit(Op::i32_le_u);
  } else {
    push_all_true(where);
  }
  fn_.emit(Op::if_);
  fn_.append(std::move(together));
  if (!gathered.empty()) fn_.emit(Op::else_);
  fn_.append(std::move(gathered));
  fn_.emit(Op::end);
  return result;
}

// Pushes 1 if the condition holds in all lanes.
void KernelCode::push_all_true(const WasmValue& where) {
  if (!where.is_vector()) return fn_.push(where);
  for (std::size_t piece = 0; piece < where.pieces.size(); ++piece) {
    fn_.push(where, piece);
    if (piece > 0) fn_.emit(Op::v128_and);
  }
  fn_.emit(Op::i32x4_all_true);
}

// Lanes one by one.
WasmValue KernelCode::gather(const loop::Load& load, DType type) {
  return fn_.each_lane(type, lane_->width, [&](std::int64_t lane) {
    for_one_lane(lane, [&] {
      if (load.where.valid())
        fn_.push(load_masked_scalar(load, fn_.lane(values_[load.where.index], lane)));
      else
        fn_.push(load_number(fn_, kernel_[load.buffer].dtype, address(load.buffer, load.at)));
    });
  });
}

// True for a long loop that only stores contiguous zeros: memory.fill doesn't read cache lines
// first, but a call costs as much as some hundred stores.
bool KernelCode::is_fill(const loop::Loop& loop) const {
  constexpr std::int64_t kMinFillBytes = std::int64_t{1} << 16;
  const auto* store =
      loop.body.size() == 1 ? std::get_if<loop::Store>(&loop.body.front().value) : nullptr;
  if (store == nullptr || store->combine || lane_) return false;
  const auto& known = values_[store->value.index].known;
  if (!known || known->integer != 0 || known->real != 0 || std::signbit(known->real)) return false;
  const auto is_number = [&](const loop::Atom& atom) {
    return atom.kind == loop::AtomKind::loop && atom.id == loop.variable.index;
  };
  std::int64_t step = 0, met = 0;
  for (const loop::Term& term : store->at.terms)
    if (is_number(term.atom)) step = term.factor;
  loop::for_each_atom(store->at, [&](const loop::Atom& atom) { met += is_number(atom) ? 1 : 0; });
  const std::int64_t bytes = item_bytes(kernel_[store->buffer].dtype);
  return step == 1 && met == 1 && kernel_[loop.variable].extent * bytes >= kMinFillBytes;
}

void KernelCode::fill(const loop::Loop& loop, const WasmValue& first, const WasmValue& last) {
  const auto& store = std::get<loop::Store>(loop.body.front().value);
  fn_.push(first);
  loops_[loop.variable.index] = fn_.pop_value(DType::i32);
  const Address at = address(store.buffer, store.at);
  fn_.get(at.base);
  fn_.i32(static_cast<std::int64_t>(at.offset));
  fn_.emit(Op::i32_add);
  fn_.i32(0);
  fn_.push(last);
  fn_.push(first);
  fn_.emit(Op::i32_sub);
  fn_.i32(item_bytes(kernel_[store.buffer].dtype));
  fn_.emit(Op::i32_mul);
  fn_.emit(Op::memory_fill);
}

void KernelCode::execute(const loop::Store& store) {
  const DType dtype = kernel_[store.buffer].dtype;
  const WasmValue& value = values_[store.value.index];
  if (lane_ && varies(store.at) && !is_contiguous(store.at)) {
    for (std::int64_t lane = 0; lane < lane_->width; ++lane)
      for_one_lane(lane, [&] {
        store_number(fn_, dtype, address(store.buffer, store.at), fn_.lane(value, lane));
      });
    return;
  }
  const Address at = address(store.buffer, store.at);
  if (lane_ && varies(store.at)) return store_lanes(fn_, dtype, at, value, lane_->width);
  if (!store.combine) return store_number(fn_, dtype, at, fn_.lane(value, 0));
  const WasmValue old = load_number(fn_, dtype, at);
  store_number(fn_, dtype, at, combine_code(fn_, host_, *store.combine, old, value));
}

}  // namespace recut::wasm
