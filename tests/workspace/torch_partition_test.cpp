// PyTorch's partition in a trace: the joint graph of its two graphs, and what it saves.
#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <string>

#include "engine/eval/compare.h"
#include "engine/eval/evaluator.h"
#include "engine/eval/inputs.h"
#include "engine/input/bytes.h"
#include "engine/workspace/open_document.h"
#include "engine/workspace/planning.h"
#include "tests/paths.h"

namespace recut {
namespace {

Document opened_graph(const std::string& bytes, std::string_view key, bool passes) {
  OpenOptions options;
  options.graph_key = std::string(key);
  options.sizes = {{"s77", 6}};
  if (bytes.find("s77") == std::string::npos) options.sizes.clear();
  if (!passes) options.passes.emplace();
  auto document = open_document_bytes(bytes, "trace.log", options);
  if (!document) FAIL(format(document.diagnostics()));
  return std::move(*document);
}

void check_same_values(const Graph& a, const Graph& b) {
  const auto inputs_a = inputs_from(a, {}, 7), inputs_b = inputs_from(b, {}, 7);
  REQUIRE((inputs_a.ok() && inputs_b.ok()));
  const auto of_a = evaluate(a, *inputs_a), of_b = evaluate(b, *inputs_b);
  if (!of_a) FAIL(format(of_a.diagnostics()));
  if (!of_b) FAIL(format(of_b.diagnostics()));
  REQUIRE(of_a->outputs.size() == of_b->outputs.size());
  for (std::size_t i = 0; i < of_a->outputs.size(); ++i) {
    INFO(i);
    const std::size_t results = a.results.size();
    if (i >= results && !a.gradients[i - results].valid()) {
      CHECK(!b.gradients[i - results].valid());
      continue;
    }
    CHECK(compare(of_a->outputs[i], of_b->outputs[i]).ok);
  }
}

TEST_CASE("PyTorch's partition: forward and backward of shared traces are their joint graph") {
  const std::string folder = RECUT_SOURCE_DIR "/../shared/inputs/trace/";
  if (!std::filesystem::exists(folder)) SKIP("there is no folder ../shared/inputs");
  for (const std::string_view name : {"llama", "dynamic"}) {
    for (const std::string_view form : {".trace.log.gz", ".torch_logs.txt.gz"}) {
      INFO(name << form);
      const auto packed = read_file(folder + std::string(name) + std::string(form));
      REQUIRE(packed.ok());
      const auto bytes = gunzip(*packed);
      REQUIRE(bytes.ok());
      const std::string matched_key = "0/0/aot_forward_graph+aot_backward_graph";
      const Document joint = opened_graph(*bytes, "0/0/aot_joint_graph", true);
      const Document matched = opened_graph(*bytes, matched_key, false);
      CHECK(matched.file.graph.gradients.size() == joint.file.graph.gradients.size());
      check_same_values(joint.file.graph, matched.file.graph);

      PlanningRequest request;
      request.limits.effort = 0.2;
      const auto ours = plan_document(joint, request), theirs = plan_document(matched, request);
      REQUIRE((ours.ok() && theirs.ok()));
      CHECK(ours->report.peak_bytes == theirs->report.peak_bytes);
      REQUIRE((ours->report.torch && theirs->report.torch));
      CHECK(ours->report.torch->bytes == theirs->report.torch->bytes);
      CHECK(ours->report.torch->bytes > 0);
    }
  }
}

}  // namespace
}  // namespace recut
