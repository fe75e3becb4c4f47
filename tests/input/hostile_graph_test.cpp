// Every way in which an fx-joint-graph can be wrong, and the one diagnostic that says so.
#include <fmt/core.h>

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "engine/input/graph_file.h"
#include "engine/input/graph_file_reader.h"
#include "engine/ir/verifier.h"

namespace recut {
namespace {

constexpr std::string_view kHostileGraphX =
    R"({"name":"x","op":"placeholder","target":"x","args":[],"val":{"dtype":"float32","shape":[2,3]}})";
constexpr std::string_view kT =
    R"({"name":"tangents_1","op":"placeholder","target":"t","val":{"dtype":"float32","shape":[3,2]}})";
constexpr std::string_view kOutput = R"({"name":"output","op":"output","target":"output",
  "args":[[{"node":"y"}]]})";

std::string hostile_file(std::string_view nodes, std::string_view forward_outputs = "1") {
  return fmt::format(
      R"({{"format":"fx-joint-graph","version":1,"num_fwd_outputs":{},"joint":[{}]}})",
      forward_outputs, nodes);
}

std::string call(std::string_view target, std::string_view rest, std::string_view name = "y") {
  return fmt::format(R"({{"name":"{}","op":"call_function","target":"{}",{}}})", name, target,
                     rest);
}

// x, a call named y, and the output.
std::string one_call(std::string_view target, std::string_view rest) {
  return hostile_file(fmt::format("{},{},{}", kHostileGraphX, call(target, rest), kOutput));
}

std::string permute(std::string_view rest) { return one_call("aten.permute.default", rest); }

// The messages, one a line, without places.
std::string messages(const Result<GraphFile>& result) {
  if (result.ok()) return "";
  std::string text;
  for (const Diagnostic& d : result.diagnostics()) text += d.message + "\n";
  return text;
}

struct Fault {
  std::string text;
  std::string_view message;
};

void check(std::span<const Fault> faults) {
  for (const Fault& fault : faults) {
    INFO(fault.text);
    CHECK(messages(parse_joint_graph(fault.text, "f")) == std::string(fault.message) + "\n");
  }
}

TEST_CASE("hostile graphs: the file as a whole") {
  const auto head = [](std::string_view members) {
    return fmt::format("{{{},\"num_fwd_outputs\":1,\"joint\":[]}}", members);
  };
  const Fault faults[] = {
      {"[]", "the file is a list, expected an object"},
      {"{\"version\":1}", "the file: 'format' is missing, expected a string"},
      {head(R"("format":"onnx","version":1)"),
       "the file: 'format' is 'onnx', expected 'fx-joint-graph'"},
      {head(R"("format":"fx-joint-graph","version":3)"),
       "the file: 'version' is 3, expected 1 or 2"},
      {head(R"("format":"fx-joint-graph","version":"1")"),
       "the file: 'version' is a string, expected an int"},
      {head(R"("format":"fx-joint-graph","version":1,"amp":0)"),
       "the file: 'amp' is an int, expected a bool"},
      {head(R"("format":"fx-joint-graph","version":1,"joint":[])"),
       "the file: 'joint' stands there twice"},
      {head(R"("format":"fx-joint-graph","version":1,"partitions":[3])"),
       "the file: 'partitions' holds something else than objects"},
      {head(R"("format":"fx-joint-graph","version":1,"default_partition":{"saved":[1]})"),
       "the default partition: 'saved' holds an int, expected names of nodes"},
      {R"({"format":"fx-joint-graph","version":1,"joint":[]})",
       "the file: 'num_fwd_outputs' is missing, expected an int"},
      {R"({"format":"fx-joint-graph","version":1,"num_fwd_outputs":1,"joint_after_passes":[]})",
       "the file: there is no graph 'joint', expected one of: joint_after_passes"},
      {R"({"format":"fx-joint-graph","version":1,"num_fwd_outputs":1})",
       "the file: there is no graph 'joint', expected 'joint', 'joint_after_passes' or 'forward'"},
      {R"({"format":"fx-joint-graph","version":1,"num_fwd_outputs":1,"joint":{}})",
       "the file: 'joint' is an object, expected a list"},
      {hostile_file(""), "the graph has no node 'output'"},
  };
  check(faults);
}

