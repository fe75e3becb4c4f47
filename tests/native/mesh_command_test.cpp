// Commands on a device mesh: recut shard, recut meshes, and --mesh of others.
#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/native/run_command.h"
#include "tests/native/temporary_folder.h"
#include "tests/paths.h"

namespace recut {
namespace {

const std::string kChain = RECUT_SOURCE_DIR "/samples/recompute.recut";

TEST_CASE("command: --mesh shows and plans the graph of a rank", "[native][mesh]") {
  const native::Ran shown = native::run({"show", kChain, "--mesh", "dp=2", "--preset", "dp=ddp"});
  CHECK(shown.code == native::kDone);
  CHECK(shown.out.find("%x = input f32[32, 32]") != std::string::npos);
  CHECK(shown.out.find("\"sum\", \"dp\"") != std::string::npos);
  CHECK(shown.err.find("note: rank 0 of the 2 of dp=2") != std::string::npos);
  const native::Ran planned = native::run(
      {"plan", kChain, "--mesh", "dp=2", "--preset", "dp=ddp", "--budget", "90%", "--json"});
  CHECK(planned.code == native::kDone);
  const native::Ran whole = native::run({"plan", kChain, "--json"});
  CHECK(nlohmann::json::parse(planned.out)["peak_bytes"] <
        nlohmann::json::parse(whole.out)["peak_bytes"]);
}

TEST_CASE("command: shard --check evaluates all ranks", "[native][mesh]") {
  const native::Ran checked = native::run({"shard", kChain, "--mesh", "dp=3", "--preset", "dp=fsdp",
                                           "--check", "--seed", "1", "--json"});
  CHECK(checked.code == native::kDone);
  const auto json = nlohmann::json::parse(checked.out);
  CHECK(json["ok"] == true);
  CHECK(json["ranks"] == 3);
  const native::Ran without =
      native::run({"shard", kChain, "--mesh", "dp=3", "--preset", "dp=fsdp", "--check"});
  CHECK(without.code == native::kBadInput);
}

TEST_CASE("command: shard --save writes placements that are read again", "[native][mesh]") {
  const test::TemporaryFolder folder;
  const std::string file = folder.path() + "/chain.placements";
  const native::Ran saved =
      native::run({"shard", kChain, "--mesh", "tp=2", "--preset", "tp=tp", "--save", file});
  CHECK(saved.code == native::kDone);
  const native::Ran again = native::run({"shard", kChain, "--mesh", "tp=2", "--placements", file});
  CHECK(again.out == saved.out);
}

TEST_CASE("command: a mesh that doesn't fit is refused with its reason", "[native][mesh]") {
  const native::Ran rank =
      native::run({"plan", kChain, "--mesh", "dp=2", "--preset", "dp=ddp", "--rank", "2"});
  CHECK(rank.code == native::kBadInput);
  CHECK(rank.err.find("has no rank 2") != std::string::npos);
  const native::Ran missing =
      native::run({"plan", kChain, "--mesh", "dp=2", "--placements", "/no/such/file"});
  CHECK(missing.code == native::kBadInput);
}

TEST_CASE("command: meshes are compared, and a budget too small is told", "[native][mesh]") {
  const native::Ran compared = native::run({"meshes", kChain, "--devices", "2", "--json"});
  CHECK(compared.code == native::kDone);
  CHECK(nlohmann::json::parse(compared.out)["meshes"].size() == 5);
  const native::Ran refused = native::run({"meshes", kChain, "--devices", "2", "--budget", "1KiB"});
  CHECK(refused.code == native::kCheckFailed);
  CHECK(refused.err.find("no mesh of 2 devices holds 1.00 KiB a device") != std::string::npos);
  CHECK(native::run({"meshes", kChain, "--budget", "50%"}).code == native::kBadInput);
}

}  // namespace
}  // namespace recut
