// Which name was meant by one that there is none of.
#include "engine/support/typo_correction.h"

#include <catch2/catch_test_macros.hpp>
#include <initializer_list>

namespace recut {
namespace {

std::string correction_of(std::string_view target, std::initializer_list<std::string_view> names) {
  TypoCorrection near(target);
  for (const std::string_view name : names) near.consider(name);
  return near.name();
}

}  // namespace

TEST_CASE("near names: the one with the fewest edits, the first of equals") {
  CHECK(correction_of("reluu", {"silu", "relu", "gelu"}) == "relu");
  CHECK(correction_of("rleu", {"relu"}) == "");  // two edits of four letters
  CHECK(correction_of("convolutoin", {"convolution"}) == "convolution");
  CHECK(correction_of("ad", {"add", "and"}) == "add");
  CHECK(correction_of("ad", {"and", "add"}) == "add");
}

TEST_CASE("near names: what has little in common is no answer") {
  CHECK(correction_of("x", {"y", "z"}) == "");
  CHECK(correction_of("", {"y"}) == "");
  CHECK(correction_of("foo", {"pow", "mm"}) == "");
  CHECK(correction_of("nonsense", {"mm", "softmax", "convolution"}) == "");
}

TEST_CASE("near names: a question for the end of a message") {
  TypoCorrection near("sofmax");
  CHECK(near.suggestion() == "");
  near.consider("sofmax.int", "aten.softmax.int");
  near.consider("softmax", "aten.softmax.default");
  CHECK(near.suggestion() == "; did you mean 'aten.softmax.default'?");
}

}  // namespace recut