TEST_CASE("hostile graphs: JSON that is none has a place") {
  struct Broken {
    std::string text;
    std::string_view shown;
  };
  const std::string deep(100'000, '[');
  const Broken broken[] = {
      {"{\"a\": 1,\n  \"b\" 2}", "f:2:8: error: JSON: syntax error while parsing object separator"},
      {"{\"a\": 1", "f:1:7: error: JSON: syntax error while parsing object - unexpected end"},
      {"{\"a\": \"\xff\"}",
       "f:1:8: error: JSON: syntax error while parsing value - invalid string"},
      {"{\"a\": 1e999}", "f:1:12: error: JSON: number overflow parsing '1e999'"},
      {"{} {}", "f:1:4: error: JSON: syntax error while parsing value"},
      {deep, "f:1:65: error: JSON: nested deeper than 64 levels"},
      {"{\"joint_after_passes\":" + deep, "f:1:86: error: JSON: nested deeper than 64 levels"},
  };
  for (const Broken& b : broken) {
    const auto result = parse_joint_graph(b.text, "f");
    REQUIRE_FALSE(result.ok());
    CHECK(format(result.diagnostics()).substr(0, b.shown.size()) == b.shown);
    CHECK(format(result.diagnostics()).size() < 600);
  }
}

TEST_CASE("hostile graphs: fields of nodes") {
  const auto first = [](std::string_view node) {
    return hostile_file(fmt::format(
        "{},{},{}", node, call("aten.permute.default", R"("args":[{"node":"x"},[1,0]])"), kOutput));
  };
  const Fault faults[] = {
      {hostile_file("3"), "the node at index 0 is an int, expected an object"},
      {hostile_file("{\"op\":\"output\",\"target\":\"\"}"),
       "the node at index 0: 'name' is missing, expected a string"},
      {hostile_file("{\"name\":\"\",\"op\":\"output\",\"target\":\"\"}"),
       "node '': its name is empty"},
      {hostile_file("{\"name\":5,\"op\":\"output\",\"target\":\"\"}"),
       "the node at index 0: 'name' is an int, expected a string"},
      {first(R"({"name":"x","op":"placeholder"})"),
       "node 'x': 'target' is missing, expected a string"},
      {first(R"({"name":"x","op":"placeholder","target":"x","args":{}})"),
       "node 'x': 'args' is an object, expected a list"},
      {first(R"({"name":"x","op":"placeholder","target":"x","seq_nr":1.5})"),
       "node 'x': 'seq_nr' is a float, expected an int"},
      {first(R"({"name":"x","op":"placeholder","target":"x"})"),
       "node 'x': 'val' is missing, expected the type of a tensor"},
      {first(R"({"name":"x","op":"placeholder","target":"x","val":[]})"),
       "node 'x': 'val' is missing, expected the type of a tensor"},
      {first(R"({"name":"x","op":"placeholder","target":"x","val":{}})"),
       "node 'x': 'val' has no 'dtype'"},
      {first(R"({"name":"x","op":"placeholder","target":"x","val":{"shape":[2,3]}})"),
       "node 'x': 'val' has no 'dtype'"},
      {first(R"({"name":"x","op":"call_module","target":"x"})"),
       "node 'x': op 'call_module' found, expected 'placeholder', 'get_attr', 'call_function' or "
       "'output'"},
      {hostile_file(fmt::format("{},{},{}", kHostileGraphX, kHostileGraphX, kOutput)),
       "node 'x': the name is that of an earlier node too\noutput 0: there is no node 'y'"},
      {hostile_file(
           fmt::format("{},{},{},{}", kHostileGraphX,
                       call("aten.permute.default", R"("args":[{"node":"x"},[1,0]])"), kOutput,
                       call("aten.permute.default", R"("args":[{"node":"x"},[1,0]])", "z"))),
       "node 'z': stands after the node 'output'"},
  };
  check(faults);
}

TEST_CASE("hostile graphs: types") {
  const auto typed = [](std::string_view val) {
    return permute(fmt::format(R"("args":[{{"node":"x"}},[1,0]],"val":{})", val));
  };
  const Fault faults[] = {
      {typed("4"), "node 'y': 'val' is an int, expected an object or null"},
      {typed(R"({"dtype":"float32"})"), "node 'y': 'val' has no 'shape'"},
      {typed(R"({"dtype":"quint8","shape":[]})"),
       "node 'y': dtype 'quint8' is none that Recut knows"},
      {typed(R"({"dtype":"float32","shape":[3,-2]})"),
       "node 'y': dimension -2 of shape [3, -2] is negative"},
      {typed(R"({"dtype":"float32","shape":[3,2.0]})"),
       "node 'y': an item of 'shape' is a float, expected an int"},
      {typed(R"({"dtype":"float32","shape":[99999999999999999999]})"),
       "node 'y': an item of 'shape' is an int beyond 64 bits, expected an int"},
      {typed(R"({"dtype":"float32","shape":[4294967296,4294967296]})"),
       "node 'y': a tensor of shape [4294967296, 4294967296] is larger than the 1125899906842624 "
       "bytes that a value may have"},
      {typed(R"({"dtype":"float32","shape":[3,2],"stride":[1]})"),
       "node 'y': 1 strides for 2 dimensions"},
      {typed(R"({"dtype":"float32","shape":[3,2],"stride":[1,-3]})"),
       "node 'y': stride -3 is out of range"},
      {typed(R"({"dtype":"float32","shape":[3,2],"stride":[1,9223372036854775807]})"),
       "node 'y': stride 9223372036854775807 is out of range"},
      {typed(R"({"dtype":"float32","shape":[3,2],"device":"a \"b\""})"),
       "node 'y': device 'a \"b\"' is no name of a device"},
      {typed(R"({"dtype":"float32","shape":[2,3]})"),
       "node 'y': permute is recorded as f32[2, 3], expected f32[3, 2]"},
      {typed(R"({"dtype":"float64","shape":[3,2]})"),
       "node 'y': permute is recorded as f64[3, 2], expected f32[3, 2]"},
      {typed(R"([null,null])"), "node 'y': permute has 1 outputs, 'val' has 2"},
      {typed(R"([null])"), "node 'y': permute is recorded as none[], expected f32[3, 2]"},
  };
  check(faults);
}

TEST_CASE("hostile graphs: arguments") {
  const Fault faults[] = {
      {permute(R"("args":[{"node":"x"},[1,0],1])"),
       "node 'y': permute takes 2 positional arguments, found 3"},
      {permute(R"("args":[{"node":"x"}],"kwargs":{"dim":1})"),
       "node 'y': permute has no argument 'dim'"},
      {permute(R"("args":[{"node":"x"},[1,0]],"kwargs":{"dims":[0,1]})"),
       "node 'y': argument 'dims' of permute is given twice"},
      {permute(R"("args":[{"node":"x"}])"),
       "node 'y': argument 'dims' of permute is nothing, expected a list of: an int"},
      {permute(R"("args":[{"node":"x"},[1,99999999999999999999]])"),
       "node 'y': argument 'dims' of permute: an int that doesn't fit into 64 bits"},
      {permute(R"("args":[{"node":"x"},[1,0.0]])"),
       "node 'y': argument 'dims' of permute is a list, expected a list of: an int"},
      {permute(R"("args":[{"node":"x"},{"slice":[0,1]}])"),
       "node 'y': argument 'dims' of permute: a slice is an argument that Recut doesn't read"},
      {permute(R"("args":[{"node":"x"},{"float":"1"}])"),
       "node 'y': argument 'dims' of permute: float '1' found, expected 'inf', '-inf' or 'nan'"},
      {permute(R"("args":[{"node":"x"},{"dtype":"quint8"}])"),
       "node 'y': argument 'dims' of permute: dtype 'quint8' is none that Recut knows"},
      {permute(R"("args":[{"node":"x"},{"a":"b","c":"d"}])"),
       "node 'y': argument 'dims' of permute: an object of 2 members, expected one like {\"node\": "
       "name}"},
      {permute(R"("args":[{"node":"x"},{"set":"b"}])"),
       "node 'y': argument 'dims' of permute: an argument of unknown kind 'set'"},
      {permute(R"("args":[{"node":3},[1,0]])"),
       "node 'y': argument 'self' of permute: the 'node' of an argument is an int, expected a "
       "string"},
      {permute(R"("args":[3,[1,0]])"),
       "node 'y': argument 'self' of permute is an int, expected a tensor"},
      {permute(R"("args":[{"node":"x"},[1,1]])"), "node 'y': permute: dimension 1 is named twice"},
      {permute(R"("args":[{"node":"z"},[1,0]])"),
       "node 'y': argument 'self' of permute: there is no node 'z'"},
      {permute(R"("args":[{"node":"y"},[1,0]])"),
       "node 'y': argument 'self' of permute: 'y' uses itself"},
      {permute(R"("args":[{"node":"output"},[1,0]])"),
       "node 'y': argument 'self' of permute: node 'output' stands later"},
      {one_call("aten.rand.default", R"("args":[[2]],"kwargs":{"draw":7})"),
       "node 'y': rand has no argument 'draw'"},
      {one_call("placeholder", R"("args":["x"])"),
       "unknown operator 'placeholder': node 'y' uses it, and has no 'val' with its types"},
  };
  check(faults);
}

TEST_CASE("hostile graphs: outputs") {
  const auto outputs = [](std::string_view list, std::string_view forward) {
    return hostile_file(
        fmt::format("{},{},{},{}{}}}", kHostileGraphX, kT,
                    call("aten.permute.default", R"("args":[{"node":"x"},[1,0]])"),
                    R"({"name":"output","op":"output","target":"output","args":)", list),
        forward);
  };
  const Fault faults[] = {
      {outputs("[]", "1"), "the node 'output' has other arguments than one list of nodes"},
      {outputs("[3]", "1"), "the node 'output' has other arguments than one list of nodes"},
      {outputs("[[]]", "1"), "'num_fwd_outputs' is 1, expected 0 to the 0 outputs"},
      {outputs("[[null]]", "-1"), "'num_fwd_outputs' is -1, expected 0 to the 1 outputs"},
      {outputs("[[3]]", "1"), "output 0: an int found, expected a node or null"},
      {outputs(R"([[{"node":"z"}]])", "1"), "output 0: there is no node 'z'"},
      {outputs(R"([[{"node":"y"},null,null]])", "1"),
       "2 gradients for 1 placeholders that are no tangents, expected one for each, or none"},
      {outputs(R"([[{"node":"y"},{"node":"y"}]])", "1"),
       "node 'y', the gradient of node 'x', has shape [3, 2], expected [2, 3]"},
      {outputs(R"([[{"node":"tangents_1"}]])", "1"),
       "node 'tangents_1' is a result of forward but depends on a tangent"},
  };
  check(faults);
  CHECK(messages(parse_joint_graph(outputs(R"([[{"node":"y"},null]])", "1"), "f")).empty());
  CHECK(messages(parse_joint_graph(outputs("[[null]]", "1"), "f")).empty());
}

TEST_CASE("hostile graphs: several faults come together, and no more than can be read") {
  const std::string two =
      hostile_file(fmt::format("{},{},{},{}", kHostileGraphX,
                               call("aten.permute.default", R"("args":[{"node":"x"},[0]])", "a"),
                               call("aten.permute.default", R"("args":[{"node":"a"},[1,0]])", "b"),
                               call("aten.permute.default", R"("args":[{"node":"x"},[5,0]])")));
  CHECK(messages(parse_joint_graph(two, "f")) ==
        "node 'a': permute: 1 dimensions named for a tensor of 2\n"
        "node 'y': permute: dimension 5 is out of range for 2 dimensions\n");

  std::string many(kHostileGraphX);
  for (int i = 0; i < 1000; ++i)
    many += "," + call("aten.permute.default", R"("args":[])", fmt::format("n{}", i));
  const auto result = parse_joint_graph(hostile_file(many), "f");
  REQUIRE_FALSE(result.ok());
  CHECK(result.diagnostics().size() == 21);
  CHECK(result.diagnostics().back().message == "and 1980 more");
  CHECK(result.diagnostics().front().line == 1);
}

TEST_CASE("hostile graphs: every unknown operator is named once") {
  std::string nodes(kHostileGraphX);
  for (int i = 0; i < 90; ++i)
    nodes += "," + call(fmt::format("aten.op{}.default", i % 30), R"("args":[{"node":"n"}])",
                        fmt::format("n{}", i));
  const auto result = parse_joint_graph(hostile_file(nodes + "," + std::string(kOutput)), "f");
  REQUIRE_FALSE(result.ok());
  CHECK(result.diagnostics().size() == 31);
  CHECK(result.diagnostics()[0].message ==
        "unknown operator 'aten.op0.default': node 'n0' uses it, and 2 more, and has no 'val' "
        "with its types");
  CHECK(result.diagnostics()[29].message ==
        "unknown operator 'aten.op29.default': node 'n29' uses it, and 2 more, and has no 'val' "
        "with its types");
}

TEST_CASE("hostile graphs: names are shown fit to be read") {
  const std::string name = "a\\n\\u001b[31m" + std::string(10'000, 'x');
  const auto result = parse_joint_graph(
      hostile_file(fmt::format(R"({{"name":"{}","op":"o","target":""}})", name)), "f");
  REQUIRE_FALSE(result.ok());
  const std::string& message = result.diagnostics().front().message;
  CHECK(message.substr(0, 20) == "node 'a\\x0a\\x1b[31mx");
  CHECK(message.size() < 250);
}

}  // namespace
}  // namespace recut
