#include <catch2/catch_test_macros.hpp>

#include "tests/mesh/sharding_pairs.h"

using namespace recut;
using namespace recut::mesh;
using recut::test::check_pairs;
using recut::test::mesh_of;

TEST_CASE("check 26: every pair of two-axis shardings gives plain slices", "[mesh]") {
  for (const char* text : {"a=2,b=2", "a=2,b=3"})
    for (const Reduction kind : {Reduction::sum, Reduction::max}) {
      const DeviceMesh mesh = mesh_of(text);
      for (const std::int64_t size : {1, 5, 8, 13}) check_pairs(mesh, {size}, kind);
      for (const Shape& shape : {Shape{1, 5}, Shape{8, 13}, Shape{13, 1}, Shape{5, 8}})
        check_pairs(mesh, shape, kind);
    }
}

TEST_CASE("check 26: every pair of three-axis shardings of one dimension", "[mesh]") {
  for (const std::int64_t size : {1, 5, 8, 13})
    check_pairs(mesh_of("a=2,b=2,c=2"), {size}, Reduction::sum);
}
