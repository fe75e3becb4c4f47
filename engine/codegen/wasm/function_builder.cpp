// One buffer of instructions for each open block. A value remembers the level of its block, and
// `once` keeps a table by level, so that the same address or splat is computed once on the
// outermost level where it can be: value numbering limited to the values that the emitter names.
#include "engine/codegen/wasm/function_builder.h"

#include <algorithm>
#include <cstring>

#include "engine/support/check.h"

namespace recut::wasm {
namespace {

template <class Bits, class Real>
std::uint64_t bits_of(Real real) {
  Bits bits;
  std::memcpy(&bits, &real, sizeof bits);
  return bits;
}

bool is_wide(DType type) { return item_bytes(type) == 8; }

// The instructions on lanes of a type.
struct Lanes {
  Op splat, extract, replace;
};
Lanes lanes_of(DType type) {
  switch (type) {
    case DType::f32:
      return {Op::f32x4_splat, Op::f32x4_extract_lane, Op::f32x4_replace_lane};
    case DType::f64:
      return {Op::f64x2_splat, Op::f64x2_extract_lane, Op::f64x2_replace_lane};
    case DType::i64:
      return {Op::i64x2_splat, Op::i64x2_extract_lane, Op::i64x2_replace_lane};
    default:
      return {Op::i32x4_splat, Op::i32x4_extract_lane, Op::i32x4_replace_lane};
  }
}

}  // namespace

Type type_of(DType type) {
  switch (type) {
    case DType::f32:
      return Type::f32;
    case DType::f64:
      return Type::f64;
    case DType::i64:
      return Type::i64;
    default:
      return Type::i32;
  }
}

std::size_t pieces_of(DType type, std::int64_t lanes) {
  return static_cast<std::size_t>(is_wide(type) ? lanes / 2 : lanes / 4);
}

Local FunctionBuilder::local(Type type) {
  locals_.push_back(type);
  return static_cast<Local>(parameters_ + locals_.size() - 1);
}

void FunctionBuilder::emit(Op op, std::uint64_t low, std::uint64_t high) {
  emit(Instruction{op, 0, 0, location_, low, high});
}

void FunctionBuilder::emit(const Instruction& instruction) {
  frames_[level_].code.push_back(instruction);
  frames_[level_].code.back().location = location_;
}

Local FunctionBuilder::pop_to_local(Type type) {
  const Local made = local(type);
  set(made);
  return made;
}

std::vector<Instruction> FunctionBuilder::close() {
  RECUT_CHECK(level_ + 1 == frames_.size() && level_ > 0, "the innermost block is closed");
  std::vector<Instruction> code = std::move(frames_.back().code);
  frames_.pop_back();
  --level_;
  return code;
}

void FunctionBuilder::append(std::vector<Instruction> block) {
  auto& code = frames_[level_].code;
  code.insert(code.end(), block.begin(), block.end());
}

bool FunctionBuilder::reads(Local local) const {
  const auto& code = frames_.back().code;
  return std::any_of(code.begin(), code.end(), [&](const Instruction& one) {
    return one.op == Op::local_get && one.low == local;
  });
}

WasmValue FunctionBuilder::constant(DType type, loop::Number number) {
  return {type, 1, {}, loop::as_type(type, number), 0};
}

void FunctionBuilder::push_known(const WasmValue& code) {
  switch (type_of(code.type)) {
    case Type::f32:
      return emit(Op::f32_const, bits_of<std::uint32_t>(static_cast<float>(code.known->real)));
    case Type::f64:
      return emit(Op::f64_const, bits_of<std::uint64_t>(code.known->real));
    case Type::i64:
      return emit(Op::i64_const, static_cast<std::uint64_t>(code.known->integer));
    default:
      return i32(code.known->integer);
  }
}

void FunctionBuilder::push_known_lanes(const WasmValue& code) {
  const loop::Number& number = *code.known;
  std::uint64_t half = static_cast<std::uint64_t>(number.integer);
  if (code.type == DType::f64) half = bits_of<std::uint64_t>(number.real);
  if (code.type == DType::f32) half = bits_of<std::uint32_t>(static_cast<float>(number.real));
  if (code.type == DType::boolean) half = number.integer != 0 ? 0xffffffff : 0;
  if (!is_wide(code.type)) half = (half & 0xffffffff) | (half << 32);
  v128(half, half);
}

void FunctionBuilder::push(const WasmValue& code) {
  if (code.known) return push_known(code);
  RECUT_CHECK(!code.is_vector(), "a number is pushed, not lanes");
  get(code.pieces.front());
  if (code.splatted) emit(lanes_of(code.type).extract, 0);
}

void FunctionBuilder::push_splat(const WasmValue& code) {
  if (code.splatted) return get(code.pieces.front());
  if (code.type == DType::boolean) i32(0);
  push(code);
  if (code.type == DType::boolean) emit(Op::i32_sub);
  emit(lanes_of(code.type).splat);
}

Local FunctionBuilder::splat(const WasmValue& code) {
  if (code.splatted) return code.pieces.front();
  return once(code.level, {"splat", {code.pieces.front()}}, [&] {
    push_splat(code);
    return pop_to_local(Type::v128);
  });
}

void FunctionBuilder::push(const WasmValue& code, std::size_t piece) {
  if (code.known) return push_known_lanes(code);
  get(code.is_vector() ? code.pieces[piece] : splat(code));
}

void FunctionBuilder::push_lane(const WasmValue& code, std::int64_t lane) {
  if (!code.is_vector()) return push(code);
  const std::int64_t width = code.lanes / static_cast<std::int64_t>(code.pieces.size());
  get(code.pieces[static_cast<std::size_t>(lane / width)]);
  emit(lanes_of(code.type).extract, static_cast<std::uint64_t>(lane % width));
  if (code.type != DType::boolean) return;
  i32(1);
  emit(Op::i32_and);
}

WasmValue FunctionBuilder::lane(const WasmValue& code, std::int64_t lane) {
  if (!code.is_vector()) return code;
  push_lane(code, lane);
  return pop_value(code.type);
}

void FunctionBuilder::set_lane(const WasmValue& vectors, std::int64_t lane,
                               const WasmValue& number) {
  const std::int64_t width = vectors.lanes / static_cast<std::int64_t>(vectors.pieces.size());
  const Local piece = vectors.pieces[static_cast<std::size_t>(lane / width)];
  get(piece);
  push(number);
  replace_lane(vectors.type, lane % width);
  set(piece);
}

void FunctionBuilder::replace_lane(DType type, std::int64_t lane) {
  if (type == DType::boolean) {  // 0 or 1 as no bits or all
    const Local bit = pop_to_local(Type::i32);
    i32(0);
    get(bit);
    emit(Op::i32_sub);
  }
  emit(lanes_of(type).replace, static_cast<std::uint64_t>(lane));
}

WasmValue FunctionBuilder::pop_value(DType type) {
  return {type, 1, {pop_to_local(type_of(type))}, std::nullopt, level_};
}

}  // namespace recut::wasm
