// Users' rules by the command: opt --rules and test-rules.
#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "tests/native/run_command.h"

namespace recut::native {
namespace {

constexpr const char* kRulesCommandGraph = R"(graph "g" {
  %x = input f32[2, 3]
  %a = exp(%x)
  %b = log(%a)
  %c = neg(%b)
  results %c
}
)";

constexpr const char* kRulesCommandRules = R"(rule "log of exp" {
  inexact "rounds twice less" relative 1e-5
  pattern {
    %x = any f32
    %a = exp(%x)
    %b = log(%a)
    results %b
  }
  where same_type(%x, %b)
  replacement {
    results %x
  }
}
)";

// Adding 0.0 makes 0.0 of -0.0.
constexpr const char* kWrongRules = R"(rule "plus nothing" {
  pattern {
    %x = any f32
    %y = add.Tensor(%x, 0.0)
    results %y
  }
  where same_type(%x, %y)
  replacement {
    results %x
  }
}
)";

TEST_CASE("command: opt runs a user's rules after the built-in passes", "[native][rewrite]") {
  const TemporaryFile graph("g.recut"), rules("my.rules"), out("out.recut");
  graph.write(kRulesCommandGraph);
  rules.write(kRulesCommandRules);
  const Ran ran =
      run({"opt", graph.path(), "--rules", rules.path(), "--json", "--out", out.path()});
  REQUIRE(ran.code == kDone);
  const auto passes = nlohmann::json::parse(ran.out)["passes"];
  const auto& own = passes[passes.size() - 2];
  CHECK(own["name"] == "rules");
  CHECK(own["rules"]["log of exp"] == 1);
  CHECK(own["rule_statistics"][0]["rule"] == "log of exp");
  CHECK(own["rule_statistics"][0]["hits"] == 1);
  CHECK(own["rule_statistics"][0]["tries"] == 1);
  CHECK(own["rule_statistics"][0]["ms"].get<double>() >= 0);
  CHECK(passes.back()["name"] == "dead_code");
  CHECK(out.read().find("%c = neg(%x)") != std::string::npos);

  const Ran named = run({"opt", graph.path(), "--rules", rules.path(), "--passes",
                         "rules,noop_removal", "--verbose"});
  CHECK(named.code == kDone);
  CHECK(named.out.find("rules: log of exp: %b = log(%a) : f32[2, 3]  =>  %x") != std::string::npos);
}

TEST_CASE("command: faults in a rule file have a place", "[native][rewrite]") {
  const TemporaryFile graph("g.recut"), rules("my.rules");
  graph.write(kRulesCommandGraph);
  rules.write("rule \"r\" {\n  patern {\n");
  for (const auto& words : {std::vector<std::string>{"opt", graph.path(), "--rules", rules.path()},
                            std::vector<std::string>{"test-rules", rules.path()}}) {
    const Ran ran = run(words);
    CHECK(ran.code == kBadInput);
    CHECK(ran.err.find(rules.path() + ":2:3: error: expected 'pattern'") != std::string::npos);
  }
  CHECK(run({"test-rules", rules.path() + ".none"}).code == kBadInput);
}

TEST_CASE("command: test-rules finds the counterexample", "[native][rewrite]") {
  const TemporaryFile right("right.rules"), wrong("wrong.rules");
  right.write(kRulesCommandRules);
  wrong.write(kWrongRules);
  const Ran good = run({"test-rules", right.path(), "--verbose"});
  CHECK(good.code == kDone);
  CHECK(good.out.find("log of exp: %x = input f32[") != std::string::npos);
  const Ran bad = run({"test-rules", right.path(), wrong.path()});
  CHECK(bad.code == kCheckFailed);
  CHECK(bad.out.find("wrong.rules:1: rule \"plus nothing\" fails on\ngraph \"sample\" {") !=
        std::string::npos);
  CHECK(bad.out.find("is -0, was 0, of edge values") != std::string::npos);
  const Ran json = run({"test-rules", wrong.path(), "--json"});
  CHECK(json.code == kCheckFailed);
  const auto rows = nlohmann::json::parse(json.out)["files"][0]["rules"];
  CHECK(rows[0]["failure"].get<std::string>().find("is -0, was 0") != std::string::npos);
}

}  // namespace
}  // namespace recut::native
