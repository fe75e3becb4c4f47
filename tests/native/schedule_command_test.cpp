// recut schedule: the budget bounds the arena, and what the command says of it.
#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "engine/workspace/scheduling.h"
#include "tests/native/run_command.h"

namespace recut::native {
namespace {

using ScheduleCommandJson = nlohmann::ordered_json;

ScheduleCommandJson schedule(const std::string& file, std::vector<std::string> words,
                             int code = kDone) {
  words.insert(words.begin(), {"schedule", sample(file)});
  words.push_back("--json");
  const Ran ran = run(words);
  INFO(ran.err);
  REQUIRE(ran.code == code);
  return ScheduleCommandJson::parse(ran.out);
}

TEST_CASE("recut schedule: the arena is within the budget", "[native][schedule]") {
  for (const std::string file : {"tiny_ops.json.gz", "tiny_lm.json.gz", "tiny_conv.json.gz"})
    for (const std::string model : {"eager", "fused"})
      for (const std::string budget : {"110%", "85%", "none"}) {
        CAPTURE(file, model, budget);
        const ScheduleCommandJson json =
            schedule(file, {"--budget", budget, "--model", model, "--effort", "0.2"});
        const auto arena = json["arena_bytes"].get<std::int64_t>();
        CHECK(arena - json["lower_bound_bytes"].get<std::int64_t>() == json["gap_bytes"]);
        CHECK(json["rounds"].back()["arena_bytes"] >= arena);
        if (budget == "none") continue;
        CHECK(json["holds"] == true);
        CHECK(arena <= json["budget_bytes"].get<std::int64_t>());
      }
}

TEST_CASE("recut schedule: where the arena is too large it is planned again for less",
          "[native][schedule]") {
  // The budget is the peak of a plan whose buffers are no multiples of a page.
  const ScheduleCommandJson loose = schedule("tiny_lm.json.gz", {"--budget", "80%"});
  const std::string budget = std::to_string(loose["peak_bytes"].get<std::int64_t>());
  const ScheduleCommandJson json =
      schedule("tiny_lm.json.gz", {"--budget", budget, "--align", "512"});
  CHECK(json["rounds"].size() > 1);
  CHECK(json["rounds"][0]["arena_bytes"] > json["budget_bytes"]);
  CHECK(json["rounds"][1]["peak_bytes"] < json["rounds"][0]["peak_bytes"]);
  CHECK(json["arena_bytes"] <= json["budget_bytes"]);
}

// A graph of small values: what alignment rounds up is a quarter of the arena.
TEST_CASE("recut schedule: planned again with the sizes that buffers take up",
          "[native][schedule]") {
  for (const char* budget : {"75%", "70%", "65%"}) {
    CAPTURE(budget);
    const ScheduleCommandJson json = schedule("tiny_lstm.json.gz", {"--budget", budget});
    CHECK(json["rounds"][0]["arena_bytes"] > json["budget_bytes"]);
    CHECK(json["arena_bytes"] <= json["budget_bytes"]);
  }
}

// The arena is so much above the budget that no plan is lower by as much.
TEST_CASE("recut schedule: where less can't be planned it is planned between",
          "[native][schedule]") {
  const ScheduleCommandJson json =
      schedule("tiny_lstm.json.gz", {"--budget", "11300", "--model", "fused"});
  const std::int64_t above = json["rounds"][0]["arena_bytes"].get<std::int64_t>() - 11300;
  CHECK(above > 0);
  CHECK(json["rounds"][1]["target_bytes"] > 11300 - above);
  CHECK(json["arena_bytes"] <= 11300);
}

TEST_CASE("recut schedule: an arena that can't be held is refused", "[native][schedule]") {
  const ScheduleCommandJson least = schedule("tiny_mlp.json.gz", {"--budget", "1B"}, kCheckFailed);
  CHECK(least["holds"] == false);
  // The least peak can be held, but not by buffers that each take 4 KiB.
  const std::string peak = std::to_string(least["peak_bytes"].get<std::int64_t>());
  const TemporaryFile out("no_schedule.json");
  const Ran ran = run({"schedule", sample("tiny_mlp.json.gz"), "--budget", peak, "--align", "4096",
                       "--out", out.path()});
  CHECK(ran.code == kCheckFailed);
  CHECK(ran.err.find("the lowest that Recut laid out is") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(out.path()));
}

TEST_CASE("recut schedule: the file has every kernel and buffer", "[native][schedule]") {
  const TemporaryFile out("schedule.json");
  const Ran ran = run({"schedule", sample("tiny_mlp.json.gz"), "--in-place", "--out", out.path()});
  INFO(ran.err);
  REQUIRE(ran.code == kDone);
  CHECK(ran.out.find("no packing of this plan is smaller") != std::string::npos);
  const ScheduleCommandJson json = ScheduleCommandJson::parse(out.read());
  REQUIRE(json["kernels"].is_array());
  REQUIRE_FALSE(json["buffers"].empty());
  std::int64_t end = 0;
  for (const ScheduleCommandJson& buffer : json["buffers"]) {
    const std::int64_t bytes = buffer["bytes"].get<std::int64_t>();
    CHECK(buffer["last_kernel"] < json["kernels"].size());
    end = std::max(end, buffer["offset"].get<std::int64_t>() + aligned(bytes, 64));
  }
  CHECK(end == json["arena_bytes"]);
}

TEST_CASE("recut schedule: mistakes are said", "[native][schedule]") {
  const Ran odd = run({"schedule", sample("tiny_mlp.json.gz"), "--align", "48"});
  CHECK(odd.code == kBadInput);
  CHECK(odd.err.find("expected a power of two") != std::string::npos);
  CHECK(run({"schedule", sample("tiny_mlp.json.gz"), "--budget", "x"}).code == kBadInput);
}

}  // namespace
}  // namespace recut::native
