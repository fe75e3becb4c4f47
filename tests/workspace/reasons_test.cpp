// Reasons on a chain small enough to count by hand: every value is 1 KiB, every call moves 2 KiB.
#include "engine/workspace/reasons.h"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include "engine/workspace/open_document.h"
#include "tests/partition/graphs.h"
#include "tests/paths.h"

namespace recut {
namespace {

using Catch::Approx;

// Forward a, b, d, e, c; backward reads e, d, b, a in this order.
constexpr const char* kReasonsChain = R"(graph "chain" {
  %w = parameter f32[256]
  %t = tangent f32[256]
  %a = exp(%w) : f32[256]
  %b = sin(%a) : f32[256]
  %d = cos(%b) : f32[256]
  %e = exp(%d) : f32[256]
  %c = sin(%e) : f32[256]
  %g1 = mul.Tensor(%t, %e) : f32[256]
  %g2 = mul.Tensor(%g1, %d) : f32[256]
  %g3 = mul.Tensor(%g2, %b) : f32[256]
  %g4 = mul.Tensor(%g3, %a) : f32[256]
  results %c
  gradients %g4
}
)";

constexpr double kRun = 2048 / 3.0e6;  // µs of one unary call

struct Case {
  Document document;
  PlanningRequest request;
  Planned planned;

  Explanation of(const std::string& name) const {
    const auto all = explain(document, request, planned, {name});
    REQUIRE(all.ok());
    return all->front();
  }
};

Case planned_with(const std::string& budget, const OverrideRequest& overrides) {
  OpenOptions options;
  options.passes.emplace();
  auto document = open_document_bytes(kReasonsChain, "chain", options);
  REQUIRE(document.ok());
  PlanningRequest request;
  request.budget = budget;
  request.overrides = overrides;
  auto planned = plan_document(*document, request);
  REQUIRE(planned.ok());
  REQUIRE(planned->report.holds());
  return {std::move(*document), request, std::move(*planned)};
}

TEST_CASE("reasons: a saved value", "[workspace]") {
  const Case all = planned_with("none", {});
  CHECK(all.planned.report.peak_bytes == 6 * 1024);
  const Explanation b = all.of("b");
  CHECK(b.reason.decision == RematDecision::saved);
  CHECK_FALSE(b.reason.overridden);
  CHECK(b.reason.bytes == 1024);
  CHECK(b.reason.saving_bytes == 1024);
  CHECK(b.reason.peak_at == "g1");
  CHECK(b.reason.recompute_us == Approx(kRun));
  CHECK(b.reason.inputs.empty());  // a is still there for g4
  REQUIRE(b.flip.has_value());
  CHECK(b.flip->holds);
  CHECK(b.flip->recompute_us == Approx(kRun));
  CHECK(b.flip->peak_bytes == 5 * 1024);
}

TEST_CASE("reasons: a recomputed value, and what depends on it", "[workspace]") {
  const Case some = planned_with("5KiB", {{}, {"a"}});
  CHECK(some.planned.report.recompute_us == Approx(kRun));
  const Explanation a = some.of("a");
  CHECK(a.reason.decision == RematDecision::recomputed);
  CHECK(a.reason.overridden);
  CHECK(a.reason.extra_runs == 1);
  CHECK(a.reason.saving_bytes == 1024);
  CHECK(a.reason.recompute_us == Approx(kRun));
  CHECK(a.reason.inputs.empty());
  REQUIRE(a.flip.has_value());
  CHECK(a.flip->holds);  // another one is recomputed instead
  CHECK(a.flip->recompute_us == Approx(kRun));
  const Explanation b = some.of("b");
  CHECK(b.reason.decision == RematDecision::saved);
  CHECK(b.reason.recompute_us == Approx(kRun));
  CHECK(b.reason.inputs == std::vector<std::string>{"a"});  // gone by then
  CHECK(b.reason.inputs_us == Approx(kRun));
}

