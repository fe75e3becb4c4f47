// The cases of a folder that are known to differ from PyTorch, one a line of a list:
//
//   values linalg.eigh-3 disagrees the sign of an eigenvector hangs on the last bit
//
// that is the check (values: recut_conformance, gradients: recut_gradients), the case, the verdict,
// and why. A run is as expected where exactly the listed cases differ, each by its verdict.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/support/result.h"

namespace recut::conformance {

struct Exception {
  std::string check, name, verdict, reason;
  std::uint32_t line = 0;
};

struct ExceptionList {
  std::string file;  // as messages name it
  std::vector<Exception> entries;
};

// Empty lines and lines that begin with '#' say nothing. A line without a reason, of an unknown
// check, or about a case that an earlier line has is a diagnostic.
Result<ExceptionList> parse_exceptions(std::string_view text, const std::string& file);

// A check's finding on one case.
struct Finding {
  std::string name, verdict;
  bool good = true;    // nothing to except
  std::string detail;  // the difference
};

// The differences from the list, one sentence each with the case, the expected and the found
// verdict: an unlisted case that differs, a listed one that doesn't differ or differs by another
// verdict, and a listed one that is missing. Only entries of `check` count, and cases whose name
// contains `filter`.
std::vector<std::string> surprises(const std::vector<Finding>& findings, const ExceptionList& list,
                                   std::string_view check, std::string_view filter = {});

}  // namespace recut::conformance
