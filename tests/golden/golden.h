// Golden files: a graph in text, what to run on it, and what has to come out.
//
//   ; Why this file is here, in a sentence or two.
//   ; run: opt --passes noop_removal
//   graph "name" {
//     …
//   }
//   ; expect:
//   ; noop_removal: add of zero: …
//   ; graph "name" {
//   …
//
// All but the graph are comments, so that every golden file is also a graph file that the command
// opens. `run:` is a command line without its FILE. The expected part is written by RECUT_BLESS=1.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace recut::test {

struct Golden {
  std::string path;                // from the top of the checkout: "tests/golden/passes/….recut"
  std::string input;               // the graph's text, with all comments above it
  std::vector<std::string> words;  // of the command line
  std::string expected;            // without the comment marks; "" where the file has none yet
};

// All golden files, by path.
std::vector<std::string> golden_paths();

// Reads a golden file; a test failure where it has no `run:` line.
Golden read_golden(const std::string& path);

// Writes the file anew with another expected part.
void bless(const Golden& golden, std::string_view output);

// Whether RECUT_BLESS=1 is set.
bool blessing();

}  // namespace recut::test
