#include "engine/support/version.h"

#include <algorithm>

#include <catch2/catch_test_macros.hpp>

TEST_CASE("the version has three parts", "[support]") {
  CHECK(std::count(recut::version().begin(), recut::version().end(), '.') == 2);
}
