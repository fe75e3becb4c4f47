// recut bisect as scripts see it. The passes are all true; what a check asks for need not be.
#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/native/run_command.h"

namespace recut::native {
namespace {

constexpr const char* kBisectGraph = R"(graph "g" {
  %x = input f32[4]
  %a = add.Tensor(%x, -0.0)
  %b = exp(%a)
  %c = mul.Tensor(%b, 1)
  %d = relu(%c)
  results %d
})";

TEST_CASE("bisect: a command that misses an operator names who removed it", "[native]") {
  const TemporaryFile file("bisect.recut");
  file.write(kBisectGraph);
  const Ran ran = run({"bisect", file.path(), "--check", "grep -q 'mul.Tensor(%b' {}", "--json"});
  INFO(ran.err);
  CHECK(ran.code == kCheckFailed);
  const auto json = nlohmann::json::parse(ran.out);
  CHECK(json["verdict"] == "guilty_change");
  CHECK(json["pass"] == "noop_removal");
  CHECK(json["rule"] == "multiplication by one");
  CHECK(json["node"] == "c");
  CHECK(json["change_number"] == 2);
  const Ran text = run({"bisect", file.path(), "--check", "grep -q 'mul.Tensor(%b' {}"});
  CHECK(text.out.find("noop_removal is guilty") != std::string::npos);
  CHECK(text.out.find("at node %c") != std::string::npos);
}

TEST_CASE("bisect: true passes keep values", "[native]") {
  const Ran ran =
      run({"bisect", sample("tiny_mlp.json.gz"), "--tensors", sample("tiny_mlp.safetensors")});
  INFO(ran.err);
  CHECK(ran.code == kDone);
  CHECK(ran.out.find("holds before and after") != std::string::npos);
  CHECK(run({"bisect", sample("tiny_lm.json.gz"), "--seed", "3"}).code == kDone);
}

TEST_CASE("bisect: what it needs, and what it can't run", "[native]") {
  const TemporaryFile file("bisect.recut");
  file.write(kBisectGraph);
  CHECK(run({"bisect", file.path()}).code == kBadInput);
  CHECK(run({"bisect", file.path(), "--seed", "1", "--check", "true {}"}).code == kBadInput);
  const Ran no_place = run({"bisect", file.path(), "--check", "true"});
  CHECK(no_place.code == kBadInput);
  CHECK(no_place.err.find("has no {}") != std::string::npos);
  CHECK(run({"bisect", file.path(), "--check", "/no/such/program {} 2>&-"}).code == kBadInput);
  // A crash is a failure.
  CHECK(run({"bisect", file.path(), "--check", "kill -9 $$; {}"}).code == kCheckFailed);
  CHECK(run({"bisect", file.path(), "--seed", "1", "--passes", "no_such_pass"}).code == kBadInput);
  const Ran bad = run({"bisect", file.path(), "--check", "grep -q nothing_like_it {}"});
  CHECK(bad.code == kCheckFailed);
  CHECK(bad.out.find("no pass is guilty") != std::string::npos);
}

TEST_CASE("bisect: --dump leaves the two graphs between which the check breaks", "[native]") {
  const TemporaryFile file("bisect.recut"), folder("bisect_dump");
  file.write(kBisectGraph);
  const Ran ran =
      run({"bisect", file.path(), "--check", "grep -q '1)' {}", "--dump", folder.path()});
  CHECK(ran.code == kCheckFailed);
  for (const char* name : {"/good.recut", "/bad.recut"})
    CHECK(run({"show", folder.path() + name, "--no-passes"}).code == kDone);
  std::filesystem::remove_all(folder.path());
}

}  // namespace
}  // namespace recut::native
