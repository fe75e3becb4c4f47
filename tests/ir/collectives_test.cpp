// Collectives: types, text, values of a group of one rank, derivatives, and refusals.
#include <catch2/catch_test_macros.hpp>

#include "engine/autodiff/differentiate.h"
#include "engine/codegen/lower/lower.h"
#include "engine/input/graph_file_reader.h"
#include "engine/input/text.h"
#include "engine/ir/printer.h"
#include "engine/ir/storage_model.h"
#include "engine/ir/verifier.h"
#include "tests/eval/run_text.h"
#include "tests/input/parse.h"

namespace recut::test {
namespace {

TEST_CASE("collectives: types follow from arguments, and text is read back", "[ir]") {
  const std::string text = R"(graph "net" {
  %x = input bf16[16, 3]
  %gather = _c10d_functional.all_gather_into_tensor(%x, 8, "0") : bf16[128, 3]
  %w = _c10d_functional.wait_tensor(%gather) : bf16[128, 3]
  %t = permute(%w, [1, 0]) : bf16[3, 128]{1, 3}
  %reduce = _c10d_functional.all_reduce(%t, "sum", "tp") : bf16[3, 128]
  %scatter = _c10d_functional.reduce_scatter_tensor(%x, "avg", 8, "0") : bf16[2, 3]
  %swap = _c10d_functional.all_to_all_single(%x, [4, 0, 8], [6, 5, 5], "0") : bf16[12, 3]
  %from = _c10d_functional.broadcast(%x, 2, "0") : bf16[16, 3]
  %dim = _dtensor.shard_dim_alltoall(%x, 0, 1, "0") : bf16[48, 1]
  %each = _c10d_functional.reduce_scatter_tensor_coalesced([%x, %w], "max", 8, "0") : (bf16[2, 3], bf16[16, 3])
  %one = getitem(%each, 1) : bf16[16, 3]
  %done = _c10d_functional.wait_tensor(%one) : bf16[16, 3]
  results %reduce, %scatter, %swap, %from, %dim, %done
}
)";
  const Graph graph = parse(text);
  CHECK(verify(graph).empty());
  CHECK(print(graph) == text);
  const StorageModel storages(graph);
  CHECK(storages.owned(graph.find("w")).empty());  // the wait shows the gather's storage
  CHECK(storages.storages_of(graph.find("w")).front() ==
        storages.storages_of(graph.find("gather")).front());
}

TEST_CASE("collectives: arguments that fit no group are refused", "[ir]") {
  const auto fault_of = [](const std::string& call) {
    const auto graph =
        parse_graph_text("graph \"g\" {\n  %x = input f32[6, 2]\n  %n = input f32[]\n" +
                             ("  %y = _c10d_functional." + call) + "\n  results %y\n}\n",
                         "t");
    return graph ? std::string("none") : graph.diagnostics().front().message;
  };
  const auto says = [&](const std::string& call, const std::string& words) {
    INFO(call << " -> " << fault_of(call));
    CHECK(fault_of(call).find(words) != std::string::npos);
  };
  CHECK(fault_of("reduce_scatter_tensor(%x, \"sum\", 3, \"0\")") == "none");
  says("reduce_scatter_tensor(%x, \"sum\", 4, \"0\")", "6 rows can't be parted among 4 ranks");
  says("reduce_scatter_tensor(%x, \"mean\", 3, \"0\")",
       "reduce_op is 'mean', expected one of: sum");
  says("all_reduce(%x, \"\", \"0\")", "reduce_op is ''");
  says("all_gather_into_tensor(%x, 0, \"0\")", "group_size is 0");
  says("all_gather_into_tensor(%n, 2, \"0\")", "without dimensions");
  says("all_gather_into_tensor(%x, 9000000000000000000, \"0\")", "group_size is");
  says("all_to_all_single(%x, [6], [5], \"0\")", "add up to 5, but the input has 6 rows");
  says("all_to_all_single(%x, [6], [3, 3], \"0\")", "2 and 1 parts");
  says("all_to_all_single(%x, [7, -1], [3, 3], \"0\")", "has the size -1");
  says("all_to_all_single(%x, [4], [6], \"0\")", "sends 6 rows to itself and receives 4");
  says("broadcast(%x, -1, \"0\")", "src is -1");
}

TEST_CASE("collectives: a rank alone gets its own values back", "[eval]") {
  CHECK(run(R"(  %x = input f32[3]
  %a = _c10d_functional.all_gather_into_tensor(%x, 1, "0")
  %b = _c10d_functional.wait_tensor(%a)
  %c = _c10d_functional.reduce_scatter_tensor(%b, "avg", 1, "0")
  %d = _c10d_functional.wait_tensor(%c)
  %e = _c10d_functional.all_to_all_single(%d, [3], [3], "0")
  %f = _c10d_functional.wait_tensor(%e)
  results %f)",
            {{"x", {1, -2, 3}}}) == Values{1, -2, 3});
}

