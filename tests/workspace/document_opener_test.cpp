// A document that is opened in steps.
#include "engine/workspace/open_document.h"

#include <catch2/catch_test_macros.hpp>

#include "engine/input/bytes.h"
#include "tests/paths.h"

namespace recut {
namespace {

TEST_CASE("a document opens in steps: its text, its nodes, each pass and what that left") {
  const auto bytes = read_file(RECUT_SOURCE_DIR "/samples/joint/gpt2.json.gz");
  REQUIRE(bytes.ok());
  DocumentOpener opener(*bytes, "gpt2.json.gz", OpenOptions{});
  std::size_t steps = 1;
  while (opener.step()) ++steps;
  const auto document = opener.take();
  REQUIRE(document.ok());
  CHECK(document->passes.passes.size() == default_passes().size());
  CHECK(steps > 2 * default_passes().size() + 6);
}

TEST_CASE("what can't be opened says why after the step that found it") {
  for (const std::string_view bytes : {"", "nothing", "{}", "\x1f\x8b"}) {
    DocumentOpener opener(bytes, "f", OpenOptions{});
    while (opener.step()) {
    }
    CHECK_FALSE(opener.take().ok());
  }
  OpenOptions options;
  options.passes = {"none_such"};
  DocumentOpener opener("graph g() {\n}\n", "f", options);
  while (opener.step()) {
  }
  CHECK_FALSE(opener.take().ok());
}

}  // namespace
}  // namespace recut
