// A function in the making: instructions of nested blocks, and values in locals.
//
// Blocks stand on levels. While an inner one is being written, what doesn't depend on it can still
// be appended to an outer one, before the inner one begins: engines move nothing out of loops.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/codegen/loop/scalar_meaning.h"
#include "engine/codegen/wasm/module.h"

namespace recut::wasm {

using Local = std::uint32_t;

// The type of a number of a value type of the loop form; bools are 0 or 1 as i32.
Type type_of(DType type);

// A value of the loop form: a constant, a number in a local, or lanes in locals of 128 bits. Lanes
// of bools are those of i32 with ones or zeros in all bits. `spread`: a number that stands in all
// lanes of its local, a vector.
struct Code {
  DType type = DType::f32;
  std::int64_t lanes = 1;
  std::vector<Local> pieces;
  std::optional<loop::Number> known;  // then it has no pieces
  std::size_t level = 0;              // of the block that it stands in
  bool spread = false;

  bool is_vector() const { return lanes > 1; }
};

// How many vectors so many lanes of a type are.
std::size_t pieces_of(DType type, std::int64_t lanes);

class Writer {
 public:
  explicit Writer(std::size_t parameters) : parameters_(parameters), frames_(1) {}

  // Instructions are from this note of the kernel until it is another one's turn. Gives the one
  // before.
  std::uint32_t begin_note(std::uint32_t note) { return std::exchange(note_, note); }

  Local local(Type type);
  void put(Op op, std::uint64_t low = 0, std::uint64_t high = 0);
  void put(const Instruction& instruction);
  void get(Local local) { put(Op::local_get, local); }
  void set(Local local) { put(Op::local_set, local); }
  // A new local of what is on the stack.
  Local keep(Type type);
  void i32(std::int64_t number) { put(Op::i32_const, static_cast<std::uint64_t>(number)); }
  // All bits of a vector: two halves.
  void v128(std::uint64_t low, std::uint64_t high) { put(Op::v128_const, low, high); }

  // Blocks: `open` begins one, which `close` gives back to stand where it is put.
  void open() { frames_.emplace_back(), ++level_; }
  std::vector<Instruction> close();
  void append(std::vector<Instruction> block);
  // Whether the innermost block, as far as it is written, reads the local.
  bool reads(Local local) const;
  std::size_t level() const { return level_; }
  // What `body` writes stands on that level.
  template <class Body>
  auto at(std::size_t level, Body body) {
    const std::size_t before = std::exchange(level_, level);
    auto result = body();
    level_ = before;
    return result;
  }

  // What was made before on a level under this name, or is made there now.
  using Name = std::pair<std::string, std::vector<std::int64_t>>;
  template <class Make>
  Local once(std::size_t level, const Name& name, Make make) {
    const auto found = frames_[level].known.find(name);
    if (found != frames_[level].known.end()) return found->second;
    const Local made = at(level, make);
    frames_[level].known.emplace(name, made);
    return made;
  }

  static Code constant(DType type, loop::Number number);
  static Code real(DType type, double number) { return constant(type, {number, 0}); }
  static Code integer(DType type, std::int64_t number) { return constant(type, {0, number}); }

  // Puts a number on the stack; of lanes the one vector of them, the same one in every lane where
  // the value is a single number, whose local is never set again.
  void push(const Code& code);
  void push(const Code& code, std::size_t piece);
  // The same of a number in a local that is set again later.
  void push_spread(const Code& code);
  // One lane's number.
  void push_lane(const Code& code, std::int64_t lane);
  Code lane(const Code& code, std::int64_t lane);
  void set_lane(const Code& vectors, std::int64_t lane, const Code& number);

  // What is on the stack as a number of that type.
  Code number(DType type);
  // Lanes of a vector a piece; `make` leaves it on the stack.
  template <class Make>
  Code vectors(DType type, std::int64_t lanes, Make make) {
    Code made{type, lanes, {}, std::nullopt, level_};
    for (std::size_t piece = 0; piece < pieces_of(type, lanes); ++piece) {
      make(piece);
      made.pieces.push_back(keep(Type::v128));
    }
    return made;
  }
  // Lanes that are computed one by one: `make` leaves a number on the stack.
  template <class Make>
  Code each_lane(DType type, std::int64_t lanes, Make make) {
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
  Local splat(const Code& code);
  void push_known(const Code& code);
  void push_known_lanes(const Code& code);
  void replace_lane(DType type, std::int64_t lane);

  std::size_t parameters_;
  std::vector<Type> locals_;
  std::vector<Frame> frames_;
  std::size_t level_ = 0;
  std::uint32_t note_ = loop::kNoNote;
};

inline Code i32(std::int64_t number) { return Writer::integer(DType::i32, number); }

}  // namespace recut::wasm
