// The opcodes of Python's pickles: their names, arguments and effects in the reader.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace recut {

// The bytes that follow an opcode. Numbers are little-endian; `text_of_…` and `integer_of_…` are a
// length of one, four or eight bytes, then the bytes.
enum class PickleArgument : std::uint8_t {
  nothing,
  byte,
  two_bytes,
  four_bytes,
  eight_bytes,
  text_of_byte,
  text_of_four,
  text_of_eight,
  integer_of_byte,
  integer_of_four,
};

enum class PickleAction : std::uint8_t {
  imports,  // refused: it would import a name
  calls,    // refused: it would call or build something
  foreign,  // refused: it stands for data that no snapshot holds
  protocol,
  frame,
  stop,
  mark,
  none,
  no,
  yes,
  number,         // the argument, as it is
  signed_number,  // the argument's four bytes, with a sign
  integer,
  real,
  text,
  empty_list,
  empty_tuple,
  empty_dict,
  tuple_of_one,
  tuple_of_two,
  tuple_of_three,
  tuple,
  append,
  extend,
  set_item,
  set_items,
  remember,     // in the next place of the memo
  remember_at,  // in the place that the argument names
  recall,
};

struct PickleOpcode {
  char byte;
  std::string_view name;  // as Python's pickletools has it
  PickleAction action;
  PickleArgument argument = PickleArgument::nothing;
};

// Every opcode of protocols 0 to 5.
std::span<const PickleOpcode> pickle_opcodes();

}  // namespace recut
