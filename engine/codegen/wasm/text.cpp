// The text form: an instruction a line, blocks indented.
#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "engine/codegen/wasm/module.h"

namespace recut::wasm {
namespace {

// A real by its bits: as text that gives them back.
template <class Real, class Bits>
std::string real_text(Bits bits) {
  Real value;
  std::memcpy(&value, &bits, sizeof value);
  constexpr int kFraction = sizeof(Real) == 4 ? 23 : 52;
  if (std::isnan(value))
    return fmt::format("{}nan:{:#x}", std::signbit(value) ? "-" : "",
                       bits & ((Bits{1} << kFraction) - 1));
  return fmt::format("{}", value);
}

std::string shuffle_text(const Instruction& instruction) {
  std::string text;
  for (int i = 0; i < 16; ++i) {
    const std::uint64_t half = i < 8 ? instruction.low : instruction.high;
    text += fmt::format("{}{}", i == 0 ? "" : " ", (half >> (8 * (i % 8))) & 0xff);
  }
  return text;
}

std::string memory_text(const Instruction& instruction) {
  std::string text;
  if (instruction.low != 0) text += fmt::format(" offset={}", instruction.low);
  return text + fmt::format(" align={}", 1 << instruction.align);
}

std::string immediate_text(const Instruction& instruction) {
  const std::uint64_t low = instruction.low, high = instruction.high;
  switch (opcode_info(instruction.op).immediate) {
    case Immediate::none:
    case Immediate::block:
    case Immediate::memory_number:
      return "";
    case Immediate::label:
    case Immediate::function:
    case Immediate::local:
    case Immediate::lane:
      return fmt::format(" {}", low);
    case Immediate::i32:
    case Immediate::i64:
      return fmt::format(" {}", static_cast<std::int64_t>(low));
    case Immediate::f32:
      return " " + real_text<float>(static_cast<std::uint32_t>(low));
    case Immediate::f64:
      return " " + real_text<double>(low);
    case Immediate::v128:
      return fmt::format(" i32x4 {:#x} {:#x} {:#x} {:#x}", low & 0xffffffff, low >> 32,
                         high & 0xffffffff, high >> 32);
    case Immediate::memory:
      return memory_text(instruction);
    case Immediate::memory_lane:
      return memory_text(instruction) + fmt::format(" {}", instruction.lane);
    case Immediate::shuffle:
      return " " + shuffle_text(instruction);
  }
  return "";
}

std::string types_text(std::string_view what, const std::vector<Type>& types) {
  if (types.empty()) return "";
  std::string text = fmt::format(" ({}", what);
  for (const Type type : types) text += fmt::format(" {}", name_of(type));
  return text + ")";
}

std::string signature_text(const Signature& signature) {
  return types_text("param", signature.parameters) + types_text("result", signature.results);
}

class Printer {
 public:
  std::vector<Line> run(const ModuleContents& contents) {
    add("(module");
    add(fmt::format("  (import \"recut\" \"memory\" (memory {}))",
                    contents.shared ? fmt::format("1 {} shared", kMaxPages) : "1"));
    for (const ImportedFunction& import : contents.imports)
      add(fmt::format("  (import \"recut\" \"{}\" (func{}))", import.name,
                      signature_text(import.signature)));
    for (const Function& function : contents.functions) print(function);
    add(")");
    return std::move(lines_);
  }

 private:
  void add(std::string line, std::uint32_t location = loop::kUnknownLocation) {
    lines_.push_back({std::move(line), location});
  }

  void print(const Function& function) {
    for (const std::string& remark : function.remarks) add("  ;; " + remark);
    for (std::uint32_t n = 0; n < function.locations.size(); ++n)
      add("  ;; " + function.locations[n], n);
    add(fmt::format("  (func (export \"{}\"){}", function.name,
                    signature_text(function.signature)));
    if (!function.locals.empty()) add("   " + types_text("local", function.locals));
    std::size_t depth = 2;
    for (const Instruction& instruction : function.body) {
      const bool ends = instruction.op == Op::end || instruction.op == Op::else_;
      if (ends) --depth;
      const OpcodeInfo& info = opcode_info(instruction.op);
      add(fmt::format("{:{}}{}{}", "", 2 * depth, info.name, immediate_text(instruction)),
          instruction.location);
      if (info.immediate == Immediate::block || instruction.op == Op::else_) ++depth;
    }
    add("  )");
  }

  std::vector<Line> lines_;
};

}  // namespace

std::vector<Line> print(const ModuleContents& contents) { return Printer().run(contents); }

}  // namespace recut::wasm