TEST_CASE("collectives: values of other ranks are missed in words", "[eval]") {
  CHECK(fault(R"(  %x = input f32[2]
  %a = _c10d_functional.all_gather_into_tensor(%x, 8, "0")
  %b = _c10d_functional.wait_tensor(%a)
  results %b)")
            .find("it needs the values of 8 ranks (group '0'), and Recut has those of one rank") !=
        std::string::npos);
  CHECK(fault(R"(  %x = input f32[2]
  %a = _c10d_functional.all_reduce(%x, "sum", "tp")
  %b = _c10d_functional.wait_tensor(%a)
  results %b)")
            .find("it needs the values of all ranks (group 'tp')") != std::string::npos);

  const Graph graph = parse(R"(graph "g" {
  %x = input f32[2]
  %a = _c10d_functional.all_gather_into_tensor(%x, 8, "0")
  results %a
})");
  const std::vector<NodeId> calls{graph.find("a")};
  const auto loops = loop::lower(graph, StorageModel(graph), FusionGroups(), calls);
  REQUIRE_FALSE(loops.ok());
  CHECK(loops.diagnostics().front().message.find("8 ranks") != std::string::npos);
}

TEST_CASE("collectives: gradients come back by the inverse traffic", "[autodiff]") {
  const auto joint_of = [](const std::string& calls) {
    const Graph graph = parse("graph \"g\" {\n  %x = parameter f32[4, 2]\n" + calls +
                              "\n  %y = _c10d_functional.wait_tensor(%a)\n  results %y\n}\n");
    const auto joint = differentiate(graph);
    return joint ? print(*joint) : joint.diagnostics().front().message;
  };
  const auto has = [&](const std::string& call, const std::string& words) {
    const std::string joint = joint_of("  %a = _c10d_functional." + call);
    INFO(joint);
    CHECK(joint.find(words) != std::string::npos);
  };
  has("all_gather_into_tensor(%x, 8, \"0\")",
      "_c10d_functional.reduce_scatter_tensor(%tangents_1, \"sum\", 8, \"0\")");
  has("reduce_scatter_tensor(%x, \"sum\", 2, \"0\")",
      "_c10d_functional.all_gather_into_tensor(%tangents_1, 2, \"0\")");
  has("reduce_scatter_tensor(%x, \"avg\", 2, \"0\")", "div.Tensor(");
  has("all_reduce(%x, \"sum\", \"tp\")", "_c10d_functional.all_reduce(%tangents_1, \"sum\", \"tp\")");
  has("all_to_all_single(%x, [3, 3], [1, 3], \"0\")",
      "_c10d_functional.all_to_all_single(%tangents_1, [1, 3], [3, 3], \"0\")");
  has("all_reduce(%x, \"max\", \"tp\")", "isn't known, only of 'sum' and 'avg'");
  has("broadcast(%x, 0, \"tp\")", "isn't known");
}

TEST_CASE("collectives: those that write in place are read as functional ones", "[input]") {
  const auto file = parse_joint_graph(
      R"({"format": "fx-joint-graph", "version": 1, "model": "net", "forward": [
  {"name": "x", "op": "placeholder", "target": "x", "val": {"dtype": "float32", "shape": [4]}},
  {"name": "v", "op": "call_function", "target": "aten.sin.default", "args": [{"node": "x"}]},
  {"name": "r", "op": "call_function", "target": "_c10d_functional.all_reduce_.default",
   "args": [{"node": "v"}, "sum", "0"], "val": {"dtype": "float32", "shape": [4]}},
  {"name": "w", "op": "call_function", "target": "_c10d_functional.wait_tensor.default",
   "args": [{"node": "r"}], "val": {"dtype": "float32", "shape": [4]}},
  {"name": "y", "op": "call_function", "target": "aten.cos.default", "args": [{"node": "v"}]},
  {"name": "output", "op": "output", "target": "output", "args": [[{"node": "y"}]]}]})",
      "net.json");
  if (!file) FAIL(format(file.diagnostics()));
  CHECK(print(file->graph).find("%r = _c10d_functional.all_reduce(%v, \"sum\", \"0\")") !=
        std::string::npos);
  CHECK(print(file->graph).find("%y = cos(%r)") != std::string::npos);
}

}  // namespace
}  // namespace recut::test
