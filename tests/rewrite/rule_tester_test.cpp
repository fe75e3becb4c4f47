// Every built-in rule alone, both sides compared; and that the rule tester finds faulty rules.
#include <catch2/catch_test_macros.hpp>
#include <map>

#include "engine/input/graph_file_reader.h"
#include "engine/passes/rule_pass.h"
#include "engine/passes/runner.h"
#include "engine/passes/stages.h"
#include "engine/rewrite/rule_tester.h"
#include "tests/effort.h"
#include "tests/golden/golden.h"
#include "tests/partition/joint_files.h"
#include "tests/rewrite/apply.h"

namespace recut::test {
namespace {

TEST_CASE("built-in rules keep values on both sides", "[rewrite]") {
  REQUIRE_FALSE(builtin_rule_files().empty());
  RuleTestOptions options;
  if (kSanitized) options.samples = 2;
  for (const BuiltinRules& file : builtin_rule_files()) {
    const auto rules = builtin_rules(file.name);
    for (const RuleTest& test : test_rules(*rules, options)) {
      INFO(rules->file << ": " << test.rule);
      INFO(test.failure);
      CHECK(test.failure.empty());
      CHECK(test.samples > 0);
      CHECK(test.comparisons > 0);
    }
  }
}

std::string failure_of(const std::string& text) { return test_rules(rules_of(text))[0].failure; }

std::string rule(const std::string& pattern, const std::string& rest) {
  return "rule \"r\" {\npattern {\n%x = any floating\n" + pattern + "\nresults %y\n}\n" + rest +
         "\n}\n";
}

TEST_CASE("the tester finds rules that are wrong", "[rewrite]") {
  // x + 0.0 is not x where x is -0.0.
  const std::string dense = "where contiguous(%x)\nreplacement {\nresults %x\n}";
  CHECK(failure_of(rule("%y = add.Tensor(%x, 0.0)", dense)).find("is -0, was 0") !=
        std::string::npos);
  CHECK(failure_of(rule("%y = add.Tensor(%x, -0.0)", dense)).empty());
  // x - x is not 0 where x is infinite or a NaN.
  CHECK_FALSE(failure_of(rule("%y = sub.Tensor(%x, %x)",
                              "replacement {\n%z = zeros_like(%x)\nresults %z\n}"))
                  .empty());
  // The sum has another shape, but where x has one element only.
  const std::string sum = "%y = sum.dim_IntList(%x, ?d, true)";
  CHECK(
      failure_of(rule(sum, "replacement {\nresults %x\n}")).find("the replacement does not fit") !=
      std::string::npos);
  // Nothing has that many dimensions.
  CHECK(failure_of(rule("%y = neg(%x)", "where rank(%x) > 90\nreplacement {\nresults %x\n}"))
            .find("no graph of 4000 that were drawn matches") != std::string::npos);
}

TEST_CASE("a rule that says that it is not exact is held to what it allows", "[rewrite]") {
  const auto row = [](const std::string& bound) {
    return "rule \"r\" {\ninexact \"another order\" " + bound +
           "\npattern {\n%a = any f32[?n]\n%b = any f32[?n]\n%c = any f32[?n]\n"
           "%s = add.Tensor(%a, %b)\n%y = add.Tensor(%s, %c)\nresults %y\n}\n"
           "replacement {\n%t = mul.Tensor(%b, 1.001)\n%u = add.Tensor(%t, %c)\n"
           "%z = sub.Tensor(%u, %a, alpha=-1)\nresults %z\n}\n}\n";
  };
  CHECK(failure_of(row("relative 1e-2")).empty());
  CHECK(failure_of(row("relative 1e-7")).find("the error is") != std::string::npos);
}

// A softmax is that of less by one number, if that is one.
TEST_CASE("the tester finds inexact rules that make numbers of a NaN or an infinity", "[rewrite]") {
  const auto row = [](const std::string& clause, const std::string& condition) {
    return "rule \"r\" {\ninexact \"less is added\" relative 1e-4 absolute 1e-4\n" + clause +
           "\npattern {\n%x = any f32[?n, ?m]\n%c = any f32[]\n%y = add.Tensor(%x, %c)\n"
           "%z = _softmax(%y, -1, false)\nresults %z\n}\n" +
           condition +
           "\nsample %x = f32[3, 4], %c = f32[]\n"
           "replacement {\n%w = _softmax(%x, -1, false)\nresults %w\n}\n}\n";
  };
  CHECK(failure_of(row("", "")).find("is the number") != std::string::npos);
  CHECK(failure_of(row("", "")).find("of special values") != std::string::npos);
  CHECK(failure_of(row("defined \"what is added counts for nothing\"", "")).empty());
  CHECK(failure_of(row("", "where uniform(%c) >= -8.0\nwhere uniform(%c) <= 8.0")).empty());
}

TEST_CASE("conditions ask whether a number is finite", "[rewrite]") {
  const auto fires = [](const std::string& number) {
    const auto rules = rules_of(
        "rule \"r\" {\npattern {\n%x = any f32\n%y = mul.Tensor(%x, ?s)\nresults %y\n}\n"
        "where finite(?s)\nreplacement {\n%z = add.Tensor(%x, %x)\nresults %z\n}\n}\n");
    const std::string lines = "%x = input f32[3]\n%y = mul.Tensor(%x, " + number + ")\nresults %y";
    return apply_rules(graph_of(lines), rules).changed;
  };
  CHECK(fires("3.0"));
  CHECK(fires("3"));
  for (const char* none : {"inf", "-inf", "nan", "%x"}) CHECK_FALSE(fires(none));
}

// The number of hits of each rule, by name.
using Hits = std::map<std::string, std::int64_t>;

void count_hits(const Graph& graph, const std::string& path, Hits& hits) {
  const auto report = run_passes(graph, inexact_passes());
  REQUIRE(report.ok());
  for (const PassReport& pass : report->passes)
    for (const RuleStatistics& rule : pass.rules.statistics) {
      hits[std::string(rule.rule)] += rule.hits;
      INFO(path << ": " << rule.rule << ": " << rule.untyped_reason);
      CHECK(rule.untyped == 0);
    }
}

std::string silent_rows(const Hits& hits) {
  std::string silent;
  for (const auto& [rule, count] : hits)
    if (count == 0) silent += "\n  " + rule;
  return silent;
}

// Rules that no graph of a real model or golden file uses are not faults: they are listed.
// That each fires on some random graph is tests/random's to check.
TEST_CASE("which built-in rules fire on samples", "[rewrite]") {
  Hits hits;
  for (const BuiltinRules& file : builtin_rule_files())
    for (const RuleRow& row : builtin_rules(file.name)->rows) hits[row.name] = 0;
  for (const std::string& path : tried(joint_files())) {
    const auto file = read_graph_file(path);
    REQUIRE(file.ok());
    count_hits(file->graph, path, hits);
  }
  if (const auto silent = silent_rows(hits); !silent.empty())
    WARN("rules that no graph of a real model needs:" << silent);
  for (const std::string& path : golden_paths()) {
    if (path.find("golden/passes/") == std::string::npos) continue;
    const auto graph = parse_graph_text(read_golden(path).input, path);
    REQUIRE(graph.ok());
    count_hits(*graph, path, hits);
  }
  if (const auto silent = silent_rows(hits); !silent.empty())
    WARN("and that no golden file shows:" << silent);
}

}  // namespace
}  // namespace recut::test
