// Instructions of LLVM IR as they are written down: one basic block after another, with numbered
// results. Knows types of lanes and nothing of kernels.
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

// A result or a constant, as instructions name it: one number, or one a lane.
struct Code {
  std::string text;
  DType type = DType::f32;  // a value type of the loop form
  std::int64_t lanes = 1;
};

// "float", "<8 x float>".
std::string type_name(std::string_view element, std::int64_t lanes);
std::string type_name(DType type, std::int64_t lanes);
inline std::string type_name(const Code& code) { return type_name(code.type, code.lanes); }

// What an intrinsic's name ends with: "f32", "v8f32".
std::string suffix(DType type, std::int64_t lanes);

// A number of a value type as LLVM writes it; reals by their bits, as those of an f64.
std::string literal(DType type, double real, std::int64_t integer);

// Lines of text, each with the note of the kernel that it is from.
struct NotedText {
  std::string text;
  std::vector<std::uint32_t> notes;  // by line

  void add(std::string_view line, std::uint32_t note = loop::kNoNote);
  // Whole lines that are from no note.
  void add_lines(std::string_view lines);
  void add(const NotedText& more);
};

// What functions of one module share: what is declared and not defined.
class Declarations {
 public:
  void add(std::string declaration) { lines_.insert(std::move(declaration)); }
  std::string text() const;

 private:
  std::set<std::string> lines_;  // sorted, so that the order of use leaves no trace
};

// Writes one function.
class Writer {
 public:
  explicit Writer(Declarations& declarations) : declarations_(declarations) {}

  // Lines are from this note of the kernel until it is another one's turn. Gives the one before.
  std::uint32_t begin_note(std::uint32_t note) { return std::exchange(note_, note); }

  // Instructions. `text` without its result's name; gives that name.
  std::string let(const std::string& text);
  void put(const std::string& text) { body_.add("  " + text, note_); }
  Code let(DType type, std::int64_t lanes, const std::string& text) {
    return {let(text), type, lanes};
  }

  // An instruction with operands of one type: "fadd", "icmp slt". `result`: its type.
  Code apply(std::string_view instruction, DType result, const Code& a);
  Code apply(std::string_view instruction, DType result, const Code& a, const Code& b);
  Code select(const Code& condition, const Code& a, const Code& b);

  // A function that is declared on the way: `suffixed` with the first operand's type behind its
  // name ("llvm.sqrt"), one result of the operands' type.
  Code intrinsic(std::string_view name, const std::vector<Code>& operands);
  // A plain function of numbers, called once a lane.
  Code call_each(std::string_view name, DType result, const std::vector<Code>& operands);

  // Constants, the same in every lane.
  static Code real(DType type, double number, std::int64_t lanes = 1);
  static Code integer(DType type, std::int64_t number, std::int64_t lanes = 1);
  // The same number in every lane; a number of as many lanes stays as it is.
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

  // Memory of the function, there from its start. `align`: bytes; 0: as LLVM likes it.
  std::string room_for(const std::string& type, std::int64_t align = 0);

  // Blocks. `open` starts the one of that name, which the last has to have gone to.
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
