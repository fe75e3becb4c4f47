// recut minimize as scripts see it.
#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "tests/native/run_command.h"

namespace recut::native {
namespace {

TEST_CASE("minimize: a sample becomes what a command fails on", "[native]") {
  const TemporaryFile out("small.recut");
  const Ran ran = run({"minimize", sample("tiny_mlp.json.gz"), "--out", out.path(), "--check",
                       "! grep -q 'gather(' {}", "--json"});
  INFO(ran.err);
  CHECK(ran.code == kDone);
  const auto json = nlohmann::json::parse(ran.out);
  CHECK(json["nodes"] <= 4);
  CHECK(json["nodes_before"] > 15);
  CHECK(out.read().find("gather(") != std::string::npos);
  CHECK(run({"show", out.path(), "--no-passes"}).code == kDone);
}

TEST_CASE("minimize: what it needs, and what it can't do", "[native]") {
  const TemporaryFile out("small.recut");
  const std::string graph = sample("tiny_mlp.json.gz");
  CHECK(run({"minimize", graph, "--out", out.path()}).code == kBadInput);
  CHECK(run({"minimize", graph, "--check", "false {}"}).code == kBadInput);
  const Ran holds = run({"minimize", graph, "--out", out.path(), "--check", "true {}"});
  CHECK(holds.code == kBadInput);
  CHECK(holds.err.find("the check holds") != std::string::npos);
  CHECK(run({"minimize", graph, "--out", out.path(), "--check", "false"}).code == kBadInput);
}

}  // namespace
}  // namespace recut::native
