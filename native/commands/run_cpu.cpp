// recut run --device cpu: a planned step as machine code, measured beside its plan.
#include <fmt/core.h>

#include <algorithm>
#include <thread>

#include "engine/support/check.h"
#include "engine/workspace/rank_steps.h"
#include "engine/workspace/scheduling.h"
#include "native/calibrated_profile.h"
#include "native/commands/command.h"
#include "native/commands/gpu_options.h"
#include "native/commands/run_arguments.h"
#include "native/commands/run_report.h"
#include "native/cpu/execution.h"

namespace recut::native {

std::string profile_on_cpu(const RunCommand& command) {
  return command.plan.device.empty() ? profile_of_this_machine() : command.plan.device;
}

SchedulingRequest scheduling_on_cpu(const RunCommand& command) {
  SchedulingRequest request{command.plan.request(), {}};
  request.planning.device = profile_on_cpu(command);
  return request;
}

namespace {

// The peaks of the profile; none for the default guess, which wasn't measured here.
std::optional<Ceilings> ceilings_of(const RunCommand& command, const Graph& graph) {
  const std::string profile = profile_on_cpu(command);
  if (profile == kMeasuredDevice) return std::nullopt;
  if (command.plan.device.empty() && profile == kDefaultProcessor) return std::nullopt;
  const auto costs = find_cost_model(graph, std::nullopt, profile, "fused");
  RECUT_CHECK(costs.ok(), "what was planned has a device");
  return Ceilings{profile, costs->device.title, costs->device.peaks, costs->device.source};
}

RunReport report_of(const RunCommand& command, const cpu::Execution& execution,
                    const std::optional<Ceilings>& ceilings) {
  return {
      execution,
      execution.origin,
      command.steps,
      command.check,
      ceilings,
      fmt::format("{} thread{}", command.threads, command.threads == 1 ? "" : "s"),
      "oneDNN",
      "",
      {{"threads", command.threads}},
      "recut calibrate measures this machine's ceilings, which then stand beside these rates\n"};
}

int execute(const RunCommand& command, const Document& document, const cpu::ReadyStep& step,
            const Console& console) {
  const auto tensors = read_tensors(command.tensors, document.file);
  if (!tensors) return console.report_error(tensors.diagnostics());
  cpu::ExecutionRequest request;
  request.tensors = (*tensors)->tensors;
  request.seed = command.seed;
  request.threads = command.threads;
  request.steps = command.steps;
  request.check = command.check;
  request.keep_outputs = !command.out_tensors.empty();
  const auto ceilings = ceilings_of(command, document.graph());
  if (ceilings) request.ceilings = ceilings->peaks;
  request.progress = [&](std::string_view what) { console.say(what); };
  const auto execution = cpu::execute(document, step, request);
  console.say("");
  if (!execution) return console.report_error(execution.diagnostics());
  if (const auto written = write_outputs(command, document.graph(), execution->values); !written)
    return console.report_error(written.diagnostics());
  const RunReport report = report_of(command, *execution, ceilings);
  console.out << (command.json ? as_json(report) : as_text(report));
  if (execution->holds() && (!command.check || execution->agrees())) return kDone;
  leave_debug(command, document, scheduling_on_cpu(command).planning, profile_on_cpu(command),
              {"--threads", fmt::format("{}", command.threads)}, (*tensors)->tensors,
              finding_text(*execution), console);
  return kCheckFailed;
}

}  // namespace

int run_on_cpu(RunCommand command, const Console& console) {
  if (command.nondeterministic)
    return console.report_error({error("--nondeterministic: for --device cuda alone")});
  if (auto done = refuse_gpu_options(command.precision, command.workspace); !done)
    return console.report_error(done.diagnostics());
  if (command.threads == 0)
    command.threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  command.graph.processor_library = !command.no_library;
  const auto document = command.graph.open(console);
  if (!document) return console.report_error(document.diagnostics());
  if (has_collectives(document->graph()))
    return console.report_error(
        {{"the graph is one rank's part: it has collectives of several ranks; expected --mesh with "
          "an axis of as many, such as --mesh tp=8, which runs all of them",
          command.graph.path, 0, 0}});
  const SchedulingRequest request = scheduling_on_cpu(command);
  cpu::StepCache steps(default_store(command, console),
                       {.library = !command.no_library, .library_takes = cpu::onednn_takes});
  const auto found = steps.find(*document, request);
  if (!found) return console.report_error(found.diagnostics());
  if (*found) return execute(command, *document, **found, console);

  console.say("planning");
  const auto scheduled = schedule_document(*document, request);
  if (!scheduled) return console.report_error(scheduled.diagnostics());
  if (!scheduled->holds()) return refuse_arena(*document, *scheduled, command.json, console);
  console.say("compiling");
  const auto compiled = steps.compile(*document, request, *scheduled);
  console.say("");
  for (const std::string& note : steps.notes()) console.err << "note: " << note << "\n";
  if (!compiled) return console.report_error(compiled.diagnostics());
  return execute(command, *document, *compiled, console);
}

}  // namespace recut::native
