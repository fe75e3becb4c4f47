// Types and arguments of torch.export's schema as those of an fx-joint-graph (exported_values.h).
//
//   {"as_ints": [0, 1]}                =>  [0,1]
//   {"as_tensors": [{"name": "x"}]}    =>  [{"node":"x"}]
//   {"as_scalar_type": 7}              =>  {"dtype":"float32"}
//
// Numbers of dtypes, layouts and memory formats are the schema's own,
// torch/_export/serde/schema.py; very old files have their names instead. The joint form has no
// argument for an object or a dictionary: it keeps its key, and only a call of an unknown operator
// can have it.
#include "engine/input/exported_values.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "engine/input/printed_values.h"
#include "engine/input/sympy_text.h"
#include "engine/support/text.h"

namespace recut {
namespace {

struct NumberedName {
  std::int64_t number;
  std::string_view old_name, name;
};
constexpr NumberedName kExportedDTypes[] = {{1, "BYTE", "uint8"},
                                            {2, "CHAR", "int8"},
                                            {3, "SHORT", "int16"},
                                            {4, "INT", "int32"},
                                            {5, "LONG", "int64"},
                                            {6, "HALF", "float16"},
                                            {7, "FLOAT", "float32"},
                                            {8, "DOUBLE", "float64"},
                                            {9, "COMPLEXHALF", "complex32"},
                                            {10, "COMPLEXFLOAT", "complex64"},
                                            {11, "COMPLEXDOUBLE", "complex128"},
                                            {12, "BOOL", "bool"},
                                            {13, "BFLOAT16", "bfloat16"},
                                            {28, "UINT16", "uint16"},
                                            {29, "FLOAT8E4M3FN", "float8_e4m3fn"},
                                            {30, "FLOAT8E5M2", "float8_e5m2"},
                                            {31, "FLOAT8E4M3FNUZ", "float8_e4m3fnuz"},
                                            {32, "FLOAT8E5M2FNUZ", "float8_e5m2fnuz"}};
constexpr NumberedName kExportedLayouts[] = {
    {1, "SparseCoo", "sparse_coo"}, {2, "SparseCsr", "sparse_csr"}, {3, "SparseCsc", "sparse_csc"},
    {4, "SparseBsr", "sparse_bsr"}, {5, "SparseBsc", "sparse_bsc"}, {6, "_mkldnn", "_mkldnn"},
    {7, "Strided", "strided"}};
constexpr NumberedName kExportedFormats[] = {{1, "ContiguousFormat", "contiguous_format"},
                                             {2, "ChannelsLast", "channels_last"},
                                             {3, "ChannelsLast3d", "channels_last_3d"},
                                             {4, "PreserveFormat", "preserve_format"}};

template <std::size_t N>
Result<std::string> numbered(const NumberedName (&table)[N], JsonValue value,
                             std::string_view what) {
  for (const NumberedName& row : table) {
    const bool by_number = value.is(JsonKind::integer) && value.integer() == row.number;
    const bool by_name = value.is(JsonKind::text) && value.text() == row.old_name;
    if (by_number || by_name) return std::string(row.name);
  }
  if (value.is(JsonKind::integer))
    return error(fmt::format("{} has the number {}, which this version doesn't know", what,
                             value.integer()));
  return error(fmt::format("{} is {}, expected its number", what,
                           value.present() ? describe(value.kind()) : "missing"));
}

// An array of `kind`s is written "as_" and the plural.
struct Plural {
  std::string_view list, item;
};
constexpr Plural kPlurals[] = {{"as_tensors", "as_tensor"},
                               {"as_ints", "as_int"},
                               {"as_floats", "as_float"},
                               {"as_bools", "as_bool"},
                               {"as_strings", "as_string"},
                               {"as_sym_ints", "as_sym_int"},
                               {"as_sym_bools", "as_sym_bool"},
                               {"as_sym_floats", "as_sym_float"},
                               {"as_optional_tensors", "as_optional_tensor"},
                               {"as_nested_tensors", "as_tensors"},
                               {"as_int_lists", "as_ints"}};

// "" where `kind` is no list.
std::string_view item_kind(std::string_view kind) {
  for (const Plural& plural : kPlurals)
    if (plural.list == kind) return plural.item;
  return {};
}

std::string tagged(std::string_view tag, std::string_view text) {
  std::string json = fmt::format("{{\"{}\":", tag);
  append_json_text(text, json);
  return json + "}";
}

Diagnostic wrong(std::string_view kind, JsonValue found) {
  return error(
      fmt::format("{} is {}", quote(kind), found.present() ? describe(found.kind()) : "missing"));
}

// A real number keeps a point or an exponent: an int would be another argument.
Result<std::string> real_text(JsonValue value) {
  if (value.is(JsonKind::integer)) return fmt::format("{}.0", value.integer());
  if (value.is(JsonKind::text)) {
    const std::string_view text = value.text();
    if (text == "Infinity") return tagged("float", "inf");
    if (text == "-Infinity") return tagged("float", "-inf");
    if (text == "NaN") return tagged("float", "nan");
  }
  if (!value.is(JsonKind::real)) return wrong("as_float", value);
  const std::string text = fmt::format("{}", value.real());
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

Result<std::string> device_text(JsonValue value) {
  const std::string_view type = text_of(value, "type");
  const JsonValue index = member_of(value, "index");
  if (type.empty()) return wrong("as_device", value);
  if (!index.is(JsonKind::integer) || index.integer() == 0) return std::string(type);
  return fmt::format("{}:{}", type, index.integer());
}

}  // namespace

JsonValue member_of(JsonValue object, std::string_view key) {
  if (object.is(JsonKind::object))
    for (const JsonMember member : object.items())
      if (member.key == key) return member.value;
  return {};
}

std::string_view text_of(JsonValue object, std::string_view key) {
  const JsonValue value = member_of(object, key);
  return value.is(JsonKind::text) ? value.text() : std::string_view();
}

JsonMember chosen_of(JsonValue value) {
  if (value.is(JsonKind::object) && value.size() == 1) return *value.items().begin();
  return {};
}

Result<std::string> ExportedValues::size(JsonValue value) {
  const JsonMember chosen = chosen_of(value);
  if (chosen.key == "as_int" && chosen.value.is(JsonKind::integer))
    return std::to_string(chosen.value.integer());
  if (chosen.key != "as_expr") return error("a size is neither 'as_int' nor 'as_expr'");
  const JsonValue text = member_of(chosen.value, "expr_str");
  if (!text.is(JsonKind::text)) return wrong("expr_str", text);
  auto known = known_.find(text.text());
  if (known == known_.end()) {
    auto expression = read_sympy_text(text.text());
    if (!expression) return expression;
    std::string json;
    append_json_text(*expression, json);
    known = known_.emplace(text.text(), std::move(json)).first;
  }
  const JsonValue hint = member_of(member_of(chosen.value, "hint"), "as_int");
  if (const auto name = symbol_of_sympy_text(text.text())) {
    Symbol& symbol = symbols_[*name];
    if (!symbol.hint && hint.is(JsonKind::integer)) symbol.hint = hint.integer();
  }
  return known->second;
}

Result<std::string> ExportedValues::sizes(JsonValue list) {
  if (!list.is(JsonKind::array)) return wrong("sizes", list);
  std::string json = "[";
  for (const JsonMember item : list.items()) {
    auto one = size(item.value);
    if (!one) return one;
    if (json.size() > 1) json += ',';
    json += *one;
  }
  return json + "]";
}

Result<std::string> ExportedValues::type(JsonValue meta) {
  const auto dtype = numbered(kExportedDTypes, member_of(meta, "dtype"), "a dtype");
  if (!dtype) return dtype;
  const auto layout = numbered(kExportedLayouts, member_of(meta, "layout"), "a layout");
  if (!layout) return layout;
  if (*layout != "strided")
    return error(fmt::format("its layout is {}, expected 'strided'", quote(*layout)));
  const auto shape = sizes(member_of(meta, "sizes"));
  if (!shape) return shape;
  const auto strides = sizes(member_of(meta, "strides"));
  if (!strides) return strides;
  const auto device = device_text(member_of(meta, "device"));
  if (!device) return device;
  std::string json =
      fmt::format(R"({{"dtype":"{}","shape":{},"stride":{},"device":)", *dtype, *shape, *strides);
  append_json_text(*device, json);
  return json + "}";
}

bool ExportedValues::is_differentiable(JsonValue meta) const {
  const auto dtype = numbered(kExportedDTypes, member_of(meta, "dtype"), "a dtype");
  return dtype && (dtype->find("float") != std::string::npos || dtype->starts_with("complex"));
}

Result<std::string> ExportedValues::number(JsonValue value, bool real) {
  const JsonMember chosen = chosen_of(value);
  if (chosen.key == "as_expr") {
    auto expression = size(value);
    if (!expression) return expression;
    return fmt::format(R"({{"sym":{},"type":"{}"}})", *expression, real ? "SymFloat" : "SymInt");
  }
  auto plain = chosen.key == "as_float" ? real_text(chosen.value) : size(value);
  if (!plain) return plain;
  return fmt::format(R"({{"scalar":{}}})", *plain);
}

Result<std::string> ExportedValues::list(JsonValue items, std::string_view kind,
                                         const Resolve& resolve) {
  if (!items.is(JsonKind::array)) return wrong(kind, items);
  std::string json = "[";
  for (const JsonMember member : items.items()) {
    auto one = plain({kind, member.value}, resolve);
    if (!one) return one;
    if (json.size() > 1) json += ',';
    json += *one;
  }
  return json + "]";
}

Result<std::string> ExportedValues::argument(JsonValue value, const Resolve& resolve) {
  const JsonMember chosen = chosen_of(value);
  if (chosen.key.empty()) return error("an argument is no object with one member");
  return plain(chosen, resolve);
}

Result<std::vector<std::string>> ExportedValues::arguments(JsonValue value,
                                                           const Resolve& resolve) {
  const JsonMember chosen = chosen_of(value);
  const std::string_view kind = item_kind(chosen.key);
  std::vector<std::string> found;
  if (kind.empty() || !chosen.value.is(JsonKind::array)) {
    auto one = argument(value, resolve);
    if (!one) return one.diagnostics();
    found.push_back(std::move(*one));
    return found;
  }
  for (const JsonMember member : chosen.value.items()) {
    auto one = plain({kind, member.value}, resolve);
    if (!one) return one.diagnostics();
    found.push_back(std::move(*one));
  }
  return found;
}

Result<std::string> ExportedValues::plain(const JsonMember& chosen, const Resolve& resolve) {
  const std::string_view kind = chosen.key;
  const JsonValue value = chosen.value;
  if (const std::string_view item = item_kind(kind); !item.empty())
    return list(value, item, resolve);
  if (kind == "as_tensor") {
    const std::string_view name = text_of(value, "name");
    return name.empty() ? Result<std::string>(wrong(kind, value)) : resolve(name);
  }
  if (kind == "as_sym_int" || kind == "as_sym_bool" || kind == "as_sym_float" ||
      kind == "as_optional_tensor") {
    const JsonMember inner = chosen_of(value);
    if (inner.key != "as_name") return plain(inner, resolve);
    if (inner.value.is(JsonKind::text)) return resolve(inner.value.text());
    return wrong(kind, value);
  }
  if (kind == "as_string_to_argument") return dictionary(value, resolve);
  return constant(chosen);
}

// An argument that names no other value.
Result<std::string> ExportedValues::constant(const JsonMember& chosen) {
  const std::string_view kind = chosen.key;
  const JsonValue value = chosen.value;
  const auto tag = [](std::string_view key, const Result<std::string>& text) {
    return text ? Result<std::string>(tagged(key, *text)) : text;
  };
  if (kind == "as_none") return std::string("null");
  if (kind == "as_int" && value.is(JsonKind::integer)) return std::to_string(value.integer());
  if (kind == "as_float") return real_text(value);
  if (kind == "as_bool" && value.is(JsonKind::boolean))
    return std::string(value.boolean() ? "true" : "false");
  if (kind == "as_scalar_type") return tag("dtype", numbered(kExportedDTypes, value, "a dtype"));
  if (kind == "as_layout") return tag("layout", numbered(kExportedLayouts, value, "a layout"));
  if (kind == "as_memory_format")
    return tag("memory_format", numbered(kExportedFormats, value, "a memory format"));
  if (kind == "as_device") return tag("device", device_text(value));
  if (kind == "as_custom_obj") return tagged("object", text_of(value, "name"));
  if ((kind == "as_string" || kind == "as_operator") && value.is(JsonKind::text)) {
    std::string json;
    append_json_text(value.text(), json);
    return json;
  }
  if (kind == "as_complex") {
    const auto real = real_text(member_of(value, "real"));
    const auto imag = real_text(member_of(value, "imag"));
    if (!real || !imag) return wrong(kind, value);
    return fmt::format(R"({{"complex":[{},{}]}})", *real, *imag);
  }
  if (kind == "as_int" || kind == "as_bool" || kind == "as_string" || kind == "as_operator")
    return wrong(kind, value);
  return error(fmt::format("it is of kind {}, which this version doesn't know", quote(kind)));
}

Result<std::string> ExportedValues::dictionary(JsonValue object, const Resolve& resolve) {
  if (!object.is(JsonKind::object)) return wrong("as_string_to_argument", object);
  std::string json = "{\"dict\":{";
  for (const JsonMember member : object.items()) {
    auto one = argument(member.value, resolve);
    if (!one) return one;
    if (json.back() != '{') json += ',';
    append_json_text(member.key, json);
    json += ':' + *one;
  }
  return json + "}}";
}

}  // namespace recut
