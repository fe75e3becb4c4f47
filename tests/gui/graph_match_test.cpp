// Which nodes of two graphs are the same, and what differs.
#include "gui/model/graph_match.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "gui/model/comparison.h"
#include "gui/model/node_trace.h"
#include "tests/gui/window.h"

namespace recut::gui {
namespace {

struct GraphMatchOpened : Window {
  explicit GraphMatchOpened(const std::string& path = "sample:tiny_conv") : Window(bare_options()) {
    app.open(path);
    settle();
  }
  const DocumentView& document() { return *app.document(); }
};

// Twins are each other's partners, so as many nodes are left over on one side as on the other.
void check_one_for_one(const Graph& here, const Graph& there, const GraphMatch& match) {
  REQUIRE(match.here.partner.size() == here.order().size());
  REQUIRE(match.there.partner.size() == there.order().size());
  std::size_t twins = 0;
  for (std::size_t i = 0; i < here.order().size(); ++i) {
    if (!match.here.twin[i]) continue;
    ++twins;
    const NodeId twin = match.here.partner[i];
    REQUIRE(there.contains(twin));
    CHECK(match.there.twin[there.position(twin)]);
    CHECK(match.there.partner[there.position(twin)] == here.order()[i]);
  }
  CHECK(twins == static_cast<std::size_t>(
                     std::count(match.there.twin.begin(), match.there.twin.end(), true)));
}

TEST_CASE("graph match: all nodes traced at once are traced as one by one", "[gui]") {
  for (const char* sample : {"sample:tiny_conv", "sample:tiny_ops", "sample:mlp"}) {
    CAPTURE(sample);
    GraphMatchOpened window(sample);
    const PipelineReport& passes = window.document().document->passes;
    const std::size_t last = passes.passes.size();
    for (const auto& [from, to] :
         {std::pair<std::size_t, std::size_t>(0, last), {last, 0}, {0, 0}, {last / 2, last}}) {
      const std::vector<NodeId> all = trace_nodes(passes, from, to);
      const auto order = graph_after(passes, from).order();
      REQUIRE(all.size() == order.size());
      for (std::size_t i = 0; i < all.size(); ++i)
        CHECK(all[i] == trace_node(passes, order[i], from, to));
    }
  }
}

TEST_CASE("graph match: a graph and itself, and its passes", "[gui]") {
  for (const char* sample : {"sample:tiny_conv", "sample:tiny_ops", "sample:mlp"}) {
    CAPTURE(sample);
    GraphMatchOpened window(sample);
    const PipelineReport& passes = window.document().document->passes;
    const std::size_t last = passes.passes.size();
    const Graph &read = passes.input, &end = graph_after(passes, last);
    check_one_for_one(read, read, match_same(read));
    const GraphMatch match = match_passes(passes, 0, last);
    check_one_for_one(read, end, match);
    for (const NodeId id : read.order())
      if (end.contains(id)) CHECK(match.here.partner[read.position(id)] == id);
    const GraphMatch back = match_passes(passes, last, 0);
    check_one_for_one(end, read, back);
  }
}

TEST_CASE("graph match: two documents by names, modules and operators", "[gui]") {
  GraphMatchOpened window;
  const Graph& conv = window.document().graph();
  const GraphMatch same = match_documents(conv, conv);
  for (const NodeId id : conv.order()) CHECK(same.here.partner[conv.position(id)] == id);
  window.app.open("sample:mlp");
  window.settle();
  const Graph& mlp = window.document().graph();
  const GraphMatch match = match_documents(conv, mlp);
  check_one_for_one(conv, mlp, match);
  for (const NodeId id : conv.order()) {
    const std::size_t at = conv.position(id);
    const NodeId twin = match.here.partner[at];
    if (!twin.valid()) continue;
    const bool named = conv.node_name(id) == mlp.node_name(twin);
    const bool placed =
        conv.origin(id).module == mlp.origin(twin).module && conv.op(id).name == mlp.op(twin).name;
    CHECK((named || placed));
  }
}

TEST_CASE("comparison: two plans of one graph differ in fates alone", "[gui]") {
  GraphMatchOpened window;
  const DocumentView& document = window.document();
  PlanningRequest request;
  request.budget = "80%";
  const auto less = make_plan_view(*document.basis, request);
  REQUIRE(less.ok());
  const ShownGraph here{document.document, document.pass, document.start},
      there{document.document, document.pass, *less};
  const SharedComparison none = make_comparison(here, here);
  CHECK(none->steps.empty());
  const SharedComparison some = make_comparison(here, there);
  CHECK(some->counts.only_here + some->counts.only_there + some->counts.rewritten == 0);
  CHECK(some->counts.fate == some->steps.size());
  CHECK(some->steps.size() ==
        difference_of(*document.start, **less, match_same(document.graph())).rows.size());
  const Graph& graph = document.graph_at_pass();
  for (std::size_t i = 0; i < some->steps.size(); ++i) {
    const ComparisonStep& step = some->steps[i];
    CHECK(step.here == step.there);
    CHECK(some->here.of(step.here) == Difference::fate);
    CHECK(some->there.of(step.there) == Difference::fate);
    if (i > 0) CHECK(graph.position(some->steps[i - 1].here) < graph.position(step.here));
  }
}

TEST_CASE("comparison: what stands on one side only, in program order, there and back", "[gui]") {
  GraphMatchOpened window;
  const DocumentView& document = window.document();
  const std::size_t last = document.document->passes.passes.size();
  const ShownGraph read{document.document, 0, document.shown},
      end{document.document, last, document.shown};
  const SharedComparison on = make_comparison(read, end), back = make_comparison(end, read);
  CHECK(on->counts.only_here > 0);
  CHECK(on->counts.fate == 0);
  CHECK(on->counts.only_here == back->counts.only_there);
  CHECK(on->counts.only_there == back->counts.only_here);
  CHECK(on->counts.rewritten == back->counts.rewritten);
  CHECK(on->steps.size() == back->steps.size());
  // What is left on one side is what the numbers of nodes differ by.
  CHECK(read.graph().order().size() - on->counts.only_here ==
        end.graph().order().size() - on->counts.only_there);
  const auto in_order = [](const Graph& graph, const std::vector<ComparisonStep>& steps) {
    std::size_t next = 0;
    for (const ComparisonStep& step : steps) {
      if (!step.here.valid()) continue;
      CHECK(graph.position(step.here) >= next);
      next = graph.position(step.here) + 1;
    }
  };
  in_order(read.graph(), on->steps);
  in_order(end.graph(), back->steps);
}

}  // namespace
}  // namespace recut::gui
