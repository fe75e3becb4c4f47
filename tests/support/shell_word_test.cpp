// Words of a command that a shell reads as they were meant.
#include <catch2/catch_test_macros.hpp>

#include "engine/support/shell_word.h"

namespace recut {
namespace {

TEST_CASE("shell word: quoted where a shell would read anything in it", "[support]") {
  CHECK(shell_word("samples/gpt2.json.gz") == "samples/gpt2.json.gz");
  CHECK(shell_word("50%") == "50%");
  CHECK(shell_word("") == "''");
  CHECK(shell_word("a b") == "'a b'");
  CHECK(shell_word("h.*.mlp") == "'h.*.mlp'");
  CHECK(shell_word("it's $HOME") == "'it'\\''s $HOME'");
  CHECK(shell_word("~x") == "'~x'");
}

}  // namespace
}  // namespace recut
