// Runs PyTorch's own operator samples: a folder with pairs NAME-K.json (a joint graph) and
// NAME-K.safetensors (its inputs, and the outputs that PyTorch computed).
#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/conformance/exceptions.h"

namespace recut::conformance {

enum class Verdict : unsigned char { agrees, disagrees, refused, crashed, hung };
std::string_view word(Verdict verdict);

struct CaseResult {
  std::string name;           // "gather-float32-2"
  std::string operator_name;  // "gather-float32": what the case samples
  Verdict verdict = Verdict::agrees;
  std::string detail;  // what disagrees, or the diagnostic
};

// The cases of a folder in order of name, each in a process of its own, so that a crash or a hang
// (longer than `seconds`) is that case's alone. Only cases whose name contains `filter` run.
std::vector<CaseResult> run_folder(const std::string& folder, const std::string& filter = {},
                                   int seconds = 20);

// The same for a list of exceptions: all but `agrees` is one.
std::vector<Finding> findings_of(const std::vector<CaseResult>& results);

// A line an operator with the number of each verdict (`all`: also where all agree), then one for
// each case that does not agree, then the sum.
void print_table(std::ostream& out, const std::vector<CaseResult>& results, bool all);

}  // namespace recut::conformance
