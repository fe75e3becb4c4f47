// The pass random_seeds in commands: masks are recomputed instead of saved, and stay the same.
#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "tests/native/run_command.h"

namespace recut::native {
namespace {

std::string file_of_passes(const std::string& name) {
  return RECUT_SOURCE_DIR "/tests/passes/" + name;
}

std::vector<std::string> seeded(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--with", "random_seeds"});
  return arguments;
}

std::int64_t saved_bytes(const std::vector<std::string>& arguments) {
  const Ran ran = run(arguments);
  INFO(ran.err);
  REQUIRE(ran.code == kDone);
  return nlohmann::json::parse(ran.out)["saved_bytes"];
}

std::string joint_of_gpt2(const TemporaryFile& file) {
  REQUIRE(run({"grad", file_of_passes("gpt2_dropout.recut"), "--out", file.path()}).code == kDone);
  return file.path();
}

TEST_CASE("random_seeds: least saved bytes are those of the seeds", "[native][passes]") {
  const auto plan = [](const std::string& file) {
    return std::vector<std::string>{"plan", file, "--strategy", "torch", "--budget", "0", "--json"};
  };
  const TemporaryFile joint("gpt2_dropout_joint.recut");
  const std::pair<std::string, std::int64_t> cases[] = {
      {file_of_passes("dropout_train.json.gz"), 1},
      {file_of_passes("sdpa_dropout.json.gz"), 1},
      {joint_of_gpt2(joint), 7}};
  for (const auto& [file, draws] : cases) {
    INFO(file);
    CHECK(saved_bytes(plan(file)) >= 320);
    CHECK(saved_bytes(seeded(plan(file))) == 8 * draws);
  }
}

TEST_CASE("random_seeds: a plan holds budgets that need a mask again", "[native][passes]") {
  const TemporaryFile joint("gpt2_dropout_held.recut");
  const std::vector<std::string> plan = {"plan", joint_of_gpt2(joint), "--budget", "40%"};
  CHECK(run(plan).code != kDone);
  CHECK(run(seeded(plan)).code == kDone);
}

// Bit for bit: an element that backward masks in another way than forward changes its gradient.
TEST_CASE("random_seeds: recomputed masks are forward's masks", "[native][passes]") {
  const TemporaryFile joint("gpt2_dropout_masks.recut"), saved("saved.safetensors"),
      again("again.safetensors");
  for (const std::string& file : {joint_of_gpt2(joint), file_of_passes("dropout_train.json.gz"),
                                  file_of_passes("sdpa_dropout.json.gz")}) {
    INFO(file);
    REQUIRE(run(seeded({"eval", file, "--seed", "3", "--out", saved.path()})).code == kDone);
    const Ran ran = run(seeded({"eval", file, "--seed", "3", "--strategy", "torch", "--budget", "0",
                                "--out", again.path()}));
    INFO(ran.err);
    REQUIRE(ran.code == kDone);
    CHECK(saved.read() == again.read());
    REQUIRE(run(seeded({"eval", file, "--seed", "4", "--out", again.path()})).code == kDone);
    CHECK(saved.read() != again.read());
  }
}

TEST_CASE("random_seeds: compiled steps draw what the interpreter draws", "[native][passes]") {
  const TemporaryFile joint("gpt2_dropout_run.recut");
  const Ran ran = run(seeded({"run", joint_of_gpt2(joint), "--budget", "45%", "--check"}));
  INFO(ran.out << ran.err);
  CHECK(ran.code == kDone);
}

}  // namespace
}  // namespace recut::native
