// recut minimize as scripts see it.
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

#include "engine/input/safetensors.h"
#include "tests/native/run_command.h"

namespace recut::native {
namespace {

using Words = std::vector<std::string>;

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

// A graph of four calls that a command may look for.
const char* const kTwo =
    "graph \"two\" {\n  %x = input f32[4, 6]\n  %a = exp(%x)\n  %b = tanh(%a)\n"
    "  %c = sigmoid(%b)\n  %d = cos(%c)\n  results %d\n}\n";

Ran minimized(const TemporaryFile& out, const std::string& check, Words more = {}) {
  const TemporaryFile graph("two.recut");
  graph.write(kTwo);
  more.insert(more.begin(), {"minimize", graph.path(), "--out", out.path(), "--check", check});
  return run(more);
}

TEST_CASE("minimize: the first failure is kept, not another", "[native]") {
  const TemporaryFile out("small.recut");
  // Without a tanh, the command fails in another way.
  const std::string check =
      "if grep -q tanh {}; then echo \"{}:1: error: '%b' is 12 off\"; exit 1; fi; "
      "echo 'error: no tanh'; exit 1";
  const Ran same = minimized(out, check);
  INFO(same.err << same.out);
  CHECK(same.code == kDone);
  CHECK(same.out.find("exit code 1, \"error: … is # off\"") != std::string::npos);
  CHECK(out.read().find("tanh(") != std::string::npos);
  CHECK(out.read().find("cos(") == std::string::npos);
  CHECK(minimized(out, check, {"--any-failure"}).code == kDone);
  CHECK(out.read().find("tanh(") == std::string::npos);
}

TEST_CASE("minimize: errors keep their size, to a tenth", "[native]") {
  const TemporaryFile out("small.recut");
  const Ran ran =
      minimized(out,
                "grep -q exp {} && echo 'DIFFERS: y, relative error 2.5e-01' && exit 1; "
                "echo 'DIFFERS: z, relative error 1e-3'; exit 1");
  INFO(ran.err << ran.out);
  CHECK(ran.out.find("exit code 1, \"DIFFERS\", error 2.5e-01") != std::string::npos);
  CHECK(out.read().find("exp(") != std::string::npos);
  CHECK(out.read().find("tanh(") == std::string::npos);
}

TEST_CASE("minimize: crashes and slow runs", "[native]") {
  const TemporaryFile out("small.recut");
  const Ran crash = minimized(out, "grep -q sigmoid {} && kill -SEGV $$; exit 0");
  INFO(crash.err << crash.out);
  CHECK(crash.code == kDone);
  CHECK(crash.out.find("signal 11") != std::string::npos);
  CHECK(out.read().find("sigmoid(") != std::string::npos);
  CHECK(out.read().find("exp(") == std::string::npos);
  const Ran slow = minimized(out, "grep -q tanh {} && sleep 20; true", {"--slower-than", "0.3"});
  INFO(slow.err << slow.out);
  CHECK(slow.code == kDone);
  CHECK(slow.out.find("longer than the limit") != std::string::npos);
  CHECK(out.read().find("tanh(") != std::string::npos);
  CHECK(out.read().find("cos(") == std::string::npos);
}

TEST_CASE("minimize: inputs travel with the graph", "[native]") {
  const TemporaryFile out("small.recut"), values("given.safetensors"), kept("kept.safetensors");
  std::vector<float> x(24, 0.25F);
  x[0] = 1.7F;
  const NamedTensor given{
      "in.x", DType::f32, {4, 6}, {reinterpret_cast<const char*>(x.data()), 4 * x.size()}};
  values.write(write_safetensors(std::span(&given, 1)));
  // The command needs x[0] or e^x[0], all but their last bits: exp becomes a constant of its value.
  const float wanted[] = {x[0], std::exp(x[0])};
  const TemporaryFile bytes("wanted");
  bytes.write(std::string(reinterpret_cast<const char*>(&wanted[0]) + 1, 3) + "\n" +
              std::string(reinterpret_cast<const char*>(&wanted[1]) + 1, 3));
  const Ran ran = minimized(
      out, "grep -q tanh {} && LC_ALL=C grep -qaFf " + bytes.path() + " {tensors} && exit 1; true",
      {"--tensors", values.path(), "--out-tensors", kept.path()});
  INFO(ran.err << ran.out);
  CHECK(ran.code == kDone);
  CHECK(out.read().find("%a = constant f32[1, 1]") != std::string::npos);
  const std::string file = kept.read();
  const auto tensors = parse_safetensors(file, "kept");
  REQUIRE(tensors.ok());
  REQUIRE(tensors->size() == 1);
  CHECK(tensors->front().name == "in.a");
  CHECK(tensors->front().shape == Shape{1, 1});
}

TEST_CASE("minimize: inputs become simpler where the failure stays", "[native]") {
  const TemporaryFile out("small.recut"), kept("kept.safetensors");
  const Ran ran = minimized(out, "grep -q tanh {} && test -s {tensors} && exit 1; true",
                            {"--out-tensors", kept.path()});
  INFO(ran.err << ran.out);
  CHECK(ran.code == kDone);
  const std::string file = kept.read();
  const auto tensors = parse_safetensors(file, "kept");
  REQUIRE(tensors.ok());
  REQUIRE(tensors->size() == 1);
  CHECK(tensors->front().bytes == std::string_view("\0\0\0\0", 4));
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
  const Ran unread = run({"minimize", graph, "--out", out.path(), "--check", "false {}",
                          "--tensors", sample("tiny_mlp.safetensors")});
  CHECK(unread.code == kBadInput);
  CHECK(unread.err.find("no {tensors}") != std::string::npos);
}

}  // namespace
}  // namespace recut::native
