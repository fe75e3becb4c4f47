// Diagnostics of rule files: location, found and expected text.
#include <catch2/catch_test_macros.hpp>

#include "engine/rewrite/rule_text.h"

namespace recut {
namespace {

std::string faults(const std::string& text) {
  const auto rules = parse_rules(text, "my.rules");
  return rules ? "" : format(rules.diagnostics());
}

// A rule with these clauses after its pattern of %x, %y = mul.Tensor(%x, ?s).
std::string clauses(const std::string& lines) {
  return "rule \"r\" {\n  pattern {\n    %x = any\n    %y = mul.Tensor(%x, ?s)\n    results %y\n  "
         "}\n" +
         lines + "\n}\n";
}

const std::string kIdentity = "replacement {\n results %x\n}";

TEST_CASE("rules that are well formed", "[rewrite]") {
  CHECK(faults("; nothing but a comment\n").empty());
  CHECK(faults(clauses(kIdentity)).empty());
  CHECK(faults(clauses("where ?s == 1 and not (rank(%x) > 2 or ?s < -1)\n" + kIdentity)).empty());
  CHECK(faults(clauses("let ?n = numel(%x) - 1\nwhere ?n -1 >= 0\n" + kIdentity)).empty());
  CHECK(faults(clauses("sample %x = f32[2, 3], ?s = -0.0\n" + kIdentity)).empty());
  CHECK(faults(clauses("inexact \"rounds\" relative 1e-6\nclosed\n" + kIdentity)).empty());
  CHECK(faults(clauses("inexact \"rounds\"\ndefined \"nothing is 0\"\n" + kIdentity)).empty());
}

TEST_CASE("faults in rules have locations", "[rewrite]") {
  CHECK(faults("graph") == "my.rules:1:1: error: expected 'rule', found 'graph'\n");
  CHECK(faults("rule x {") ==
        "my.rules:1:6: error: expected the rule's name in quotes, found 'x'\n");
  CHECK(faults("rule \"r\" {\n}\n") == "my.rules:1:1: error: the rule has no pattern\n");
  CHECK(faults(clauses("")) == "my.rules:1:1: error: the rule has no replacement\n");
  CHECK(faults("rule \"r\" {\n  where 1 == 1\n}") ==
        "my.rules:2:3: error: expected 'pattern' before 'where'\n");
  CHECK(faults(clauses("when ?s == 1")) ==
        "my.rules:7:1: error: expected 'pattern', 'where', 'let', 'replacement', 'closed', "
        "'inexact', 'defined', 'sample' or '}', found 'when'\n");
  CHECK(faults(clauses("defined \"rows of nothing are 0\"\n" + kIdentity)) ==
        "my.rules:1:1: error: a rule with 'defined' isn't exact: 'inexact' is missing\n");
  CHECK(faults(clauses("inexact \"rounds\"\ndefined 0")) ==
        "my.rules:8:9: error: expected the reason in quotes, found '0'\n");
  CHECK(faults(clauses("where ?t == 1")) == "my.rules:7:8: error: ?t is bound nowhere above\n");
  CHECK(faults(clauses("where rank(%z) == 1")) ==
        "my.rules:7:12: error: %z is not defined before this line\n");
  CHECK(faults(clauses("where rang(%x) == 1")) == "my.rules:7:7: error: unknown function 'rang'\n");
  CHECK(faults(clauses("where rank(%x, 1)")) ==
        "my.rules:7:7: error: rank takes 1 arguments, found 2\n");
  CHECK(faults(clauses("where ?s =! 1")) == "my.rules:7:11: error: expected '=', found '!'\n");
  CHECK(faults(clauses("replacement {\n %z = mull(%x)\n}")) ==
        "my.rules:8:7: error: unknown operator 'mull'; did you mean 'mul.Tensor'?\n");
  CHECK(faults(clauses("replacement {\n %z = rand([2])\n}")) ==
        "my.rules:8:7: error: 'rand' can't stand in a replacement\n");
  CHECK(faults(clauses("replacement {\n}")) ==
        "my.rules:8:1: error: the pattern has 1 results, the replacement 0\n");
  CHECK(faults(clauses(kIdentity) + clauses(kIdentity)) ==
        "my.rules:11:6: error: there is a rule \"r\" already\n");
}

TEST_CASE("a rule after one that lacks its end is read", "[rewrite]") {
  const std::string found = faults(
      "rule \"a\" {\n  pattern {\n    %x = any\n    %y = exp(%x)\n    results %y\n  }\n"
      "rule \"b\" {\n  pattern {\n    %x = any\n    %y = nosuch(%x)\n    results %y\n  }\n}\n");
  CHECK(found.find("my.rules:7:1: error: expected 'pattern'") == 0);
  CHECK(found.find("my.rules:10:10: error: unknown operator 'nosuch'\n") != std::string::npos);
}

std::string pattern_faults(const std::string& lines) {
  return faults("rule \"r\" {\n  pattern {\n" + lines + "\n}\n" + kIdentity + "\n}\n");
}

TEST_CASE("faults in patterns have locations", "[rewrite]") {
  CHECK(pattern_faults("%x = any\n%y = neg(%z)") ==
        "my.rules:4:10: error: %z is not defined before this line\n");
  CHECK(pattern_faults("%x = any\n%x = neg(%x)") == "my.rules:4:1: error: %x is defined twice\n");
  CHECK(pattern_faults("%x = any\n%y = neg(%x)") ==
        "my.rules:2:11: error: the pattern has no 'results'\n");
  CHECK(pattern_faults("%x = any\nresults %x") ==
        "my.rules:4:9: error: a result of a pattern has to be a call\n");
  CHECK(pattern_faults("%x = any\n%w = any\n%y = neg(%x)\nresults %y") ==
        "my.rules:2:11: error: %w leads to no result\n");
  CHECK(pattern_faults("%x = any\n%y = mul.Tensor(%x)\nresults %y") ==
        "my.rules:4:6: error: mul.Tensor needs an argument for 'other' (_ matches any)\n");
  CHECK(pattern_faults("%x = any floatin\n%y = neg(%x)\nresults %y") ==
        "my.rules:3:10: error: expected a dtype, 'number', 'floating' or 'integral', found "
        "'floatin'\n");
  CHECK(pattern_faults("%x = any\n%y = neg(%x) @user(1)\nresults %y") ==
        "my.rules:4:15: error: expected 'users', 'commutative' or 'optional', found 'user'\n");
  CHECK(faults("rule \"r\" {\npattern {\n%x = any\n%v = any\n%y = neg(%x)\n%z = neg(%v)\n"
               "results %y, %z\n}\nreplacement {\nresults %x, %v\n}\n}\n") ==
        "my.rules:1:1: error: %v has no value in common with the pattern's other results\n");
}

TEST_CASE("deep rules are refused", "[rewrite]") {
  const std::string deep(1000, '(');
  CHECK(faults(clauses("where " + deep)).find("nested deeper than 64") != std::string::npos);
  std::string optional = "%x0 = any\n";
  for (int i = 1; i < 12; ++i)
    optional += "%x" + std::to_string(i) + " = neg(%x" + std::to_string(i - 1) + ") @optional\n";
  CHECK(pattern_faults(optional).find("more than 8 @optional values") != std::string::npos);
}

}  // namespace
}  // namespace recut