TEST_CASE("reasons: a flip that can't be held says so", "[workspace]") {
  const Case tight = planned_with("4KiB", {});
  std::size_t impossible = 0;
  for (const char* name : {"a", "b", "d"}) {
    const Explanation e = tight.of(name);
    if (e.flip && !e.flip->holds) {
      ++impossible;
      CHECK(e.flip->min_peak_bytes > 4096);
      CHECK(explanation_text(e, tight.planned.report).find("couldn't be held") !=
            std::string::npos);
    }
  }
  CHECK(impossible > 0);
}

TEST_CASE("reasons: what leaves no choice, and names that aren't there", "[workspace]") {
  const Case all = planned_with("none", {});
  const Explanation c = all.of("c");
  CHECK(c.reason.decision == RematDecision::neither);
  CHECK_FALSE(c.flip.has_value());
  CHECK(explanation_text(c, all.planned.report).find("no other choice: it is a result") !=
        std::string::npos);
  CHECK(all.of("w").reason.why_not.find("input") != std::string::npos);
  CHECK(all.of("g1").reason.why_not.find("tangent") != std::string::npos);
  const auto unknown = explain(all.document, all.request, all.planned, {"g9"});
  REQUIRE(!unknown.ok());
  CHECK(unknown.diagnostics().front().message.find("nearest") != std::string::npos);
}

// Without recomputation the peak is at g1, where e is read; a, b and d are idle then.
TEST_CASE("reasons: what the other choice does at the peak", "[workspace]") {
  const Case all = planned_with("none", {});
  REQUIRE(all.of("a").reason.peak_at == "g1");
  for (const char* name : {"a", "b", "d"}) CHECK(all.of(name).reason.flip_bytes == -1024);
  CHECK(all.of("e").reason.flip_bytes == 0);
  CHECK(all.of("c").reason.flip_bytes == 0);  // a result: there is no other choice

  const Case without = planned_with("none", {{}, {"b"}});
  const Reason b = without.of("b").reason;
  REQUIRE(b.decision == RematDecision::recomputed);
  CHECK(b.peak_at == "g1");
  CHECK(b.flip_bytes == 1024);  // it isn't there at the peak, and would be
}

TEST_CASE("reasons: the values to choose among are what forward makes", "[workspace]") {
  const Case all = planned_with("none", {});
  const Reasons reasons(all.document, all.request, all.planned);
  std::string names;
  for (const NodeId id : reasons.values()) names += all.document.graph().node_name(id);
  CHECK(names == "abdec");
}

// However small its parts are.
void check_finder(const Document& document, const PlanningRequest& request,
                  const Planned& planned) {
  const Reasons whole(document, request, planned);
  for (const std::size_t part : {std::size_t{1}, std::size_t{7}, std::size_t{100'000}}) {
    CAPTURE(part);
    ReasonFinder finder(document, request, planned);
    double share = finder.share();
    CHECK(share == 0);
    std::size_t parts = 1;
    for (; finder.step(part); ++parts) {
      CHECK(finder.share() >= share);
      share = finder.share();
    }
    CHECK(finder.share() <= 1);
    CHECK(parts > planned.replay.steps.size() / part);
    const auto found = finder.take();
    REQUIRE(found != nullptr);
    CHECK(found->values() == whole.values());
    for (const NodeId id : document.graph().order()) CHECK(found->of(id) == whole.of(id));
  }
}

TEST_CASE("reasons: found in parts they are those that are found at once", "[workspace]") {
  const Case chain = planned_with("5KiB", {{}, {"a"}});
  check_finder(chain.document, chain.request, chain.planned);
  for (const char* name : {"mlp", "tiny_conv", "tiny_lstm"}) {
    CAPTURE(name);
    const std::string path = RECUT_SOURCE_DIR "/samples/joint/" + std::string(name) + ".json.gz";
    const auto document = open_document(path, {});
    REQUIRE(document.ok());
    PlanningRequest request;
    request.budget = "70%";
    const auto planned = plan_document(*document, request);
    REQUIRE(planned.ok());
    check_finder(*document, request, *planned);
  }
}

}  // namespace
}  // namespace recut
