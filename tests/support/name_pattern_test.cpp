#include "engine/support/name_pattern.h"

#include <catch2/catch_test_macros.hpp>

using namespace recut;

TEST_CASE("a pattern matches whole names", "[support]") {
  CHECK(matches_pattern("w*", "w12"));
  CHECK(matches_pattern("*", ""));
  CHECK(matches_pattern("a*b*c", "a-b-b-c"));
  CHECK(matches_pattern("w1", "w1"));
  CHECK_FALSE(matches_pattern("w1", "w12"));
  CHECK_FALSE(matches_pattern("a*c", "a-b"));
  CHECK_FALSE(matches_pattern("", "a"));
}

TEST_CASE("a pattern matches parts of a module's path", "[support]") {
  CHECK(matches_module("h.*.mlp", "transformer.h.3.mlp.act"));
  CHECK(matches_module("mlp", "transformer.h.3.mlp.act"));
  CHECK_FALSE(matches_module("ml", "transformer.h.3.mlp.act"));
  CHECK_FALSE(matches_module("h.mlp", "transformer.h.3.mlp.act"));
  CHECK_FALSE(matches_module("*", ""));
}
