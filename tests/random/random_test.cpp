// Properties that every graph has, tried on random ones. A failing graph is shrunk and printed.
//
// RECUT_RANDOM_GRAPHS is how many to try (300), RECUT_RANDOM_SEED the first seed (1); the tests of
// passes are "[random][passes]".
#include <fmt/core.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>

#include "engine/input/text.h"
#include "engine/ir/printer.h"
#include "engine/ir/rebuild.h"
#include "engine/ir/verifier.h"
#include "engine/partition/baseline.h"
#include "engine/partition/replay.h"
#include "engine/partition/strategy.h"
#include "engine/passes/pass_table.h"
#include "engine/passes/rule_pass.h"
#include "engine/passes/runner.h"
#include "engine/passes/stages.h"
#include "tests/effort.h"
#include "tests/paths.h"
#include "tests/random/finding.h"
#include "tests/random/random_calls.h"
#include "tests/random/random_graph.h"
#include "tests/random/same_meaning.h"
#include "tests/random/shrink.h"

namespace recut::test {
namespace {

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* value = std::getenv(variable);
  return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
}

// The fault of a graph, or ""; its first word names the property.
using Property = std::string (*)(const Graph&);

std::string reads_back(const Graph& graph) {
  if (!verify(graph).empty()) return "unsound:\n" + print(graph, verify(graph));
  const std::string text = print(graph);
  const auto again = parse_graph_text(text, "printed");
  if (!again) return "unreadable: " + format(again.diagnostics());
  return print(*again) == text ? "" : "reread as\n" + print(*again);
}

std::string keeps_its_meaning(const Graph& graph, const std::vector<std::string>& passes) {
  const auto report = run_passes(graph, passes);
  if (report->failure) return report->failure->pass + " " + report->failure->message;
  const std::string what = difference(graph, report->graph());
  return what.empty() ? "" : fmt::format("meaning: {}, after\n{}", what, print(report->graph()));
}

// A second run of one pass changes nothing. A pipeline promises no such thing: what a later pass
// uncovers, an earlier one may take up the next time.
std::string settles(const Graph& graph, const std::string& pass) {
  const std::vector<std::string> passes = {pass};
  const auto report = run_passes(graph, passes);
  const auto again = run_passes(report->graph(), passes);
  if (again->failure) return again->failure->pass + " " + again->failure->message;
  if (again->changed())
    return fmt::format("twice:\n{}then\n{}", print(report->graph()), print(again->graph()));
  return "";
}

std::string each_pass_keeps_meaning(const Graph& graph) {
  for (const Pass& pass : all_passes()) {
    if (!pass.exact) continue;  // inexact passes
    const std::string name(pass.name);
    std::string wrong = keeps_its_meaning(graph, {name});
    if (wrong.empty()) wrong = settles(graph, name);
    if (!wrong.empty()) return fmt::format("{} ({})", wrong, name);
  }
  return "";
}

// Inexact passes
// ------------------------------------------------------------------------------------------------

// The value of a node alone.
Result<Tensor> value_of(const Graph& graph, NodeId id, const Inputs& inputs) {
  Graph alone = graph;
  alone.results = {id};
  alone.gradients.clear();
  const auto values = evaluate(without_dead_nodes(alone), inputs);
  if (!values) return values.diagnostics();
  return values->outputs.front();
}

double length(const Reals& values) {
  double squares = 0;
  for (const double x : values.data) squares += x * x;
  return std::sqrt(squares);
}

// "" within the row's bound: ‖found − expected‖ ≤ relative·‖expected‖ + absolute·√n. Where the
// pattern gives no number, nothing is promised.
std::string too_far(const Tensor& expected, const Tensor& found, const Inexact& row) {
  const Reals before = unpack<double>(expected);
  Reals apart = unpack<double>(found);
  for (std::int64_t i = 0; i < before.count(); ++i) {
    if (!std::isfinite(before[i])) return "";
    apart[i] -= before[i];
  }
  const double bound =
      row.relative * length(before) + row.absolute * std::sqrt(static_cast<double>(before.count()));
  const double error = length(apart);
  return error <= bound ? "" : fmt::format("the error is {}, beyond {}", error, bound);
}

// Null for a pass without rules: its own tests cover it.
const Inexact* inexact_row(const PassReport& pass, std::string_view rule) {
  if (pass.rules.rules == nullptr) return nullptr;
  for (const RuleRow& row : pass.rules.rules->rows)
    if (row.name == rule) return row.inexact ? &*row.inexact : nullptr;
  return nullptr;
}

// Applies the pass's first change alone, since a later change may build on an earlier one.
std::string first_change_is_near(const Graph& graph, const PassReport& pass) {
  if (pass.changes.empty()) return "";
  const Change& change = pass.changes.front();
  const Inexact* row = inexact_row(pass, change.rule);
  if (row == nullptr || !is_floating(graph.type(change.before).dtype)) return "";
  const Inputs inputs = inputs_for(graph, 1, Values::ordinary);
  const auto before = value_of(graph, change.before, inputs);
  const auto after = value_of(pass.graph, change.after.front(), inputs);
  if (!before) return "";  // out of an operator's range
  if (!after) return "can't be evaluated any more: " + format(after.diagnostics());
  const std::string what = too_far(*before, *after, *row);
  return what.empty() ? "" : fmt::format("far ({}): {}", change.rule, what);
}

std::string each_inexact_pass_stays_near(const Graph& graph) {
  for (const Pass& pass : all_passes()) {
    if (pass.exact) continue;
    const std::vector<std::string> names = {std::string(pass.name)};
    const auto report = run_passes(graph, names);
    if (report->failure) return report->failure->pass + " " + report->failure->message;
    if (const auto what = first_change_is_near(graph, report->passes.front()); !what.empty())
      return what;
  }
  return "";
}

// All passes one after another break no promise, and leave a graph that can be evaluated.
std::string inexact_pipeline_is_sound(const Graph& graph) {
  const auto report = run_passes(graph, inexact_passes());
  if (report->failure) return report->failure->pass + " " + report->failure->message;
  const Inputs inputs = inputs_for(graph, 1, Values::ordinary);
  if (!evaluate(graph, inputs)) return "";
  const auto after = evaluate(report->graph(), inputs);
  return after ? "" : "can't be evaluated any more: " + format(after.diagnostics());
}

// How often each rule of each pass fired, also of passes without rules.
using Hits = std::map<std::string, int>;

void count_hits(const Graph& graph, Hits& hits) {
  const auto report = run_passes(graph, inexact_passes());
  for (const PassReport& pass : report->passes)
    for (const auto& [rule, count] : rule_hits(pass.changes)) hits[std::string(rule)] += count;
}

std::string pipeline_keeps_meaning(const Graph& graph) {
  return keeps_its_meaning(graph, default_passes());
}

// Every plan computes the graph's values, and the interpreter measures the planned peak.
std::string plans_keep_meaning(const Graph& graph) {
  const std::int64_t peak = baseline_step(graph).peak_bytes;
  for (const Strategy& strategy : all_strategies())
    for (const Budget& budget : {Budget(NoBudget{}), Budget(SavedFraction{0}),
                                 Budget(PeakBytes{peak * 6 / 10}), Budget(PeakBytes{1})}) {
      PlanRequest request{std::string(strategy.name), budget};
      request.limits.effort = 0.05;
      const auto outcome = strategy.plan(graph, request);
      if (!outcome) continue;  // a budget that the strategy doesn't take
      const auto played = replay(graph, outcome->plan);
      if (!played) return "replay: " + format(played.diagnostics());
      const Inputs inputs = inputs_for(graph, 1, Values::ordinary);
      const auto by_plan = evaluate(graph, outcome->plan, inputs);
      if (!by_plan) return "run: " + format(by_plan.diagnostics());
      const auto what = outputs_difference(evaluate(graph, inputs)->outputs, by_plan->outputs);
      if (!what.empty()) return fmt::format("values: {}, by strategy {}", what, strategy.name);
      if (by_plan->peak_bytes != played->peak_bytes)
        return fmt::format("peak: {} planned, {} measured, by strategy {}", played->peak_bytes,
                           by_plan->peak_bytes, strategy.name);
    }
  return "";
}

std::string first_word(const std::string& text) { return text.substr(0, text.find(' ')); }

void try_random_graphs(Property property, const char* test) {
  const std::uint64_t first = number_from("RECUT_RANDOM_SEED", 1);
  const std::uint64_t last = first + number_from("RECUT_RANDOM_GRAPHS", tries(300));
  for (std::uint64_t seed = first; seed < last; ++seed) {
    const std::string again = fmt::format(
        "run again:  RECUT_RANDOM_SEED={} RECUT_RANDOM_GRAPHS=1 "
        "build/release/tests/recut_tests \"{}\"",
        seed, test);
    INFO(again);  // printed even if a check ends the program
    const Graph graph = random_graph(seed);
    const std::string wrong = property(graph);
    if (wrong.empty()) {
      SUCCEED();
      continue;
    }
    const Graph small = shrink(graph, [&](const Graph& candidate) {
      return first_word(property(candidate)) == first_word(wrong);
    });
    const std::string fault = property(small);
    FAIL(print(small) << "has a fault: " << fault << "\n"
                      << leave_finding(small, seed, fault, RECUT_BINARY_DIR "/findings"));
  }
}

TEST_CASE("random graphs read back as they were printed", "[random]") {
  try_random_graphs(reads_back, "random graphs read back as they were printed");
}

TEST_CASE("each pass keeps the meaning of random graphs", "[random][passes]") {
  try_random_graphs(each_pass_keeps_meaning, "each pass keeps the meaning of random graphs");
}

TEST_CASE("all passes keep the meaning of random graphs", "[random][passes]") {
  try_random_graphs(pipeline_keeps_meaning, "all passes keep the meaning of random graphs");
}

TEST_CASE("passes that change bits stay near on random graphs", "[random][passes]") {
  try_random_graphs(each_inexact_pass_stays_near,
                    "passes that change bits stay near on random graphs");
}

TEST_CASE("all passes, exact or not, leave random graphs sound", "[random][passes]") {
  try_random_graphs(inexact_pipeline_is_sound,
                    "all passes, exact or not, leave random graphs sound");
}

TEST_CASE("random graphs have the patterns of rules", "[random][passes]") {
  Hits hits;
  const std::uint64_t graphs =
      std::max<std::uint64_t>(tries(16'000), number_from("RECUT_RANDOM_GRAPHS", 0));
  for (std::uint64_t seed = 1; seed <= graphs; ++seed) count_hits(random_graph(seed), hits);
  std::string table;
  for (const auto& [rule, count] : hits) table += fmt::format("{:8}  {}\n", count, rule);
  INFO(table);
  int silent = 0;
  for (const BuiltinRules& file : builtin_rule_files()) {
    // Passes that run by name: goldens cover their rows.
    if (file.name == "decompositions" || file.name == "quantized_products" ||
        file.name == "epilogues" || file.name == "convolution_epilogues")
      continue;
    for (const RuleRow& row : builtin_rules(file.name)->rows)
      if (hits.count(row.name) == 0) {
        ++silent;
        UNSCOPED_INFO("never: " << file.name << ": " << row.name);
      }
  }
  if (!kSanitized) CHECK(silent == 0);  // some rules are found once in a thousand graphs
  if (std::getenv("RECUT_RANDOM_GRAPHS") != nullptr)
    WARN("hits on " << graphs << " random graphs\n" << table);
}

TEST_CASE("every plan keeps the meaning of random graphs", "[random]") {
  try_random_graphs(plans_keep_meaning, "every plan keeps the meaning of random graphs");
}

TEST_CASE("random graphs use every operator that they are made of", "[random]") {
  std::set<std::string_view> used;
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    const Graph graph = random_graph(seed);
    for (const NodeId id : graph.order()) used.insert(graph.op(id).name);
  }
  for (const RandomCall& call : random_calls()) {
    INFO(call.op);
    CHECK(used.count(call.op) == 1);
  }
}

TEST_CASE("random graphs: the same seed gives the same graph", "[random]") {
  CHECK(print(random_graph(7)) == print(random_graph(7)));
  CHECK(print(random_graph(7)) != print(random_graph(8)));
}

// A graph "fails" if it multiplies; everything unrelated to that is removed.
TEST_CASE("shrinking leaves what makes a graph fail", "[random]") {
  const auto graph = parse_graph_text(R"(graph "g" {
    %x = input f32[4, 3]
    %w = parameter f32[3]
    %a = exp(%x)
    %b = mul.Tensor(%a, %w)
    %c = relu(%b)
    %t = tangent f32[4, 3]
    %d = add.Tensor(%t, %c)
    results %c, %a
    gradients %d, none
  })",
                                      "test");
  REQUIRE(graph.ok());
  const Graph small = shrink(*graph, [](const Graph& candidate) {
    for (const NodeId id : candidate.order())
      if (candidate[id].op == Op::mul_Tensor) return true;
    return false;
  });
  CHECK(print(small) == R"(graph "g" {
  %x = input f32[1, 1]
  %w = parameter f32[1]
  %b = mul.Tensor(%x, %w) : f32[1, 1]
  results
}
)");
}

}  // namespace
}  // namespace recut::test
