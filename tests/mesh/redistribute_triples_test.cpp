// Slow: 8,464 pairs, with a plan for each.
#include <catch2/catch_test_macros.hpp>

#include "tests/mesh/sharding_pairs.h"

using namespace recut;
using namespace recut::mesh;
using recut::test::check_pairs;
using recut::test::mesh_of;

TEST_CASE("check 26: every pair of three-axis shardings of two dimensions", "[mesh]") {
  check_pairs(mesh_of("a=2,b=2,c=2"), {5, 13}, Reduction::sum);
}
