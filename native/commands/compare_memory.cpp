// recut compare-memory: a measured step, as a memory snapshot has it, beside a planned one.
#include <memory>
#include <optional>

#include "engine/input/bytes.h"
#include "engine/workspace/memory_comparison.h"
#include "gui/pictures/memory_overlay.h"
#include "native/commands/command.h"
#include "native/commands/examples.h"
#include "native/commands/picture_options.h"
#include "native/commands/plan_arguments.h"

namespace recut::native {
namespace {

struct CompareMemoryCommand {
  GraphArguments graph;
  PlanArguments plan;
  std::string snapshot;
  std::optional<std::size_t> gpu;
  std::optional<std::size_t> step;
  std::string svg;
  PictureArguments picture;
  bool json = false;
};

int show_comparison(const CompareMemoryCommand& command, const MemorySnapshot& snapshot,
                    const PlannedMemory& planned, const Console& console) {
  const auto comparison =
      compare_memory(snapshot, command.snapshot, planned, {command.gpu, command.step});
  if (!comparison) return console.report_error(comparison.diagnostics());
  if (!command.svg.empty()) {
    const auto written =
        write_file(command.svg, gui::memory_overlay_svg(*comparison, command.picture.look()));
    if (!written) return console.report_error(written.diagnostics());
  }
  console.out << (command.json ? memory_comparison_json(*comparison)
                               : highlighted(console, memory_comparison_text(*comparison)));
  return kDone;
}

int compare_memory_command(const CompareMemoryCommand& command, const Console& console) {
  const auto bytes = read_file(command.snapshot);
  if (!bytes) return console.report_error(bytes.diagnostics());
  const auto snapshot = read_memory_snapshot(*bytes, command.snapshot);
  if (!snapshot) return console.report_error(snapshot.diagnostics());
  auto document = command.graph.open_joint(console);
  if (!document) return console.report_error(document.diagnostics());
  if (!command.plan.asked()) {
    const auto program = replay_file_program(*document);
    if (!program) return console.report_error(program.diagnostics());
    return show_comparison(command, *snapshot, program_memory(*document, *program), console);
  }
  if (auto done = add_library_workspaces(*document, command.plan.device); !done)
    return console.report_error(done.diagnostics());
  const auto planned = command.plan.plan(*document, console);
  if (!planned) return console.report_error(planned.diagnostics());
  if (!planned->report.holds()) return refuse(planned->report, command.json, console);
  return show_comparison(command, *snapshot, planned_memory(*document, *planned), console);
}

}  // namespace

void add_compare_memory(CLI::App& app, Action& chosen) {
  auto arguments = std::make_shared<CompareMemoryCommand>();
  CLI::App& command = *app.add_subcommand(
      "compare-memory", "Compare a plan's memory with a memory snapshot of PyTorch");
  arguments->graph.add_to(command);
  command
      .add_option("SNAPSHOT", arguments->snapshot,
                  "Snapshot to compare with: a file of torch.cuda.memory._dump_snapshot, gzipped "
                  "or not. It is read as plain data, and nothing in it is run")
      ->required()
      ->type_name("");
  arguments->plan.add_to(command);
  command
      .add_option("--gpu", arguments->gpu,
                  "Device of the snapshot, by its number (default: the one with the most events)")
      ->type_name("N");
  command
      .add_option("--step", arguments->step,
                  "Training step of the trace, from 1 (default: the one whose allocations are most "
                  "like the plan's). Steps end at Optimizer.step, or where sizes repeat")
      ->type_name("N");
  command
      .add_option("--svg", arguments->svg,
                  "Draw measured over planned memory, on one axis, to this file (SVG)")
      ->type_name("FILE");
  arguments->picture.add_to(command);
  command.add_flag("--json", arguments->json, "Print one JSON value instead of the tables");
  command.footer(footer_with_examples(
      "Record the snapshot with torch.cuda.memory._record_memory_history() before the step and "
      "torch.cuda.memory._dump_snapshot(FILE) after it.\n"
      "Without plan options, the step is planned as eager mode runs it: in program order, nothing "
      "recomputed. The snapshot's blocks and the plan's are aligned by their order and sizes; "
      "bytes are compared above those before the step.",
      {"compare-memory samples/mlp.recut samples/snapshots/mlp.pickle",
       "compare-memory samples/mlp.recut samples/snapshots/mlp.pickle --strategy default --svg "
       "build/measured.svg"}));
  command.callback([arguments, &chosen] {
    arguments->graph.device = arguments->plan.device;
    chosen = [arguments](const Console& console) {
      return compare_memory_command(*arguments, console);
    };
  });
}

}  // namespace recut::native
