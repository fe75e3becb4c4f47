// Operators that the table lacks: custom operators, collectives of a library, operators of higher
// order. A call of one is kept by its name, with the types that the file gives. It can be shown,
// priced by the bytes that it moves and planned; it has no values, no derivative and no code.
//
// Rows are made as files are read, once a signature, and live as long as the program.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ir/operator.h"
#include "engine/support/result.h"

namespace recut {

struct ExternalSignature {
  std::string target;                 // "mine.scale3.default", as fx prints it
  std::size_t positional = 0;         // arguments without a name
  std::vector<std::string> keywords;  // of the keyword arguments, in order
  bool several = false;               // whether the call gives a list of values
};

// The row of a signature. Its parameters take any argument; the last one, `draw`, keeps two equal
// calls apart, since the operator may have effects. Fails where the target is no name of an
// operator, or the program has seen kMaxExternals signatures.
inline constexpr std::size_t kMaxExternals = 4096;
Result<const Operator*> external_operator(const ExternalSignature& signature);

// The signature that a row was made of.
ExternalSignature signature_of(const Operator& row);

// True if the calls of two rows have one form: the same name, as many arguments without a name, the
// same keywords in any order, and both one value or both a list.
bool have_same_form(const Operator& a, const Operator& b);

// The end of a refusal: "; give its expansion by --op-library FILE" for an external operator, else
// "".
std::string_view expansion_tip(Op op);

// "mine.scale3", the name of a target as Recut shows it; "" where it is none: words of letters,
// digits and _ between dots, of at most 200 characters.
std::string external_name(std::string_view target);

}  // namespace recut
