// Recut's gradients against PyTorch's: the forward half of a joint graph, differentiated and
// evaluated on the file's own values.
#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/conformance/exceptions.h"

namespace recut::conformance {

enum class GradientVerdict : unsigned char {
  agrees,
  disagrees,
  no_rule,     // an operator on the way has no derivative rule; `detail` names it
  refused,     // any other diagnostic
  no_backward  // the file has no tangents: nothing to compare
};
std::string_view verdict_name(GradientVerdict verdict);

struct GradientCase {
  std::string name;
  GradientVerdict verdict = GradientVerdict::agrees;
  std::string detail;
};

// Checks the pair STEM.json (or .json.gz) and STEM.safetensors.
GradientCase check_gradients(const std::string& stem);

// All pairs of a folder whose name contains `filter`, in order of name.
std::vector<GradientCase> check_gradient_folder(const std::string& folder,
                                                const std::string& filter = {});

// The same as findings for a list of exceptions: neither `agrees` nor `no_backward` is one.
std::vector<Finding> findings_of(const std::vector<GradientCase>& cases);

// Prints the cases that disagree, one a line, and the count of each verdict.
void print_gradients(std::ostream& out, const std::vector<GradientCase>& cases);

}  // namespace recut::conformance
