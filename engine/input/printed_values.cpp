// Python literals and annotations of printed graphs, rewritten as the JSON that fx-joint-graph
// files have for them, so that one reader checks both:
//   (arg0_1, [1, None], torch.float16)   =>   {"node": "arg0_1"},[1,null],{"dtype":"float16"}
// Text is appended to one string, without a tree in between: a graph has millions of literals.
// Nesting is limited, since reading recurses.
#include "engine/input/printed_values.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/support/text.h"

namespace recut {
namespace {

constexpr std::string_view kValue = "a value";
constexpr std::string_view kOps = "torch.ops.";

bool is_json_number(std::string_view text, bool& real) {
  std::size_t at = 0;
  const auto digits = [&] {
    const std::size_t from = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
    return at - from;
  };
  const std::size_t whole = digits();
  if (whole == 0 || (whole > 1 && text[0] == '0')) return false;
  if (at < text.size() && text[at] == '.') {
    real = true;
    ++at;
    if (digits() == 0) return false;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    real = true;
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (digits() == 0) return false;
  }
  return at == text.size();
}

// True if a number is far beyond the largest f64: by the digits before its point, and its exponent.
bool is_beyond_reals(std::string_view text) {
  constexpr std::size_t kMaxDigits = 309;
  const std::size_t whole = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::size_t e = text.find_first_of("eE");
  std::string_view power = e == std::string_view::npos ? std::string_view() : text.substr(e + 1);
  if (power.starts_with('-')) return whole > kMaxDigits;
  std::size_t places = whole;
  if (power.starts_with('+')) power.remove_prefix(1);
  std::size_t exponent = 0;
  for (const char c : power)
    if (exponent <= kMaxDigits) exponent = exponent * 10 + static_cast<std::size_t>(c - '0');
  places += exponent;
  return places > kMaxDigits && text.find_first_of("123456789") < std::min(e, text.size());
}

// {"tag": "text"}
void append_tagged(std::string_view tag, std::string_view text, std::string& json) {
  json += "{\"";
  json += tag;
  json += "\": ";
  append_json_text(text, json);
  json += '}';
}

bool is_layout(std::string_view name) {
  return name == "strided" || name.starts_with("sparse_") || name == "jagged" || name == "_mkldnn";
}

bool is_memory_format(std::string_view name) {
  return name.ends_with("_format") || name.starts_with("channels_last");
}

}  // namespace

void append_json_text(std::string_view characters, std::string& json) {
  json += '"';
  for (const char c : characters) {
    if (c == '"' || c == '\\') json += '\\';
    if (static_cast<unsigned char>(c) < 0x20)
      json += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      json += c;
  }
  json += '"';
}

std::string_view plain_device(std::string_view device) {
  if (device.ends_with(":0")) device.remove_suffix(2);
  return device;
}

Diagnostic PythonValues::at(const PythonToken& token, std::string message) const {
  const LineColumn place = lexer_.place(token);
  return {std::move(message), {}, place.line, place.column};
}

Diagnostic PythonValues::unexpected(const PythonToken& found, std::string_view expected) const {
  return at(found, fmt::format("{} found, expected {}", describe(found), expected));
}

Result<Done> PythonValues::expect(std::string_view symbol) {
  if (!lexer_.peek().is(symbol)) return unexpected(lexer_.peek(), quote(symbol));
  lexer_.take();
  return Done{};
}

Result<Done> PythonValues::read(std::string& json, int depth) {
  const PythonToken& token = lexer_.peek();
  if (depth > kMaxPythonDepth)
    return at(token, fmt::format("brackets stand more than {} deep", kMaxPythonDepth));
  if (token.kind == PythonKind::number) return read_number(false, json);
  if (token.kind == PythonKind::name) return read_name(json, depth);
  if (token.is("-")) {
    lexer_.take();
    return read_number(true, json);
  }
  if (token.kind == PythonKind::text) {
    std::string characters;
    if (!unquote(token.text, characters))
      return at(token, "a string has an escape that Python lacks");
    append_json_text(characters, json);
    lexer_.take();
    return Done{};
  }
  if (token.is("{")) return read_dictionary(json, depth);
  if (!token.is("[") && !token.is("(")) return unexpected(token, kValue);
  const bool tuple = token.is("(");
  lexer_.take();
  std::string items;
  const auto listed = read_items(tuple ? ")" : "]", items, depth + 1);
  if (!listed) return listed.diagnostics();
  json += tuple && !*listed ? items : "[" + items + "]";
  return Done{};
}

Result<bool> PythonValues::read_items(std::string_view close, std::string& json, int depth) {
  bool comma = true, any = false, list = false;
  while (!lexer_.peek().is(close)) {
    if (!comma) return unexpected(lexer_.peek(), fmt::format("',' or '{}'", close));
    if (any) json += ',';
    if (const auto item = read(json, depth); !item) return item.diagnostics();
    any = true;
    comma = lexer_.peek().is(",");
    if (comma) lexer_.take();
    list = list || comma;
  }
  lexer_.take();
  return list || !any;
}

// A number, an imaginary one, or the sum or the difference of both: 2, -0.5j, 1+2j. The minus before
// an imaginary number is one before its real part 0, too.
Result<Done> PythonValues::read_number(bool negative, std::string& json) {
  std::string first, second;
  const auto imaginary = read_part(negative, first);
  if (!imaginary) return imaginary.diagnostics();
  if (*imaginary) {
    json += fmt::format("{{\"complex\": [{}, {}]}}", negative ? "-0.0" : "0.0", first);
    return Done{};
  }
  if (!lexer_.peek().is("+") && !lexer_.peek().is("-")) {
    json += first;
    return Done{};
  }
  const bool minus = lexer_.take().is("-");
  const PythonToken token = lexer_.peek();
  const auto next = read_part(minus, second);
  if (!next) return next.diagnostics();
  if (!*next) return unexpected(token, "an imaginary number like 2j");
  if (first == "-0") first = "-0.0";
  json += fmt::format("{{\"complex\": [{}, {}]}}", first, second);
  return Done{};
}

// Reads a number; true if it is imaginary.
Result<bool> PythonValues::read_part(bool negative, std::string& json) {
  const PythonToken token = lexer_.take();
  std::string_view text = token.text;
  const bool imaginary = text.size() > 1 && text.ends_with('j');
  if (imaginary) text.remove_suffix(1);
  if (text == "inf" || text == "nan") {
    real = true;
    append_tagged("float", negative && text == "inf" ? "-inf" : text, json);
    return imaginary;
  }
  if (token.kind != PythonKind::number) return unexpected(token, "a number");
  if (!is_json_number(text, real))
    return at(token, fmt::format("{} is no number that Recut reads", quote(token.text)));
  if (is_beyond_reals(text))
    return at(token, fmt::format("{} is too large for a number", quote(token.text)));
  if (negative) json += '-';
  json += text;
  if (imaginary && text.find_first_not_of('0') == std::string_view::npos) json += ".0";
  return imaginary;
}

Result<std::string> PythonValues::read_path() {
  std::string path;
  while (true) {
    if (lexer_.peek().kind != PythonKind::name) return unexpected(lexer_.peek(), "a name");
    path += lexer_.take().text;
    if (!lexer_.peek().is(".")) return path;
    lexer_.take();
    path += '.';
  }
}

Result<Done> PythonValues::read_name(std::string& json, int depth) {
  const PythonToken token = lexer_.peek();
  for (const std::string_view number : {"inf", "nan", "infj", "nanj"})
    if (token.is(number)) return read_number(false, json);
  const auto path = read_path();
  if (!path) return path.diagnostics();
  const bool called = lexer_.peek().is("(");
  if (called && (*path == "device" || *path == "torch.device")) return read_device(json, depth);
  if (called && (*path == "slice" || *path == "complex")) {
    lexer_.take();
    json += fmt::format("{{\"{}\": [", *path);
    const auto items = read_items(")", json, depth + 1);
    json += "]}";
    return items ? Result<Done>(Done{}) : items.diagnostics();
  }
  if (called)
    return at(token, fmt::format("a call of {} found, expected {}", quote(*path), kValue));
  if (*path == "None") {
    json += "null";
  } else if (*path == "True" || *path == "False") {
    json += *path == "True" ? "true" : "false";
  } else if (path->starts_with(kOps)) {
    append_json_text(std::string_view(*path).substr(kOps.size()), json);
  } else if (path->starts_with("torch.")) {
    const std::string_view name = std::string_view(*path).substr(6);
    append_tagged(is_layout(name)          ? "layout"
                  : is_memory_format(name) ? "memory_format"
                                           : "dtype",
                  name, json);
  } else if (path->find('.') != std::string::npos) {
    return at(token, fmt::format("{} found, expected {}", quote(*path), kValue));
  } else {
    const auto alias = aliases_.find(token.text);
    nodes.push_back(alias == aliases_.end() ? token.text : alias->second);
    append_tagged("node", nodes.back(), json);
  }
  return Done{};
}

// device(type='cuda', index=0)
Result<Done> PythonValues::read_device(std::string& json, int depth) {
  lexer_.take();
  std::string arguments, members;
  const PythonToken token = lexer_.peek();
  if (const auto call = read_call(arguments, members, depth + 1); !call) return call;
  const auto text_of = [&](std::string_view key) {
    const std::string begin = fmt::format("\"{}\": ", key);
    const std::size_t found = members.find(begin);
    if (found == std::string::npos) return std::string();
    const std::size_t from = found + begin.size();
    return members.substr(from, std::min(members.find(',', from), members.size()) - from);
  };
  std::string type = text_of("type"), index = text_of("index");
  if (type.empty()) type = arguments;
  if (type.size() < 3 || type.front() != '"' || type.back() != '"')
    return at(token, "a device without its type found, expected one like device(type='cuda')");
  std::string name = type.substr(1, type.size() - 2);
  if (!index.empty() && index != "null") name += ":" + index;
  append_tagged("device", plain_device(name), json);
  return Done{};
}

Result<Done> PythonValues::read_dictionary(std::string& json, int depth) {
  lexer_.take();
  json += '{';
  for (bool first = true; !lexer_.peek().is("}"); first = false) {
    if (!first) {
      if (const auto comma = expect(","); !comma) return comma;
      if (lexer_.peek().is("}")) break;
      json += ',';
    }
    const PythonToken key = lexer_.take();
    std::string characters(key.text);
    if (key.kind == PythonKind::text) {
      characters.clear();
      if (!unquote(key.text, characters)) return at(key, "a key has an escape that Python lacks");
    } else if (key.kind != PythonKind::number && key.kind != PythonKind::name) {
      return unexpected(key, "the key of a dictionary");
    }
    append_json_text(characters, json);
    json += ": ";
    if (const auto colon = expect(":"); !colon) return colon;
    if (const auto value = read(json, depth + 1); !value) return value;
  }
  lexer_.take();
  json += '}';
  return Done{};
}

Result<Done> PythonValues::read_call(std::string& arguments, std::string& keywords, int depth) {
  while (!lexer_.peek().is(")")) {
    const PythonToken first = lexer_.peek();
    const std::size_t before = nodes.size();
    std::string value;
    if (const auto read_one = read(value, depth); !read_one) return read_one;
    const bool named = first.kind == PythonKind::name && lexer_.peek().is("=");
    if (named) {
      nodes.resize(before);
      lexer_.take();
      if (!keywords.empty()) keywords += ',';
      append_json_text(first.text, keywords);
      keywords += ": ";
      if (const auto read_one = read(keywords, depth); !read_one) return read_one;
    } else if (!keywords.empty()) {
      return unexpected(first, "an argument by name, as after one by name");
    } else {
      if (!arguments.empty()) arguments += ',';
      arguments += value;
    }
    if (lexer_.peek().is(")")) break;
    if (!lexer_.peek().is(",")) return unexpected(lexer_.peek(), "',' or ')'");
    lexer_.take();
  }
  lexer_.take();
  return Done{};
}

}  // namespace recut
