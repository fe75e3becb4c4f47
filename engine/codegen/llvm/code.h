// Builds LLVM IR as text, like LLVM's IRBuilder: one basic block after another, with numbered
// results. It knows vector types, but nothing of kernels.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/codegen/loop/kernel.h"
#include "engine/ir/dtype.h"

namespace recut::llvm_ir {

// An SSA value or a constant as an operand: a scalar, or a vector with one number a lane.
struct Code {
  std::string text;
  DType type = DType::f32;  // a value type of the loop form
  std::int64_t lanes = 1;
};

// "float", "<8 x float>".
std::string type_name(std::string_view element, std::int64_t lanes);
std::string type_name(DType type, std::int64_t lanes);
inline std::string type_name(const Code& code) { return type_name(code.type, code.lanes); }

// The suffix of an overloaded intrinsic's name: "f32", "v8f32".
std::string suffix(DType type, std::int64_t lanes);

// A literal of a value type. Reals are written as the hexadecimal bits of an f64.
std::string literal(DType type, double real, std::int64_t integer);

// Lines of text, each with its source location in the kernel.
struct NotedText {
  std::string text;
  std::vector<std::uint32_t> notes;  // by line

  void add(std::string_view line, std::uint32_t note = loop::kNoNote);
  // Whole lines without a location.
  void add_lines(std::string_view lines);
  void add(const NotedText& more);
};

// Declarations of external functions, shared by the functions of one module.
class Declarations {
 public:
  void add(std::string declaration) { lines_.insert(std::move(declaration)); }
  std::string text() const;

 private:
  std::set<std::string> lines_;  // sorted, so that the text doesn't depend on the order of use
};

// Writes one function.
class Writer {
 public:
  explicit Writer(Declarations& declarations) : declarations_(declarations) {}

  // Sets the source location of the lines that follow. Returns the previous one.
  std::uint32_t begin_note(std::uint32_t note) { return std::exchange(note_, note); }

  // Appends an instruction. `text` lacks the name of the result, which is returned.
  std::string let(const std::string& text);
  void put(const std::string& text) { body_.add("  " + text, note_); }
  Code let(DType type, std::int64_t lanes, const std::string& text) {
    return {let(text), type, lanes};
  }

  // An instruction with operands of one type: "fadd", "icmp slt". `result`: its type.
  Code apply(std::string_view instruction, DType result, const Code& a);
  Code apply(std::string_view instruction, DType result, const Code& a, const Code& b);
  Code select(const Code& condition, const Code& a, const Code& b);

  // Declares and calls an overloaded intrinsic ("llvm.sqrt"): the suffix is the first operand's
  // type, and the result has that type.
  Code intrinsic(std::string_view name, const std::vector<Code>& operands);
  // Declares and calls a scalar function, once a lane.
  Code call_each(std::string_view name, DType result, const std::vector<Code>& operands);

  // Constants, the same in every lane.
  static Code real(DType type, double number, std::int64_t lanes = 1);
  static Code integer(DType type, std::int64_t number, std::int64_t lanes = 1);
  // Broadcasts a scalar to all lanes; a vector of that width is returned as it is.
  Code splat(const Code& code, std::int64_t lanes);
  Code extract(const Code& code, std::int64_t lane);
  Code insert(const Code& into, const Code& number, std::int64_t lane);
  // 0, 1, 2, … as i64.
  static Code counting(std::int64_t lanes);

  // A conversion by one instruction: "sitofp", "zext".
  Code cast(std::string_view instruction, const Code& code, DType to);
  // The same to or from a type of memory: "trunc", "i8".
  std::string cast(std::string_view instruction, std::string_view from, const std::string& text,
                   std::string_view to, std::int64_t lanes);

  // An alloca in the entry block. `align`: bytes; 0: LLVM's default.
  std::string room_for(const std::string& type, std::int64_t align = 0);

  // Basic blocks. `open` begins the block of that name, after the previous one was terminated.
  std::string fresh_label(std::string_view words);
  void open(const std::string& label);
  void go(const std::string& label) { put("br label %" + label); }
  void branch(const Code& condition, const std::string& yes, const std::string& no);
  const std::string& block() const { return block_; }

  void declare(std::string text) { declarations_.add(std::move(text)); }

  // Everything between the function's braces.
  NotedText text() const;

 private:
  Declarations& declarations_;
  NotedText rooms_, body_;
  std::uint32_t note_ = loop::kNoNote;
  std::string block_ = "entry";
  int results_ = 0, labels_ = 0, allocations_ = 0;
};

}  // namespace recut::llvm_ir
