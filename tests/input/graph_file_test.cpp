#include "engine/input/graph_file_reader.h"

#include <fmt/core.h>

#include <catch2/catch_test_macros.hpp>
#include <string>

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

TEST_CASE("the line of Python that called a node is kept, and stays out of the text") {
  std::string with(kSmall);
  with.insert(with.find("\"module\""), R"json("source": "net.py:12 in forward: y = x.t()", )json");
  const auto file = parse_joint_graph(with, "small.json");
  REQUIRE(file);
  const Graph& graph = file->graph;
  CHECK(graph.origin(graph.find("y")).source == "net.py:12 in forward: y = x.t()");
  CHECK(graph.origin(graph.find("g")).source.empty());
  CHECK(print(graph) == print(parse_joint_graph(kSmall, "small.json")->graph));
  with.replace(with.find("\"net.py"), 1, "1, \"x\": \"");
  CHECK_FALSE(parse_joint_graph(with, "small.json"));
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

// A joint graph of cuDNN's attention. `val`: of what forward's call gives; `more`: nodes between it
// and the output node.
std::string cudnn_attention(std::string_view val, std::string_view more = "",
                            std::string_view outputs = R"({"node":"o"})") {
  const auto heads = [](std::string_view name) {
    return fmt::format(
        R"({{"name":"{}","op":"placeholder","target":"{}","args":[],"val":{{"dtype":"float16",
        "shape":[1,2,4,8],"device":"cuda"}}}},)",
        name, name);
  };
  return fmt::format(
      R"({{"format":"fx-joint-graph","version":1,"model":"attention","num_fwd_outputs":1,"joint":[
      {}{}{}
      {{"name":"a","op":"call_function","target":"aten._scaled_dot_product_cudnn_attention.default",
       "args":[{{"node":"primals_1"}},{{"node":"primals_2"}},{{"node":"primals_3"}},null,true,0.0,
       true],"val":{}}},
      {{"name":"o","op":"call_function","target":"getitem","args":[{{"node":"a"}},0]}},{}
      {{"name":"output","op":"output","target":"output","args":[[{}]]}}]}})",
      heads("primals_1"), heads("primals_2"), heads("primals_3"), val, more, outputs);
}

constexpr std::string_view kToldOut =
    R"({"dtype":"float16","shape":[1,2,4,8],"device":"cuda"},
    {"dtype":"float32","shape":[1,2,4,1],"device":"cuda"})";

TEST_CASE("the type of an output that its call leaves out says nothing") {
  const auto graph_with = [](std::string_view more, std::string_view mask) {
    return parse_joint_graph(
        fmt::format(R"({{"format":"fx-joint-graph","version":1,"model":"norm","num_fwd_outputs":1,
  "joint":[{{"name":"primals_1","op":"placeholder","target":"p","args":[],
             "val":{{"dtype":"float32","shape":[4,3]}}}},
   {{"name":"tangents_1","op":"placeholder","target":"t","args":[],
     "val":{{"dtype":"float32","shape":[4,3]}}}},
   {{"name":"m","op":"placeholder","target":"m","args":[],"val":{{"dtype":"float32","shape":[3]}}}},
   {{"name":"b","op":"call_function","target":"aten.native_batch_norm_backward.default",
     "args":[{{"node":"tangents_1"}},{{"node":"primals_1"}},null,null,null,{{"node":"m"}},
             {{"node":"m"}},true,1e-5,{}],
     "val":[{{"dtype":"float32","shape":[4,3]}},{{"dtype":"float32","shape":[3]}},
            {{"dtype":"float32","shape":[3]}}]}},
   {{"name":"g","op":"call_function","target":"getitem","args":[{{"node":"b"}},0]}},{}
   {{"name":"output","op":"output","target":"output",
     "args":[[{{"node":"m"}},{{"node":"g"}},null]]}}]}})",
                    mask, more),
        "norm.json");
  };
  const auto left_out = graph_with("", "[true,false,false]");
  if (!left_out) FAIL(format(left_out.diagnostics()));
  CHECK(verify(left_out->graph).empty());
  const auto made = graph_with("", "[true,true,true]");
  CHECK(made.ok());
  // What is taken has to be made.
  const auto taken =
      graph_with(R"({"name":"w","op":"call_function","target":"getitem","args":[{"node":"b"},1]},)",
                 "[true,false,false]");
  CHECK_FALSE(taken.ok());
}

