// recut fit: its table, its JSON, and what it refuses.
#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "native/console.h"
#include "tests/native/run_command.h"
#include "tests/paths.h"

namespace recut::native {
namespace {

constexpr const char* kFitFile = RECUT_SOURCE_DIR "/tests/input/graphs/mlp_sym.json.gz";

Ran fit(std::vector<std::string> more) {
  std::vector<std::string> words{"fit", kFitFile};
  words.insert(words.end(), more.begin(), more.end());
  return run(words);
}

TEST_CASE("recut fit: finds the batch, as text and as JSON", "[native]") {
  const Ran text = fit({"--dim", "s17", "--budget", "16MiB"});
  INFO(text.err);
  REQUIRE(text.code == kDone);
  CHECK(text.out.find("s17 within 16.0 MiB") == 0);
  CHECK(text.out.find("the largest that holds") != std::string::npos);
  const Ran ran = fit({"--dim", "s17", "--budget", "16MiB", "--json"});
  REQUIRE(ran.code == kDone);
  const auto json = nlohmann::json::parse(ran.out);
  const std::int64_t size = json["size"];
  CHECK(json["symbols"] == std::vector<std::string>{"s17"});
  CHECK(json["budget_bytes"] == 16 << 20);
  bool above = false;
  for (const auto& point : json["tried"]) {
    CHECK(point["holds"] == (point["size"] <= size));
    above = above || point["size"] == size + 1;
  }
  CHECK(above);
  const Ran planned = run(
      {"plan", kFitFile, "--budget", "16MiB", "--dim", "s17=" + std::to_string(size), "--json"});
  CHECK(planned.code == kDone);
  CHECK(run({"plan", kFitFile, "--budget", "16MiB", "--dim", "s17=" + std::to_string(size + 1)})
            .code == kCheckFailed);
}

TEST_CASE("recut fit: what it can't do is said", "[native]") {
  const auto refused = [](std::vector<std::string> words, int code, const char* why) {
    const Ran ran = fit(std::move(words));
    INFO(ran.err);
    CHECK(ran.code == code);
    CHECK(ran.err.find(why) != std::string::npos);
  };
  refused({"--dim", "s17", "--budget", "1KiB"}, kCheckFailed, "no size of s17 was found");
  refused({"--dim", "batch", "--budget", "1GiB"}, kBadInput,
          "no size of this graph has that symbol; found: s17");
  refused({"--dim", "s17=4", "--budget", "1GiB"}, kBadInput, "names the symbol to fit");
  refused({"--dim", "s17", "--budget", "50%"}, kBadInput, "--budget takes bytes here");
  refused({"--dim", "s17"}, kBadInput, "--budget takes bytes here");
  refused({"--dim", "s17", "--budget", "1GiB", "--most", "1"}, kBadInput, "begin at 2");
  const Ran fixed = run({"fit", sample("mlp.json.gz"), "--dim", "s17", "--budget", "1GiB"});
  CHECK(fixed.err.find("the sizes of this graph are all fixed") != std::string::npos);
}

}  // namespace
}  // namespace recut::native
