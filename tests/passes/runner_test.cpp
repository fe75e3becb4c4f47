#include "engine/passes/runner.h"

#include <catch2/catch_test_macros.hpp>

#include "engine/ir/printer.h"
#include "engine/ir/rebuild.h"
#include "engine/passes/pass.h"
#include "engine/passes/pass_table.h"
#include "tests/input/parse.h"

namespace recut {
namespace {

Graph with_dead_node() {
  return parse(
      "graph \"g\" {\n %x = input f32[2]\n %dead = exp(%x)\n %y = relu(%x)\n results %y\n}");
}

PassResult do_nothing(const Graph& graph) { return {graph, false, {}}; }
PassResult boast(const Graph& graph) { return {graph, true, {}}; }
PassResult conceal(const Graph& graph) { return {without_dead_nodes(graph), false, {}}; }
PassResult break_graph_runner(const Graph& graph) {
  Graph broken = graph.empty_like();
  broken.results = {graph.results.front()};
  return {std::move(broken), true, {}};
}

PipelineReport run_one(const Graph& graph, PassResult (*pass)(const Graph&)) {
  const Pass passes[] = {{"subject", "", pass}};
  return run_passes(graph, passes);
}

TEST_CASE("runner: a report for each pass, and every stage's graph", "[passes]") {
  const std::vector<std::string> names = {"dead_code", "dead_code"};
  const auto report = run_passes(with_dead_node(), names);
  REQUIRE(report.ok());
  CHECK_FALSE(report->failure);
  REQUIRE(report->passes.size() == 2);
  const PassReport& first = report->passes[0];
  CHECK(first.changed);
  CHECK(first.nodes_before == 3);
  CHECK(first.nodes_after == 2);
  CHECK(first.milliseconds >= 0);
  REQUIRE(first.changes.size() == 1);
  CHECK(first.changes[0].description.text() == "%dead = exp(%x) : f32[2]");
  CHECK(rule_hits(first.changes) == std::vector<std::pair<std::string_view, int>>{{"unused", 1}});
  CHECK_FALSE(report->passes[1].changed);
  CHECK(report->changed());
  CHECK(report->input.order().size() == 3);
  CHECK(report->graph().order().size() == 2);
}

TEST_CASE("runner: skips by name and stops early", "[passes]") {
  const std::vector<std::string> names = {"dead_code"};
  RunnerOptions skip;
  skip.skip = {"dead_code"};
  const auto skipped = run_passes(with_dead_node(), names, skip);
  REQUIRE(skipped.ok());
  CHECK(skipped->passes.at(0).skipped);
  CHECK_FALSE(skipped->changed());
  RunnerOptions stop;
  stop.stop_at = 0;
  const auto stopped = run_passes(with_dead_node(), names, stop);
  REQUIRE(stopped.ok());
  CHECK(stopped->passes.empty());
  CHECK(stopped->graph().order().size() == 3);
}

TEST_CASE("runner: numbered dumps", "[passes]") {
  std::vector<std::pair<std::string, std::string>> files;
  RunnerOptions options;
  options.dump = [&](const std::string& name, const std::string& text) {
    files.emplace_back(name, text);
  };
  const std::vector<std::string> names = {"dead_code"};
  const auto report = run_passes(with_dead_node(), names, options);
  REQUIRE(report.ok());
  REQUIRE(files.size() == 2);
  CHECK(files[0].first == "00-input.recut");
  CHECK(files[0].second == print(report->input));
  CHECK(files[1].first == "01-dead_code.recut");
  CHECK(files[1].second == print(report->graph()));
}

TEST_CASE("runner: an unknown pass is the user's fault", "[passes]") {
  const std::vector<std::string> names = {"dead_code", "dead_cod"};
  const auto report = run_passes(with_dead_node(), names);
  REQUIRE_FALSE(report.ok());
  CHECK(report.diagnostics().front().message.find("unknown pass 'dead_cod', expected one of") == 0);
}

TEST_CASE("runner: catches passes that violate their contract", "[passes]") {
  const Graph graph = with_dead_node();
  CHECK_FALSE(run_one(graph, do_nothing).failure);

  const PipelineReport boasted = run_one(graph, boast);
  REQUIRE(boasted.failure);
  CHECK(boasted.failure->message.find("says that it changed this graph, and did not") == 0);
  CHECK(boasted.passes.empty());

  const PipelineReport concealed = run_one(graph, conceal);
  REQUIRE(concealed.failure);
  CHECK(concealed.failure->message.find("says that it changed nothing") == 0);

  const PipelineReport broken = run_one(graph, break_graph_runner);
  REQUIRE(broken.failure);
  CHECK(broken.failure->message.find("invariant 7") != std::string::npos);
  CHECK(same_graph(broken.graph(), graph));
}

TEST_CASE("runner: an unsound input is not blamed on a pass", "[passes]") {
  Graph graph = with_dead_node();
  graph.gradients = {graph.results.front(), graph.results.front()};
  const PipelineReport report = run_one(graph, do_nothing);
  REQUIRE(report.failure);
  CHECK(report.failure->pass == "input");
}

TEST_CASE("runner: pass names in a list", "[passes]") {
  CHECK(split_pass_names("a, b,,c ") == std::vector<std::string>{"a", "b", "c"});
  CHECK(split_pass_names("").empty());
  // Names that passes had before.
  CHECK(split_pass_names("copies,roundings") ==
        std::vector<std::string>{"merge_clones", "elide_rounding_casts"});
#define RECUT_FORMER_PASS_NAME(former, current) \
  CHECK(find_pass(#former) == nullptr);         \
  CHECK(find_pass(current_pass_name(#former)) != nullptr);
#include "engine/passes/former_names.def"
#undef RECUT_FORMER_PASS_NAME
}

TEST_CASE("runner: the same graph is the same nodes under the same names", "[passes]") {
  const Graph graph = with_dead_node();
  CHECK(same_graph(graph, graph));
  Graph renamed = graph;
  CHECK(renamed.add_alias("other", graph.results.front()));
  CHECK_FALSE(same_graph(graph, renamed));
  Graph fewer = graph;
  fewer.results.clear();
  CHECK_FALSE(same_graph(graph, fewer));
}

}  // namespace
}  // namespace recut
