// recut calibrate --device cuda on a fake GPU (fake_gpu.h, where everything takes 2 ms): its
// profile, the kernels of a graph, and plans and reports by them.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/cost/device.h"
#include "native/calibrated_profile.h"
#include "native/commands/calibrate_arguments.h"
#include "native/commands/gpu_profile.h"
#include "native/commands/run_arguments.h"
#include "native/cuda/calibration_kernels.h"
#include "native/cuda/nvrtc.h"
#include "native/cuda/shared_library.h"
#include "native/executors/find_gpu_profile.h"
#include "tests/codegen/attention_graph.h"
#include "tests/native/fake_gpu.h"
#include "tests/native/fake_step.h"
#include "tests/native/run_command.h"
#include "tests/native/settings_folder.h"

namespace recut::native {
namespace {

using CudaCalibrateJson = nlohmann::json;
using test::fake_gpu;
using test::FakeGpu;

constexpr const char* kName = "fake-h100";

void add_calibration_kernels() {
  const auto nothing = [](void**) {};
  fake_gpu().kernels["triad"] = {4, nothing};
  fake_gpu().kernels["multiply_adds_f32"] = {2, nothing};
  fake_gpu().kernels["multiply_adds_f64"] = {2, nothing};
  fake_gpu().kernels["nothing"] = {0, nothing};
}

void give_calibration_kernels() {
  fake_gpu() = FakeGpu();
  add_calibration_kernels();
}

Ran calibrate(CalibrateCommand command) {
  command.target = "cuda";
  command.seconds = 0;
  command.triad_bytes = 65536;
  std::ostringstream out, err;
  const int code = calibrate_gpu(command, {test::open_fake_gpu(), "", 32}, Console{out, err});
  return {code, out.str(), err.str()};
}

TEST_CASE("calibrate: a GPU's figures, as a profile under the GPU's name",
          "[native][cuda][calibrate]") {
  const test::FakeLibraries libraries;
  if (!libraries.provided()) SKIP("there is no compiler for the libraries");
  const SettingsFolder settings;
  give_calibration_kernels();
  CalibrateCommand command;
  command.json = true;
  const Ran ran = calibrate(command);
  INFO(ran.err);
  REQUIRE(ran.code == kDone);
  CHECK(fake_gpu().used_bytes == 0);
  const CudaCalibrateJson json = CudaCalibrateJson::parse(ran.out);
  CHECK(json["profile"] == profile_path(kName));
  CHECK(json["triad_bytes_per_second"].get<double>() == Catch::Approx(3 * 65536 / 2e-3));
  CHECK(json["launch_micros"].get<double>() == Catch::Approx(2));
  CHECK(json["product_flops_per_second"]["tf32"].get<double>() ==
        Catch::Approx(2 * 32 * 32 * 32 / 2e-3));
  // The odd product, which does more in as long, is no slower.
  CHECK(json["unaligned_slowdown"]["tf32"].get<double>() == 1);
  // Two processors with eight blocks each.
  CHECK(json["multiply_add_flops_per_second"]["f32"].get<double>() ==
        Catch::Approx(2.0 * 16 * 256 * 16 * 4096 / 2e-3));

  const auto profile = find_device(profile_path(kName));
  if (!profile) FAIL(format(profile.diagnostics()));
  CHECK(profile->name == kName);
  CHECK(profile->title == "Fake H100, CUDA 13.0");
  CHECK(profile->note.find("none is of a data sheet") != std::string::npos);
  CHECK_FALSE(profile->f32_uses_tf32);
  CHECK(profile->slowdown_of(DType::f32) == 1);
  const Ran planned = run({"plan", sample("tiny_mlp.json.gz"), "--device", kName, "--json"});
  INFO(planned.err);
  CHECK(planned.code == kDone);

  command.json = false;
  const Ran told = calibrate(command);
  for (const char* description :
       {"Fake H100, CUDA 13.0", "memory", "multiply-adds, f64", "matrix products, tf32",
        "times as long where odd", "a launch in a graph", "written to "})
    CHECK(told.out.find(description) != std::string::npos);
}

TEST_CASE("calibrate: prices go by the precision of products", "[native][cuda][calibrate]") {
  const test::FakeLibraries libraries;
  if (!libraries.provided()) SKIP("there is no compiler for the libraries");
  const SettingsFolder settings;
  give_calibration_kernels();
  REQUIRE(calibrate({}).code == kDone);
  // The same figures for either precision, and the data sheet's where nothing was measured.
  using cuda::Precision;
  for (const Precision precision : {Precision::f32, Precision::tf32, Precision::bf16}) {
    const auto found = find_gpu_profile("Fake H100", nullptr, precision);
    REQUIRE(found.ok());
    CHECK(found->known);
    CHECK(found->profile.name == kName);
    CHECK(found->profile.f32_uses_tf32 == (precision == Precision::tf32));
  }
  CHECK(find_gpu_profile("NVIDIA H100 NVL", nullptr, Precision::f32)->profile.name == "h100");
  const Device of_h100 = find_gpu_profile("NVIDIA H100 NVL", nullptr, Precision::tf32)->profile;
  CHECK(of_h100.slowdown_of(DType::f32) == 2.3);
  CHECK(of_h100.slowdown_of(DType::bf16) == 5);
  CHECK_FALSE(find_gpu_profile("Another", nullptr, Precision::f32)->known);
  // Factors that are rounded to bf16 are priced like it.
  const DeviceProfile rounded = find_gpu_profile("Another", nullptr, Precision::bf16)->profile;
  CHECK(rounded.rates.flops_of(DType::f32) == rounded.rates.flops_of(DType::bf16));
  CHECK(rounded.rates.flops_of(DType::f32) > of_h100.rates.flops_of(DType::f32));
  CHECK(rounded.slowdown_of(DType::f32) == 5);
  // A profile that is named is taken as it is.
  CHECK(profile_on_gpu("h100", "Fake H100", nullptr, Precision::bf16)->profile.name == "h100");
  CHECK(profile_on_gpu("", "Fake H100", nullptr, Precision::f32)->profile.name == kName);
}

TEST_CASE("calibrate: a GPU's kernels are CUDA C++ that NVRTC takes", "[native][cuda][calibrate]") {
  const auto compiler = cuda::Nvrtc::load(13);
  if (!compiler) SKIP("there is no NVRTC");
  for (const int capability : {80, 90}) {
    const auto code = compiler->compile(cuda::kCalibrationKernels, capability);
    if (!code) FAIL(code.diagnostics().front().message);
    CHECK_FALSE(code->empty());
  }
}

TEST_CASE("calibrate: names of GPUs as names of profiles", "[native][cuda][calibrate]") {
  CHECK(profile_name_of_gpu("NVIDIA H100 80GB HBM3") == "nvidia-h100-80gb-hbm3");
  CHECK(profile_name_of_gpu(" (A.B)  c ") == "a-b-c");
  CHECK(profile_name_of_graph("Fake H100", "0123456789abcdef", true) ==
        "fake-h100-0123456789abcdef-tf32");
}

TEST_CASE("calibrate: without a GPU it says so, and a processor measures no graph's kernels",
          "[native][cuda][calibrate]") {
  const Ran graph = run({"calibrate", sample("tiny_mlp.json.gz")});
  CHECK(graph.code == kBadInput);
  CHECK(graph.err.find("kernels of a graph are measured on a GPU: --device cuda") !=
        std::string::npos);
  if (const auto gpu = cuda::Gpu::open(); gpu.ok()) SKIP("there is a GPU");
  const Ran ran = run({"calibrate", "--device", "cuda"});
  CHECK(ran.code == kBadInput);
  CHECK(ran.out.empty());
  CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
  CHECK(ran.err.find("error: ") == 0);
}

// The GPU's times of the step's kernels, in a profile that is written and read again.
DeviceProfile profile_by(const test::FakeStep& step, cuda::GraphProfile& measured) {
  auto profile = cuda::profile(step.document, step.scheduled, *step.ready, {});
  if (!profile) FAIL(profile.diagnostics().front().message);
  measured = std::move(*profile);
  cuda::GpuCalibration gpu{1e9, 1e9, 1e9, {{"f32", 1e9, 1e9}, {"tf32", 2e9, 1e9}}, 1};
  const GpuDescription description{"Fake H100", "13.0", false};
  nlohmann::ordered_json json = gpu_profile(description, gpu);
  add_kernels(json, description, measured);
  auto read = parse_device_profile(json.dump(), "written");
  if (!read) FAIL(format(read.diagnostics()));
  return std::move(*read);
}

TEST_CASE("calibrate: the step that was measured is predicted, and its workspaces are planned",
          "[native][cuda][calibrate]") {
  const test::FakeLibraries libraries;
  if (!libraries.provided()) SKIP("there is no compiler for the libraries");
  for (const char* name : {"tiny_mlp.json.gz", "tiny_conv.json.gz"}) {
    INFO(name);
    cuda::GraphProfile measured;
    std::optional<DeviceProfile> profile;
    std::int64_t arena = 0;
    {
      const test::FakeStep step = test::fake_step(sample(name), "none", true);
      fake_gpu().records = false;  // the libraries' calls are no launches of this GPU
      profile = profile_by(step, measured);
      arena = step.ready->step.program().arena_bytes;
      CHECK(measured.launches_ms ==
            Catch::Approx(2 * static_cast<double>(step.ready->step.program().launches.size())));
    }
    REQUIRE(profile->measured != nullptr);
    const test::FakeStep step = test::fake_step(sample(name), "none", true, profile);
    fake_gpu().records = false;
    const PlanReport& report = step.scheduled.planned.report;
    CHECK(report.step_us == Catch::Approx(1e3 * measured.step_ms));
    const auto execution = test::execute_fake(step);
    if (!execution) FAIL(execution.diagnostics().front().message);
    CHECK(execution->agrees());
    CHECK(execution->whole().predicted_ms == Catch::Approx(measured.step_ms));
    for (const KernelTime& time : execution->times) CHECK(time.predicted_ms > 0);
    // Beside nothing: what libraries write to is in the arena.
    CHECK(execution->scratch_bytes == 0);
    CHECK(execution->holds());
    CHECK(execution->planned_peak_bytes >= arena);
    bool planned = false;
    for (const recut::Launch& launch : step.ready->step.program().launches)
      planned = planned || launch.free.bytes >= 1024;
    CHECK(planned);
  }
}

// recut run --device cuda with the emitter's kernels on this processor: a fake GPU can't run
// NVRTC's code.
Ran run_on_fake(const std::string& path, const std::string& budget, bool json) {
  const test::FakeStep kernels = test::fake_step(path, "none", true);
  fake_gpu().records = false;
  fake_gpu().slower_ms = 1;  // the algorithm that a library names first is quicker
  RunCommand command;
  command.graph.path = path;
  command.plan.budget = budget;
  command.steps = 2;
  command.no_cache = true;
  command.json = json;
  std::ostringstream out, err;
  const int code = run_on_gpu(command, Console{out, err}, test::open_fake_gpu());
  return {code, out.str(), err.str()};
}

CudaCalibrateJson report_on_fake(const std::string& path, const std::string& budget) {
  const Ran ran = run_on_fake(path, budget, true);
  INFO(ran.err);
  REQUIRE(ran.code == kDone);
  return CudaCalibrateJson::parse(ran.out);
}

TEST_CASE("calibrate: a graph's kernels, and the GPU's own profile beside them",
          "[native][cuda][calibrate]") {
  const test::FakeLibraries libraries;
  if (!libraries.provided()) SKIP("there is no compiler for the libraries");
  if (!cuda::Nvrtc::load(13).ok()) SKIP("there is no NVRTC");
  const SettingsFolder settings;
  const test::FakeStep kernels = test::fake_step(sample("tiny_mlp.json.gz"), "none", true);
  add_calibration_kernels();
  CalibrateCommand command;
  command.graph.path = sample("tiny_mlp.json.gz");
  command.json = true;
  const Ran ran = calibrate(command);
  INFO(ran.err);
  REQUIRE(ran.code == kDone);
  const auto of_gpu = find_device(profile_path(kName));
  REQUIRE(of_gpu.ok());
  CHECK(of_gpu->measured == nullptr);
  const auto of_graph =
      find_gpu_profile("Fake H100", &kernels.document.graph(), cuda::Precision::f32);
  REQUIRE(of_graph.ok());
  CHECK(of_graph->profile.measured != nullptr);
  CHECK(CudaCalibrateJson::parse(ran.out)["profile"] == profile_path(of_graph->profile.name));
  CHECK(of_graph->profile.unaligned_slowdown == of_gpu->unaligned_slowdown);

  // Where a file is named, all goes there.
  const TemporaryFile named("named.json");
  std::filesystem::remove(profile_path(kName));
  command.out = named.path();
  REQUIRE(calibrate(command).code == kDone);
  CHECK(find_profile(kName).empty());
  CHECK(find_device(named.path())->measured != nullptr);
}

TEST_CASE("run: on a GPU, predictions stand beside times", "[native][cuda][calibrate]") {
  const test::FakeLibraries libraries;
  if (!libraries.provided()) SKIP("there is no compiler for the libraries");
  if (!cuda::Nvrtc::load(13).ok()) SKIP("there is no NVRTC");
  const SettingsFolder settings;
  const CudaCalibrateJson json = report_on_fake(sample("tiny_mlp.json.gz"), "none");
  CHECK(json["predicted_step_ms"].get<double>() > 0);
  CHECK(json["predicted_step_ms"] == json["step"]["predicted_ms"]);
  CHECK(json["ceilings"]["source"].get<std::string>().find("data sheet") != std::string::npos);
  double predicted = 0;
  for (const CudaCalibrateJson& kernel : json["slowest"])
    predicted += kernel["predicted_ms"].get<double>();
  CHECK(predicted == Catch::Approx(json["predicted_step_ms"].get<double>()));

  const Ran table = run_on_fake(sample("tiny_mlp.json.gz"), "none", false);
  CHECK(table.out.find(" ms predicted, Fake H100") != std::string::npos);
  CHECK(table.out.find("ms  predicted  share") != std::string::npos);
}

TEST_CASE("run: on a GPU, the budget bounds arena and scratch together",
          "[native][cuda][calibrate]") {
  const test::FakeLibraries libraries;
  if (!libraries.provided()) SKIP("there is no compiler for the libraries");
  if (!cuda::Nvrtc::load(13).ok()) SKIP("there is no NVRTC");
  const SettingsFolder settings;
  const auto bytes = [](const CudaCalibrateJson& json, const char* key) {
    return json[key].get<std::int64_t>();
  };
  // Where the last product runs, nothing of the arena is free.
  const TemporaryFile product("full_product.recut");
  product.write(
      "graph \"full\" {\n  %x = input f32[16, 16]\n  %w = parameter f32[16, 16]\n"
      "  %t = tangent f32[16, 16]\n  %y = mm(%x, %w)\n  %v = permute(%x, [1, 0])\n"
      "  %g = mm(%v, %t)\n  results %y\n  gradients %g, none\n}\n");
  const CudaCalibrateJson free = report_on_fake(product.path(), "none");
  CHECK(bytes(free, "scratch_bytes") == 1024);
  const std::int64_t arena = bytes(free, "planned_peak_bytes");
  for (const std::int64_t left : {0, 1000, 5000}) {
    const CudaCalibrateJson json = report_on_fake(product.path(), std::to_string(arena + left));
    const std::int64_t planned = bytes(json, "planned_peak_bytes");
    CHECK(bytes(json, "scratch_limit_bytes") == arena + left - planned);
    CHECK(planned + bytes(json, "scratch_bytes") <= arena + left);
    CHECK(bytes(json, "scratch_bytes") == (arena + left - planned >= 1024 ? 1024 : 0));
  }
}

// A joint graph of so many convolutions, one after another, each of whose results is kept, and of
// a gradient with so many elements: while the first runs, the others' bytes are free.
std::string convolutions(int count, int gradient) {
  std::string text = fmt::format(
      "graph \"convolutions\" {{\n  %y0 = input f32[2, 4, 8, 8]\n"
      "  %w = parameter f32[4, 4, 1, 1]\n  %p = parameter f32[{0}]\n  %t = tangent f32[{0}]\n",
      gradient);
  std::string results;
  for (int i = 1; i <= count; ++i) {
    text += fmt::format(
        "  %y{} = convolution(%y{}, %w, none, [1, 1], [0, 0], [1, 1], false, [0, 0], 1)\n", i,
        i - 1);
    results += fmt::format("{}%y{}", i == 1 ? "" : ", ", i);
  }
  return text + "  %g = mul.Tensor(%t, %t)\n  results " + results +
         "\n  gradients none, none, %g\n}\n";
}

TEST_CASE("run: on a GPU, what has no algorithm within the budget is reported with it",
          "[native][cuda][calibrate]") {
  const test::FakeLibraries libraries;
  if (!libraries.provided()) SKIP("there is no compiler for the libraries");
  if (!cuda::Nvrtc::load(13).ok()) SKIP("there is no NVRTC");
  const SettingsFolder settings;
  // 2,048 bytes a result. cuDNN's algorithms: a nondeterministic one with 64 bytes, which fails
  // here; one with 4,096 bytes.
  struct Case {
    int count, gradient;
    const char* told;
  };
  for (const auto& [count, gradient, told] :
       {Case{1, 4, "cuDNN has no algorithm for a convolution"},
        Case{1, 512, "cuDNN refuses a convolution"},  // it came to the one of 64 bytes
        Case{4, 4, "nothing computes it in "}}) {
    INFO(count << ", " << gradient);
    const TemporaryFile file("convolutions.recut");
    file.write(convolutions(count, gradient));
    const CudaCalibrateJson free = report_on_fake(file.path(), "none");
    const std::int64_t whole = aligned(free["planned_peak_bytes"].get<std::int64_t>(), 64);
    const Ran refused = run_on_fake(file.path(), std::to_string(whole), true);
    INFO(refused.err);
    CHECK(refused.code == kBadInput);
    CHECK(refused.err.find(told) != std::string::npos);
    CHECK(refused.err.find("; the budget leaves libraries ") != std::string::npos);
  }
}

// The messages about a plan on a fake GPU, which lacks its kernels: each run ends after planning.
std::string said_of_plan(const std::string& path, const std::string& budget) {
  RunCommand command;
  command.graph.path = path;
  command.plan.budget = budget;
  command.precision = "tf32";
  command.no_cache = true;
  std::ostringstream out, err;
  CHECK(run_on_gpu(command, Console{out, err}, test::open_fake_gpu()) != kDone);
  return err.str();
}

TEST_CASE("run: on a GPU, a budget decides how convolutions are laid out", "[native][cuda]") {
  if (!cuda::Nvrtc::load(13).ok()) SKIP("there is no NVRTC");
  const SettingsFolder settings;
  const TemporaryFile file("unet.recut");
  REQUIRE(run({"grad", RECUT_SOURCE_DIR "/samples/blocks/unet_small.recut", "--out", file.path()})
              .code == kDone);
  CHECK(said_of_plan(file.path(), "none").find("note: ") == std::string::npos);
  CHECK(said_of_plan(file.path(), "60000").find("note: ") == std::string::npos);
  // All but the least: most of it is computed again.
  CHECK(said_of_plan(file.path(), "48000").find("no quicker with their channels last") !=
        std::string::npos);
  // The lesser of both plans' least peaks.
  CHECK(said_of_plan(file.path(), "40000").find("(47648 bytes)") != std::string::npos);
}

TEST_CASE("run: on a GPU, attention's workspace is in the plan", "[native][cuda][attention]") {
  if (!test::has_compiler()) SKIP("there is no compiler for the kernels");
  if (!cuda::Nvrtc::load(13).ok()) SKIP("there is no NVRTC");
  const SettingsFolder settings;
  test::AttentionGraph form;
  form.batches = form.heads = form.key_heads = 2;
  form.queries = form.keys = 40;
  form.features = form.value_features = 16;
  const TemporaryFile file("planned_attention.recut");
  file.write(form.joint_text());
  const CudaCalibrateJson free = report_on_fake(file.path(), "none");
  CHECK(free["scratch_bytes"] == 0);
  // The whole arena, with what its last buffer is rounded up by.
  const std::int64_t arena = aligned(free["planned_peak_bytes"].get<std::int64_t>(), 64);
  const CudaCalibrateJson within = report_on_fake(file.path(), std::to_string(arena));
  CHECK(within["scratch_bytes"] == 0);
  CHECK(within["budget_bytes"] == arena);
}

}  // namespace
}  // namespace recut::native