TEST_CASE("what a file says nothing of, the operator's rule says") {
  // Seeds, sizes and the mask for debugging: without a dtype, as numbers, as null, and told whole.
  for (const std::string_view rest :
       {"null,null,null,null,null,null,null", "{},{},{},{},{},{},{}",
        R"(null,null,4,4,{"shape":[],"device":"cpu"},{"device":"cpu"},null)",
        R"(null,null,"s3","s3",null,{"dtype":null,"shape":null},{"stride":[0]})",
        R"(null,null,null,null,{"dtype":"int64","shape":[],"device":"cpu"},
           {"dtype":"int64","shape":[],"device":"cpu"},null)"}) {
    INFO(rest);
    const std::string val = fmt::format("[{},{}]", kToldOut, rest);
    const auto alone = parse_joint_graph(cudnn_attention(val), "alone.json");
    if (!alone) FAIL(format(alone.diagnostics()));
    CHECK(verify(alone->graph).empty());
    CHECK(format(alone->graph.type(alone->graph.find("o"))) == "f16[1, 2, 4, 8]");

    // What backward reads has the rule's type, however it is recorded.
    const std::string backward = R"(
      {"name":"s","op":"call_function","target":"getitem","args":[{"node":"a"},1]},
      {"name":"seed","op":"call_function","target":"getitem","args":[{"node":"a"},6],"val":null},
      {"name":"offset","op":"call_function","target":"getitem","args":[{"node":"a"},7],"val":{}},
      {"name":"tangents_1","op":"placeholder","target":"t","args":[],
       "val":{"dtype":"float16","shape":[1,2,4,8],"device":"cuda"}},
      {"name":"b","op":"call_function",
       "target":"aten._scaled_dot_product_cudnn_attention_backward.default",
       "args":[{"node":"tangents_1"},{"node":"primals_1"},{"node":"primals_2"},
       {"node":"primals_3"},{"node":"o"},{"node":"s"},{"node":"seed"},{"node":"offset"},null,null,
       null,4,4,0.0,true],"val":[{},{},{}]},
      {"name":"q","op":"call_function","target":"getitem","args":[{"node":"b"},0]},
      {"name":"k","op":"call_function","target":"getitem","args":[{"node":"b"},1]},
      {"name":"v","op":"call_function","target":"getitem","args":[{"node":"b"},2]},)";
    const auto joint = parse_joint_graph(
        cudnn_attention(val, backward, R"({"node":"o"},{"node":"q"},{"node":"k"},{"node":"v"})"),
        "joint.json");
    if (!joint) FAIL(format(joint.diagnostics()));
    CHECK(verify(joint->graph).empty());
    for (const char* name : {"seed", "offset"})
      CHECK(format(joint->graph.type(joint->graph.find(name))).substr(0, 5) == "i64[]");
    CHECK(format(joint->graph.type(joint->graph.find("k"))).substr(0, 15) == "f16[1, 2, 4, 8]");
    CHECK(joint->graph.device == "cuda");  // what isn't there names none
    const auto again = parse_graph_text(print(joint->graph), "printed.recut");
    if (!again) FAIL(format(again.diagnostics()));
    CHECK(print(*again) == print(joint->graph));
  }

  // A call with one output, too. What is said is still held against the rule.
  std::string small(kSmall);
  small.insert(small.find("\"module\""), R"("val":{"device":"cpu"},)");
  const auto file = parse_joint_graph(small, "small.json");
  if (!file) FAIL(format(file.diagnostics()));
  CHECK(format(file->graph.type(file->graph.find("y"))) == "f32[2, 3]{1, 2}");
  const auto wrong = parse_joint_graph(
      cudnn_attention(R"([{"dtype":"float16","shape":[1,2,4,7]},{},{},{},{},{},{},{},{}])"), "f");
  REQUIRE_FALSE(wrong.ok());
  CHECK(wrong.diagnostics().front().message ==
        "node 'a': output 0 of _scaled_dot_product_cudnn_attention is recorded as f16[1, 2, 4, 7], "
        "expected f16[1, 2, 4, 8]");
}

}  // namespace
}  // namespace recut
