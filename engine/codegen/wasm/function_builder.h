// Builds one function: instructions of nested blocks, and values in locals.
//
// Each open block is a level. While an inner block is being built, loop-invariant instructions can
// be appended to an outer one, in front of the inner one. Engines do no loop-invariant code motion.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/codegen/loop/scalar_semantics.h"
#include "engine/codegen/wasm/module.h"

namespace recut::wasm {

using Local = std::uint32_t;

// The type of a number of a value type of the loop form; bools are 0 or 1 as i32.
Type type_of(DType type);

// A value of the loop form: a constant, a scalar in a local, or a vector in v128 locals. Lanes of
// bools are i32 masks, all ones or all zeros. `splatted`: a scalar that is stored as a splatted
// v128.
struct WasmValue {
  DType type = DType::f32;
  std::int64_t lanes = 1;
  std::vector<Local> pieces;
  std::optional<loop::Number> known;  // then it has no pieces
  std::size_t level = 0;              // of the block that it stands in
  bool splatted = false;

  bool is_vector() const { return lanes > 1; }
};

// The number of v128 vectors for `lanes` lanes of a type.
std::size_t pieces_of(DType type, std::int64_t lanes);

class FunctionBuilder {
 public:
  explicit FunctionBuilder(std::size_t parameters) : parameters_(parameters), frames_(1) {}

  // Sets the source location of the instructions that follow. Returns the previous one.
  std::uint32_t set_location(std::uint32_t location) { return std::exchange(location_, location); }

  Local local(Type type);
  void emit(Op op, std::uint64_t low = 0, std::uint64_t high = 0);
  void emit(const Instruction& instruction);
  void get(Local local) { emit(Op::local_get, local); }
  void set(Local local) { emit(Op::local_set, local); }
  // Pops the top of the stack to a new local.
  Local pop_to_local(Type type);
  void i32(std::int64_t number) { emit(Op::i32_const, static_cast<std::uint64_t>(number)); }
  // All bits of a vector: two halves.
  void v128(std::uint64_t low, std::uint64_t high) { emit(Op::v128_const, low, high); }

  // Blocks: `open` begins one; `close` ends it and returns its instructions, for `append`.
  void open() { frames_.emplace_back(), ++level_; }
  std::vector<Instruction> close();
  void append(std::vector<Instruction> block);
  // True if the innermost block reads the local so far.
  bool reads(Local local) const;
  std::size_t level() const { return level_; }
  // Runs `body` with its instructions appended to that level.
  template <class Body>
  auto at(std::size_t level, Body body) {
    const std::size_t before = std::exchange(level_, level);
    auto result = body();
    level_ = before;
    return result;
  }

  // Value numbering: the local computed on a level under this name before, or now by `make`.
  using Name = std::pair<std::string, std::vector<std::int64_t>>;
  template <class Make>
  Local once(std::size_t level, const Name& name, Make make) {
    const auto found = frames_[level].known.find(name);
    if (found != frames_[level].known.end()) return found->second;
    const Local made = at(level, make);
    frames_[level].known.emplace(name, made);
    return made;
  }

  static WasmValue constant(DType type, loop::Number number);
  static WasmValue real(DType type, double number) { return constant(type, {number, 0}); }
  static WasmValue integer(DType type, std::int64_t number) { return constant(type, {0, number}); }

  // Pushes a scalar, or one vector of a value; a scalar is splatted, and its local must not be set
  // again.
  void push(const WasmValue& code);
  void push(const WasmValue& code, std::size_t piece);
  // The same for a scalar whose local may be set again.
  void push_splat(const WasmValue& code);
  // One lane's number.
  void push_lane(const WasmValue& code, std::int64_t lane);
  WasmValue lane(const WasmValue& code, std::int64_t lane);
  void set_lane(const WasmValue& vectors, std::int64_t lane, const WasmValue& number);

  // Pops a scalar of that type to a new local.
  WasmValue pop_value(DType type);
  // A value of several vectors; `make` pushes each of them.
  template <class Make>
  WasmValue vectors(DType type, std::int64_t lanes, Make make) {
    WasmValue made{type, lanes, {}, std::nullopt, level_};
    for (std::size_t piece = 0; piece < pieces_of(type, lanes); ++piece) {
      make(piece);
      made.pieces.push_back(pop_to_local(Type::v128));
    }
    return made;
  }
  // A vector computed lane by lane: `make` pushes a scalar.
  template <class Make>
  WasmValue each_lane(DType type, std::int64_t lanes, Make make) {
    const std::int64_t width = lanes / static_cast<std::int64_t>(pieces_of(type, lanes));
    return vectors(type, lanes, [&](std::size_t piece) {
      v128(0, 0);
      for (std::int64_t i = 0; i < width; ++i) {
        make(static_cast<std::int64_t>(piece) * width + i);
        replace_lane(type, i);
      }
    });
  }

  // The function's locals and, once all blocks are closed, its instructions.
  std::vector<Type> locals() const { return locals_; }
  std::vector<Instruction> body() { return std::move(frames_.front().code); }

 private:
  struct Frame {
    std::vector<Instruction> code;
    std::map<Name, Local> known;
  };
  Local splat(const WasmValue& code);
  void push_known(const WasmValue& code);
  void push_known_lanes(const WasmValue& code);
  void replace_lane(DType type, std::int64_t lane);

  std::size_t parameters_;
  std::vector<Type> locals_;
  std::vector<Frame> frames_;
  std::size_t level_ = 0;
  std::uint32_t location_ = loop::kUnknownLocation;
};

inline WasmValue i32(std::int64_t number) { return FunctionBuilder::integer(DType::i32, number); }

}  // namespace recut::wasm
