// WebAssembly's instructions as data, with a table of names and encodings.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/codegen/loop/kernel.h"

namespace recut::wasm {

enum class Op : std::uint8_t {
#define INSTRUCTION(identifier, name, prefix, code, immediate) identifier,
#include "engine/codegen/wasm/instructions.def"
#undef INSTRUCTION
};

// The kind of immediate after the opcode.
enum class Immediate : std::uint8_t {
  none,
  block,     // a block's type: always none
  label,     // how many blocks further out
  function,  // its number, imports first
  local,     // its number, parameters first
  i32,
  i64,
  f32,  // bits
  f64,
  v128,           // two halves of bits, the lower lanes' first
  memory,         // bytes from the address on, and the alignment that may be relied on
  memory_lane,    // the same, and a lane
  memory_number,  // always the only one's
  lane,
  shuffle,  // sixteen numbers of bytes, packed like v128
};

struct OpcodeInfo {
  std::string_view name;
  std::uint8_t prefix = 0;  // 0: none
  std::uint32_t code = 0;
  Immediate immediate = Immediate::none;
};
const OpcodeInfo& opcode_info(Op op);

struct Instruction {
  Op op = Op::end;
  std::uint8_t align = 0;                           // of memory: a power of two of bytes
  std::uint8_t lane = 0;                            // of memory_lane
  std::uint32_t location = loop::kUnknownLocation;  // of the kernel's
  std::uint64_t low = 0, high = 0;                  // the immediate; high: of v128 and shuffle
};

// Types of locals, parameters and results, by their codes.
enum class Type : std::uint8_t { i32 = 0x7f, i64 = 0x7e, f32 = 0x7d, f64 = 0x7c, v128 = 0x7b };
std::string_view name_of(Type type);

}  // namespace recut::wasm
