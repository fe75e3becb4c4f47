#include "engine/codegen/wasm/instruction.h"

#include <array>

#include "engine/support/check.h"

namespace recut::wasm {
namespace {

constexpr std::array kOpcodes{
#define INSTRUCTION(identifier, name, prefix, code, immediate) \
  OpcodeInfo{name, prefix, code, Immediate::immediate},
#include "engine/codegen/wasm/instructions.def"
#undef INSTRUCTION
};

}  // namespace

const OpcodeInfo& opcode_info(Op op) { return kOpcodes[static_cast<std::size_t>(op)]; }

std::string_view name_of(Type type) {
  switch (type) {
    case Type::i32:
      return "i32";
    case Type::i64:
      return "i64";
    case Type::f32:
      return "f32";
    case Type::f64:
      return "f64";
    case Type::v128:
      return "v128";
  }
  RECUT_CHECK(false, "a type has a name");
}

}  // namespace recut::wasm
