// recut calibrate: a profile that the planner takes, and what recut run shows beside it.
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/cost/device.h"
#include "engine/cost/device_profile.h"
#include "engine/runtime/flop_count.h"
#include "native/calibrated_profile.h"
#include "native/cpu/multiply_adds.h"
#include "tests/input/parse.h"
#include "tests/native/run_command.h"
#include "tests/native/settings_folder.h"

namespace recut {
namespace {

using Json = nlohmann::json;
using native::Ran;
using native::sample;
using native::SettingsFolder;
using native::TemporaryFile;

Ran calibrate(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"calibrate", "--seconds", "0", "--triad-bytes", "65536"});
  return native::run(arguments);
}

void check_figure(const Json& figure) {
  REQUIRE(figure.is_number());
  CHECK(figure.get<double>() > 0);
  CHECK(std::isfinite(figure.get<double>()));
}

TEST_CASE("calibrate: figures are numbers, and their profile is one that a planner takes",
          "[native][cpu][calibrate]") {
  const TemporaryFile file("mine.json");
  const Ran ran = calibrate({"-o", file.path(), "--threads", "2", "--json"});
  INFO(ran.err);
  REQUIRE(ran.code == native::kDone);
  const Json json = Json::parse(ran.out);
  CHECK(json["profile"] == file.path());
  CHECK(json["threads"] == 2);
  for (const char* key : {"triad_bytes_per_second", "launch_micros"}) check_figure(json[key]);
  for (const char* key : {"multiply_add_flops_per_second", "product_flops_per_second",
                          "convolution_flops_per_second", "element_wise_per_second"})
    check_figure(json[key]["f32"]);
  check_figure(json["multiply_add_flops_per_second"]["f64"]);

  const auto profile = find_device(file.path());
  if (!profile) FAIL(format(profile.diagnostics()));
  CHECK(profile->title.find("2 threads") != std::string::npos);
  CHECK(profile->peaks.bytes_per_second ==
        Catch::Approx(json["triad_bytes_per_second"].get<double>()));
  CHECK(profile->rates.flops_of(DType::f32) <= profile->peaks.flops_of(DType::f32));
  const auto step_us = [&](const std::string& device) {
    const Ran planned = native::run({"plan", sample("mlp.json.gz"), "--device", device, "--json"});
    REQUIRE(planned.code == native::kDone);
    return Json::parse(planned.out)["step_us"].get<double>();
  };
  CHECK(step_us(file.path()) > 0);
  CHECK(step_us(file.path()) != step_us("cpu8"));
}

TEST_CASE("calibrate: recut run finds the profile, plans by it and shows shares of its ceilings",
          "[native][cpu][calibrate]") {
  const SettingsFolder settings;
  const std::string mlp = sample("tiny_mlp.json.gz");
  CHECK(native::find_calibrated_profile().empty());
  const Ran before = native::run({"run", mlp, "--steps", "1"});
  CHECK(before.out.find("recut calibrate measures this machine's ceilings") != std::string::npos);
  CHECK(before.out.find("of ceiling") == std::string::npos);

  const Ran ran = calibrate({"--threads", "1"});
  INFO(ran.err);
  REQUIRE(ran.code == native::kDone);
  CHECK(ran.out.find("multiply-adds, f64") != std::string::npos);
  CHECK(native::find_calibrated_profile() == native::calibrated_profile_path());
  const Ran after = native::run({"run", mlp, "--steps", "1"});
  CHECK(after.out.find("of ceiling") != std::string::npos);
  CHECK(after.out.find(native::calibrated_profile_path()) != std::string::npos);

  const Ran shown = native::run({"run", mlp, "--steps", "1", "--json"});
  REQUIRE(shown.code == native::kDone);
  const Json json = Json::parse(shown.out);
  CHECK(json["ceilings"]["profile"] == native::calibrated_profile_path());
  for (const char* key : {"gb_per_second", "gflops_per_second", "share_of_ceiling"}) {
    check_figure(json["step"][key]);
    CHECK(json["slowest"][0].contains(key));
  }
  const Ran other = native::run({"run", mlp, "--steps", "1", "--profile", "h100", "--json"});
  CHECK(Json::parse(other.out)["ceilings"]["gb_per_second"] == 3350);
}

