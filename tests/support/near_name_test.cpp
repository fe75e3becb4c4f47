// Which name was meant by one that there is none of.
#include "engine/support/near_name.h"

#include <catch2/catch_test_macros.hpp>
#include <initializer_list>

namespace recut {
namespace {

std::string near_of(std::string_view wanted, std::initializer_list<std::string_view> names) {
  NearName near(wanted);
  for (const std::string_view name : names) near.consider(name);
  return near.name();
}

}  // namespace

TEST_CASE("near names: the one with the fewest edits, the first of equals") {
  CHECK(near_of("reluu", {"silu", "relu", "gelu"}) == "relu");
  CHECK(near_of("rleu", {"relu"}) == "");  // two edits of four letters
  CHECK(near_of("convolutoin", {"convolution"}) == "convolution");
  CHECK(near_of("ad", {"add", "and"}) == "add");
  CHECK(near_of("ad", {"and", "add"}) == "add");
}

TEST_CASE("near names: what has little in common is no answer") {
  CHECK(near_of("x", {"y", "z"}) == "");
  CHECK(near_of("", {"y"}) == "");
  CHECK(near_of("foo", {"pow", "mm"}) == "");
  CHECK(near_of("nonsense", {"mm", "softmax", "convolution"}) == "");
}

TEST_CASE("near names: a question for the end of a message") {
  NearName near("sofmax");
  CHECK(near.question() == "");
  near.consider("sofmax.int", "aten.softmax.int");
  near.consider("softmax", "aten.softmax.default");
  CHECK(near.question() == "; did you mean 'aten.softmax.default'?");
}

}  // namespace recut
