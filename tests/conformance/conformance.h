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
std::string_view verdict_name(Verdict verdict);

struct CaseResult {
  std::string name;           // "gather-float32-2"
  std::string operator_name;  // "gather-float32": the sampled operator
  Verdict verdict = Verdict::agrees;
  std::string detail;  // the difference, or the diagnostic
};

// The cases of a folder in order of name, each in a process of its own, so that a crash or a hang
// (longer than `seconds`) affects no other case. Only cases whose name contains `filter` run.
std::vector<CaseResult> run_folder(const std::string& folder, const std::string& filter = {},
                                   int seconds = 20);

// The same as findings for a list of exceptions: every verdict but `agrees` is one.
std::vector<Finding> findings_of(const std::vector<CaseResult>& results);

// One line per operator with the count of each verdict (`all`: also where all agree), then one for
// each case that does not agree, then the sum.
void print_table(std::ostream& out, const std::vector<CaseResult>& results, bool all);

}  // namespace recut::conformance
