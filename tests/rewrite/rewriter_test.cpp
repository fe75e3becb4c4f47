// Matching and replacement: one test for each feature of the rule language.
#include "tests/rewrite/apply.h"

namespace recut::test {
namespace {

TEST_CASE("a rule replaces its result, which keeps its name", "[rewrite]") {
  const RuleSet rules = rules_of(R"(
rule "exp of log" {
  pattern {
    %x = any
    %l = log(%x)
    %y = exp(%l)
    results %y
  }
  replacement {
    %z = relu(%x)
    results %z
  }
})");
  CHECK(after(rules, R"(
  %a = input f32[4]
  %b = log(%a)
  %c = exp(%b)
  %d = neg(%c)
  results %d)") == "%c = relu(%a)\n%d = neg(%c)\nresults %d");
  // The inner value stays for its other users.
  CHECK(after(rules, R"(
  %a = input f32[4]
  %b = log(%a)
  %c = exp(%b)
  results %b, %c)") == "%b = log(%a)\n%c = relu(%a)\nresults %b %c");
}

TEST_CASE("a value that stands twice in a pattern is one value", "[rewrite]") {
  const RuleSet rules = rules_of(R"(
rule "square" {
  pattern {
    %x = any
    %s = exp(%x)
    %y = mul.Tensor(%s, %s)
    results %y
  }
  replacement {
    %d = add.Tensor(%x, %x)
    %z = exp(%d)
    results %z
  }
})");
  const std::string inputs = "%a = input f32[4]\n%b = input f32[4]\n%p = exp(%a)\n%q = exp(%b)\n";
  CHECK(after(rules, inputs + "%y = mul.Tensor(%p, %p)\nresults %y") ==
        "%add = add.Tensor(%a, %a)\n%y = exp(%add)\nresults %y");
  CHECK(after(rules, inputs + "%y = mul.Tensor(%p, %q)\nresults %y") ==
        "%p = exp(%a)\n%q = exp(%b)\n%y = mul.Tensor(%p, %q)\nresults %y");
}

TEST_CASE("several results are replaced together", "[rewrite]") {
  const RuleSet rules = rules_of(R"(
rule "both moments" {
  pattern {
    %x = any floating
    %v = var.correction(%x, ?dims, correction=?c, keepdim=?keep)
    %m = mean.dim(%x, ?dims, ?keep)
    results %v, %m
  }
  replacement {
    %both = var_mean.correction(%x, ?dims, correction=?c, keepdim=?keep)
    %var = getitem(%both, 0)
    %mean = getitem(%both, 1)
    results %var, %mean
  }
})");
  // Whichever stands first, and only with the same dimensions.
  CHECK(after(rules, R"(
  %a = input f32[4, 5]
  %m = mean.dim(%a, [1], true)
  %v = var.correction(%a, [1], correction=1, keepdim=true)
  %s = sub.Tensor(%m, %v)
  results %s)") == R"(%var_mean = var_mean.correction(%a, [1], correction=1, keepdim=true)
%m = getitem(%var_mean, 1)
%v = getitem(%var_mean, 0)
%s = sub.Tensor(%m, %v)
results %s)");
  CHECK(after(rules, R"(
  %a = input f32[4, 5]
  %m = mean.dim(%a, [1], true)
  %v = var.correction(%a, [0], correction=1, keepdim=true)
  results %m, %v)") == R"(%m = mean.dim(%a, [1], true)
%v = var.correction(%a, [0], correction=1, keepdim=true)
results %m %v)");
}

TEST_CASE("operands match either way round only where a row asks for it", "[rewrite]") {
  const auto row = [](const std::string& mark) {
    return rules_of(R"(
rule "sum with a negative" {
  pattern {
    %a = any
    %b = any
    %n = neg(%b)
    %y = add.Tensor(%a, %n))" +
                    mark + R"(
    results %y
  }
  replacement {
    %z = sub.Tensor(%a, %b)
    results %z
  }
})");
  };
  const std::string lines =
      "%a = input f32[4]\n%b = input f32[4]\n%n = neg(%b)\n%y = add.Tensor(%n, %a)\nresults %y";
  CHECK(after(row(""), lines) == "%n = neg(%b)\n%y = add.Tensor(%n, %a)\nresults %y");
  CHECK(after(row(" @commutative"), lines) == "%y = sub.Tensor(%a, %b)\nresults %y");
}

TEST_CASE("users are counted, outputs among them and the dead not", "[rewrite]") {
  const RuleSet rules = rules_of(R"(
rule "exp of log" {
  pattern {
    %x = any
    %l = log(%x) @users(1)
    %y = exp(%l)
    results %y
  }
  replacement {
    %z = relu(%x)
    results %z
  }
})");
  const std::string lines = "%a = input f32[4]\n%b = log(%a)\n%c = exp(%b)\n";
  const std::string kept = "%b = log(%a)\n%c = exp(%b)\n";
  CHECK(after(rules, lines + "results %c") == "%c = relu(%a)\nresults %c");
  CHECK(after(rules, lines + "results %c, %b") == kept + "results %c %b");
  CHECK(after(rules, lines + "%d = neg(%b)\nresults %c, %d") ==
        kept + "%d = neg(%b)\nresults %c %d");
  CHECK(after(rules, lines + "%dead = neg(%b)\nresults %c") == "%c = relu(%a)\nresults %c");
}

TEST_CASE("a closed pattern has no users but its own", "[rewrite]") {
  const RuleSet rules = rules_of(R"(
rule "two ways" {
  closed
  pattern {
    %x = any
    %l = log(%x)
    %y = exp(%l)
    %z = neg(%l)
    results %y, %z
  }
  replacement {
    %p = relu(%x)
    %q = sigmoid(%x)
    results %p, %q
  }
})");
  const std::string lines = "%a = input f32[4]\n%b = log(%a)\n%c = exp(%b)\n%d = neg(%b)\n";
  CHECK(after(rules, lines + "results %c, %d") == "%c = relu(%a)\n%d = sigmoid(%a)\nresults %c %d");
  CHECK(after(rules, lines + "%e = cos(%b)\nresults %c, %d, %e") ==
        "%b = log(%a)\n%c = exp(%b)\n%d = neg(%b)\n%e = cos(%b)\nresults %c %d %e");
}

TEST_CASE("what is optional may be missing, and then has the value given", "[rewrite]") {
  const RuleSet rules = rules_of(R"(
rule "scaled and shifted" {
  pattern {
    %x = any
    %m = any
    %s = mul.Tensor(%x, ?s) @optional(?s = 1.0)
    %t = add.Tensor(%s, %m) @optional(%m = none)
    %y = exp(%t)
    results %y
  }
  where ?s != 3
  let ?low = -1.0 * ?s
  replacement {
    %z = clamp.Tensor(%x, none, %m)
    %w = hardtanh(%z, ?low, ?s)
    results %w
  }
})");
  CHECK(rules.rules.size() == 4);
  const std::string a = "%a = input f32[4]\n", b = a + "%b = input f32[4]\n";
  const std::string scaled = "%p = mul.Tensor(%a, 2.0)\n";
  CHECK(after(rules, b + scaled + "%q = add.Tensor(%p, %b)\n%r = exp(%q)\nresults %r") ==
        "%clamp = clamp.Tensor(%a, none, %b)\n%r = hardtanh(%clamp, -2.0, 2.0)\nresults %r");
  CHECK(after(rules, b + "%q = add.Tensor(%a, %b)\n%r = exp(%q)\nresults %r") ==
        "%clamp = clamp.Tensor(%a, none, %b)\n%r = hardtanh(%clamp, -1.0, 1.0)\nresults %r");
}

TEST_CASE("the form with the most of a pattern is taken", "[rewrite]") {
  const RuleSet rules = rules_of(R"(
rule "of a scaled value" {
  pattern {
    %x = any
    %s = mul.Tensor(%x, ?s) @optional(?s = 1.0)
    %y = exp(%s)
    results %y
  }
  replacement {
    %z = hardtanh(%x, 0.0, ?s)
    results %z
  }
})");
  const std::string a = "%a = input f32[4]\n";
  CHECK(after(rules, a + "%p = mul.Tensor(%a, 2.0)\n%r = exp(%p)\nresults %r") ==
        "%r = hardtanh(%a, 0.0, 2.0)\nresults %r");
  CHECK(after(rules, a + "%p = mul.Tensor(%a, %a)\n%r = exp(%p)\nresults %r") ==
        "%p = mul.Tensor(%a, %a)\n%r = hardtanh(%p, 0.0, 1.0)\nresults %r");
}

TEST_CASE("rules go on until nothing matches", "[rewrite]") {
  const RuleSet rules = rules_of(R"(
rule "double negative" {
  pattern {
    %x = any
    %m = neg(%x)
    %y = neg(%m)
    results %y
  }
  where same_type(%x, %y)
  replacement {
    results %x
  }
})");
  std::string lines = "%x0 = input f32[4]\n";
  for (int i = 1; i <= 41; ++i)
    lines += "%x" + std::to_string(i) + " = neg(%x" + std::to_string(i - 1) + ")\n";
  CHECK(after(rules, lines + "%y = cos(%x41)\nresults %y") ==
        "%x1 = neg(%x0)\n%y = cos(%x1)\nresults %y");
}

TEST_CASE("rules that feed themselves are stopped", "[rewrite]") {
  const RuleSet rules = rules_of(R"(
rule "more of it" {
  pattern {
    %x = any
    %y = neg(%x)
    results %y
  }
  replacement {
    %a = neg(%x)
    %b = neg(%a)
    %c = neg(%b)
    results %c
  }
})");
  const Graph graph = graph_of("%a = input f32[4]\n%b = neg(%a)\nresults %b");
  const Rewritten rewritten = apply_rules(graph, rules);
  CHECK_FALSE(rewritten.converged);
  CHECK(rewritten.graph.order().size() < 100000);
}

TEST_CASE("a replacement of another type is no match, and is reported", "[rewrite]") {
  const RuleSet rules = rules_of(R"(
rule "wrong type" {
  pattern {
    %x = any
    %y = exp(%x)
    results %y
  }
  replacement {
    %z = eq.Tensor(%x, %x)
    results %z
  }
})");
  const Graph graph = graph_of("%a = input f32[4]\n%b = exp(%a)\nresults %b");
  const Rewritten rewritten = apply_rules(graph, rules);
  CHECK_FALSE(rewritten.changed);
  REQUIRE(rewritten.statistics.size() == 1);
  CHECK(rewritten.statistics[0].tries == 1);
  CHECK(rewritten.statistics[0].hits == 0);
  CHECK(rewritten.statistics[0].untyped == 1);
  CHECK(rewritten.statistics[0].untyped_reason ==
        "result 1 would become bool[4] where it is f32[4]");
}

TEST_CASE("an output does not become an argument of the graph", "[rewrite]") {
  const RuleSet rules = rules_of(R"(
rule "double negative" {
  pattern {
    %x = any
    %m = neg(%x)
    %y = neg(%m)
    results %y
  }
  replacement {
    results %x
  }
})");
  const std::string lines = "%a = input f32[4]\n%b = neg(%a)\n%c = neg(%b)\nresults %c";
  CHECK(after(rules, lines) == "%b = neg(%a)\n%c = neg(%b)\nresults %c");
  CHECK_FALSE(apply_rules(graph_of(lines), rules).changed);
}

TEST_CASE("statistics and the trace of a hit", "[rewrite]") {
  const RuleSet rules = rules_of(R"(
rule "exp of log" {
  pattern {
    %x = any
    %l = log(%x)
    %y = exp(%l)
    results %y
  }
  replacement {
    %z = relu(%x)
    results %z
  }
})");
  const Graph graph =
      graph_of("%a = input f32[4]\n%b = log(%a)\n%c = exp(%b)\n%d = exp(%a)\nresults %c, %d");
  const Rewritten rewritten = apply_rules(graph, rules);
  REQUIRE(rewritten.hits.size() == 1);
  CHECK(rewritten.hits[0].rule == "exp of log");
  CHECK(rewritten.hits[0].before == graph.find("c"));
  REQUIRE(rewritten.hits[0].after.size() == 1);
  CHECK(rewritten.hits[0].after[0] == rewritten.graph.find("c"));
  CHECK(rewritten.hits[0].description.text() ==
        "%c = exp(%b) : f32[4]  =>  %c = relu(%a) : f32[4]");
  // Two in the sweep that finds the match, one in the sweep that finds no more.
  CHECK(rewritten.statistics[0].tries == 3);
  CHECK(rewritten.statistics[0].hits == 1);
}

}  // namespace
}  // namespace recut::test
