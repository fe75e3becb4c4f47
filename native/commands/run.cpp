// recut run: a planned training step as machine code, measured beside its plan.
#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "engine/support/check.h"
#include "engine/support/table.h"
#include "engine/support/units.h"
#include "engine/workspace/scheduling.h"
#include "native/calibrated_profile.h"
#include "native/commands/command.h"
#include "native/commands/plan_arguments.h"
#include "native/cpu/execution.h"

namespace recut::native {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kShownKernels = 10;

struct RunCommand {
  GraphArguments graph;
  PlanArguments plan;
  std::string target = "cpu";
  std::vector<std::string> tensors;
  std::uint64_t seed = 0;
  int threads = 0;  // 0: as many as there are
  int steps = 10;
  bool no_library = false;
  bool check = false;
  bool no_cache = false;
  bool json = false;
};

// What the measured rates stand beside: a profile of this machine.
struct Ceilings {
  std::string name;   // of the profile, or its file
  std::string title;  // what it was measured on
  DeviceRates peaks;
};

// Where the planner takes its prices from.
std::string profile_of(const RunCommand& command) {
  return command.plan.device.empty() ? profile_of_this_machine() : command.plan.device;
}

// The peaks of a profile, but for the usual guess: nobody measured that here.
std::optional<Ceilings> ceilings_of(const RunCommand& command, const Graph& graph) {
  const std::string profile = profile_of(command);
  if (profile == kMeasuredDevice) return std::nullopt;
  if (command.plan.device.empty() && profile == kUsualProcessor) return std::nullopt;
  const auto costs = find_cost_model(graph, std::nullopt, profile, "fused");
  RECUT_CHECK(costs.ok(), "what was planned has a device");
  return Ceilings{profile, costs->device.title, costs->device.peaks};
}

bool holds(const cpu::Execution& execution) {
  return execution.measured_peak_bytes == execution.planned_peak_bytes;
}

Json rates_json(const cpu::KernelTime& time, const std::optional<Ceilings>& ceilings) {
  Json json = {{"name", time.name},
               {"library", time.library},
               {"launches", time.launches},
               {"ms", time.ms},
               {"bytes", time.bytes},
               {"flops", time.flops},
               {"gb_per_second", 1e-6 * time.bytes / time.ms},
               {"gflops_per_second", 1e-6 * time.flops / time.ms}};
  if (ceilings) json["share_of_ceiling"] = time.share_of(ceilings->peaks);
  return json;
}

Json ceilings_json(const Ceilings& ceilings) {
  return {{"profile", ceilings.name},
          {"title", ceilings.title},
          {"gb_per_second", 1e-9 * ceilings.peaks.bytes_per_second},
          {"f32_gflops_per_second", 1e-9 * ceilings.peaks.flops_of(DType::f32)},
          {"f64_gflops_per_second", 1e-9 * ceilings.peaks.flops_of(DType::f64)}};
}

std::string as_json(const cpu::Execution& e, const RunCommand& command,
                    const std::optional<Ceilings>& ceilings) {
  Json slowest = Json::array();
  for (const cpu::KernelTime& time : e.times) slowest.push_back(rates_json(time, ceilings));
  Json json = {{"planned_peak_bytes", e.planned_peak_bytes},
               {"measured_peak_bytes", e.measured_peak_bytes},
               {"scratch_bytes", e.scratch_bytes},
               {"step_ms_median", e.step_ms_median},
               {"step_ms_min", e.step_ms_min},
               {"compile_ms", e.compile_ms},
               {"from_cache", cpu::name_of(e.origin)},
               {"threads", command.threads},
               {"kernels", e.kernels},
               {"launches", e.launches},
               {"step", rates_json(e.whole(), ceilings)},
               {"slowest", slowest}};
  if (ceilings) json["ceilings"] = ceilings_json(*ceilings);
  if (command.check) {
    json["ok"] = e.agrees() && holds(e);
    json["max_relative_error"] = e.max_relative_error();
    json["outputs"] = e.outputs.size();
    json["outputs_by_rounding"] =
        std::count_if(e.outputs.begin(), e.outputs.end(),
                      [](const OutputComparison& output) { return output.is_rounding(); });
  }
  return json.dump(2) + "\n";
}

std::string slowest_text(const cpu::Execution& e, const std::optional<Ceilings>& ceilings) {
  Table table;
  table.column("kernel");
  for (const char* title : {"launches", "ms", "share", "GB/s", "GFLOP/s"})
    table.column(title, Table::Align::right);
  if (ceilings) table.column("of ceiling", Table::Align::right);
  double all = 0;
  for (const cpu::KernelTime& time : e.times) all += time.ms;
  const auto add = [&](const cpu::KernelTime& time, const std::string& share) {
    std::vector<std::string> cells = {time.library ? time.name + " (oneDNN)" : time.name,
                                      fmt::format("{}", time.launches),
                                      fmt::format("{:.3f}", time.ms),
                                      share,
                                      fmt::format("{:.1f}", 1e-6 * time.bytes / time.ms),
                                      fmt::format("{:.1f}", 1e-6 * time.flops / time.ms)};
    if (ceilings) cells.push_back(fmt::format("{:.0f} %", 100 * time.share_of(ceilings->peaks)));
    table.row(std::move(cells));
  };
  for (std::size_t i = 0; i < std::min(e.times.size(), kShownKernels); ++i)
    add(e.times[i], fmt::format("{:.0f} %", 100 * e.times[i].ms / all));
  add(e.whole(), "");
  return table.format(0);
}

std::string ceilings_text(const std::optional<Ceilings>& ceilings) {
  if (!ceilings)
    return "recut calibrate measures this machine's ceilings, which then stand beside these "
           "rates\n";
  return fmt::format(
      "ceilings {:.1f} GB/s and {:.1f} GFLOP/s (f32), of {} ({}), by which it is planned, too\n",
      1e-9 * ceilings->peaks.bytes_per_second, 1e-9 * ceilings->peaks.flops_of(DType::f32),
      ceilings->name, ceilings->title);
}

std::string check_text(const cpu::Execution& e) {
  std::string text;
  int rounded = 0;
  double error = 0, movement = 0;
  for (const OutputComparison& output : e.outputs) {
    const double relative = output.comparison.relative_error;
    if (!output.ok())
      text +=
          fmt::format("DIFFERS: {} '{}': {} (relative error {:.1e}; rounding moves it by {:.1e})\n",
                      output.gradient ? "gradient" : "result", output.name,
                      output.comparison.problem, relative, output.movement);
    if (!output.is_rounding()) continue;
    ++rounded;
    error = std::max(error, relative);
    movement = std::max(movement, output.movement);
  }
  text += fmt::format("{} outputs {}, largest relative error {:.1e}\n", e.outputs.size(),
                      e.agrees() ? "agree with the interpreter's" : "were compared",
                      e.max_relative_error());
  if (rounded > 0)
    text += fmt::format(
        "{} of them within what rounding does to them: by up to {:.1e}, where the interpreter's "
        "own "
        "move by up to {:.1e} when inputs do in their last bits\n",
        rounded, error, movement);
  return text;
}

std::string_view origin_text(cpu::StepOrigin origin) {
  switch (origin) {
    case cpu::StepOrigin::compiled:
      return "compiled in";
    case cpu::StepOrigin::kernels_found:
      return "these from the cache, made ready in";
    case cpu::StepOrigin::found:
      return "from the cache in";
  }
  return "";
}

std::string as_text(const cpu::Execution& e, const RunCommand& command,
                    const std::optional<Ceilings>& ceilings) {
  std::string text = fmt::format(
      "step {:.3f} ms (median of {}), {:.3f} ms at best, {} thread{}\n"
      "peak {} bytes planned, {} bytes measured{}{}\n"
      "{} launches of {} kernels, {} {:.0f} ms\n\n",
      e.step_ms_median, command.steps, e.step_ms_min, command.threads,
      command.threads == 1 ? "" : "s", format_count(e.planned_peak_bytes),
      format_count(e.measured_peak_bytes), holds(e) ? "" : ": NOT AS PLANNED",
      e.scratch_bytes == 0
          ? ""
          : fmt::format("; {} bytes of scratch for oneDNN", format_count(e.scratch_bytes)),
      e.launches, e.kernels, origin_text(e.origin), e.compile_ms);
  text += slowest_text(e, ceilings) + "\n" + ceilings_text(ceilings);
  if (command.check) text += "\n" + check_text(e);
  return text;
}

SchedulingRequest scheduling_of(const RunCommand& command) {
  SchedulingRequest request{command.plan.request(), {}};
  request.planning.cost_model = "fused";
  request.planning.device = profile_of(command);
  return request;
}

// The cache that the environment names; what is wrong with it is said and costs time alone.
std::optional<cache::Store> usual_store(const RunCommand& command, const Console& console) {
  if (command.no_cache) return std::nullopt;
  auto options = cache::usual_options();
  if (options) return cache::Store(std::move(*options));
  console.err << "note: no cache is used: " << options.diagnostics().front().message << "\n";
  return std::nullopt;
}

int execute(const RunCommand& command, const Document& document, const cpu::ReadyStep& step,
            const Console& console) {
  const auto tensors = read_tensors(command.tensors, document.file);
  if (!tensors) return console.complain(tensors.diagnostics());
  cpu::ExecutionRequest request;
  request.tensors = (*tensors)->tensors;
  request.seed = command.seed;
  request.threads = command.threads;
  request.steps = command.steps;
  request.check = command.check;
  const auto ceilings = ceilings_of(command, document.graph());
  if (ceilings) request.ceilings = ceilings->peaks;
  request.progress = [&](std::string_view what) { console.say(what); };
  const auto execution = cpu::execute(document, step, request);
  console.say("");
  if (!execution) return console.complain(execution.diagnostics());
  console.out << (command.json ? as_json(*execution, command, ceilings)
                               : as_text(*execution, command, ceilings));
  return holds(*execution) && (!command.check || execution->agrees()) ? kDone : kCheckFailed;
}

int run(RunCommand command, const Console& console) {
  if (command.threads == 0)
    command.threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const auto document = command.graph.open_joint(console);
  if (!document) return console.complain(document.diagnostics());
  const SchedulingRequest request = scheduling_of(command);
  cpu::StepCache steps(usual_store(command, console), {.library = !command.no_library});
  const auto found = steps.find(*document, request);
  if (!found) return console.complain(found.diagnostics());
  if (*found) return execute(command, *document, **found, console);

  console.say("planning");
  const auto scheduled = schedule_document(*document, request);
  if (!scheduled) return console.complain(scheduled.diagnostics());
  if (!scheduled->holds()) return refuse_arena(*scheduled, console);
  console.say("compiling");
  const auto compiled = steps.compile(*document, request, *scheduled);
  console.say("");
  for (const std::string& note : steps.notes()) console.err << "note: " << note << "\n";
  if (!compiled) return console.complain(compiled.diagnostics());
  return execute(command, *document, *compiled, console);
}

}  // namespace

