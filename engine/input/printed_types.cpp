// Annotations of printed graphs (printed_values.h). Sizes stay expressions: symbols.h has their
// values.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "engine/input/printed_values.h"
#include "engine/support/text.h"

namespace recut {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 24> kPrintedDtypes = {
    {{"bf16", "bfloat16"},
     {"f16", "float16"},
     {"f32", "float32"},
     {"f64", "float64"},
     {"f8e4m3fn", "float8_e4m3fn"},
     {"f8e5m2", "float8_e5m2"},
     {"f8e4m3fnuz", "float8_e4m3fnuz"},
     {"f8e5m2fnuz", "float8_e5m2fnuz"},
     {"f8e8m0fnu", "float8_e8m0fnu"},
     {"f4e2m1fnx2", "float4_e2m1fn_x2"},
     {"c32", "complex32"},
     {"c64", "complex64"},
     {"c128", "complex128"},
     {"i8", "int8"},
     {"i16", "int16"},
     {"i32", "int32"},
     {"i64", "int64"},
     {"u8", "uint8"},
     {"u16", "uint16"},
     {"u32", "uint32"},
     {"u64", "uint64"},
     {"b8", "bool"},
     {"b16", "bits16"},
     {"b1x8", "bits1x8"}}};

bool in_size_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// "s17", "u0", "zuf3": the name of a symbol, as PyTorch makes them.
bool is_symbol(std::string_view word) {
  const std::size_t digits = word.find_first_of("0123456789");
  if (digits == std::string_view::npos ||
      word.find_first_not_of("0123456789", digits) != std::string_view::npos)
    return false;
  const std::string_view kind = word.substr(0, digits);
  return kind == "s" || kind == "u" || kind == "zf" || kind == "zuf";
}

// Sees the symbols of an expression.
template <class See>
void each_symbol(std::string_view expression, const See& see) {
  for (std::size_t at = 0; at < expression.size();) {
    std::size_t end = at;
    while (end < expression.size() && in_size_name(expression[end])) ++end;
    if (end == at) {
      ++at;
      continue;
    }
    if (const std::string_view word = expression.substr(at, end - at); is_symbol(word)) see(word);
    at = end;
  }
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

bool all_figures(std::string_view text) {
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  return !digits.empty() && (digits.size() == 1 || digits[0] != '0') &&
         digits.find_first_not_of("0123456789") == std::string_view::npos;
}

// Takes "[8, Max(1, s5)]" from the front, and appends [8, "Max(1, s5)"]. False if it isn't closed.
bool take_sizes(std::string_view& text, std::string& json,
                std::set<std::string, std::less<>>& symbols) {
  std::size_t depth = 0, from = 1, at = 0;
  json += '[';
  const auto add = [&](std::string_view size) {
    if (json.back() != '[') json += ',';
    if (all_figures(size))
      json += size;
    else
      append_json_text(size, json);
    each_symbol(size, [&](std::string_view symbol) { symbols.emplace(symbol); });
  };
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '[' || c == '(') ++depth;
    const bool closes = (c == ']' || c == ')') && --depth == 0;
    if (!closes && (c != ',' || depth != 1)) continue;
    if (const std::string_view size = trimmed(text.substr(from, at - from));
        !size.empty() || c == ',' || json.back() != '[')
      add(size);
    from = at + 1;
    if (closes) break;
  }
  if (at >= text.size() || text[at] != ']') return false;
  json += ']';
  text.remove_prefix(at + 1);
  return true;
}

Diagnostic no_type(std::string_view annotation) {
  const std::size_t paren = annotation.find('(');
  const std::size_t bracket = annotation.find('[');
  if (paren != std::string_view::npos && (bracket == std::string_view::npos || paren < bracket))
    return error(
        fmt::format("the annotation {} is of class {}, expected a plain tensor like \"f32[8, "
                    "32][32, 1]cuda:0\"",
                    quote(annotation), quote(annotation.substr(0, paren))));
  return error(fmt::format("the annotation {} found, expected one like \"f32[8, 32][32, 1]cuda:0\"",
                           quote(annotation)));
}

}  // namespace

Result<PrintedType> read_printed_type(std::string_view annotation,
                                      std::set<std::string, std::less<>>& symbols) {
  PrintedType type;
  std::string_view text = trimmed(annotation);
  if (text.starts_with("Sym(") && text.ends_with(')')) {
    text = text.substr(4, text.size() - 5);
    type.number = true;
    each_symbol(text, [&](std::string_view symbol) { type.real |= symbol.starts_with('z'); });
    append_json_text(text, type.json);
    return type;
  }
  const std::string_view name = text.substr(0, std::min(text.find('['), text.size()));
  const auto* known = std::find_if(kPrintedDtypes.begin(), kPrintedDtypes.end(),
                                   [&](const auto& pair) { return pair.first == name; });
  if (known == kPrintedDtypes.end() || name.size() == text.size()) return no_type(annotation);
  text.remove_prefix(name.size());
  type.json = fmt::format("{{\"dtype\": \"{}\", \"shape\": ", known->second);
  if (!take_sizes(text, type.json, symbols)) return no_type(annotation);
  type.strides = text.starts_with('[');
  if (type.strides) {
    type.json += ", \"stride\": ";
    if (!take_sizes(text, type.json, symbols)) return no_type(annotation);
  }
  if (!text.empty()) {
    type.json += ", \"device\": ";
    append_json_text(plain_device(text), type.json);
  }
  type.json += '}';
  return type;
}

}  // namespace recut
