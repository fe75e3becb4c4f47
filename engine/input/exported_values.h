// Types, sizes and arguments of an exported program (exported_program.h) as JSON of an
// fx-joint-graph.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/input/json.h"
#include "engine/input/symbols.h"
#include "engine/support/result.h"

namespace recut {

// A member of an object; absent if there is none, or the value is no object.
JsonValue member_of(JsonValue object, std::string_view key);
// Its text; "" if there is none or it is no string.
std::string_view text_of(JsonValue object, std::string_view key);

// The schema writes a choice as an object of one member, {"as_int": 3}. The key is "" for any other
// value.
JsonMember chosen_of(JsonValue value);

using ExportedSymbols = std::map<std::string, Symbol, std::less<>>;

class ExportedValues {
 public:
  // Hints of symbols that a size or a number is are added to `symbols`.
  explicit ExportedValues(ExportedSymbols& symbols) : symbols_(symbols) {}

  // {"as_int": 3} or {"as_expr": …} as a number or an expression in quotes.
  Result<std::string> size(JsonValue value);

  // The type of a tensor, its `tensor_meta`. Fails on dtypes and layouts that have no type here.
  Result<std::string> type(JsonValue meta);

  // True if a tensor of that `tensor_meta` may have a gradient: its dtype is floating or complex.
  bool is_differentiable(JsonValue meta) const;

  // The value of a symbolic number: an entry of sym_int_values or sym_float_values.
  Result<std::string> number(JsonValue value, bool real);

  // The JSON that stands for a name: {"node": "x"}, or an argument in its place.
  using Resolve = std::function<std::string(std::string_view name)>;
  // An argument. A nested graph is an error: it is no value.
  Result<std::string> argument(JsonValue value, const Resolve& resolve);
  // The same, the items of a list one by one.
  Result<std::vector<std::string>> arguments(JsonValue value, const Resolve& resolve);

 private:
  Result<std::string> sizes(JsonValue list);
  Result<std::string> plain(const JsonMember& chosen, const Resolve& resolve);
  Result<std::string> constant(const JsonMember& chosen);
  Result<std::string> dictionary(JsonValue object, const Resolve& resolve);
  Result<std::string> list(JsonValue items, std::string_view kind, const Resolve& resolve);

  ExportedSymbols& symbols_;
  std::map<std::string, std::string, std::less<>> known_;  // expressions, by their srepr
};

}  // namespace recut
