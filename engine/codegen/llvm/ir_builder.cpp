// LLVM IR is written as text rather than by LLVM's own IRBuilder, so that the emitter runs where no
// LLVM is linked: in the browser, and in tools that only show the code. Operands of different
// widths are splatted to the widest one when an instruction is created; constants become vector
// constants.
#include "engine/codegen/llvm/ir_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "engine/support/check.h"

namespace recut::llvm_ir {
namespace {

std::string_view element_name(DType type) {
  switch (type) {
    case DType::f64:
      return "double";
    case DType::f32:
      return "float";
    case DType::i64:
      return "i64";
    case DType::i32:
      return "i32";
    case DType::boolean:
      return "i1";
    default:
      break;
  }
  RECUT_CHECK(false, "values have value types");
}

IrValue constant(DType type, const std::string& number, std::int64_t lanes) {
  if (lanes == 1) return {number, type, 1};
  std::string list;
  for (std::int64_t lane = 0; lane < lanes; ++lane)
    list += fmt::format("{}{} {}", lane == 0 ? "" : ", ", element_name(type), number);
  return {"<" + list + ">", type, lanes};
}

}  // namespace

std::string type_name(std::string_view element, std::int64_t lanes) {
  return lanes == 1 ? std::string(element) : fmt::format("<{} x {}>", lanes, element);
}

std::string type_name(DType type, std::int64_t lanes) {
  return type_name(element_name(type), lanes);
}

std::string suffix(DType type, std::int64_t lanes) {
  const std::string_view name = type == DType::boolean ? "i1" : short_name(type);
  return lanes == 1 ? std::string(name) : fmt::format("v{}{}", lanes, name);
}

std::string literal(DType type, double real, std::int64_t integer) {
  if (type == DType::boolean) return integer != 0 ? "true" : "false";
  if (!is_floating(type)) return fmt::format("{}", integer);
  if (type == DType::f32) real = static_cast<float>(real);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &real, sizeof bits);
  return fmt::format("0x{:016X}", bits);
}

void LocatedText::add(std::string_view line, std::uint32_t location) {
  text.append(line) += '\n';
  locations.push_back(location);
}

void LocatedText::add_lines(std::string_view lines) {
  text += lines;
  locations.resize(
      locations.size() + static_cast<std::size_t>(std::count(lines.begin(), lines.end(), '\n')),
      loop::kUnknownLocation);
}

void LocatedText::add(const LocatedText& more) {
  text += more.text;
  locations.insert(locations.end(), more.locations.begin(), more.locations.end());
}

std::string Declarations::text() const {
  std::string text;
  for (const std::string& line : lines_) text += "declare " + line + "\n";
  return text;
}

std::string IrBuilder::create(const std::string& text) {
  std::string name = fmt::format("%v{}", results_++);
  emit(name + " = " + text);
  return name;
}

IrValue IrBuilder::apply(std::string_view instruction, DType result, const IrValue& a) {
  return create(result, a.lanes, fmt::format("{} {} {}", instruction, type_name(a), a.text));
}

IrValue IrBuilder::apply(std::string_view instruction, DType result, const IrValue& a,
                         const IrValue& b) {
  const std::int64_t lanes = std::max(a.lanes, b.lanes);
  const IrValue left = splat(a, lanes), right = splat(b, lanes);
  return create(result, lanes,
                fmt::format("{} {} {}, {}", instruction, type_name(left), left.text, right.text));
}

IrValue IrBuilder::select(const IrValue& condition, const IrValue& a, const IrValue& b) {
  const std::int64_t lanes = std::max({condition.lanes, a.lanes, b.lanes});
  // A scalar condition selects whole vectors.
  const IrValue left = splat(a, lanes), right = splat(b, lanes);
  return create(left.type, lanes,
                fmt::format("select {} {}, {} {}, {} {}", type_name(condition), condition.text,
                            type_name(left), left.text, type_name(right), right.text));
}

IrValue IrBuilder::intrinsic(std::string_view name, const std::vector<IrValue>& operands) {
  std::int64_t lanes = 1;
  for (const IrValue& operand : operands) lanes = std::max(lanes, operand.lanes);
  const std::string type = type_name(operands.front().type, lanes);
  const std::string full = fmt::format("@{}.{}", name, suffix(operands.front().type, lanes));
  std::string given, taken;
  for (const IrValue& operand : operands) {
    const char* comma = given.empty() ? "" : ", ";
    given += fmt::format("{}{} {}", comma, type, splat(operand, lanes).text);
    taken += comma + type;
  }
  declare(fmt::format("{} {}({})", type, full, taken));
  return create(operands.front().type, lanes, fmt::format("call {} {}({})", type, full, given));
}

