// Overrides: accepted names, refusals with their reasons, and that plans respect them.
#include "engine/workspace/named_overrides.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "engine/workspace/open_document.h"
#include "engine/workspace/planning.h"
#include "tests/partition/graphs.h"

namespace recut {
namespace {

// Backward reads a, b and r; c is the result.
constexpr const char* kChoicesChain = R"(graph "chain" {
  %w = parameter f32[256]
  %t = tangent f32[256]
  %a = exp(%w) : f32[256]  @"net.h.0.mlp"
  %v = view(%a, [16, 16]) : f32[16, 16]  @"net.h.0.mlp"
  %r = bernoulli.p(%a, 0.5) : f32[256]  @"net.h.0.drop"
  %b = sin(%r) : f32[256]  @"net.h.1.mlp"
  %c = cos(%b) : f32[256]  @"net.h.1.mlp"
  %gc = mul.Tensor(%t, %b) : f32[256]  @"net.h.1.mlp"
  %gr = mul.Tensor(%gc, %r) : f32[256]
  %gb = mul.Tensor(%gr, %a) : f32[256]
  results %c
  gradients %gb
}
)";

Document opened() {
  OpenOptions options;
  options.passes.emplace();
  auto document = open_document_bytes(kChoicesChain, "chain", options);
  INFO((document ? std::string() : format(document.diagnostics())));
  REQUIRE(document.ok());
  return std::move(*document);
}

std::vector<std::string> overridden(const Document& document, const OverrideRequest& request) {
  const auto named_overrides = resolve_overrides(document.graph(), request);
  INFO((named_overrides ? std::string() : format(named_overrides.diagnostics())));
  REQUIRE(named_overrides.ok());
  const Overrides overrides = named_overrides->overrides();
  std::vector<std::string> all;
  for (const NodeId id : overrides.save) all.push_back("save " + document.graph().node_name(id));
  for (const NodeId id : overrides.recompute)
    all.push_back("again " + document.graph().node_name(id));
  return all;
}

std::string refusal(const Document& document, const OverrideRequest& request) {
  const auto named_overrides = resolve_overrides(document.graph(), request);
  REQUIRE(!named_overrides.ok());
  return named_overrides.diagnostics().front().message;
}

using Names = std::vector<std::string>;

TEST_CASE("overrides: names, views and patterns", "[workspace]") {
  const Document document = opened();
  CHECK(overridden(document, {{"b"}, {"a"}}) == Names{"save b", "again a"});
  CHECK(overridden(document, {{"v"}, {}}) == Names{"save a"});
  CHECK(overridden(document, {{}, {"h.*.mlp"}}) == Names{"again a", "again b"});
  CHECK(overridden(document, {{"h.*"}, {}}) == Names{"save a", "save r", "save b", "save c"});
  CHECK(overridden(document, {{}, {"net*"}}) == Names{"again a", "again b"});
  CHECK(overridden(document, {{"b"}, {"net*"}}) == Names{"save b", "again a"});
}

TEST_CASE("overrides: a pattern recomputes the operands of recomputed calls", "[workspace]") {
  // Backward reads b alone; a is read by b.
  OpenOptions options;
  options.passes.emplace();
  const auto document = open_document_bytes(R"(graph "net" {
  %w = parameter f32[64]
  %t = tangent f32[64]
  %a = exp(%w) : f32[64]  @"net.0"
  %b = sin(%a) : f32[64]  @"net.0"
  %c = cos(%b) : f32[64]
  %g = mul.Tensor(%t, %b) : f32[64]
  results %c
  gradients %g
}
)",
                                            "net", options);
  REQUIRE(document.ok());
  CHECK(overridden(*document, {{}, {"net.*"}}) == Names{"again a", "again b"});
  CHECK(refusal(*document, {{}, {"a"}}).find("is read by nothing in backward") !=
        std::string::npos);
}

TEST_CASE("overrides: refusals say why", "[workspace]") {
  const Document document = opened();
  CHECK(refusal(document, {{"gd"}, {}}) ==
        "--save: no node is named 'gd'; the nearest name is 'gc'");
  CHECK(refusal(document, {{}, {"w"}}).find("is an input") != std::string::npos);
  CHECK(refusal(document, {{}, {"r"}}).find("draws random numbers") != std::string::npos);
  CHECK(refusal(document, {{}, {"c"}}).find("is a result") != std::string::npos);
  CHECK(refusal(document, {{"gc"}, {}}).find("needs a tangent") != std::string::npos);
  CHECK(refusal(document, {{"mlp.x*"}, {}}).find("no module") != std::string::npos);
  CHECK(refusal(document, {{}, {"h.0.drop*"}}).find("can be recomputed") != std::string::npos);
  CHECK(refusal(document, {{"a"}, {"v"}}) == "--recompute 'v': --save a says the contrary of 'a'");
}

