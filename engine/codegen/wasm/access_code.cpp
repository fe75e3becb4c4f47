// Loads and stores of a kernel's function.
#include <cmath>

#include "engine/codegen/wasm/kernel_code.h"

namespace recut::wasm {

Local KernelCode::begin_of(loop::BufferId id) {
  return w_.once(0, {"begin", {id.index}}, [&] {
    if (kernel_[id].access == loop::Access::scratch) {
      auto& room = rooms_[id.index];
      if (!room) room = reserve(kernel_[id].elements * item_bytes(kernel_[id].dtype));
      w_.get(kScratch);
      w_.i32(*room);
      w_.put(Op::i32_add);
    } else {
      w_.get(kBuffers);
      w_.put(Instruction{Op::i32_load, 2, 0, 0, 4 * std::uint64_t{id.index}, 0});
    }
    return w_.keep(Type::i32);
  });
}

// Lanes and unrolled iterations are at constant offsets from the first one.
Address KernelCode::address(loop::BufferId buffer, const loop::Index& at) {
  std::int64_t beyond = 0;
  if (ahead_)
    for (const loop::Term& term : at.terms)
      if (term.atom.kind == loop::AtomKind::loop && term.atom.id == ahead_->variable.index)
        beyond += term.factor * ahead_->by;
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
  if (at.constant < 0 || !range || range->least < 0) rest.constant = at.constant;
  const auto offset = static_cast<std::uint64_t>((at.constant - rest.constant) * bytes);
  if (rest.terms.empty() && rest.constant == 0) return {begin_of(buffer), offset};
  return {sum_of(buffer, rest, level_of(rest)), offset};
}

// The stride between lanes in elements, if it is constant and positive.
std::optional<std::int64_t> KernelCode::step_of_lanes(const loop::Index& at) const {
  std::int64_t step = 0;
  for (const loop::Term& term : at.terms) {
    if (!varies(term.atom)) continue;
    const auto own = is_lane(term.atom) ? std::optional<std::int64_t>(1) : step_in_block(term.atom);
    if (!own) return std::nullopt;
    step += term.factor * *own;
  }
  if (step <= 0) return std::nullopt;
  return step;
}

bool KernelCode::is_neighbours(const loop::Index& at) const { return step_of_lanes(at) == 1; }

Code KernelCode::code(const loop::Load& load, loop::ValueId value) {
  const DType dtype = kernel_[load.buffer].dtype, type = kernel_[value].type;
  if (load.where.valid()) return load_where(load, type);
  if (!lane_ || !varies(load.at)) {
    const Address at = address(load.buffer, load.at);
    const bool spreads = lane_ && (dtype == DType::f32 || dtype == DType::f64);
    return spreads ? load_spread(w_, dtype, at) : load_number(w_, dtype, at);
  }
  if (is_neighbours(load.at))
    return load_lanes(w_, dtype, address(load.buffer, load.at), lane_->width);
  return load_apart(load, type);
}

Code KernelCode::load_where(const loop::Load& load, DType type) {
  const Code& where = values_[load.where.index];
  const bool differs = where.is_vector() || (lane_ && varies(load.at));
  if (kernel_[load.buffer].elements == 0) return Writer::constant(type, {0, 0});
  if (!differs) return load_safely(load, where);
  return step_of_lanes(load.at) ? lanes_where(load, type) : load_apart(load, type);
}

// One element, or 0. Where the condition is false, element 0 is read, which exists, and then
// dropped.
Code KernelCode::load_safely(const loop::Load& load, const Code& where) {
  const DType dtype = kernel_[load.buffer].dtype;
  const Address at = address(load.buffer, load.at);
  w_.get(at.base);
  w_.i32(static_cast<std::int64_t>(at.offset));
  w_.put(Op::i32_add);
  w_.get(begin_of(load.buffer));
  w_.push(where);
  w_.put(Op::select);
  const Code found = load_number(w_, dtype, {w_.keep(Type::i32), 0});
  return select_code(w_, where, found, Writer::constant(found.type, {0, 0}));
}

// A contiguous access within the buffer is one vector load, masked afterwards. A strided one loads
// all lanes if all conditions hold. Otherwise lanes are loaded one by one.
Code KernelCode::lanes_where(const loop::Load& load, DType type) {
  const Code& where = values_[load.where.index];
  const loop::Buffer& buffer = kernel_[load.buffer];
  const bool neighbours =
      is_neighbours(load.at) && buffer.elements >= lane_->width && fits_i32(load.at);
  const Code result = w_.vectors(type, lane_->width, [&](std::size_t) { w_.v128(0, 0); });
  w_.open();
  loop::Load everywhere = load;
  everywhere.where = {};
  const Code all = neighbours
                       ? load_lanes(w_, buffer.dtype, address(load.buffer, load.at), lane_->width)
                       : load_apart(everywhere, type);
  const bool drops = neighbours && where.is_vector();
  hold(result, drops ? select_code(w_, where, all, Writer::constant(type, {0, 0})) : all);
  auto together = w_.close();
  w_.open();
  if (where.is_vector()) hold(result, load_apart(load, type));
  auto apart = w_.close();
  if (drops) {
    w_.push(index(load.at));  // of the first lane
    w_.i32(buffer.elements - lane_->width);
    w_.put(Op::i32_le_u);
  } else {
    push_all(where);
  }
  w_.put(Op::if_);
  w_.append(std::move(together));
  if (!apart.empty()) w_.put(Op::else_);
  w_.append(std::move(apart));
  w_.put(Op::end);
  return result;
}

// Pushes 1 if the condition holds in all lanes.
void KernelCode::push_all(const Code& where) {
  if (!where.is_vector()) return w_.push(where);
  for (std::size_t piece = 0; piece < where.pieces.size(); ++piece) {
    w_.push(where, piece);
    if (piece > 0) w_.put(Op::v128_and);
  }
  w_.put(Op::i32x4_all_true);
}

// Lanes one by one.
Code KernelCode::load_apart(const loop::Load& load, DType type) {
  return w_.each_lane(type, lane_->width, [&](std::int64_t lane) {
    for_one_lane(lane, [&] {
      if (load.where.valid())
        w_.push(load_safely(load, w_.lane(values_[load.where.index], lane)));
      else
        w_.push(load_number(w_, kernel_[load.buffer].dtype, address(load.buffer, load.at)));
    });
  });
}

// True for a long loop that only stores contiguous zeros: memory.fill doesn't read cache lines
// first, but a call costs as much as some hundred stores.
bool KernelCode::fills(const loop::Loop& loop) const {
  constexpr std::int64_t kLeastBytes = std::int64_t{1} << 16;
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
  return step == 1 && met == 1 && kernel_[loop.variable].extent * bytes >= kLeastBytes;
}

void KernelCode::fill(const loop::Loop& loop, const Code& first, const Code& last) {
  const auto& store = std::get<loop::Store>(loop.body.front().value);
  w_.push(first);
  loops_[loop.variable.index] = w_.number(DType::i32);
  const Address at = address(store.buffer, store.at);
  w_.get(at.base);
  w_.i32(static_cast<std::int64_t>(at.offset));
  w_.put(Op::i32_add);
  w_.i32(0);
  w_.push(last);
  w_.push(first);
  w_.put(Op::i32_sub);
  w_.i32(item_bytes(kernel_[store.buffer].dtype));
  w_.put(Op::i32_mul);
  w_.put(Op::memory_fill);
}

void KernelCode::execute(const loop::Store& store) {
  const DType dtype = kernel_[store.buffer].dtype;
  const Code& value = values_[store.value.index];
  if (lane_ && varies(store.at) && !is_neighbours(store.at)) {
    for (std::int64_t lane = 0; lane < lane_->width; ++lane)
      for_one_lane(lane, [&] {
        store_number(w_, dtype, address(store.buffer, store.at), w_.lane(value, lane));
      });
    return;
  }
  const Address at = address(store.buffer, store.at);
  if (lane_ && varies(store.at)) return store_lanes(w_, dtype, at, value, lane_->width);
  if (!store.combine) return store_number(w_, dtype, at, w_.lane(value, 0));
  const Code old = load_number(w_, dtype, at);
  store_number(w_, dtype, at, combine_code(w_, host_, *store.combine, old, value));
}

}  // namespace recut::wasm
