// Policies of torch.utils.checkpoint: read from files, kept by the text form, and followed by plans.
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <string_view>

#include "engine/input/graph_file_reader.h"
#include "engine/ir/printer.h"
#include "engine/workspace/graph_export.h"
#include "engine/workspace/named_overrides.h"
#include "engine/workspace/open_document.h"
#include "engine/workspace/planning.h"

namespace recut {
namespace {

using Names = std::vector<std::string>;

// Two checkpointed regions of two calls each, the second beginning with the first one's result;
// then a call that is always saved, one that the plan is free to choose for, and a draw.
constexpr const char* kCheckpointed = R"(graph "net" {
  %w = parameter f32[1024]
  %t = tangent f32[1024]
  %a = exp(%w) : f32[1024]  @"net.0" checkpoint PREFER_RECOMPUTE 1
  %b = sin(%a) : f32[1024]  @"net.0" checkpoint PREFER_RECOMPUTE 1
  %c = exp(%b) : f32[1024]  @"net.1" checkpoint MUST_RECOMPUTE 2
  %d = sin(%c) : f32[1024]  @"net.1" #7 checkpoint MUST_RECOMPUTE 2
  %e = exp(%d) : f32[1024]  checkpoint MUST_SAVE
  %v = view(%e, [32, 32]) : f32[32, 32]  checkpoint PREFER_RECOMPUTE 3
  %f = sin(%v) : f32[32, 32]  checkpoint PREFER_SAVE 3
  %r = bernoulli.p(%f, 0.5) : f32[32, 32]  checkpoint PREFER_RECOMPUTE 3
  %y = cos(%r) : f32[32, 32]
  %g = view(%t, [32, 32]) : f32[32, 32]
  %gr = mul.Tensor(%g, %r) : f32[32, 32]
  %gf = mul.Tensor(%gr, %f) : f32[32, 32]
  %ge = view(%gf, [1024]) : f32[1024]
  %gd = mul.Tensor(%ge, %e) : f32[1024]
  %gd2 = mul.Tensor(%gd, %d) : f32[1024]
  %gc = mul.Tensor(%gd2, %c) : f32[1024]
  %gb = mul.Tensor(%gc, %b) : f32[1024]
  %ga = mul.Tensor(%gb, %a) : f32[1024]
  results %y
  gradients %ga
}
)";

Document checkpointed(std::string_view text = kCheckpointed) {
  OpenOptions options;
  options.passes.emplace();
  auto document = open_document_bytes(std::string(text), "net", options);
  INFO((document ? std::string() : format(document.diagnostics())));
  REQUIRE(document.ok());
  return std::move(*document);
}

Names followed(const Document& document, const OverrideRequest& request) {
  const auto resolved = resolve_overrides(document.graph(), request);
  INFO((resolved ? std::string() : format(resolved.diagnostics())));
  REQUIRE(resolved.ok());
  Names all;
  for (const NodeId id : resolved->overrides().save)
    all.push_back("save " + document.graph().node_name(id));
  for (const NodeId id : resolved->overrides().recompute)
    all.push_back("recompute " + document.graph().node_name(id));
  return all;
}

TEST_CASE("checkpoint policies: the text form and JSON keep them", "[workspace][checkpoint]") {
  const Document document = checkpointed();
  const std::string text = print(document.graph());
  CHECK(text.find("@\"net.1\" #7 checkpoint MUST_RECOMPUTE 2\n") != std::string::npos);
  CHECK(text.find(" : f32[1024]  checkpoint MUST_SAVE\n") != std::string::npos);
  CHECK(print(checkpointed(text).graph()) == text);
  const std::string json = graph_json(document.graph());
  CHECK(json.find(R"("recompute": "MUST_RECOMPUTE")") != std::string::npos);
  CHECK(json.find(R"("ac_graph_id": 2)") != std::string::npos);
}

TEST_CASE("checkpoint policies: where there is a choice, plans follow them",
          "[workspace][checkpoint]") {
  const Document document = checkpointed();
  // The second region begins with b; a view's policy says nothing about the viewed value; a
  // draw can't run again.
  CHECK(followed(document, {}) ==
        Names{"save b", "save e", "recompute a", "recompute c", "recompute d"});
  OverrideRequest request;
  request.ignore_checkpoints = true;
  CHECK(followed(document, request).empty());
  CHECK_FALSE(has_overrides(document.graph(), request));

  const auto planned = plan_document(document, {});
  REQUIRE(planned.ok());
  CHECK(planned->report.overrides == Names{"the model's checkpoint policies (save)",
                                           "the model's checkpoint policies (recompute)"});
  CHECK(planned->report.recomputed_runs == 3);
  PlanningRequest free;
  free.overrides.ignore_checkpoints = true;
  const auto without = plan_document(document, free);
  REQUIRE(without.ok());
  CHECK(without->report.recomputed_runs == 0);
  PlanningRequest everything;
  everything.strategy = "default";
  const auto saved = plan_document(document, everything);
  REQUIRE(saved.ok());
  CHECK(saved->report.recomputed_runs == 0);
  CHECK(saved->report.remarks.back().find("left out") != std::string::npos);
}