TEST_CASE("overrides: plans respect them, other strategies refuse them", "[workspace]") {
  const Document document = opened();
  const Graph& graph = document.graph();
  PlanningRequest request;
  request.overrides = {{"b"}, {"a"}};
  const auto planned = plan_document(document, request);
  REQUIRE(planned.ok());
  const auto has = [&](const std::vector<NodeId>& list, const char* name) {
    return std::find(list.begin(), list.end(), graph.find(name)) != list.end();
  };
  CHECK(has(planned->plan.saved, "b"));
  CHECK_FALSE(has(planned->plan.backward, "b"));
  CHECK_FALSE(has(planned->plan.saved, "a"));
  CHECK(has(planned->plan.backward, "a"));
  CHECK(planned->report.overrides == Names{"--save b", "--recompute a"});
  for (const char* strategy : {"torch", "default"}) {
    request.strategy = strategy;
    const auto refused = plan_document(document, request);
    REQUIRE(!refused.ok());
    CHECK(refused.diagnostics().front().message.find("no overrides") != std::string::npos);
  }
}

TEST_CASE("overrides: they are named where they are why a budget can't be held", "[workspace]") {
  const Document document = opened();
  PlanningRequest request;
  request.budget = "1";
  const auto least = plan_document(document, request);
  REQUIRE(least.ok());
  request.budget = std::to_string(least->report.proof->min_peak_bytes);
  REQUIRE(plan_document(document, request)->report.holds());
  request.overrides.save = {"b", "a"};
  const auto refused = plan_document(document, request);
  REQUIRE(refused.ok());
  REQUIRE_FALSE(refused->report.holds());
  REQUIRE(refused->report.blame.has_value());
  CHECK(refused->report.blame->feasible_without);
  request.budget = "1";
  const auto hopeless = plan_document(document, request);
  REQUIRE(hopeless->report.blame.has_value());
  CHECK_FALSE(hopeless->report.blame->feasible_without);
}

// %f and %s need no tangent and forward doesn't need them: a derivative's own factors.
TEST_CASE("overrides: what backward's factors read runs again for them, and for each other") {
  OpenOptions options;
  options.passes.emplace();
  const auto document = open_document_bytes(R"(graph "factors" {
    %w = parameter f32[256]
    %t = tangent f32[256]
    %a = exp(%w)
    %h = sin(%a)
    %c = cos(%h)
    %f = cosh(%h)
    %s = mul.Tensor(%f, %f)
    %g = mul.Tensor(%t, %s)
    %k = mul.Tensor(%g, %a)
    results %c
    gradients %k
  })",
                                            "factors", options);
  REQUIRE(document.ok());
  const Graph& graph = document->graph();
  PlanningRequest request;
  request.overrides = {{}, {"a", "h"}};
  const auto planned = plan_document(*document, request);
  INFO((planned ? std::string() : format(planned.diagnostics())));
  REQUIRE(planned.ok());
  CHECK(planned->plan.saved.empty());
  Names backward;
  for (const NodeId id : planned->plan.backward) backward.push_back(graph.node_name(id));
  CHECK(std::count(backward.begin(), backward.end(), "a") == 1);
  CHECK(std::count(backward.begin(), backward.end(), "h") == 1);
  CHECK(std::count(backward.begin(), backward.end(), "f") == 1);
  CHECK(overridden(*document, {{}, {"h"}}) == Names{"again h"});
  CHECK(refusal(*document, {{}, {"f"}}).find("runs in backward alone") != std::string::npos);
}

// Without overrides backward's kernel computes %a for itself from %p, which it reads.
TEST_CASE("overrides: no kernel of others makes a pinned value", "[workspace]") {
  OpenOptions options;
  options.passes.emplace();
  const auto document = open_document_bytes(R"(graph "inlined" {
    %x = parameter f32[30, 20]
    %w = parameter f32[20, 40]
    %v = parameter f32[40, 10]
    %u = parameter f32[40, 20]
    %t = tangent f32[30, 40]
    %p = mm(%x, %w)
    %a = neg(%p)
    %o = mm(%a, %v)
    %g = mul.Tensor(%t, %a)
    %k = mul.Tensor(%g, %p)
    %q = mm(%k, %u)
    results %o
    gradients %q, none, none, none
  })",
                                            "inlined", options);
  INFO((document ? std::string() : format(document.diagnostics())));
  REQUIRE(document.ok());
  const auto planned = [&](const OverrideRequest& named_overrides) {
    PlanningRequest request;
    request.cost_model = "fused";
    request.overrides = named_overrides;
    auto planned = plan_document(*document, request);
    INFO((planned ? std::string() : format(planned.diagnostics())));
    REQUIRE(planned.ok());
    return std::move(*planned);
  };
  const auto saved = [&](const Planned& it) { return names(document->graph(), it.plan.saved); };
  const auto backward = [&](const Planned& it) {
    return names(document->graph(), it.plan.backward);
  };
  const Planned free = planned({});
  CHECK(saved(free) == Names{"p"});
  CHECK(backward(free) == Names{"a", "g", "k", "q"});
  CHECK(free.report.inlined_calls == 1);
  CHECK(free.report.recomputed_runs == 0);
  const Planned kept = planned({{"a"}, {}});
  CHECK(saved(kept) == Names{"p", "a"});
  CHECK(backward(kept) == Names{"g", "k", "q"});
  const Planned again = planned({{}, {"a"}});
  CHECK(saved(again) == Names{"p"});
  CHECK(backward(again) == Names{"a", "g", "k", "q"});
  CHECK(again.report.inlined_calls == 0);
  CHECK(again.report.recomputed_runs == 1);
  CHECK(again.report.recompute_us > 0);
}

}  // namespace
}  // namespace recut
