// Patterns with external calls: operators that the table lacks.
#include "engine/rewrite/rule_tester.h"
#include "tests/rewrite/apply.h"

namespace recut::test {
namespace {

// A rule with these lines for its pattern and its replacement.
std::string external_rule(const std::string& pattern, const std::string& replacement,
                          const std::string& more = "") {
  return "rule \"r\" {\n  pattern {\n" + pattern + "\n  }\n" + more + "\n  replacement {\n" +
         replacement + "\n  }\n}\n";
}

std::string fault_in_rule(const std::string& rule) {
  const auto read = parse_rules(rule, "test.rules");
  REQUIRE_FALSE(read.ok());
  return format(read.diagnostics().front());
}

const std::string kScaled = external_rule(R"(
  %x = any
  %y = external mine.scale(%x, ?s, mode=?m, axis=?a)
  results %y)",
                                          R"(
  %z = mul.Tensor(%x, ?s)
  results %z)",
                                          "where ?m == \"fast\" and ?a == none");

TEST_CASE("an external call matches by name, arguments and keywords in any order", "[rewrite]") {
  const RuleSet rules = rules_of(kScaled);
  const auto scaled = [&](const std::string& call) {
    return after(rules, "%a = input f32[4]\n%b = external " + call + " : f32[4]\nresults %b");
  };
  const std::string replaced = "%b = mul.Tensor(%a, 2.5)\nresults %b";
  CHECK(scaled("mine.scale(%a, 2.5, mode=\"fast\", axis=none)") == replaced);
  CHECK(scaled("mine.scale.default(%a, 2.5, axis=none, mode=\"fast\")") == replaced);
  for (const char* other : {"mine.scale.out(%a, 2.5, mode=\"fast\", axis=none, draw=0)",
                            "mine.scale(%a, 2.5, mode=\"slow\", axis=none, draw=0)",
                            "mine.scale(%a, 2.5, mode=\"fast\", axis=0, draw=0)",
                            "mine.scale(%a, 2.5, mode=\"fast\", draw=0)",
                            "mine.scale(%a, %a, mode=\"fast\", axis=none, draw=0)"})
    CHECK(scaled(other) == std::string("%b = external ") + other + "\nresults %b");
}

TEST_CASE("the tester has no values of an external call", "[rewrite]") {
  const std::vector<RuleTest> tests = test_rules(rules_of(kScaled));
  REQUIRE(tests.size() == 1);
  CHECK(tests[0].failure.empty());
  CHECK(tests[0].untested == "Recut has no values of mine.scale to compare with");
}

TEST_CASE("an external call's lists, none and dtypes are arguments like others", "[rewrite]") {
  const RuleSet rules = rules_of(external_rule(R"(
  %x = any
  %w = any
  %y = external mine.mix([%x, %w], none, f16, [1, ?n], _)
  results %y)",
                                               R"(
  %z = add.Tensor(%w, %x, ?n)
  results %z)"));
  CHECK(after(rules, R"(
  %a = input f32[4]
  %b = input f32[4]
  %c = external mine.mix([%a, %b], none, f16, [1, 3], [%a, "any"]) : f32[4]
  results %c)") == "%c = add.Tensor(%b, %a, alpha=3)\nresults %c");
}

const std::string kMoments = external_rule(R"(
  %x = any
  %m = external mine.moments(%x)
  %a = getitem(%m, 0)
  %b = getitem(%m, 1)
  results %a, %b)",
                                           R"(
  %s = sum(%x)
  %t = mean(%x)
  results %s, %t)");

TEST_CASE("all values of an external call are replaced, or none", "[rewrite]") {
  const RuleSet rules = rules_of(kMoments);
  const std::string lines = "%x = input f32[4]\n%m = external mine.moments(%x) : (f32[], f32[])\n";
  CHECK(after(rules, lines + "%a = getitem(%m, 0)\n%b = getitem(%m, 1)\nresults %b, %a") ==
        "%a = sum(%x)\n%b = mean(%x)\nresults %b %a");
  // The graph reads one of them alone.
  CHECK(after(rules, lines + "%b = getitem(%m, 1)\nresults %b") == "%b = mean(%x)\nresults %b");
  CHECK(after(rules, lines + "%a = getitem(%m, 0)\nresults %a") == "%a = sum(%x)\nresults %a");
  // A call of three values has another form.
  const std::string more =
      "%x = input f32[4]\n%m = external mine.moments(%x) : (f32[], f32[4])\n%b = getitem(%m, 1)\n";
  CHECK(after(rules, more + "results %b").find("external mine.moments") != std::string::npos);
}

TEST_CASE("an external call that runs for its effects stays", "[rewrite]") {
  const RuleSet rules = rules_of(external_rule(R"(
  %x = any
  %y = external mine.log(%x)
  results %y)",
                                               R"(
  %z = exp(%x)
  results %z)"));
  CHECK(after(rules, R"(
  %a = input f32[4]
  %b = external mine.log(%a) : f32[4]
  results %a)") == "%b = external mine.log(%a, draw=0)\nresults %a");
}

TEST_CASE("rules without a match leave a graph with external calls as it is", "[rewrite]") {
  const Graph graph = graph_of(
      "%x = input f32[]\n%m = external mine.other(%x) : (f32[], f32[])\n"
      "%a = getitem(%m, 0)\nresults %a");
  const Rewritten rewritten = apply_rules(graph, rules_of(kMoments));
  CHECK_FALSE(rewritten.changed);
  CHECK(print(rewritten.graph) == print(graph));
}

TEST_CASE("faults in external patterns are found where they stand", "[rewrite]") {
  const auto pattern = [](const std::string& call) {
    return external_rule("%x = any\n%y = external " + call + "\nresults %y", "results %x");
  };
  CHECK(fault_in_rule(pattern("relu(%x)")) ==
        "test.rules:4:15: error: Recut knows 'relu': write it without 'external'");
  CHECK(fault_in_rule(pattern("aten.relu.default(%x)")).find("Recut knows") != std::string::npos);
  CHECK(fault_in_rule(pattern("mine.f(%x, a=1, 2)")).find("by position after one by name") !=
        std::string::npos);
  CHECK(fault_in_rule(pattern("mine.f(%x, a=1, a=2)")).find("an argument named 'a'") !=
        std::string::npos);
  CHECK(fault_in_rule(pattern("mine.f(%x, %w)")).find("%w") != std::string::npos);
  CHECK(fault_in_rule(external_rule("%x = any\n%y = external mine.f(%x)\nresults %y",
                                    "%z = external mine.f(%x)\nresults %z"))
            .find("a replacement calls operators that Recut knows, found 'mine.f'") !=
        std::string::npos);
}

}  // namespace
}  // namespace recut::test
