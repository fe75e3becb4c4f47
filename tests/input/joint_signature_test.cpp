// The graph signature as files have it: fx-joint-graph of version 2, and AOTAutograd's comments on a
// printed graph.
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <string_view>

#include "engine/input/graph_file_reader.h"
#include "engine/ir/graph_signature.h"
#include "engine/ir/printer.h"

namespace recut {
namespace {

// { state.mul_(x); y = state.sum() }, with members behind the nodes.
std::string file_with(std::string_view members, int version = 2) {
  std::string text = R"({"format": "fx-joint-graph", "version": )" + std::to_string(version) + R"(,
 "num_fwd_outputs": 3, "joint": [
 {"name": "primals_1", "op": "placeholder", "target": "primals_1",
  "val": {"sym": "s0", "type": "SymInt"}},
 {"name": "primals_2", "op": "placeholder", "target": "primals_2",
  "val": {"dtype": "float32", "shape": ["s0"], "stride": [1], "device": "cpu"}},
 {"name": "primals_3", "op": "placeholder", "target": "primals_3",
  "val": {"dtype": "float32", "shape": ["s0"], "stride": [1], "device": "cpu"}},
 {"name": "tangents_1", "op": "placeholder", "target": "tangents_1",
  "val": {"dtype": "float32", "shape": [], "stride": [], "device": "cpu"}},
 {"name": "mul", "op": "call_function", "target": "aten.mul.Tensor",
  "args": [{"node": "primals_2"}, {"node": "primals_3"}]},
 {"name": "sum_1", "op": "call_function", "target": "aten.sum.default", "args": [{"node": "mul"}]},
 {"name": "expand", "op": "call_function", "target": "aten.expand.default",
  "args": [{"node": "tangents_1"}, [{"node": "primals_1"}]]},
 {"name": "mul_1", "op": "call_function", "target": "aten.mul.Tensor",
  "args": [{"node": "expand"}, {"node": "primals_2"}]},
 {"name": "output", "op": "output", "target": "output",
  "args": [[{"node": "mul"}, {"node": "primals_1"}, {"node": "sum_1"}, null, null,
            {"node": "mul_1"}]]}],
 "symbols": {"s0": {"hint": 4, "min": 2, "max": null}})";
  text += members;
  return text + "}";
}

std::string member_fault(std::string_view members) {
  const auto file = parse_joint_graph(file_with(members), "file.json");
  REQUIRE_FALSE(file.ok());
  return format(file.diagnostics());
}

TEST_CASE("joint signature: results are counted as in the file, sizes among them") {
  const auto file = parse_joint_graph(
      file_with(R"(, "writes": [{"result": 0, "input": "primals_2"}], "tangents": [2],
                   "views": [{"result": 2, "of_result": 0}],
                   "shared_storages": [["primals_2", "primals_3"]], "deterministic": true)"),
      "file.json");
  INFO((file ? "" : format(file.diagnostics())));
  REQUIRE(file.ok());
  const std::string text = print(file->graph);
  INFO(text);
  CHECK(text.find("  results %mul, %sum_1\n  gradients none, %mul_1\n  mutation 0 %primals_2\n"
                  "  tangent_of 1\n  shared_storage %primals_2, %primals_3\n  deterministic\n") !=
        std::string::npos);
}

TEST_CASE("joint signature: a buffer that is written is an input, no constant") {
  const auto file = parse_joint_graph(R"({"format": "fx-joint-graph", "version": 2, "forward": [
 {"name": "count", "op": "placeholder", "target": "count",
  "val": {"dtype": "int64", "shape": [], "stride": [], "device": "cpu"}},
 {"name": "scale", "op": "placeholder", "target": "scale",
  "val": {"dtype": "float32", "shape": [], "stride": [], "device": "cpu"}},
 {"name": "add", "op": "call_function", "target": "aten.add.Tensor", "args": [{"node": "count"}, 1]},
 {"name": "y", "op": "call_function", "target": "aten.neg.default", "args": [{"node": "scale"}]},
 {"name": "output", "op": "output", "target": "output", "args": [[{"node": "add"}, {"node": "y"}]]}],
 "buffers": ["count", "scale"], "writes": [{"result": 0, "input": "count"}]})",
                                      "file.json");
  INFO((file ? "" : format(file.diagnostics())));
  REQUIRE(file.ok());
  CHECK(file->graph.is_input(file->graph.find("count")));
  CHECK_FALSE(file->graph.is_input(file->graph.find("scale")));
}

TEST_CASE("joint signature: version 1 has none, and another version is refused") {
  const auto first = parse_joint_graph(file_with("", 1), "file.json");
  REQUIRE(first.ok());
  CHECK(first->graph.signature == nullptr);
  const auto third = parse_joint_graph(file_with("", 3), "file.json");
  REQUIRE_FALSE(third.ok());
  CHECK(format(third.diagnostics()).find("'version' is 3, expected 1 or 2") != std::string::npos);
}

