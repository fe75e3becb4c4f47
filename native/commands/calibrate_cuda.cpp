// recut calibrate --device cuda: measures the rates that an NVIDIA GPU sustains, and the times of a
// graph's kernels on it.
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "engine/cost/measured_kernels.h"
#include "engine/support/check.h"
#include "engine/support/table.h"
#include "engine/workspace/scheduling.h"
#include "native/calibrated_profile.h"
#include "native/commands/calibrate_arguments.h"
#include "native/commands/gpu_options.h"
#include "native/commands/gpu_profile.h"
#include "native/commands/run_arguments.h"
#include "native/executors/find_gpu_profile.h"

namespace recut::native {
namespace {

using Json = nlohmann::ordered_json;

// One graph's kernels, and the launches of its step.
struct MeasuredStep {
  cuda::GraphProfile profile;
  std::size_t launches = 0;
};

class GpuCalibrateCommand {
 public:
  GpuCalibrateCommand(const CalibrateCommand& command, const GpuToCalibrate& with,
                      const Console& console)
      : command_(command), with_(with), console_(console) {}

  int run() {
    const auto max_bytes = max_workspace(command_.workspace);
    if (!max_bytes) return console_.report_error(max_bytes.diagnostics());
    max_workspace_ = *max_bytes;
    const bool of_graph = !command_.graph.path.empty();
    if (command_.out.empty() && gpu_profile_path().empty())
      return console_.report_error({no_settings_folder()});
    if (of_graph)  // report a bad graph before anything is measured
      if (auto opened = command_.graph.open(console_); !opened)
        return console_.report_error(opened.diagnostics());
    auto profile = measure_gpu();
    if (!profile) return console_.report_error(profile.diagnostics());
    const auto out =
        of_graph ? measure_graph(std::move(*profile))
                 : written(*profile, 2, command_.out.empty() ? gpu_profile_path() : command_.out);
    console_.say("");
    if (!out) return console_.report_error(out.diagnostics());
    console_.out << (command_.json ? as_json(*out) : as_text(*out));
    return kDone;
  }

 private:
  cuda::Precision precision() const { return cuda::parse_precision(command_.precision); }
  GpuDescription description() const {
    return {with_.gpu->name(), with_.gpu->driver_version(), precision() == cuda::Precision::tf32};
  }

  std::string gpu_profile_path() const {
    return profile_path(profile_name_of_gpu(with_.gpu->name()));
  }

  static Result<std::string> written(const Json& profile, int indent, const std::string& path) {
    if (auto done = write_file(path, profile.dump(indent) + "\n"); !done) return done.diagnostics();
    return path;
  }

  Result<Json> measure_gpu() {
    auto code = with_.code ? Result<std::string>(*with_.code) : cuda::calibration_code(*with_.gpu);
    if (!code) return code.diagnostics();
    cuda::GpuCalibrationRequest request;
    request.seconds = command_.seconds;
    request.triad_bytes = command_.triad_bytes;
    request.product = with_.product;
    request.progress = [&](std::string_view what) {
      console_.say(fmt::format("measuring {}", what));
    };
    auto calibration = cuda::calibrate(with_.gpu, *code, request);
    if (!calibration) return calibration.diagnostics();
    calibration_ = std::move(*calibration);
    return gpu_profile(description(), calibration_);
  }

  // Returns the path of the written profile. The GPU's own goes to its default path unless one file
  // is named for both: a run pads the graph's products by the profile there, as is done here.
  Result<std::string> measure_graph(Json profile) {
    if (command_.out.empty())
      if (auto gpu = written(profile, 2, gpu_profile_path()); !gpu) return gpu;
    auto gpu = parse_device_profile(profile.dump(), "what was measured of the GPU");
    RECUT_CHECK(gpu.ok(), "a profile that is written here is one");
    const auto document =
        command_.graph.for_gpu(device_of_step(*gpu, precision()), "").open(console_);
    if (!document) return document.diagnostics();
    if (auto done = measure_kernels(*document, std::move(*gpu)); !done) return done.diagnostics();
    add_kernels(profile, description(), step_->profile);
    return written(
        profile, -1,
        command_.out.empty() ? profile_path(profile["name"].get<std::string>()) : command_.out);
  }

  // Without a budget every kernel of the graph runs once.
  Result<Done> measure_kernels(const Document& document, DeviceProfile gpu) {
    SchedulingRequest request;
    request.planning.cost_model = "fused";
    request.planning.profile = std::move(gpu);
    console_.say("planning");
    const auto scheduled = schedule_document(document, request);
    if (!scheduled) return scheduled.diagnostics();
    const auto ready = compile(document, *scheduled);
    if (!ready) return ready.diagnostics();
    cuda::ProfilingRequest profiling;
    profiling.calls = {precision(), max_workspace_};
    profiling.progress = [&](std::string_view what) { console_.say(what); };
    auto measured = cuda::profile(document, *scheduled, *ready, profiling);
    if (!measured) return measured.diagnostics();
    step_ = MeasuredStep{std::move(*measured), ready->step.program().launches.size()};
    return Done{};
  }