void add_run(CLI::App& app, Action& chosen) {
  auto arguments = std::make_shared<RunCommand>();
  CLI::App& command = *app.add_subcommand(
      "run", "Plan, schedule, compile and run a training step, and measure its time and peak");
  arguments->graph.add_to(command);
  arguments->plan.add_search_to(command);
  add_profile(command, "--profile", arguments->plan.device);
  command.add_option("--device", arguments->target, "What it runs on: cpu")
      ->check(CLI::IsMember({"cpu"}))
      ->type_name("TARGET");
  command
      .add_option("--tensors", arguments->tensors,
                  "Values: in.<name> for inputs (safetensors); those that it lacks are made")
      ->type_name("FILE");
  command
      .add_option("--seed", arguments->seed, "What makes inputs and random numbers (default: 0)")
      ->type_name("N");
  command.add_option("--threads", arguments->threads, "Threads (default: one a core)")
      ->check(CLI::Range(1, 1024))
      ->type_name("N");
  command.add_option("--steps", arguments->steps, "Steps that are timed (default: 10)")
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("N");
  command.add_flag("--no-library", arguments->no_library,
                   "Matrix products and convolutions by Recut's own loops, not by oneDNN");
  command.add_flag("--check", arguments->check,
                   "Interpret the same graph on the same values and compare every output; exit "
                   "code 1 where one differs");
  command.add_flag("--no-cache", arguments->no_cache,
                   "Plan and compile anew, and keep nothing: recut cache says what is kept");
  command.add_flag("--json", arguments->json, "One JSON value instead of the tables");
  command.footer(
      "The peak is measured in memory that was painted before: up to where the step wrote.\n"
      "Rates stand beside the ceilings of --profile, or of what recut calibrate measured, by which "
      "the step is planned, too.\n"
      "Example: recut run samples/joint/tiny_mlp.json.gz --budget 60% --check");
  command.callback([arguments, &chosen] {
    chosen = [arguments](const Console& console) { return run(*arguments, console); };
  });
}

}  // namespace recut::native
