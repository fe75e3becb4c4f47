// What recut_conformance and recut_gradients share: their command line, and their verdict on a run.
//
//   recut_… [--all] [--if-present] [FOLDER [FILTER]]
//
// FOLDER holds pairs NAME-K.json and NAME-K.safetensors (tests/conformance/samples unless named);
// of them run those whose name contains FILTER. The exceptions of a folder are the list
// tests/conformance/exceptions/FOLDER'S-NAME.txt, where there is one. The exit status is 0 where
// exactly the listed cases differ, 1 where anything else is found, or no case, and 77 with
// --if-present where there is no such folder.
#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "tests/conformance/exceptions.h"

namespace recut::conformance {

inline constexpr int kSkipped = 77;

struct Request {
  bool all = false;  // the table has the operators whose cases all agree, too
  std::string folder, filter;
};

// The request; none where the program ends with `status`, with the reason on `out`.
std::optional<Request> read_request(int argc, char** argv, std::ostream& out, int& status);

// Paths of all cases of a folder without their ending, in order of name.
std::vector<std::string> stems_in(const std::string& folder, const std::string& filter);

// Compares the findings with the folder's list, prints what is unexpected, and returns the exit
// status.
int judge(const Request& request, std::string_view check, const std::vector<Finding>& findings,
          std::ostream& out);

}  // namespace recut::conformance
