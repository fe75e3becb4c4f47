#include "engine/mesh/placement.h"

#include <catch2/catch_test_macros.hpp>

using namespace recut::mesh;

TEST_CASE("a placement is written as DTensor writes it", "[mesh]") {
  CHECK(format(Placement::replicate()) == "R");
  CHECK(format(Placement::shard(1)) == "S(1)");
  CHECK(format(Placement::partial(Reduction::max)) == "P(max)");
}
