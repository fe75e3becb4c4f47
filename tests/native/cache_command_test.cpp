// recut run with a cache, and recut cache.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <csignal>
#include <nlohmann/json.hpp>

#include "engine/workspace/open_document.h"
#include "native/cpu/step_bytes.h"
#include "native/cpu/step_key.h"
#include "tests/native/cache_at.h"
#include "tests/native/run_command.h"
#include "tests/native/temporary_folder.h"

namespace recut {
namespace {

using Json = nlohmann::json;
using native::Ran;
using test::CacheAt;
using test::TemporaryFolder;

Ran run_small(std::vector<std::string> options = {}) {
  options.insert(options.begin(), {"run", RECUT_SOURCE_DIR "/samples/mlp.recut", "--check",
                                   "--json", "--steps", "1"});
  return native::run(options);
}

std::string origin(const Ran& ran) {
  INFO(ran.err);
  REQUIRE(ran.code == native::kDone);
  const Json json = Json::parse(ran.out);
  CHECK(json["ok"] == true);
  CHECK(json["measured_peak_bytes"] == json["planned_peak_bytes"]);
  return json["from_cache"];
}

Json entries(const char* deed = "list", int code = native::kDone) {
  const Ran ran = native::run({"cache", deed, "--json"});
  REQUIRE(ran.code == code);
  return Json::parse(ran.out)["entries"];
}

TEST_CASE("run: a step is found again, and so are kernels for another plan", "[native][cache]") {
  const TemporaryFolder folder;
  const CacheAt at(folder.path());
  CHECK(origin(run_small({"--no-cache"})) == "nothing");
  CHECK(entries().empty());
  CHECK(origin(run_small()) == "nothing");
  CHECK(origin(run_small()) == "step");
  CHECK(origin(run_small({"--seed", "5", "--threads", "2"})) == "step");
  CHECK(origin(run_small({"--effort", "2"})) == "kernels");
  CHECK(origin(run_small({"--effort", "2"})) == "step");
  CHECK(origin(run_small({"--no-cache"})) == "nothing");
}

TEST_CASE("run: a step from the cache gives what the compiled one gave", "[native][cache]") {
  const TemporaryFolder folder;
  const CacheAt at(folder.path());
  for (const char* budget : {"none", "60000", "45056"}) {
    std::vector<Json> ran;
    for (int i = 0; i < 2; ++i) {
      const Ran one = native::run({"run", RECUT_SOURCE_DIR "/samples/recompute.recut", "--budget",
                                   budget, "--check", "--json", "--steps", "1"});
      INFO(one.err);
      REQUIRE(one.code == native::kDone);
      ran.push_back(Json::parse(one.out));
    }
    CHECK(ran[0]["from_cache"] == (std::string(budget) == "none" ? "nothing" : "kernels"));
    CHECK(ran[1]["from_cache"] == "step");
    for (const char* key : {"max_relative_error", "planned_peak_bytes", "measured_peak_bytes",
                            "kernels", "launches", "ok"})
      CHECK(ran[0][key] == ran[1][key]);
  }
}

TEST_CASE("run: tensors that don't fit a cached step are refused by name", "[native][cache]") {
  const TemporaryFolder folder;
  const CacheAt at(folder.path());
  CHECK(origin(run_small()) == "nothing");
  const std::string values(8 * 17 * 4, '\0');
  const NamedTensor wide{"in.x", DType::f32, {8, 17}, values};
  const native::TemporaryFile file("wide.safetensors");
  file.write(write_safetensors(std::span(&wide, 1)));
  const Ran ran = run_small({"--tensors", file.path()});
  CHECK(ran.code == native::kBadInput);
  CHECK(ran.err.find("in.x") != std::string::npos);
  CHECK(ran.err.find("[8, 17]") != std::string::npos);
}

TEST_CASE("run: a damaged entry is told, and compiled anew", "[native][cache]") {
  const TemporaryFolder folder;
  const CacheAt at(folder.path());
  CHECK(origin(run_small()) == "nothing");
  for (const char* kind : {"steps", "kernels"}) {
    for (const auto& file : std::filesystem::directory_iterator(folder.path() + "/" + kind)) {
      if (file.path().extension() != ".entry") continue;
      std::fstream bytes(file.path(), std::ios::in | std::ios::out | std::ios::binary);
      bytes.seekp(200);
      bytes.put('\x7f').put('\x01');
    }
    CHECK(native::run({"cache", "verify"}).code == native::kCheckFailed);
    const Ran again = run_small();
    CHECK(again.err.find("note: ") == 0);
    CHECK(again.err.find("the entry is damaged") != std::string::npos);
    CHECK(origin(again) == (std::string(kind) == "steps" ? "kernels" : "nothing"));
    CHECK(native::run({"cache", "verify"}).code == native::kDone);
    CHECK(origin(run_small()) == "step");
  }
}

TEST_CASE("run: without a cache that can be used it runs all the same", "[native][cache]") {
  const native::TemporaryFile file("no_folder");
  file.write("");
  const CacheAt at(file.path());
  const Ran ran = run_small();
  CHECK(origin(ran) == "nothing");
  CHECK(ran.err.find("note: nothing is kept in the cache") != std::string::npos);
  const test::EnvironmentVariable limit("RECUT_CACHE_LIMIT", "lots");
  const Ran odd = run_small();
  CHECK(origin(odd) == "nothing");
  CHECK(odd.err.find("note: no cache is used: RECUT_CACHE_LIMIT") != std::string::npos);
  CHECK(native::run({"cache", "list"}).code == native::kBadInput);
}

TEST_CASE("cache: says what is kept", "[native][cache]") {
  const TemporaryFolder folder;
  const CacheAt at(folder.path());
  CHECK(origin(run_small()) == "nothing");
  const Json kept = entries("verify");
  REQUIRE(kept.size() == 2);
  CHECK(kept[0]["kind"] == "kernels");
  CHECK(kept[1]["fault"].is_null());
  const Json& step = kept[1]["description"];
  CHECK(step["graph"] == "mlp");
  CHECK(step["device"] == "cpu");
  CHECK(step["inputs"][0] == Json({{"name", "w1"},
                                   {"kind", "parameter"},
                                   {"dtype", "f32"},
                                   {"shape", {16, 32}},
                                   {"strides", {32, 1}}}));
  CHECK(native::run({"cache", "list"}).out.find("mlp") != std::string::npos);
  CHECK(native::run({"cache", "clear"}).out.find("removed 2 entries") == 0);
  CHECK(entries().empty());
  CHECK(native::run({"cache"}).code == native::kBadInput);
}

TEST_CASE("run: many commands at once on one cache, some of them killed", "[native][cache]") {
  const TemporaryFolder folder;
  const CacheAt at(folder.path());
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    children.push_back(fork());
    if (children.back() == 0) {
      dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
      execl(RECUT_BINARY_DIR "/recut", "recut", "run", RECUT_SOURCE_DIR "/samples/mlp.recut",
            "--check", "--steps", "1", nullptr);
      _exit(127);
    }
    usleep(10'000);
    if (i % 3 == 2) kill(children.back(), SIGKILL);
  }
  for (std::size_t i = 0; i < children.size(); ++i) {
    int status = 0;
    waitpid(children[i], &status, 0);
    if (i % 3 != 2) CHECK(status == 0);
  }
  CHECK(entries("verify").size() == 2);
}

// A step's key depends on the graph's text, the request and the target.
TEST_CASE("cache: a step's key depends on all that the step depends on", "[native][cache]") {
  const auto document = open_document(RECUT_SOURCE_DIR "/samples/mlp.recut", {});
  REQUIRE(document.ok());
  const auto other = open_document(RECUT_SOURCE_DIR "/samples/recompute.recut", {});
  REQUIRE(other.ok());
  const cpu::Target target = cpu::this_machine();
  const SchedulingRequest usual;
  std::vector<std::string> keys;
  const auto add = [&](const Document& of, const SchedulingRequest& request, const cpu::Target& on,
                       const char* build) {
    for (const bool library : {false, true}) {
      const auto key = cpu::step_key(of, request, {.library = library}, on, build);
      REQUIRE(key.ok());
      keys.push_back(key->hex());
    }
  };
  add(*document, usual, target, "build");
  add(*other, usual, target, "build");
  add(*document, usual, target, "another");
  cpu::Target less = target;
  less.features += ",-avx2";
  add(*document, usual, less, "build");
  const auto changed = [&](auto&& change) {
    SchedulingRequest request = usual;
    change(request);
    add(*document, request, target, "build");
  };
  changed([](SchedulingRequest& r) { r.planning.budget = "60%"; });
  changed([](SchedulingRequest& r) { r.planning.strategy = "torch"; });
  changed([](SchedulingRequest& r) { r.planning.device = "phone-browser"; });
  changed([](SchedulingRequest& r) { r.planning.cost_model = "fused"; });
  changed([](SchedulingRequest& r) { r.planning.limits.effort = 2; });
  changed([](SchedulingRequest& r) { r.planning.limits.seed = 2; });
  changed([](SchedulingRequest& r) { r.planning.overrides.save = {"active"}; });
  changed([](SchedulingRequest& r) { r.planning.overrides.recompute = {"active"}; });
  changed([](SchedulingRequest& r) {
    r.planning.strategy = "torch";
    r.planning.torch = {"ban_recompute_reductions=off"};
  });
  changed([](SchedulingRequest& r) { r.options.alignment = 1; });
  changed([](SchedulingRequest& r) { r.options.in_place = true; });
  std::sort(keys.begin(), keys.end());
  CHECK(std::unique(keys.begin(), keys.end()) == keys.end());
  SchedulingRequest nowhere;
  nowhere.planning.device = "abacus";
  CHECK_FALSE(cpu::step_key(*document, nowhere, {}, target, "build").ok());
}

TEST_CASE("cache: bytes that are no step are none", "[native][cache]") {
  const auto document = open_document(RECUT_SOURCE_DIR "/samples/mlp.recut", {});
  REQUIRE(document.ok());
  const Graph& graph = document->graph();
  cpu::KeptStep step;
  step.program.inputs = {graph.inputs().front()};
  step.faults = {"out of range"};
  step.kernels = {{{"kernel_0_0", 8, 4, true}}};
  const std::string bytes = cpu::bytes_of(graph, step);
  const auto again = cpu::step_of(graph, bytes);
  REQUIRE(again.has_value());
  CHECK(again->program.inputs == step.program.inputs);
  CHECK(again->faults == step.faults);
  CHECK(again->kernels[0][0].grain == 4);
  CHECK(cpu::bytes_of(graph, *again) == bytes);
  for (std::size_t size = 0; size < bytes.size(); ++size)
    CHECK_FALSE(cpu::step_of(graph, std::string_view(bytes).substr(0, size)).has_value());
  CHECK_FALSE(cpu::step_of(graph, bytes + "x").has_value());
  CHECK_FALSE(cpu::step_of(graph, std::string(64, '\xff')).has_value());
}

}  // namespace
}  // namespace recut
