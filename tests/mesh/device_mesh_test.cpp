#include "engine/mesh/device_mesh.h"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "tests/mesh/fails.h"
#include "tests/mesh/mesh_tensors.h"

using namespace recut;
using namespace recut::mesh;
using recut::test::mesh_of;

namespace {

using Groups = std::vector<std::vector<std::int64_t>>;

DeviceMesh two_by_four() { return mesh_of("dp=2,tp=4"); }

}  // namespace

TEST_CASE("check 1: the groups of an axis are the lines along it", "[mesh]") {
  const DeviceMesh mesh = two_by_four();
  CHECK(mesh.groups(0) == Groups{{0, 4}, {1, 5}, {2, 6}, {3, 7}});
  CHECK(mesh.groups(1) == Groups{{0, 1, 2, 3}, {4, 5, 6, 7}});
  CHECK(mesh.coordinate_of(6) == Coordinate{1, 2});
  CHECK(mesh.position({1, 2}) == 6);

  const auto odd = DeviceMesh::make({{"a", 2}, {"b", 2}}, {7, 3, 0, 5});
  REQUIRE(odd.ok());
  CHECK(odd->groups(0) == Groups{{7, 0}, {3, 5}});
  CHECK(odd->groups(1) == Groups{{7, 3}, {0, 5}});
  CHECK(odd->coordinate_of(0) == Coordinate{1, 0});
  CHECK(format(*odd) == "a=2,b=2 of ranks 7, 3, 0, 5");
}

TEST_CASE("check 1: a submesh has some axes, and flattening makes them one", "[mesh]") {
  const auto mesh = DeviceMesh::parse("dp=2,cp=2,tp=2");
  REQUIRE(mesh.ok());
  const std::vector<std::string> outer = {"dp", "tp"};
  const auto meshes = mesh->submeshes(outer);
  REQUIRE(meshes.ok());
  REQUIRE(meshes->size() == 2);
  CHECK(format((*meshes)[1]) == "dp=2,tp=2 of ranks 2, 3, 6, 7");
  const auto own = mesh->submesh(outer, 5);
  REQUIRE(own.ok());
  CHECK(own->groups(0) == Groups{{0, 4}, {1, 5}});
  const auto flat = own->flatten("dp_tp");
  REQUIRE(flat.ok());
  CHECK(flat->groups(0) == Groups{{0, 1, 4, 5}});
}

TEST_CASE("check 2: unknown axes, a wrong order and too many ranks are errors", "[mesh]") {
  const DeviceMesh mesh = two_by_four();
  CHECK(fails_with(mesh.axis("pt"), "the mesh dp=2,tp=4 has no axis 'pt'"));
  CHECK(fails_with(mesh_of("data=2,tensor=4").axis("tensr"), "did you mean 'tensor'?"));
  const std::vector<std::string> unknown = {"dp", "pp"}, swapped = {"tp", "dp"}, none;
  CHECK(fails_with(mesh.submeshes(unknown), "the mesh dp=2,tp=4 has no axis 'pp'"));
  CHECK(fails_with(mesh.submeshes(swapped),
                   "axis 'dp' stands after 'tp', expected the order of the mesh dp=2,tp=4"));
  CHECK(fails_with(mesh.submeshes(none), "without axes"));
  CHECK(mesh.check_world(8).ok());
  CHECK(fails_with(mesh.check_world(6), "needs rank 7, and there are 6 ranks"));
  CHECK(fails_with(DeviceMesh::make({{"a", 4096}, {"b", 4097}}), "more than 16777216 ranks"));
  CHECK(fails_with(DeviceMesh::make({{"a", 2}}, {0, 0}), "rank 0 twice"));
  CHECK(fails_with(DeviceMesh::make({{"a", 2}}, {0, -1}), "rank -1"));
  CHECK(fails_with(DeviceMesh::make({{"a", 2}}, {0}), "given 1 ranks, expected 2"));
}

TEST_CASE("check 2: text that is no mesh is refused", "[mesh]") {
  CHECK(format(*DeviceMesh::parse("dp=2,tp=4")) == "dp=2,tp=4");
  CHECK(fails_with(DeviceMesh::parse(""), "'' is no mesh axis; write a name and a size"));
  CHECK(fails_with(DeviceMesh::parse("dp"), "'dp' is no mesh axis"));
  CHECK(fails_with(DeviceMesh::parse("dp=2,"), "'' is no mesh axis"));
  CHECK(fails_with(DeviceMesh::parse("dp=two"), "'dp=two' is no mesh axis"));
  CHECK(fails_with(DeviceMesh::parse("dp=99999999999999999999"), "is no mesh axis"));
  CHECK(fails_with(DeviceMesh::parse("dp=0"), "has size 0"));
  CHECK(fails_with(DeviceMesh::parse("dp=2,dp=2"), "two mesh axes are named 'dp'"));
  CHECK(fails_with(DeviceMesh::parse("2d=2"), "has the name '2d'"));
}

TEST_CASE("check 3: a rank outside the mesh has no coordinate", "[mesh]") {
  const auto mesh = DeviceMesh::make({{"a", 2}}, {1, 3});
  REQUIRE(mesh.ok());
  CHECK_FALSE(mesh->coordinate_of(0));
  CHECK(mesh->coordinate_of(3) == Coordinate{1});
  const std::vector<std::string> names = {"a"};
  CHECK(fails_with(mesh->submesh(names, 2), "rank 2 is outside the mesh"));
}
