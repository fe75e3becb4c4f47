#include "engine/input/json.h"

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>
#include <string>

namespace recut {
namespace {

TEST_CASE("a JSON document keeps kinds, order and places") {
  const std::string_view text = R"({"a": [1, -2.5, "x\n", true, null, {}],
 "b": {"c": 9223372036854775807, "d": 9223372036854775808, "e": 1e2, "c": []}})";
  const auto document = parse_json(text, "f");
  REQUIRE(document.ok());
  CHECK(document->keys() == std::vector<std::string>{"a", "b"});
  const JsonValue root = document->root();
  REQUIRE(root.size() == 2);
  auto member = root.items().begin();
  CHECK((*member).key == "a");
  const JsonValue list = (*member).value;
  CHECK(list.size() == 6);
  CHECK(list.position() == 6);
  auto item = list.items().begin();
  CHECK((*item).value.integer() == 1);
  CHECK((*++item).value.real() == -2.5);
  CHECK((*++item).value.text() == "x\n");
  CHECK((*++item).value.boolean());
  CHECK((*++item).value.is(JsonKind::null));
  CHECK((*++item).value.size() == 0);
  CHECK_FALSE(++item != list.items().end());
  ++member;
  const JsonValue object = (*member).value;
  CHECK(object.size() == 4);
  auto inner = object.items().begin();
  CHECK((*inner).value.integer() == INT64_MAX);
  CHECK((*++inner).value.is(JsonKind::big_integer));
  CHECK((*++inner).value.real() == 100);
  CHECK((*++inner).key == "c");
  const LineColumn location = line_column_of(text, object.position());
  CHECK(location.line == 2);
  CHECK(location.column == 7);
}

TEST_CASE("keys that nobody wants are passed over, but known") {
  const std::string_view kept_keys[] = {"b"};
  const auto document =
      parse_json(R"({"a": {"b": [1]}, "b": 2, "c": [[]], "b2": "x"})", "f", kept_keys);
  REQUIRE(document.ok());
  CHECK(document->keys() == std::vector<std::string>{"a", "b", "c", "b2"});
  CHECK(document->root().size() == 1);
  CHECK((*document->root().items().begin()).value.integer() == 2);
  CHECK_FALSE(parse_json(R"({"a": {"b": [1}})", "f", kept_keys).ok());
}

TEST_CASE("a document of too many values is refused") {
  const auto parse = [](std::string_view text) { return parse_json(text, "f", {}, 5); };
  CHECK(parse("[1,1,1,1]").ok());
  for (const std::string_view text :
       {"[1,1,1,1,1]", "[[[],[],[]],1]", R"({"a":{"b":1},"c":2})", R"(["","","","",""])"}) {
    const auto document = parse(text);
    REQUIRE_FALSE(document.ok());
    CHECK(document.diagnostics().front().message == "JSON: more than 5 values");
  }
}

// The outermost levels are read by other code than those below.
TEST_CASE("JSON is read or refused as the library does, wherever it is cut off or damaged") {
  const std::string text =
      R"( {"a" : [ 1 ,-2.5e1, {"x":[3]},[ ] , "s\"" ,true],"b":12 , "c":{"d":[]},"e":[],"f\u0041":null} )";
  REQUIRE(parse_json(text, "f").ok());
  const auto same = [](const std::string& damaged) {
    INFO(damaged);
    CHECK(parse_json(damaged, "f").ok() == nlohmann::json::accept(damaged));
  };
  for (std::size_t at = 0; at < text.size(); ++at) {
    same(text.substr(0, at));
    same(text.substr(0, at) + text.substr(at + 1));
    for (const char* other :
         {",", ":", "]", "}", "[", "{", "\"", "1", "-", " ", "\xff", "\xef\xbb\xbf"})
      same(text.substr(0, at) + other + text.substr(at));
  }
}

TEST_CASE("JSON is read in steps, and the same comes of it") {
  std::string text = R"({"a": [)";
  for (int i = 0; i < 100'000; ++i) text += "{\"b\": " + std::to_string(i) + "},\n";
  text += "7]}";
  JsonReader reader(text, "f");
  int steps = 1;
  while (reader.step()) ++steps;
  CHECK(steps > 5);
  const auto document = reader.take();
  REQUIRE(document.ok());
  const JsonValue list = (*document->root().items().begin()).value;
  REQUIRE(list.size() == 100'001);
  std::int64_t sum = 0;
  for (const JsonMember item : list.items())
    if (item.value.is(JsonKind::object)) {
      sum += (*item.value.items().begin()).value.integer();
      CHECK(text[item.value.position()] == '{');
    } else {
      CHECK(item.value.integer() == 7);
    }
  CHECK(sum == 4'999'950'000);
  text[text.size() - 3] = '?';
  const auto damaged = parse_json(text, "f");
  REQUIRE_FALSE(damaged.ok());
  CHECK(damaged.diagnostics().front().line == 100'001);
}

}  // namespace
}  // namespace recut
