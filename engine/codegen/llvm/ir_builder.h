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
struct IrValue {
  std::string text;
  DType type = DType::f32;  // a value type of the loop form
  std::int64_t lanes = 1;
};

// The name of a type: "float", "<8 x float>".
std::string type_name(std::string_view element, std::int64_t lanes);
std::string type_name(DType type, std::int64_t lanes);
inline std::string type_name(const IrValue& code) { return type_name(code.type, code.lanes); }

// The suffix of an overloaded intrinsic's name: "f32", "v8f32".
std::string suffix(DType type, std::int64_t lanes);

// A literal of a value type. Reals are written as the hexadecimal bits of an f64.
std::string literal(DType type, double real, std::int64_t integer);

// Lines of text, each with its source location in the kernel.
struct LocatedText {
  std::string text;
  std::vector<std::uint32_t> locations;  // by line

  void add(std::string_view line, std::uint32_t location = loop::kUnknownLocation);
  // Whole lines without a location.
  void add_lines(std::string_view lines);
  void add(const LocatedText& more);
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
class IrBuilder {
 public:
  explicit IrBuilder(Declarations& declarations) : declarations_(declarations) {}

  // Sets the source location of the lines that follow. Returns the previous one.
  std::uint32_t set_location(std::uint32_t location) { return std::exchange(location_, location); }

  // Appends an instruction. `text` lacks the name of the result, which is returned.
  std::string create(const std::string& text);
  void emit(const std::string& text) { body_.add("  " + text, location_); }
  IrValue create(DType type, std::int64_t lanes, const std::string& text) {
    return {create(text), type, lanes};
  }

  // An instruction with operands of one type: "fadd", "icmp slt". `result`: its type.
  IrValue apply(std::string_view instruction, DType result, const IrValue& a);
  IrValue apply(std::string_view instruction, DType result, const IrValue& a, const IrValue& b);
  IrValue select(const IrValue& condition, const IrValue& a, const IrValue& b);

  // Declares and calls an overloaded intrinsic ("llvm.sqrt"): the suffix is the first operand's
  // type, and the result has that type.
  IrValue intrinsic(std::string_view name, const std::vector<IrValue>& operands);
  // Declares and calls a scalar function, once a lane.
  IrValue call_per_lane(std::string_view name, DType result, const std::vector<IrValue>& operands);

  // Constants, the same in every lane.
  static IrValue real(DType type, double number, std::int64_t lanes = 1);
  static IrValue integer(DType type, std::int64_t number, std::int64_t lanes = 1);
  // Broadcasts a scalar to all lanes; a vector of that width is returned as it is.
  IrValue splat(const IrValue& code, std::int64_t lanes);
  IrValue extract(const IrValue& code, std::int64_t lane);
  IrValue insert(const IrValue& into, const IrValue& number, std::int64_t lane);
  // 0, 1, 2, … as i64.
  static IrValue step_vector(std::int64_t lanes);

  // A conversion by one instruction: "sitofp", "zext".
  IrValue cast(std::string_view instruction, const IrValue& code, DType to);
  // Casts to or from a type of memory: "trunc", "i8".
  std::string cast(std::string_view instruction, std::string_view from, const std::string& text,
                   std::string_view to, std::int64_t lanes);

  // An alloca in the entry block. `align`: bytes; 0: LLVM's default.
  std::string create_alloca(const std::string& type, std::int64_t align = 0);

  // Basic blocks. begin_block() begins the block of that name, after the previous one was
  // terminated.
  std::string fresh_label(std::string_view prefix);
  void begin_block(const std::string& label);
  void branch_to(const std::string& label) { emit("br label %" + label); }
  void branch_if(const IrValue& condition, const std::string& yes, const std::string& no);
  const std::string& block() const { return block_; }

  void declare(std::string text) { declarations_.add(std::move(text)); }

  // Everything between the function's braces.
  LocatedText text() const;

 private:
  Declarations& declarations_;
  LocatedText allocas_, body_;
  std::uint32_t location_ = loop::kUnknownLocation;
  std::string block_ = "entry";
  int results_ = 0, labels_ = 0, alloca_count_ = 0;
};

}  // namespace recut::llvm_ir
