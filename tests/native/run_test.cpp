// recut run: from a graph to measured machine code.
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include "native/cpu/step.h"
#include "tests/effort.h"
#include "tests/native/run_command.h"
#include "tests/native/temporary_folder.h"

namespace recut {
namespace {

using Json = nlohmann::json;
using native::Ran;
using native::sample;

Json run_json(std::vector<std::string> arguments, int code = native::kDone) {
  arguments.insert(arguments.begin(), "run");
  arguments.insert(arguments.end(), {"--check", "--json", "--steps", "3", "--no-cache"});
  const Ran ran = native::run(arguments);
  INFO(ran.err << ran.out);
  REQUIRE(ran.code == code);
  return ran.out.empty() ? Json() : Json::parse(ran.out);
}

TEST_CASE("run: a step's outputs are the interpreter's and its peak is the planned one",
          "[native][cpu]") {
  const std::string folder = RECUT_SOURCE_DIR "/samples/";
  const std::vector<std::pair<std::string, std::vector<std::int64_t>>> steps = {
      {"joint/tiny_mlp.json.gz", {}},
      {"joint/mlp.json.gz", {}},
      {"joint/tiny_conv.json.gz", {60'000}},
      {"joint/tiny_lm.json.gz", {180'000}},
      {"joint/tiny_lstm.json.gz", {12'000}},
      {"joint/tiny_ops.json.gz", {4'000}},
      {"dropout.recut", {}},
      {"attention.recut", {60'000, 53'248}},
      {"recompute.recut", {60'000, 45'056}},
  };
  for (const auto& [name, budgets] : test::tried(steps)) {
    const Json whole = run_json({folder + name});
    CHECK(whole["measured_peak_bytes"] == whole["planned_peak_bytes"]);
    for (const std::int64_t budget : budgets) {
      INFO(name << " within " << budget);
      const Json ran = run_json({folder + name, "--budget", std::to_string(budget)});
      CHECK(ran["measured_peak_bytes"] == ran["planned_peak_bytes"]);
      CHECK(ran["measured_peak_bytes"] <= budget);
      CHECK(ran["measured_peak_bytes"] < whole["measured_peak_bytes"]);
    }
  }
}

TEST_CASE("run: outputs are written as eval checks them", "[native][cpu]") {
  const native::TemporaryFile outputs("outputs.safetensors");
  const std::string file = sample("tiny_conv.json.gz");
  REQUIRE(native::run({"run", file, "--seed", "3", "--steps", "1", "--no-cache", "--out-tensors",
                       outputs.path()})
              .code == native::kDone);
  const auto check = [&](const char* seed) {
    return native::run({"eval", file, "--seed", seed, "--tensors", outputs.path(), "--check"});
  };
  CHECK(check("3").code == native::kDone);
  CHECK(check("4").code == native::kCheckFailed);
  const std::string nowhere = outputs.path() + "/in a file";
  const Ran refused =
      native::run({"run", file, "--steps", "1", "--no-cache", "--out-tensors", nowhere});
  CHECK(refused.code == native::kBadInput);
  CHECK(refused.err.find(nowhere) != std::string::npos);
}

TEST_CASE("run: a budget that kernels of rows can't hold is held by smaller ones",
          "[native][cpu]") {
  const native::TemporaryFile joint("joint.recut");
  REQUIRE(native::run(
              {"grad", RECUT_SOURCE_DIR "/samples/blocks/layer_norm.recut", "--out", joint.path()})
              .code == native::kDone);
  const Json whole = run_json({joint.path()});
  const Json within = run_json({joint.path(), "--budget", "5000"});
  CHECK(within["measured_peak_bytes"] <= 5000);
  CHECK(within["measured_peak_bytes"] == within["planned_peak_bytes"]);
  CHECK(within["launches"] > whole["launches"]);
}

TEST_CASE("run: reports errors and times of kernels", "[native][cpu]") {
  const Json ran = run_json({sample("mlp.json.gz"), "--threads", "2", "--seed", "3"});
  CHECK(ran["max_relative_error"] > 0);
  CHECK(ran["max_relative_error"] <= 1e-4);
  CHECK(ran["step_ms_min"] <= ran["step_ms_median"]);
  CHECK(ran["launches"] >= ran["kernels"]);
  REQUIRE(ran["slowest"].size() == ran["kernels"]);
  for (std::size_t k = 1; k < ran["slowest"].size(); ++k)
    CHECK(ran["slowest"][k - 1]["ms"] >= ran["slowest"][k]["ms"]);
  double predicted = 0;
  for (const auto& kernel : ran["slowest"]) {
    CHECK(kernel["predicted_ms"] > 0);
    predicted += kernel["predicted_ms"].get<double>();
  }
  CHECK(std::abs(predicted - ran["predicted_step_ms"].get<double>()) < 1e-9);
  const Ran refused = native::run({"run", sample("mlp.json.gz"), "--budget", "1B"});
  CHECK(refused.code == native::kCheckFailed);
  CHECK(refused.err.find("least") != std::string::npos);
}

TEST_CASE("run: a budget that can't be held has its figures as JSON, too", "[native][cpu]") {
  native::TemporaryFile library("never.so"), header("never.h");
  const std::string mlp = sample("mlp.json.gz");
  for (std::vector<std::string> words : std::vector<std::vector<std::string>>{
           {"run", mlp},
           {"eval", mlp},
           {"schedule", mlp},
           {"plan", mlp},
           {"compile", RECUT_SOURCE_DIR "/samples/mlp.recut", "-o", library.path(), "--header",
            header.path()},
           {"train", sample("tiny_lm.json.gz"), "--optimizer", "sgd"}}) {
    INFO(words.front());
    words.insert(words.end(), {"--budget", "1B", "--json"});
    const Ran refused = native::run(words);
    CHECK(refused.code == native::kCheckFailed);
    CHECK(refused.err.find("least") != std::string::npos);
    const Json json = Json::parse(refused.out);
    CHECK(json["holds"] == false);
    CHECK(json["budget_bytes"] == 1);
    CHECK(json["peak_bytes"] > 1);
  }
}

TEST_CASE("run: what can't be run is refused by name", "[native][cpu]") {
  native::TemporaryFile file("chosen.recut");
  file.write(
      "graph \"chosen\" {\n  %x = parameter f32[4]\n  %t = tangent f32[4]\n"
      "  %m = isfinite(%x)\n  %y = masked_select(%x, %m) : f32[4]\n  results %y\n"
      "  gradients %t\n}\n");
  const Ran ran = native::run({"run", file.path()});
  CHECK(ran.code == native::kBadInput);
  CHECK(ran.err.find("operator 'masked_select' has no lowering") != std::string::npos);
  for (const auto& [option, word] : {std::pair("--device", "abacus"), std::pair("--seed", "1.5")})
    CHECK(native::run({"run", sample("tiny_mlp.json.gz"), option, word}).code == native::kBadInput);
  for (const auto& [option, word] :
       {std::pair("--precision", "tf32"), std::pair("--workspace", "1MiB")}) {
    const Ran gpu = native::run({"run", sample("tiny_mlp.json.gz"), option, word});
    CHECK(gpu.code == native::kBadInput);
    CHECK(gpu.err == std::string("error: ") + option + ": for --device cuda alone\n");
  }
}

TEST_CASE("emit: LLVM IR that LLVM takes, with the nodes that it came from", "[native][cpu]") {
  const Ran ran = native::run({"emit", RECUT_SOURCE_DIR "/samples/attention.recut", "--target",
                               "llvm", "--model", "fused", "--budget", "60000"});
  REQUIRE(ran.code == native::kDone);
  CHECK(ran.out.find("%q = mm\n") != std::string::npos);
  CHECK(ran.out.find("; kernel 0 of") != std::string::npos);
  const auto jit = cpu::Jit::compile(ran.out);
  if (!jit) FAIL(format(jit.diagnostics()));
  CHECK(jit->find("kernel_0_0") != nullptr);
}

TEST_CASE("emit: for which GPUs", "[native]") {
  const test::TemporaryFolder folder;
  const std::string path = folder.path() + "/long.recut";
  std::ofstream(path) << R"(graph "long" {
    %x = parameter f32[2, 40000]
    %t = tangent f32[2, 1]
    %s = sum.dim_IntList(%x, [1], true)
    %g = mul.Tensor(%x, %t)
    results %s
    gradients %g
  })";
  const auto emitted = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"emit", path});
    return native::run(more);
  };
  const Ran newer = emitted({"--target", "cuda", "--arch", "sm_90"});
  CHECK(newer.code == native::kDone);
  CHECK(newer.out.find("__cluster_dims__(8)") != std::string::npos);
  const Ran any = emitted({"--target", "cuda"});
  CHECK(any.code == native::kDone);
  CHECK(any.out.find("__cluster_dims__") == std::string::npos);
  CHECK(emitted({"--target", "llvm", "--arch", "sm_90"}).err.find("for --target cuda alone") !=
        std::string::npos);
}

TEST_CASE("run: an arena that the machine can't have is refused", "[native][cpu]") {
  const auto arena = cpu::Arena::reserve(std::int64_t{1} << 50);
  REQUIRE_FALSE(arena.ok());
  CHECK(format(arena.diagnostics()).find("1024 TiB") != std::string::npos);
  const auto small = cpu::Arena::reserve(100);
  REQUIRE(small.ok());
  CHECK(small->bytes() == 100);
  CHECK(reinterpret_cast<std::uintptr_t>(small->data()) % 64 == 0);
}

TEST_CASE("run: threads share iterations in whole grains, each once", "[native][cpu]") {
  for (const int count : {1, 2, 3, 8}) {
    cpu::Threads threads(count);
    for (const std::int64_t extent : {0, 1, 7, 8, 64, 1001})
      for (const std::int64_t grain : {1, 8}) {
        std::vector<std::atomic<int>> times(static_cast<std::size_t>(extent));
        std::atomic<bool> whole = true;
        threads.run(extent, grain, [&](std::int64_t first, std::int64_t last) {
          if (first % grain != 0 || (last % grain != 0 && last != extent)) whole = false;
          for (std::int64_t i = first; i < last; ++i) ++times[static_cast<std::size_t>(i)];
        });
        CHECK(whole);
        for (const auto& one : times) CHECK(one == 1);
      }
  }
}

}  // namespace
}  // namespace recut
