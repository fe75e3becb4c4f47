// Reads names and indices of the loop form: the base class of its parser.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "engine/codegen/loop/kernel.h"
#include "engine/input/text_reader.h"

namespace recut::loop {

// The object that a name of the current kernel refers to.
struct Named {
  enum class Kind : std::uint8_t { buffer, loop, value, accumulator };
  Kind kind = Kind::value;
  std::uint32_t id = 0;
};

// Every function returns whether it succeeded; on failure one diagnostic has been added.
class IndexReader : protected TextReader {
 protected:
  IndexReader(std::string_view text, std::string_view file_name)
      : TextReader(text, file_name, "*+") {}

  // `name` is its token.
  bool define(const Token& name, Named named);

  bool parse_value(ValueId& out) { return parse_name(Named::Kind::value, out.index); }
  bool parse_buffer_name(BufferId& out) { return parse_name(Named::Kind::buffer, out.index); }
  bool parse_accumulator(AccumulatorId& out) {
    return parse_name(Named::Kind::accumulator, out.index);
  }

  // 8*%i + div(%j, 4) + 3
  bool parse_index(Index& out) { return parse_sum(out, 0); }

  std::map<std::string, Named, std::less<>> names_;

 private:
  bool parse_name(Named::Kind kind, std::uint32_t& out);
  bool parse_sum(Index& out, int depth);
  bool parse_term(Index& out, int depth);
  bool parse_atom(Index& out, int depth);
};

}  // namespace recut::loop
