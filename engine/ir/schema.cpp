#include "engine/ir/schema.h"

#include <charconv>
#include <cstdlib>

namespace recut {
namespace {

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// Splits at commas that stand outside brackets.
std::vector<std::string_view> split_top_level(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t start = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == ',' && depth == 0)) {
      const std::string_view part = trim(text.substr(start, i - start));
      if (!part.empty()) parts.push_back(part);
      start = i + 1;
    } else if (text[i] == '[' || text[i] == '(') {
      ++depth;
    } else if (text[i] == ']' || text[i] == ')') {
      --depth;
    }
  }
  return parts;
}

ParameterKind kind_of(std::string_view type) {
  if (type == "Tensor") return ParameterKind::tensor;
  if (type == "int" || type == "SymInt") return ParameterKind::integer;
  if (type == "float") return ParameterKind::real;
  if (type == "Scalar") return ParameterKind::scalar;
  if (type == "bool") return ParameterKind::boolean;
  if (type == "ScalarType") return ParameterKind::dtype;
  const bool text = type == "str" || type == "Layout" || type == "Device" ||
                    type == "MemoryFormat" || type == "Generator";
  RECUT_CHECK(text, "unknown type in a schema of the operator table");
  return ParameterKind::text;
}

Argument parse_default(std::string_view text) {
  if (text == "None") return None{};
  if (text == "True") return true;
  if (text == "False") return false;
  if (text == "Mean") return std::int64_t{1};  // at::Reduction, which fx writes as a number
  if (text.front() == '\'') return std::string(text.substr(1, text.size() - 2));
  if (text.front() == '[') {
    ArgumentList items;
    for (std::string_view part : split_top_level(text.substr(1, text.size() - 2)))
      items.push_back(parse_default(part));
    return items;
  }
  std::int64_t integer = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), integer);
  if (failure == std::errc() && end == text.data() + text.size()) return integer;
  char* after = nullptr;
  const std::string copy(text);
  const double real = std::strtod(copy.c_str(), &after);
  if (*after == '\0') return real;
  const bool quoted = copy.size() >= 2 && (copy.front() == '\'' || copy.front() == '"');
  return quoted ? copy.substr(1, copy.size() - 2) : copy;
}

// Parses a parameter such as "int[2]? stride=1".
Parameter parse_parameter(std::string_view text, bool keyword_only) {
  Parameter p;
  p.keyword_only = keyword_only;
  const std::size_t equals = text.find('=');
  if (equals != std::string_view::npos) {
    p.has_default = true;
    p.default_value = parse_default(text.substr(equals + 1));
    text = text.substr(0, equals);
  }
  const std::size_t space = text.rfind(' ');
  RECUT_CHECK(space != std::string_view::npos, "a parameter of a schema needs a type and a name");
  p.name = text.substr(space + 1);
  std::string_view type = text.substr(0, space);
  if (type.ends_with('?')) {
    p.optional = true;
    type.remove_suffix(1);
  }
  const std::size_t bracket = type.find('[');
  if (bracket != std::string_view::npos) {
    p.list = true;
    type = type.substr(0, bracket);
    if (type.ends_with('?')) {
      p.optional_items = true;
      type.remove_suffix(1);
    }
  }
  p.kind = kind_of(type);
  return p;
}

void parse_name(std::string_view text, Schema& schema) {
  const std::size_t colons = text.find("::");
  if (colons != std::string_view::npos) {
    schema.name_space = text.substr(0, colons);
    text = text.substr(colons + 2);
  }
  const std::size_t dot = text.find('.');
  schema.name = text.substr(0, dot);
  if (dot != std::string_view::npos) schema.overload = text.substr(dot + 1);
}

void parse_returns(std::string_view text, Schema& schema) {
  if (text == "Tensor") return;
  if (text == "Tensor[]") {
    schema.returns_list = true;
    return;
  }
  RECUT_CHECK(text.starts_with('(') && text.ends_with(')'),
              "a schema returns Tensor, Tensor[] or (Tensor, …)");
  schema.outputs = split_top_level(text.substr(1, text.size() - 2)).size();
}

}  // namespace

Schema parse_schema(std::string_view text) {
  Schema schema;
  const std::size_t open = text.find('(');
  const std::size_t arrow = text.rfind("->");
  RECUT_CHECK(open != std::string_view::npos && arrow != std::string_view::npos,
              "a schema reads name(parameters) -> returns");
  parse_name(text.substr(0, open), schema);
  parse_returns(trim(text.substr(arrow + 2)), schema);
  const std::size_t close = text.rfind(')', arrow);
  bool keyword_only = false;
  for (std::string_view part : split_top_level(text.substr(open + 1, close - open - 1))) {
    if (part == "*")
      keyword_only = true;
    else
      schema.parameters.push_back(parse_parameter(part, keyword_only));
  }
  return schema;
}

}  // namespace recut
