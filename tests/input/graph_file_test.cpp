#include "engine/input/graph_file.h"

#include <catch2/catch_test_macros.hpp>

#include "engine/input/text.h"
#include "engine/ir/printer.h"
#include "engine/ir/verifier.h"

namespace recut {
namespace {

constexpr std::string_view kSmall = R"({"format": "fx-joint-graph", "version": 1, "model": "small",
  "num_fwd_outputs": 1, "joint": [
  {"name": "primals_1", "op": "placeholder", "target": "primals_1", "args": [],
   "val": {"dtype": "float32", "shape": [3, 2], "stride": [2, 1], "device": "cpu"}},
  {"name": "tangents_1", "op": "placeholder", "target": "tangents_1", "args": [],
   "val": {"dtype": "float32", "shape": [2, 3], "stride": [1, 2], "device": "cpu"}},
  {"name": "y", "op": "call_function", "target": "aten.permute.default",
   "args": [{"node": "primals_1"}, [1, 0]], "module": "m", "seq_nr": 4},
  {"name": "g", "op": "call_function", "target": "aten.permute.default",
   "args": [{"node": "tangents_1"}], "kwargs": {"dims": [1, 0]}},
  {"name": "output", "op": "output", "target": "output",
   "args": [[{"node": "y"}, {"node": "g"}]]}]})";

TEST_CASE("a small joint graph becomes a graph") {
  const auto file = parse_joint_graph(kSmall, "small.json");
  REQUIRE(file);
  CHECK(print(file->graph) == R"(graph "small" on cpu {
  %primals_1 = parameter f32[3, 2]
  %tangents_1 = tangent f32[2, 3]{1, 2}
  %y = permute(%primals_1, [1, 0]) : f32[2, 3]{1, 2}  @"m" #4
  %g = permute(%tangents_1, [1, 0]) : f32[3, 2]
  results %y
  gradients %g
}
)");
  CHECK(verify(file->graph).empty());
}

TEST_CASE("devices that are no words are printed in quotes, and read back") {
  for (const std::string device : {"cuda:1", "777cpu", "_", "cuda"}) {
    std::string text(kSmall);
    text.replace(text.find("\"cpu\""), 5, "\"" + device + "\"");
    const auto file = parse_joint_graph(text, "small.json");
    REQUIRE(file);
    const std::string printed = print(file->graph);
    INFO(printed);
    const auto again = parse_graph_text(printed, "printed.recut");
    REQUIRE(again);
    CHECK(print(*again) == printed);
    // Of devices that are named equally often, the graph's own is the first by name.
    CHECK(again->type(again->find("primals_1")).device == (device < "cpu" ? "" : device));
  }
}

}  // namespace
}  // namespace recut