IrValue IrBuilder::call_per_lane(std::string_view name, DType result,
                                 const std::vector<IrValue>& operands) {
  std::int64_t lanes = 1;
  std::string taken;
  for (const IrValue& operand : operands) {
    lanes = std::max(lanes, operand.lanes);
    taken += (taken.empty() ? "" : ", ") + type_name(operand.type, 1);
  }
  declare(fmt::format("{} @{}({})", type_name(result, 1), name, taken));
  IrValue all{"poison", result, lanes};
  for (std::int64_t lane = 0; lane < lanes; ++lane) {
    std::string given;
    for (const IrValue& operand : operands) {
      const IrValue one = operand.lanes == 1 ? operand : extract(operand, lane);
      given += fmt::format("{}{} {}", given.empty() ? "" : ", ", type_name(one), one.text);
    }
    const IrValue made =
        create(result, 1, fmt::format("call {} @{}({})", type_name(result, 1), name, given));
    if (lanes == 1) return made;
    all = insert(all, made, lane);
  }
  return all;
}

IrValue IrBuilder::real(DType type, double number, std::int64_t lanes) {
  return constant(type, literal(type, number, 0), lanes);
}
IrValue IrBuilder::integer(DType type, std::int64_t number, std::int64_t lanes) {
  return constant(type, literal(type, 0, number), lanes);
}

IrValue IrBuilder::splat(const IrValue& code, std::int64_t lanes) {
  if (code.lanes == lanes) return code;
  RECUT_CHECK(code.lanes == 1, "lanes of one width meet");
  if (code.text.front() != '%') return constant(code.type, code.text, lanes);
  const std::string vector = type_name(code.type, lanes);
  const std::string first = create(
      fmt::format("insertelement {} poison, {} {}, i64 0", vector, type_name(code), code.text));
  return create(code.type, lanes,
                fmt::format("shufflevector {0} {1}, {0} poison, {2} zeroinitializer", vector, first,
                            type_name(DType::i32, lanes)));
}

IrValue IrBuilder::extract(const IrValue& code, std::int64_t lane) {
  return create(code.type, 1,
                fmt::format("extractelement {} {}, i64 {}", type_name(code), code.text, lane));
}

IrValue IrBuilder::insert(const IrValue& into, const IrValue& number, std::int64_t lane) {
  return create(into.type, into.lanes,
                fmt::format("insertelement {} {}, {} {}, i64 {}", type_name(into), into.text,
                            type_name(number), number.text, lane));
}

IrValue IrBuilder::step_vector(std::int64_t lanes) {
  std::string list;
  for (std::int64_t lane = 0; lane < lanes; ++lane)
    list += fmt::format("{}i64 {}", lane == 0 ? "" : ", ", lane);
  return {lanes == 1 ? "0" : "<" + list + ">", DType::i64, lanes};
}

IrValue IrBuilder::cast(std::string_view instruction, const IrValue& code, DType to) {
  return create(to, code.lanes,
                fmt::format("{} {} {} to {}", instruction, type_name(code), code.text,
                            type_name(to, code.lanes)));
}

std::string IrBuilder::cast(std::string_view instruction, std::string_view from,
                            const std::string& text, std::string_view to, std::int64_t lanes) {
  return create(fmt::format("{} {} {} to {}", instruction, type_name(from, lanes), text,
                            type_name(to, lanes)));
}

std::string IrBuilder::create_alloca(const std::string& type, std::int64_t align) {
  std::string name = fmt::format("%a{}", alloca_count_++);
  allocas_.add(fmt::format("  {} = alloca {}{}", name, type,
                           align > 0 ? fmt::format(", align {}", align) : ""),
               location_);
  return name;
}

std::string IrBuilder::fresh_label(std::string_view prefix) {
  return fmt::format("{}{}", prefix, labels_++);
}

LocatedText IrBuilder::text() const {
  LocatedText all;
  all.add("entry:");
  all.add(allocas_);
  all.add(body_);
  return all;
}

void IrBuilder::begin_block(const std::string& label) {
  body_.add(label + ":", location_);
  block_ = label;
}

void IrBuilder::branch_if(const IrValue& condition, const std::string& yes, const std::string& no) {
  emit(fmt::format("br i1 {}, label %{}, label %{}", condition.text, yes, no));
}

}  // namespace recut::llvm_ir
