// The plan that a GPU runs, whichever command opens the graph: recut run, or recut train with an
// optimizer in it. No GPU is needed.
#include "native/executors/gpu_plan.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "engine/workspace/open_document.h"
#include "native/commands/command.h"
#include "tests/native/run_command.h"
#include "tests/native/settings_folder.h"
#include "tests/paths.h"

namespace recut::native {
namespace {

// A product with an odd number of columns, which is slow on tensor cores.
constexpr const char* kGpuPlanModel =
    "graph \"odd\" {\n  %w = parameter f32[4096, 4093]\n  %x = input f32[4096, 4096]\n"
    "  %y = mm(%x, %w)\n  %s = mul.Tensor(%y, %y)\n  %loss = mean(%s)\n  results %loss\n}\n";

struct Asked {
  std::vector<std::optional<Device>> devices;
  std::vector<std::string> skips;
};

// The request of recut train.
GpuPlanRequest training_of(const std::string& path, Asked& asked) {
  GpuPlanRequest request;
  request.gpu = "NVIDIA H100 80GB HBM3";
  request.planning.cost_model = "fused";
  request.open = [&asked, path](const std::optional<Device>& device,
                                std::string_view skip) -> Result<Document> {
    asked.devices.push_back(device);
    asked.skips.emplace_back(skip);
    GraphArguments graph;
    graph.path = path;
    graph = graph.for_gpu(device, skip);
    std::ostringstream out, err;
    auto file = graph.read(Console{out, err});
    if (!file) return file.diagnostics();
    auto passes = graph.chosen_passes(*file);
    if (!passes) return passes.diagnostics();
    OpenOptions options;
    options.passes = std::move(passes->names);
    options.runner = std::move(passes->options);
    options.training = TrainingOptions{Adam{}, {}};
    return open_document_graph(std::move(*file), path, options);
  };
  return request;
}

bool changed(const Document& document, std::string_view pass) {
  const auto& passes = document.passes.passes;
  return std::any_of(passes.begin(), passes.end(), [&](const PassReport& report) {
    return report.name == pass && report.changed;
  });
}

TEST_CASE("GPU plan: a training has the passes and prices of a GPU", "[native][cuda][train]") {
  const SettingsFolder settings;
  const TemporaryFile model("odd.recut");
  model.write(kGpuPlanModel);
  for (const cuda::Precision precision :
       {cuda::Precision::f32, cuda::Precision::tf32, cuda::Precision::bf16}) {
    Asked asked;
    GpuPlanRequest request = training_of(model.path(), asked);
    request.precision = precision;
    const auto planned = plan_for_gpu(request);
    if (!planned) FAIL(format(planned.diagnostics()));
    const bool tensor_cores = precision != cuda::Precision::f32;
    REQUIRE(asked.devices.size() == 1);
    REQUIRE(asked.devices.front().has_value());
    CHECK(asked.devices.front()->runs_step);
    CHECK(asked.devices.front()->f32_uses_tf32 == tensor_cores);
    CHECK(asked.skips.front() == "");
    CHECK(planned->known.has_value());
    CHECK(planned->scheduled.holds());
    CHECK(planned->note == "");
    if (tensor_cores) CHECK(changed(planned->document, "pad_mm"));
  }
}

TEST_CASE("GPU plan: rounded products are quicker, and times of another GPU are no profile",
          "[native][cuda]") {
  const SettingsFolder settings;
  const TemporaryFile model("odd.recut");
  model.write(kGpuPlanModel);
  Asked asked;
  GpuPlanRequest request = training_of(model.path(), asked);
  const auto micros = [&] {
    const auto planned = plan_for_gpu(request);
    REQUIRE(planned.ok());
    CHECK(planned->known.has_value() == (request.gpu != "Another"));
    return planned->scheduled.planned.report.step_us;
  };
  const double exact = micros();
  request.precision = cuda::Precision::bf16;
  CHECK(micros() < exact);
  request.gpu = "Another";
  CHECK(micros() < exact);

  // Without libraries no pass prepares operands for them.
  request.library = false;
  (void)micros();
  CHECK_FALSE(asked.devices.back().has_value());
}

}  // namespace
}  // namespace recut::native
