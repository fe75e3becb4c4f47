// Values of a printed graph as the JSON that an fx-joint-graph has for them (graph_file.h): the
// arguments of calls, and the types of annotations.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/input/python_lexer.h"
#include "engine/support/result.h"

namespace recut {

// Brackets within brackets of one value: with the nested graphs, below kMaxJsonDepth.
inline constexpr int kMaxPythonDepth = 24;

// A JSON string.
void append_json_text(std::string_view characters, std::string& json);

// Reads Python literals, names of nodes, torch.float32, device(…), slice(…), lists, tuples and
// dictionaries. A diagnostic has no file.
class PythonValues {
 public:
  // `aliases` are other names of nodes.
  PythonValues(PythonLexer& lexer, const std::map<std::string_view, std::string_view>& aliases)
      : lexer_(lexer), aliases_(aliases) {}

  // Appends the value to `json`.
  Result<Done> read(std::string& json) { return read(json, 0); }

  // Appends the items up to the closing bracket, and takes it: "a,b". False in a result: a single
  // value without a comma.
  Result<bool> read_items(std::string_view close, std::string& json, int depth);

  // Appends the positional arguments and the members of an object, up to and with ')'.
  Result<Done> read_call(std::string& arguments, std::string& keywords, int depth = 1);

  // Reads names with dots between them: "torch.ops.aten.mm.default".
  Result<std::string> read_path();

  // Nodes that were read since the last clear(), and whether a real number was among the values.
  std::vector<std::string_view> nodes;
  bool real = false;

  // The diagnostic about an unexpected token.
  Diagnostic unexpected(const PythonToken& found, std::string_view expected) const;
  Result<Done> expect(std::string_view symbol);

 private:
  Result<Done> read(std::string& json, int depth);
  Result<Done> read_number(bool negative, std::string& json);
  Result<bool> read_part(bool negative, std::string& json);
  Result<Done> read_name(std::string& json, int depth);
  Result<Done> read_device(std::string& json, int depth);
  Result<Done> read_dictionary(std::string& json, int depth);
  Diagnostic at(const PythonToken& token, std::string message) const;

  PythonLexer& lexer_;
  const std::map<std::string_view, std::string_view>& aliases_;
};

// The type in an annotation: "f32[8, s5][s5, 1]cuda:0" or "Sym(2*s5)".
struct PrintedType {
  std::string json;  // of a tensor; of a symbolic number: only its expression, as a JSON string
  bool number = false;
  bool real = false;     // of a number: its symbols are reals
  bool strides = false;  // of a tensor: whether the annotation gives them
};

// Adds the symbols of a tensor's sizes to `symbols`. A message names the token found and the one
// expected.
Result<PrintedType> read_printed_type(std::string_view annotation,
                                      std::set<std::string, std::less<>>& symbols);

// The device without the index 0, which is the usual one: "cuda" of "cuda:0".
std::string_view plain_device(std::string_view device);

}  // namespace recut
