// The binary form: sections of LEB128 numbers.
#include <algorithm>

#include "engine/codegen/wasm/module.h"

namespace recut::wasm {
namespace {

class Bytes {
 public:
  void byte(std::uint64_t value) { text_ += static_cast<char>(value & 0xff); }
  void bytes(std::uint64_t value, int count) {
    for (int i = 0; i < count; ++i) byte(value >> (8 * i));
  }
  void number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) byte(value | 0x80);
    byte(value);
  }
  void signed_number(std::int64_t value) {
    for (; value < -64 || value > 63; value >>= 7) byte(static_cast<std::uint64_t>(value) | 0x80);
    byte(static_cast<std::uint64_t>(value) & 0x7f);
  }
  void name(const std::string& text) {
    number(text.size());
    text_ += text;
  }
  // Appends a section or body with its length before it.
  void sized(const Bytes& inner) { name(inner.text_); }
  void section(int id, const Bytes& inner) {
    byte(static_cast<std::uint64_t>(id));
    sized(inner);
  }
  void types(const std::vector<Type>& all) {
    number(all.size());
    for (const Type type : all) byte(static_cast<std::uint64_t>(type));
  }
  void append(const Bytes& more) { text_ += more.text_; }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

constexpr int kEncodeTypes = 1, kImports = 2, kFunctions = 3, kExports = 7, kCode = 10;
constexpr int kFunctionKind = 0, kMemoryKind = 2, kNoResult = 0x40, kFunctionType = 0x60;
constexpr int kMinOnlyLimits = 0,
              kSharedLimits = 3;  // of a memory; shared ones have a largest size

std::vector<Signature> signatures_of(const ModuleContents& contents) {
  std::vector<Signature> all;
  const auto add = [&](const Signature& one) {
    if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
  };
  for (const ImportedFunction& import : contents.imports) add(import.signature);
  for (const Function& function : contents.functions) add(function.signature);
  return all;
}

void encode(Bytes& out, const Instruction& instruction) {
  const OpcodeInfo& info = opcode_info(instruction.op);
  if (info.prefix != 0) {
    out.byte(info.prefix);
    out.number(info.code);
  } else {
    out.byte(info.code);
  }
  switch (info.immediate) {
    case Immediate::none:
      return;
    case Immediate::block:
      return out.byte(kNoResult);
    case Immediate::label:
    case Immediate::function:
    case Immediate::local:
      return out.number(instruction.low);
    case Immediate::i32:
    case Immediate::i64:
      return out.signed_number(static_cast<std::int64_t>(instruction.low));
    case Immediate::f32:
      return out.bytes(instruction.low, 4);
    case Immediate::f64:
      return out.bytes(instruction.low, 8);
    case Immediate::v128:
    case Immediate::shuffle:
      out.bytes(instruction.low, 8);
      return out.bytes(instruction.high, 8);
    case Immediate::memory:
    case Immediate::memory_lane:
      out.number(instruction.align);
      out.number(instruction.low);
      if (info.immediate == Immediate::memory_lane) out.byte(instruction.lane);
      return;
    case Immediate::lane:
    case Immediate::memory_number:
      return out.byte(instruction.low);
  }
}

Bytes code_of(const Function& function) {
  Bytes code;
  std::vector<std::pair<std::uint64_t, Type>> runs;  // locals of one type after another
  for (const Type type : function.locals) {
    if (runs.empty() || runs.back().second != type) runs.emplace_back(0, type);
    ++runs.back().first;
  }
  code.number(runs.size());
  for (const auto& [count, type] : runs) {
    code.number(count);
    code.byte(static_cast<std::uint64_t>(type));
  }
  for (const Instruction& instruction : function.body) encode(code, instruction);
  encode(code, {});
  return code;
}

}  // namespace

std::string encode(const ModuleContents& contents) {
  const std::vector<Signature> signatures = signatures_of(contents);
  const auto number_of = [&](const Signature& one) {
    return static_cast<std::uint64_t>(std::find(signatures.begin(), signatures.end(), one) -
                                      signatures.begin());
  };
  Bytes types, imports, functions, exports, code;
  types.number(signatures.size());
  for (const Signature& one : signatures) {
    types.byte(kFunctionType);
    types.types(one.parameters);
    types.types(one.results);
  }
  imports.number(contents.imports.size() + 1);
  imports.name("recut");
  imports.name("memory");
  imports.byte(kMemoryKind);
  imports.byte(contents.shared ? kSharedLimits : kMinOnlyLimits);
  imports.number(1);
  if (contents.shared) imports.number(kMaxPages);
  for (const ImportedFunction& import : contents.imports) {
    imports.name("recut");
    imports.name(import.name);
    imports.byte(kFunctionKind);
    imports.number(number_of(import.signature));
  }
  functions.number(contents.functions.size());
  exports.number(contents.functions.size());
  code.number(contents.functions.size());
  for (std::size_t f = 0; f < contents.functions.size(); ++f) {
    const Function& function = contents.functions[f];
    functions.number(number_of(function.signature));
    exports.name(function.name);
    exports.byte(kFunctionKind);
    exports.number(contents.imports.size() + f);
    code.sized(code_of(function));
  }
  Bytes out;
  out.bytes(0x6d736100, 4);  // "\0asm"
  out.bytes(1, 4);           // its version
  out.section(kEncodeTypes, types);
  out.section(kImports, imports);
  out.section(kFunctions, functions);
  out.section(kExports, exports);
  out.section(kCode, code);
  return out.take();
}

}  // namespace recut::wasm
