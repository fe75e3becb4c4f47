// recut train: losses that fall, the same ones however they are computed.
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/input/safetensors.h"
#include "tests/native/run_command.h"

namespace recut {
namespace {

using Json = nlohmann::json;
using native::Ran;
using native::sample;
using native::TemporaryFile;

const std::string kMlp = RECUT_SOURCE_DIR "/samples/mlp.recut";

Json train_json(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "train");
  arguments.push_back("--json");
  const Ran ran = native::run(arguments);
  INFO(ran.err << ran.out);
  REQUIRE(ran.code == native::kDone);
  const Json json = Json::parse(ran.out);
  CHECK(json["measured_peak_bytes"] == json["planned_peak_bytes"]);
  CHECK(json["losses"].size() == json["steps"]);
  return json;
}

double mean_of(const Json& losses, std::size_t first, std::size_t count) {
  double sum = 0;
  for (std::size_t i = first; i < first + count; ++i) sum += losses[i].get<double>();
  return sum / static_cast<double>(count);
}

TEST_CASE("train: every optimiser learns what the model can", "[native][cpu][train]") {
  const std::vector<std::vector<std::string>> kOptimizers = {
      {"--optimizer", "sgd", "--lr", "0.1"},
      {"--optimizer", "sgd", "--lr", "0.1", "--momentum", "0.9", "--weight-decay", "0.0001"},
      {"--optimizer", "adam", "--lr", "0.01"},
      {"--optimizer", "adamw", "--lr", "0.01", "--betas", "0.9,0.99"}};
  for (std::vector<std::string> arguments : kOptimizers) {
    INFO(arguments[1]);
    arguments.insert(arguments.begin(), {kMlp, "--steps", "400", "--threads", "1"});
    const Json losses = train_json(arguments)["losses"];
    CHECK(mean_of(losses, 392, 8) < 0.25 * mean_of(losses, 0, 8));
  }
}

TEST_CASE("train: classes, texts and convolutions are learned", "[native][cpu][train]") {
  for (const char* name : {"tiny_mlp.json.gz", "tiny_conv.json.gz", "tiny_lm.json.gz"}) {
    INFO(name);
    const Json losses =
        train_json({sample(name), "--lr", "0.01", "--steps", "96", "--threads", "1"})["losses"];
    CHECK(mean_of(losses, 88, 8) < 0.7 * mean_of(losses, 0, 8));
  }
}

// oneDNN divides its sums among threads.
void check_close(const Json& found, const Json& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    CHECK(std::abs(found[i].get<double>() / expected[i].get<double>() - 1) < 1e-5);
}

TEST_CASE("train: no budget changes a bit of the losses, and threads hardly any",
          "[native][cpu][train]") {
  const std::pair<std::string, int> kBudgets[] = {{kMlp, 8'700},
                                                  {sample("tiny_conv.json.gz"), 60'000}};
  for (const auto& [file, budget] : kBudgets) {
    const std::vector<std::string> usual = {file, "--lr", "0.01", "--steps", "20", "--threads"};
    const auto with = [&](const std::vector<std::string>& more) {
      std::vector<std::string> arguments = usual;
      arguments.insert(arguments.end(), more.begin(), more.end());
      return train_json(arguments);
    };
    const Json whole = with({"1"});
    CHECK(whole["planned_peak_bytes"] > budget);
    const Json within = with({"1", "--budget", std::to_string(budget)});
    CHECK(within["planned_peak_bytes"] <= budget);
    CHECK(within["losses"] == whole["losses"]);
    check_close(with({"2"})["losses"], whole["losses"]);
    CHECK(with({"1", "--seed", "1"})["losses"] != whole["losses"]);
  }
}

TEST_CASE("train: the curve is drawn, and what was learned goes on where it ended",
          "[native][cpu][train]") {
  const TemporaryFile curve("loss.svg"), weights("weights.safetensors");
  const Ran ran = native::run({"train", kMlp, "--optimizer", "sgd", "--lr", "0.1", "--steps", "64",
                               "--curve", curve.path(), "--out", weights.path()});
  INFO(ran.err);
  REQUIRE(ran.code == native::kDone);
  CHECK(ran.out.find("after 64 steps on 8 batches") != std::string::npos);
  CHECK(curve.read().find("sgd, learning rate 0.1") != std::string::npos);
  const std::string bytes = weights.read();
  const auto tensors = parse_safetensors(bytes, "weights");
  REQUIRE(tensors.ok());
  CHECK(tensors->size() == 4);
  const std::vector<std::string> sgd = {kMlp, "--optimizer", "sgd", "--lr", "0.1", "--steps"};
  std::vector<std::string> longer = sgd, further = sgd;
  longer.push_back("72");
  further.insert(further.end(), {"8", "--tensors", weights.path()});
  const Json whole = train_json(longer)["losses"], rest = train_json(further)["losses"];
  for (std::size_t i = 0; i < 8; ++i) CHECK(rest[i] == whole[64 + i]);
}

TEST_CASE("train: what can't be trained is refused, a loss without end is an error",
          "[native][cpu][train]") {
  const std::pair<std::vector<std::string>, const char*> kRefused[] = {
      {{RECUT_SOURCE_DIR "/samples/blocks/softmax.recut"}, "softmax.recut: error: training needs"},
      {{kMlp, "--optimizer", "newton"}, "--optimizer"},
      {{kMlp, "--optimizer", "sgd", "--betas", "0.9,0.99"}, "--betas and --eps are for adam"},
      {{kMlp, "--momentum", "0.9"}, "--momentum is for sgd"},
      {{kMlp, "--lr", "-1"}, "--lr"},
      {{kMlp, "--loss", "hidden"}, "training needs one result 'hidden'"}};
  for (auto [arguments, words] : kRefused) {
    arguments.insert(arguments.begin(), "train");
    const Ran ran = native::run(arguments);
    CHECK(ran.code == native::kBadInput);
    CHECK(ran.err.find(words) != std::string::npos);
  }
  const Ran away = native::run({"train", kMlp, "--optimizer", "sgd", "--lr", "1e9"});
  CHECK(away.code == native::kCheckFailed);
  CHECK(away.err.find("try a smaller --lr") != std::string::npos);
  const Ran small = native::run({"train", kMlp, "--budget", "1B"});
  CHECK(small.code == native::kCheckFailed);
  CHECK(small.err.find("least") != std::string::npos);
}

}  // namespace
}  // namespace recut