TEST_CASE("joint signature: faults name the member") {
  const struct {
    const char *members, *fault;
  } cases[] = {
      {R"(, "writes": [{"result": 3, "input": "primals_2"}])",
       "'writes': 3 found, expected the number of one of the 3 results"},
      {R"(, "writes": [{"result": -1, "input": "primals_2"}])", "'writes': -1 found"},
      {R"(, "writes": [{"result": "0", "input": "primals_2"}])", "'writes': a string found"},
      {R"(, "writes": [{"result": 0, "input": "mul"}])", "there is no placeholder 'mul'"},
      {R"(, "writes": [{"result": 0, "input": 7}])", "expected the name of a placeholder"},
      {R"(, "writes": [{"result": 2, "input": "primals_2"}])",
       "the new value of 'primals_2', is f32[], expected f32[4]"},
      {R"(, "writes": [[0, "primals_2"]])", "'writes': a list found, expected an object"},
      {R"(, "writes": {"0": "primals_2"})", "'writes'"},
      {R"(, "writes": [{"result": 0, "into": "primals_2"}])", "'into'"},
      {R"(, "writes": [{"result": 0}])", "'input' is missing"},
      {R"(, "writes": [{"input": "primals_2"}])", "'result' is missing"},
      {R"(, "views": [{"result": 0}])", "expected either 'input' or 'of_result'"},
      {R"(, "tangents": [2, 2])", "tells of 2 tangents, the graph has 1"},
      {R"(, "tangents": [9])", "'tangents': 9 found"},
      {R"(, "shared_storages": ["primals_2"])", "expected a list of names"},
      {R"(, "deterministic": 1)", "'deterministic'"},
  };
  for (const auto& c : cases) {
    const std::string fault = member_fault(c.members);
    INFO(c.members << "\n" << fault);
    CHECK(fault.find(c.fault) != std::string::npos);
  }
}

TEST_CASE("joint signature: a write of the graph's own calls is a mutation") {
  std::string text = file_with("");
  const std::string output = R"( {"name": "output", "op": "output")";
  text.insert(text.find(output),
              R"( {"name": "copy_", "op": "call_function", "target": "aten.copy_.default",
  "args": [{"node": "primals_2"}, {"node": "mul"}]},
)");
  const auto file = parse_joint_graph(text, "file.json");
  INFO((file ? "" : format(file.diagnostics())));
  REQUIRE(file.ok());
  CHECK(mutated_input(file->graph, 2) == file->graph.find("primals_2"));
}

TEST_CASE("joint signature: the file's word counts before a write of its calls") {
  std::string text = file_with(R"(, "writes": [{"result": 0, "input": "primals_2"}])");
  const std::string output = R"( {"name": "output", "op": "output")";
  text.insert(text.find(output),
              R"( {"name": "copy_", "op": "call_function", "target": "aten.copy_.default",
  "args": [{"node": "primals_2"}, {"node": "mul"}]},
)");
  const auto file = parse_joint_graph(text, "file.json");
  INFO((file ? "" : format(file.diagnostics())));
  REQUIRE(file.ok());
  REQUIRE(file->graph.signature->mutations.size() == 1);
  CHECK(mutated_input(file->graph, 0) == file->graph.find("primals_2"));
}

TEST_CASE("joint signature: comments of a printed graph tell mutations and tangents") {
  const auto file = read_graph_bytes(R"(class joint_fn(torch.nn.Module):
    def forward(
        self,
        primals_1: "f32[4][1]cpu",  # BufferAOTInput(target='state')
        primals_2: "f32[4][1]cpu",  # PlainAOTInput(idx=1)
        tangents_1: "f32[][]cpu",  # TangentAOTInput(output=PlainAOTOutput(idx=0))
    ):
        mul: "f32[4][1]cpu" = torch.ops.aten.mul.Tensor(primals_1, primals_2)
        sum_1: "f32[][]cpu" = torch.ops.aten.sum.default(mul)
        expand: "f32[4][0]cpu" = torch.ops.aten.expand.default(tangents_1, [4])
        mul_1: "f32[4][1]cpu" = torch.ops.aten.mul.Tensor(expand, primals_1)
        return (
            mul,  # InputMutationAOTOutput(mutated_input=BufferAOTInput(target='state'))
            sum_1,  # PlainAOTOutput(idx=0)
            None,  # None
            mul_1,  # GradAOTOutput(grad_of=PlainAOTInput(idx=1))
        )
)",
                                     "graph.txt");
  INFO((file ? "" : format(file.diagnostics())));
  REQUIRE(file.ok());
  const std::string text = print(file->graph);
  INFO(text);
  CHECK(text.find("  results %mul, %sum_1\n  gradients none, %mul_1\n  mutation 0 %primals_1\n"
                  "  tangent_of 1\n") != std::string::npos);
}

}  // namespace
}  // namespace recut