  // The libraries that were asked are closed again before the step runs.
  Result<cuda::ReadyStep> compile(const Document& document, const ScheduledPlan& scheduled) const {
    console_.say("compiling");
    RunCommand cached;
    cuda::StepCache steps(
        default_store(cached, console_), with_.gpu,
        {.library = true,
         .library_takes = cuda::library_takes(with_.gpu, {precision(), max_workspace_}),
         .lower = cuda::lower_options(with_.gpu->sm_limits())},
        cuda::matmul_precision_of(precision()));
    return steps.compile(document, scheduled);
  }

  std::string as_json(const std::string& out) const {
    Json best = Json::object(), usual = Json::object(), slowdown = Json::object();
    for (const cuda::ProductRate& rate : calibration_.products) {
      best[rate.name] = rate.best;
      usual[rate.name] = rate.median;
      slowdown[rate.name] = rate.unaligned_slowdown;
    }
    Json json = {
        {"profile", out},
        {"card", with_.gpu->name()},
        {"triad_bytes_per_second", calibration_.triad_bytes},
        {"multiply_add_flops_per_second",
         {{"f32", calibration_.multiply_adds_f32}, {"f64", calibration_.multiply_adds_f64}}},
        {"product_flops_per_second", best},
        {"usual_product_flops_per_second", usual},
        {"unaligned_slowdown", slowdown},
        {"launch_micros", calibration_.launch_micros}};
    if (step_) {
      const cuda::GraphProfile& p = step_->profile;
      json["graph"] = p.kernels.name;
      json["kernels"] = p.kernels.kernels.size();
      json["launches"] = step_->launches;
      json["step_ms"] = p.step_ms;
      json["launches_ms"] = p.launches_ms;
      json["corrections"] = {{"products", p.corrections.products},
                             {"memory", p.corrections.memory},
                             {"launches", p.corrections.launches}};
    }
    return json.dump(2) + "\n";
  }

  std::string as_text(const std::string& out) const {
    Table table;
    for (int column = 0; column < 3; ++column)
      table.column("", column == 1 ? Table::Align::right : Table::Align::left);
    const auto row = [&](const std::string& what, double figure, const std::string& unit) {
      table.row({what, fmt::format("{:.2f}", figure), unit});
    };
    const cuda::GpuCalibration& c = calibration_;
    row("memory", 1e-9 * c.triad_bytes, "GB/s");
    row("multiply-adds, f32", 1e-12 * c.multiply_adds_f32, "TFLOP/s");
    row("multiply-adds, f64", 1e-12 * c.multiply_adds_f64, "TFLOP/s");
    for (const cuda::ProductRate& rate : c.products)
      row("matrix products, " + rate.name, 1e-12 * rate.best,
          fmt::format("TFLOP/s the largest, {:.2f} usual ones, {:.2f} times as long where odd",
                      1e-12 * rate.median, rate.unaligned_slowdown));
    row("a launch in a graph", c.launch_micros, "µs");
    return fmt::format("{}, CUDA {}\n\n{}\n{}written to {}\n", with_.gpu->name(),
                       with_.gpu->driver_version(), table.format(), step_text(), out);
  }

  std::string step_text() const {
    if (!step_) return "";
    const cuda::GraphProfile& p = step_->profile;
    return fmt::format(
        "{}: step {:.3f} ms, {} launches of {} kernels\nof what the ceilings have them take: "
        "products {:.2f}, memory {:.2f}, launches {:.2f} times as long\n\n",
        p.kernels.name, p.step_ms, step_->launches, p.kernels.kernels.size(),
        p.corrections.products, p.corrections.memory, p.corrections.launches);
  }

  const CalibrateCommand& command_;
  const GpuToCalibrate& with_;
  const Console& console_;
  std::int64_t max_workspace_ = 0;
  cuda::GpuCalibration calibration_;
  std::optional<MeasuredStep> step_;
};

}  // namespace

int calibrate_gpu(const CalibrateCommand& command, const GpuToCalibrate& with,
                  const Console& console) {
  return GpuCalibrateCommand(command, with, console).run();
}

int calibrate_cuda(const CalibrateCommand& command, const Console& console) {
  auto gpu = cuda::Gpu::open();
  if (!gpu) return console.report_error(gpu.diagnostics());
  return calibrate_gpu(command, {std::move(*gpu), std::nullopt}, console);
}

}  // namespace recut::native
