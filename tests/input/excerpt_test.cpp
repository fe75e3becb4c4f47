// The lines that diagnostics speak of, and where the caret stands in them.
#include "engine/input/excerpt.h"

#include <catch2/catch_test_macros.hpp>

#include "engine/input/bytes.h"
#include "tests/paths.h"

namespace recut {
namespace {

// The line with '|' where the caret points; "none" where there is no such line.
std::string excerpt(std::string_view text, std::size_t line, std::size_t column) {
  const auto found = excerpt_of(text, line, column);
  if (!found) return "none";
  REQUIRE(found->caret <= found->line.size());
  return found->line.substr(0, found->caret) + "|" + found->line.substr(found->caret);
}

}  // namespace

TEST_CASE("excerpts: the line of a place, the caret before its column") {
  const std::string text = "one\n  %y = reluu(%x)\r\nlast";
  CHECK(excerpt(text, 1, 1) == "|one");
  CHECK(excerpt(text, 2, 8) == "  %y = |reluu(%x)");
  CHECK(excerpt(text, 2, 99) == "  %y = reluu(%x)|");  // the end of the line, without its '\r'
  CHECK(excerpt(text, 3, 5) == "last|");
  CHECK(excerpt(text, 3, 0) == "|last");
  CHECK(excerpt(text, 4, 1) == "none");
  CHECK(excerpt(text, 0, 0) == "none");
  CHECK(excerpt("", 1, 1) == "|");
}

TEST_CASE("excerpts: what is no plain text is shown as such, and the caret keeps its place") {
  CHECK(excerpt("\tx = y", 1, 2) == " |x = y");
  CHECK(excerpt("größe = y", 1, 11) == "größe = |y");  // columns count bytes
  CHECK(excerpt(std::string("a\0b\x1b c", 6), 1, 6) == "a\\x00b\\x1b |c");
  CHECK(excerpt("\xff\xfe z", 1, 4) == "\xef\xbf\xbd\xef\xbf\xbd |z");
}

TEST_CASE("excerpts: of a long line what stands around the column") {
  const std::string line = std::string(5000, 'a') + "X" + std::string(5000, 'b');
  const std::string seen = excerpt(line, 1, 5001);
  CHECK(seen.size() < 120);
  CHECK(seen.starts_with("…a"));
  CHECK(seen.ends_with("b…"));
  CHECK(seen.find("a|X") != std::string::npos);
  CHECK(excerpt(line, 1, 1).starts_with("|a"));
  const std::string wide = [] {
    std::string text;
    for (int i = 0; i < 200; ++i) text += "ä";
    return text;
  }();
  for (std::size_t column = 1; column <= wide.size(); column += 2)  // never half a character
    CHECK(excerpt(wide, 1, column).find("\xef\xbf\xbd") == std::string::npos);
}

TEST_CASE("excerpts: of a packed file the lines of what it holds") {
  const auto packed = read_file(RECUT_SOURCE_DIR "/samples/joint/tiny_mlp.json.gz");
  REQUIRE(packed.ok());
  const auto text = gunzip(*packed);
  REQUIRE(text.ok());
  const Diagnostics faults{{"here", "f", 2, 3}, {"nowhere", "f", 0, 0}};
  const auto plain = excerpts_of(*text, faults), found = excerpts_of(*packed, faults);
  REQUIRE(found.size() == 2);
  REQUIRE(found[0].has_value() == plain[0].has_value());
  if (found[0]) CHECK(found[0]->line == plain[0]->line);
  CHECK_FALSE(found[1].has_value());
  CHECK_FALSE(excerpts_of(std::string_view(*packed).substr(0, 200), faults)[0].has_value());
}

}  // namespace recut
