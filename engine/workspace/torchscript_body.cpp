#include "engine/workspace/torchscript_body.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>

namespace recut {
namespace {

// A dtype's name in types, and its number as an argument (c10::ScalarType).
struct ScriptDType {
  DType dtype;
  std::string_view name;
  int number;
};
constexpr ScriptDType kScriptDTypes[] = {
    {DType::u8, "Byte", 0},          {DType::i8, "Char", 1},
    {DType::i16, "Short", 2},        {DType::i32, "Int", 3},
    {DType::i64, "Long", 4},         {DType::f16, "Half", 5},
    {DType::f32, "Float", 6},        {DType::f64, "Double", 7},
    {DType::c64, "ComplexFloat", 9}, {DType::c128, "ComplexDouble", 10},
    {DType::boolean, "Bool", 11},    {DType::bf16, "BFloat16", 15}};

const ScriptDType* script_dtype(DType dtype) {
  const auto* const it = std::find_if(std::begin(kScriptDTypes), std::end(kScriptDTypes),
                                      [&](const ScriptDType& one) { return one.dtype == dtype; });
  return it == std::end(kScriptDTypes) ? nullptr : it;
}

// Words that TorchScript's lexer takes for itself.
constexpr std::string_view kReserved[] = {
    "False",    "None",     "True",   "and",    "as",     "assert", "break",  "class",
    "continue", "def",      "del",    "delete", "elif",   "else",   "except", "finally",
    "for",      "from",     "global", "if",     "import", "in",     "inline", "is",
    "lambda",   "nonlocal", "not",    "or",     "pass",   "print",  "raise",  "return",
    "try",      "while",    "with",   "yield",  "async",  "await"};

}  // namespace

std::string script_type(const TensorType& type) {
  const ScriptDType* const dtype = script_dtype(type.dtype);
  if (dtype == nullptr) return "Tensor";
  if (type.shape.empty()) return fmt::format("{}()", dtype->name);
  return fmt::format("{}({}, strides=[{}])", dtype->name, fmt::join(type.shape, ", "),
                     fmt::join(type.strides, ", "));
}

int script_dtype_number(DType dtype) {
  const ScriptDType* const known = script_dtype(dtype);
  return known == nullptr ? -1 : known->number;
}

std::string ScriptBody::new_name(const std::string& text) {
  std::string base;
  for (const char c : text) base += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  const bool digit = base.empty() || std::isdigit(static_cast<unsigned char>(base[0])) != 0;
  if (digit) base = "v" + base;
  if (std::find(std::begin(kReserved), std::end(kReserved), base) != std::end(kReserved))
    base += "_";
  std::string name = base;
  for (int i = 1; !taken_.insert(name).second; ++i) name = fmt::format("{}_{}", base, i);
  return name;
}

// A constant of a type, written before its first use.
std::string ScriptBody::constant(const std::string& type, const std::string& attribute) {
  const auto [it, is_new] = constants_.try_emplace({type, attribute});
  if (is_new) {
    it->second = number();
    const std::string written = attribute.empty() ? "" : fmt::format("[value={}]", attribute);
    add({fmt::format("{} : {}", it->second, type)}, "prim::Constant" + written, {});
  }
  return it->second;
}

std::string ScriptBody::integer(std::int64_t number) {
  return constant("int", fmt::format("{}", number));
}

std::string ScriptBody::text(const std::string& type, std::string_view value) {
  std::string quoted;
  for (const char c : value)
    quoted += c == '"' || c == '\\' ? fmt::format("\\{}", c) : std::string(1, c);
  return constant(type, fmt::format("\"{}\"", quoted));
}

// The reader has no literal for an infinity or a NaN; both come from texts, as in Python.
std::string ScriptBody::real(double number) {
  if (!std::isfinite(number)) {
    const std::string operand = text("str", std::isnan(number) ? "nan"
                                            : number > 0       ? "inf"
                                                               : "-inf");
    return made("float", "aten::Float", {operand});
  }
  std::string digits = fmt::format("{}", number);
  if (digits.find_first_of(".e") == std::string::npos) digits += ".0";
  return constant("float", digits);
}

std::string ScriptBody::integers(const std::vector<std::int64_t>& numbers) {
  std::vector<std::string> items;
  for (const std::int64_t number : numbers) items.push_back(integer(number));
  return made("int[]", "prim::ListConstruct", items);
}

std::string ScriptBody::made(const std::string& type, const std::string& op,
                             const std::vector<std::string>& operands) {
  std::string name = number();
  add({fmt::format("{} : {}", name, type)}, op, operands);
  return name;
}

void ScriptBody::add(const std::vector<std::string>& values, const std::string& op,
                     const std::vector<std::string>& operands) {
  lines_ += fmt::format("  {} = {}({})\n", fmt::join(values, ", "), op, fmt::join(operands, ", "));
}

}  // namespace recut
