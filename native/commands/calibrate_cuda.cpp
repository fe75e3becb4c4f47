// recut calibrate --device cuda: measures what an NVIDIA GPU sustains, and what a graph's kernels
// take on it.
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "engine/cost/measured_kernels.h"
#include "engine/support/check.h"
#include "engine/support/table.h"
#include "engine/workspace/scheduling.h"
#include "native/calibrated_profile.h"
#include "native/commands/calibrate_arguments.h"
#include "native/commands/card_options.h"
#include "native/commands/card_profile.h"
#include "native/commands/run_arguments.h"
#include "native/executors/find_card_profile.h"

namespace recut::native {
namespace {

using Json = nlohmann::ordered_json;

// One graph's kernels, and the launches of its step.
struct MeasuredStep {
  cuda::GraphProfile profile;
  std::size_t launches = 0;
};

class CardCommand {
 public:
  CardCommand(const CalibrateCommand& command, const CardToCalibrate& with, const Console& console)
      : command_(command), with_(with), console_(console) {}

  int run() {
    const auto most = most_workspace(command_.workspace);
    if (!most) return console_.complain(most.diagnostics());
    most_workspace_ = *most;
    const bool of_graph = !command_.graph.path.empty();
    if (command_.out.empty() && card_path().empty())
      return console_.complain({no_settings_folder()});
    if (of_graph)  // report a bad graph before anything is measured
      if (auto opened = command_.graph.open_joint(console_); !opened)
        return console_.complain(opened.diagnostics());
    auto profile = measure_card();
    if (!profile) return console_.complain(profile.diagnostics());
    const auto out = of_graph
                         ? measure_graph(std::move(*profile))
                         : written(*profile, 2, command_.out.empty() ? card_path() : command_.out);
    console_.say("");
    if (!out) return console_.complain(out.diagnostics());
    console_.out << (command_.json ? as_json(*out) : as_text(*out));
    return kDone;
  }

 private:
  cuda::Precision precision() const { return cuda::precision_named(command_.precision); }
  CardWords words() const {
    return {with_.card->name(), with_.card->driver_version(), precision() == cuda::Precision::tf32};
  }

  std::string card_path() const { return profile_path(profile_name_of_card(with_.card->name())); }

  static Result<std::string> written(const Json& profile, int indent, const std::string& path) {
    if (auto done = write_file(path, profile.dump(indent) + "\n"); !done) return done.diagnostics();
    return path;
  }

  Result<Json> measure_card() {
    auto code = with_.code ? Result<std::string>(*with_.code) : cuda::calibration_code(*with_.card);
    if (!code) return code.diagnostics();
    cuda::CardCalibrationRequest request;
    request.seconds = command_.seconds;
    request.triad_bytes = command_.triad_bytes;
    request.product = with_.product;
    request.progress = [&](std::string_view what) {
      console_.say(fmt::format("measuring {}", what));
    };
    auto calibration = cuda::calibrate(with_.card, *code, request);
    if (!calibration) return calibration.diagnostics();
    calibration_ = std::move(*calibration);
    return card_profile(words(), calibration_);
  }

  // Returns where the profile was written. The GPU's own goes to its default path unless one file
  // is named for both: a run pads the graph's products by what it finds there, as is done here.
  Result<std::string> measure_graph(Json profile) {
    if (command_.out.empty())
      if (auto card = written(profile, 2, card_path()); !card) return card;
    auto card = parse_device_profile(profile.dump(), "what was measured of the card");
    RECUT_CHECK(card.ok(), "a profile that is written here is one");
    const auto document =
        command_.graph.for_card(device_of_step(*card, precision()), "").open_joint(console_);
    if (!document) return document.diagnostics();
    if (auto done = measure_kernels(*document, std::move(*card)); !done) return done.diagnostics();
    add_kernels(profile, words(), step_->profile);
    return written(
        profile, -1,
        command_.out.empty() ? profile_path(profile["name"].get<std::string>()) : command_.out);
  }

  // Without a budget every kernel of the graph runs once.
  Result<Done> measure_kernels(const Document& document, DeviceProfile card) {
    SchedulingRequest request;
    request.planning.cost_model = "fused";
    request.planning.profile = std::move(card);
    console_.say("planning");
    const auto scheduled = schedule_document(document, request);
    if (!scheduled) return scheduled.diagnostics();
    const auto ready = compile(document, *scheduled);
    if (!ready) return ready.diagnostics();
    cuda::ProfilingRequest profiling;
    profiling.calls = {precision(), most_workspace_};
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
        usual_store(cached, console_), with_.card,
        {.library = true,
         .library_takes = cuda::library_takes(with_.card, {precision(), most_workspace_}),
         .lower = cuda::lower_options(with_.card->sm_limits())},
        cuda::factors_of(precision()));
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
        {"card", with_.card->name()},
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
    const cuda::CardCalibration& c = calibration_;
    row("memory", 1e-9 * c.triad_bytes, "GB/s");
    row("multiply-adds, f32", 1e-12 * c.multiply_adds_f32, "TFLOP/s");
    row("multiply-adds, f64", 1e-12 * c.multiply_adds_f64, "TFLOP/s");
    for (const cuda::ProductRate& rate : c.products)
      row("matrix products, " + rate.name, 1e-12 * rate.best,
          fmt::format("TFLOP/s the largest, {:.2f} usual ones, {:.2f} times as long where odd",
                      1e-12 * rate.median, rate.unaligned_slowdown));
    row("a launch in a graph", c.launch_micros, "µs");
    return fmt::format("{}, CUDA {}\n\n{}\n{}written to {}\n", with_.card->name(),
                       with_.card->driver_version(), table.format(), step_text(), out);
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
  const CardToCalibrate& with_;
  const Console& console_;
  std::int64_t most_workspace_ = 0;
  cuda::CardCalibration calibration_;
  std::optional<MeasuredStep> step_;
};

}  // namespace

int calibrate_card(const CalibrateCommand& command, const CardToCalibrate& with,
                   const Console& console) {
  return CardCommand(command, with, console).run();
}

int calibrate_cuda(const CalibrateCommand& command, const Console& console) {
  auto card = cuda::Card::open();
  if (!card) return console.complain(card.diagnostics());
  return calibrate_card(command, {std::move(*card), std::nullopt}, console);
}

}  // namespace recut::native
