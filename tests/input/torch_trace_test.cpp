// TORCH_TRACE files: the graphs they list, the symbols' sizes, and damage.
#include <fmt/core.h>

#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/input/bytes.h"
#include "engine/input/graph_file_reader.h"
#include "engine/input/torch_trace.h"
#include "engine/ir/printer.h"
#include "engine/ir/verifier.h"
#include "tests/paths.h"

namespace recut {
namespace {

constexpr std::string_view kPrefix = "V0102 10:00:00.123000 77 torch/_functorch/x.py:1619] ";

// A record of compilation 1/0 with a payload.
std::string trace_record(std::string_view body, std::string_view payload = "",
                         std::string_view about = R"("frame_id": 1, "frame_compile_id": 0)") {
  std::string text = fmt::format("{}{{{}, {}}}\n", kPrefix, body, about);
  for (std::size_t at = 0; at < payload.size();) {
    const std::size_t end = payload.find('\n', at);
    text += fmt::format("\t{}\n", payload.substr(at, end - at));
    at = end + 1;
  }
  return text;
}

std::string traced_graph(std::string_view op) {
  return fmt::format(
      "class GraphModule(torch.nn.Module):\n"
      "    def forward(self, x: \"f32[s5, 3][3, 1]cpu\"):\n"
      "        y: \"f32[s5, 3][3, 1]cpu\" = torch.ops.aten.{}.default(x)\n"
      "        return (y,)\n",
      op);
}

std::string small_trace() {
  return "a line of other origin\n" + trace_record(R"("str": ["a file.py", 1])") +
         trace_record(R"("chromium_event": {})",
                      "{\n\"name\": \"class x(torch.nn.Module):\"\n}\n") +
         trace_record(
             R"("create_symbol": {"symbol": "s5", "val": "4", "vr": "[2, int_oo]", "source": "L"})") +
         trace_record(R"("dynamo_output_graph": {"sizes": {"x": [4, 3]}})", traced_graph("abs")) +
         trace_record(R"("aot_forward_graph": {})", traced_graph("exp")) +
         trace_record(R"("artifact": {"name": "inductor_post_grad_graph", "encoding": "string"})",
                      traced_graph("sin")) +
         trace_record(R"("artifact": {"name": "inductor_post_grad_graph", "encoding": "string"})",
                      traced_graph("cos")) +
         trace_record(R"("aot_joint_graph": {})", traced_graph("neg"),
                      R"("frame_id": 2, "frame_compile_id": 1, "attempt": 3, "has_payload": "x")");
}

TEST_CASE("traces: graphs by compilation and kind") {
  const auto joint = read_graph_bytes(small_trace(), "trace.log");
  if (!joint) FAIL(format(joint.diagnostics()));
  CHECK(joint->key == "2/1_3/aot_joint_graph");
  CHECK(joint->graph_keys ==
        std::vector<std::string>{"1/0/dynamo_output_graph", "1/0/aot_forward_graph",
                                 "1/0/inductor_post_grad_graph", "1/0/inductor_post_grad_graph#2",
                                 "2/1_3/aot_joint_graph"});
  // The other compilation's symbol counts where a graph's own lacks it.
  REQUIRE(joint->symbols.size() == 1);
  CHECK(joint->symbols.front().size == 4);
  const auto cosine =
      read_graph_bytes(small_trace(), "trace.log", "1/0/inductor_post_grad_graph#2", {{"s5", 8}});
  REQUIRE(cosine.ok());
  CHECK(print(cosine->graph).find("%y = cos(%x) : f32[8, 3]") != std::string::npos);
  const auto none = read_graph_bytes(small_trace(), "trace.log", "1/0/aot_joint_graph");
  REQUIRE(!none.ok());
  CHECK(format(none.diagnostics())
            .find("there is no graph '1/0/aot_joint_graph', expected one of: "
                  "1/0/dynamo_output_graph, 1/0/aot_forward_graph") != std::string::npos);
}

TEST_CASE("traces: the range of a symbol counts, and a fault has the place in the trace") {
  const auto small = read_graph_bytes(small_trace(), "trace.log", kDefaultGraphKey, {{"s5", 1}});
  REQUIRE(!small.ok());
  CHECK(format(small.diagnostics()).find("for s5 from 2 to any size") != std::string::npos);
  const auto faulty =
      read_graph_bytes("\n" + trace_record(R"("aot_joint_graph": {})", traced_graph("negg")),
                       "trace.log", kDefaultGraphKey, {{"s5", 4}});
  REQUIRE(faulty.ok());  // a call with a type is kept by name
  std::string text = small_trace();
  text.replace(text.find("neg.default(x)"), 14, "neg.default(z)");
  const auto unknown = read_graph_bytes(text, "trace.log");
  REQUIRE(!unknown.ok());
  CHECK(format(unknown.diagnostics()) ==
        "trace.log:31:10: error: node 'y': argument 'self' of neg: there is no node 'z'\n");
}

TEST_CASE("traces: without a graph, or with damaged records") {
  const std::string empty = trace_record(R"("chromium_event": {})", "{}\n");
  const auto none = read_graph_bytes(empty, "trace.log");
  REQUIRE(!none.ok());
  CHECK(format(none.diagnostics()).find("no graph among its 1 records") != std::string::npos);
  const TorchTrace trace = read_torch_trace(std::string(kPrefix) + R"({"create_symbol": {"symbol)" +
                                            "\n" + small_trace());
  CHECK(trace.damaged == 1);
  CHECK(trace.records == 9);
  CHECK(trace.graphs.size() == 5);
}

TEST_CASE("traces: cut off or damaged anywhere, a trace gives a graph or a reason") {
  const std::string whole = small_trace();
  for (std::size_t at = 0; at < whole.size(); ++at)
    for (const std::string& hurt : {whole.substr(0, at), whole.substr(0, at) + whole.substr(at + 1),
                                    whole.substr(0, at) + "\n" + whole.substr(at)}) {
      const auto file = read_graph_bytes(hurt, "trace.log");
      if (file.ok() ? !verify(file->graph).empty() : file.diagnostics().empty()) FAIL(hurt);
    }
}

TEST_CASE("traces: every graph of a shared trace that AOTAutograd made") {
  const std::string folder = RECUT_SOURCE_DIR "/../shared/inputs/trace/";
  if (!std::filesystem::exists(folder)) SKIP("there is no folder ../shared/inputs");
  for (const std::string_view name : {"llama", "dynamic"})
    for (const std::string_view form : {".trace.log.gz", ".torch_logs.txt.gz"}) {
      const std::string path = folder + std::string(name) + std::string(form);
      const auto bytes = read_file(path);
      REQUIRE(bytes.ok());
      const Dimensions sizes = name == "dynamic" ? Dimensions{{"s77", 6}} : Dimensions();
      const auto joint = read_graph_bytes(*bytes, path, kDefaultGraphKey, sizes);
      REQUIRE(joint.ok());
      CHECK(joint->key == "0/0/aot_joint_graph");
      CHECK(joint->graph.results.size() == 1);
      CHECK(!joint->graph.gradients.empty());
      for (const std::string& key : joint->graph_keys) {
        INFO(path << " " << key);
        const auto file = read_graph_bytes(*bytes, path, key, sizes);
        if (file)
          CHECK(verify(file->graph).empty());
        else
          CHECK(format(file.diagnostics()).find("a graph of Dynamo") != std::string::npos);
      }
    }
}

}  // namespace
}  // namespace recut