TEST_CASE("checkpoint policies: the user's overrides win", "[workspace][checkpoint]") {
  const Document document = checkpointed();
  CHECK(followed(document, {{"c"}, {"b"}}) ==
        Names{"save c", "save e", "recompute b", "recompute a", "recompute d"});
  CHECK(followed(document, {{"net.*"}, {}}) ==
        Names{"save a", "save b", "save c", "save d", "save b", "save e"});
}

TEST_CASE("checkpoint policies: a budget that they keep from being held says so",
          "[workspace][checkpoint]") {
  const Document document = checkpointed(R"(graph "net" {
  %w = parameter f32[1024]
  %t = tangent f32[1024]
  %a = exp(%w) : f32[1024]  checkpoint MUST_SAVE
  %b = sin(%a) : f32[1024]  checkpoint MUST_SAVE
  %c = exp(%b) : f32[1024]  checkpoint MUST_SAVE
  %y = cos(%c) : f32[1024]
  %gc = mul.Tensor(%t, %c) : f32[1024]
  %gb = mul.Tensor(%gc, %b) : f32[1024]
  %ga = mul.Tensor(%gb, %a) : f32[1024]
  results %y
  gradients %ga
}
)");
  PlanningRequest request;
  request.budget = "16384";
  const auto planned = plan_document(document, request);
  REQUIRE(planned.ok());
  CHECK_FALSE(planned->report.holds());
  REQUIRE(planned->report.blame);
  CHECK(planned->report.blame->feasible_without);
  CHECK(planned->report.blame->sufficient == Names{"the model's checkpoint policies (save)"});
}

TEST_CASE("checkpoint policies: files of PyTorch", "[workspace][checkpoint]") {
  const auto node = [](std::string_view meta) {
    return R"({"format": "fx-joint-graph", "version": 1, "model": "net", "num_fwd_outputs": 1, "joint": [
      {"name": "primals_1", "op": "placeholder", "target": "primals_1", "args": [],
       "val": {"dtype": "float32", "shape": [4], "stride": [1], "device": "cpu"}},
      {"name": "exp", "op": "call_function", "target": "aten.exp.default",
       "args": [{"node": "primals_1"}], "meta": )" +
           std::string(meta) + R"(},
      {"name": "output", "op": "output", "target": "output", "args": [[{"node": "exp"}, null]]}]})";
  };
  const auto origin = [&](std::string_view meta) {
    const auto file = read_graph_bytes(node(meta), "net.json");
    INFO((file ? std::string() : format(file.diagnostics())));
    REQUIRE(file.ok());
    return file->graph.origin(file->graph.find("exp"));
  };
  const Origin quoted =
      origin(R"({"recompute": "CheckpointPolicy.MUST_SAVE", "ac_graph_id": "5"})");
  CHECK(quoted.policy == CheckpointPolicy::must_save);
  CHECK(quoted.checkpoint_region == 5);
  CHECK(origin(R"({"recompute": "PREFER_SAVE", "ac_graph_id": 6})").checkpoint_region == 6);
  CHECK(origin(R"({"partitioner_tag": "is_forward"})").policy == CheckpointPolicy::none);
  CHECK(origin(R"({"recompute": "MUST_SAVE", "ac_graph_id": "5x"})").checkpoint_region == -1);

  const auto unknown = read_graph_bytes(node(R"({"recompute": "MUST_CPU_OFFLOAD"})"), "net.json");
  REQUIRE(unknown.ok());
  REQUIRE(unknown->notes().size() == 1);
  CHECK(unknown->notes().front().find("'MUST_CPU_OFFLOAD' (1)") != std::string::npos);
}

TEST_CASE("checkpoint policies: a text with an unknown one is refused", "[workspace][checkpoint]") {
  const auto document = open_document_bytes(R"(graph "net" {
  %w = input f32[4]
  %a = exp(%w) : f32[4]  checkpoint OFFLOAD 1
  results %a
})",
                                            "net", {});
  REQUIRE(!document.ok());
  const Diagnostic fault = document.diagnostics().front();
  CHECK(fault.line == 3);
  CHECK(fault.message ==
        "expected MUST_SAVE, PREFER_SAVE, PREFER_RECOMPUTE or MUST_RECOMPUTE, found OFFLOAD");
}

}  // namespace
}  // namespace recut