TEST_CASE("calibrate: whatever plans takes the profile by its name", "[native][cpu][calibrate]") {
  const SettingsFolder settings;
  const std::string mlp = sample("tiny_mlp.json.gz");
  for (const char* command : {"plan", "opt"}) {
    const Ran early = native::run({command, mlp, "--device", "calibrated"});
    CHECK(early.code == native::kBadInput);
    CHECK(early.err.find("recut calibrate") != std::string::npos);
  }
  REQUIRE(calibrate({"--threads", "1"}).code == native::kDone);
  const auto planned_by = [&](const std::string& command, const std::string& device) {
    const Ran ran = native::run({command, mlp, "--device", device, "--json"});
    INFO(ran.err);
    REQUIRE(ran.code == native::kDone);
    return Json::parse(ran.out);
  };
  CHECK(planned_by("plan", "calibrated")["device"] == "calibrated");
  CHECK(planned_by("schedule", "calibrated")["step_us"] ==
        planned_by("schedule", native::calibrated_profile_path())["step_us"]);
  CHECK(native::run({"sweep", mlp, "--points", "2", "--device", "calibrated"}).code ==
        native::kDone);
  CHECK(native::run({"emit", mlp, "--target", "loop", "--device", "calibrated"}).code ==
        native::kDone);
  CHECK(native::run({"opt", mlp, "--device", "calibrated"}).code == native::kDone);
  for (const char* profile : {"calibrated", "cpu8"})
    CHECK(native::run({"train", mlp, "--steps", "1", "--profile", profile}).code == native::kDone);
}

TEST_CASE("calibrate: a path that can't be written and a profile that is none are refused",
          "[native][cpu][calibrate]") {
  const Ran ran = calibrate({"-o", "/dev/null/profile.json", "--threads", "1"});
  CHECK(ran.code == native::kBadInput);
  CHECK(ran.err.find("/dev/null/profile.json: error: can't write") != std::string::npos);
  CHECK(calibrate({"--threads", "0"}).code == native::kBadInput);
  for (const auto& [option, word] :
       {std::pair("--precision", "tf32"), std::pair("--workspace", "1MiB")})
    CHECK(calibrate({option, word}).err.find("for --device cuda alone") != std::string::npos);

  const SettingsFolder settings;
  const std::string path = native::calibrated_profile_path();
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path) << "{}";
  const Ran broken = native::run({"run", sample("tiny_mlp.json.gz"), "--steps", "1"});
  CHECK(broken.code == native::kBadInput);
  CHECK(broken.err.find(path) != std::string::npos);
}

TEST_CASE("calibrate: multiply-adds of both precisions, by one thread and by two",
          "[native][cpu][calibrate]") {
  for (const int count : {1, 2})
    for (const DType dtype : {DType::f32, DType::f64}) {
      cpu::Threads threads(count);
      const auto rate = cpu::multiply_adds_per_second(dtype, threads, 0);
      if (!rate) FAIL(format(rate.diagnostics()));
      CHECK(*rate > 0);
      CHECK(std::isfinite(*rate));
    }
}

TEST_CASE("run: arithmetic is that of products, and one operation an element otherwise",
          "[native][cpu][calibrate]") {
  const Graph graph = parse(R"(graph "work" {
  %a = parameter f32[4, 8]
  %b = parameter f64[8, 2]
  %wide = prims.convert_element_type(%a, f64)
  %c = mm(%wide, %b)
  %r = relu(%c)
  %t = permute(%r, [1, 0])
  %s = sum.dim_IntList(%t, [0])
  results %s
}
)");
  DeviceRates rates;
  rates.flops_of(DType::f64) = 100;
  const auto of = [&](const char* name) {
    const NodeId id = graph.find(name);
    return arithmetic_of(graph, std::span(&id, 1), rates);
  };
  CHECK(of("c").flops == 2 * 4 * 8 * 2);
  CHECK(of("c").seconds == Catch::Approx(1.28));
  CHECK(of("r").flops == 8);
  CHECK(of("t").flops == 0);
  CHECK(of("s").flops == 8);
}

}  // namespace
}  // namespace recut
