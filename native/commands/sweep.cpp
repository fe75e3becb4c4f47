// recut sweep: the whole trade-off of a graph: peak against step time.
#include <fmt/core.h>

#include <atomic>
#include <csignal>
#include <memory>

#include "engine/support/units.h"
#include "engine/workspace/curve.h"
#include "engine/workspace/curve_export.h"
#include "engine/workspace/sweep_document.h"
#include "gui/pictures/trade_off_curve.h"
#include "native/commands/command.h"
#include "native/commands/examples.h"
#include "native/commands/picture_options.h"
#include "native/commands/plan_arguments.h"

namespace recut::native {
namespace {

struct SweepCommand {
  GraphArguments graph;
  CurveRequest request;
  std::string csv;
  std::string svg;
  PictureArguments picture;
  bool json = false;
};

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may set it");

void on_interrupt(int) {
  interrupted = true;
  std::signal(SIGINT, SIG_DFL);
}

// Ctrl-C as a request to stop: long work ends early with its best result. While this lives, the
// first Ctrl-C sets the flag; the second ends the program as usual. One at a time.
class Interrupt {
 public:
  Interrupt() {
    interrupted = false;
    before_ = std::signal(SIGINT, on_interrupt);
  }
  ~Interrupt() { std::signal(SIGINT, before_); }
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  const std::atomic<bool>* flag() const { return &interrupted; }

 private:
  void (*before_)(int);
};

std::string progress_text(const CurveReport& report) {
  return fmt::format("planning: {} points, from {} to {}", report.points.size(),
                     format_bytes(report.points.front().peak_bytes),
                     format_bytes(report.points.back().peak_bytes));
}

Result<Done> write_outputs(const SweepCommand& command, const CurveReport& report) {
  if (!command.csv.empty()) {
    auto written = write_file(command.csv, curve_csv(report));
    if (!written) return written;
  }
  if (command.svg.empty()) return Done{};
  return write_file(command.svg, gui::trade_off_svg(report, command.picture.look()));
}

int sweep(const SweepCommand& command, const Console& console) {
  auto document = command.graph.open(console);
  if (!document) return console.report_error(document.diagnostics());
  if (auto done = add_library_workspaces(*document, command.request.device); !done)
    return console.report_error(done.diagnostics());
  const Interrupt interrupt;
  CurveRequest request = command.request;
  request.cancel = interrupt.flag();
  if (console.progress)
    request.on_curve = [&](const Curve& curve) { console.say(progress_text(curve.report)); };
  console.say("planning");
  const auto curve = sweep_document(*document, request);
  console.say("");
  if (!curve) return console.report_error(curve.diagnostics());
  const auto written = write_outputs(command, curve->report);
  if (!written) return console.report_error(written.diagnostics());
  console.out << (command.json ? curve_json(curve->report)
                               : highlighted(console, curve_text(curve->report)));
  return kDone;
}

}  // namespace

void add_sweep(CLI::App& app, Action& chosen) {
  auto arguments = std::make_shared<SweepCommand>();
  CLI::App& command =
      *app.add_subcommand("sweep", "Plan many budgets: the trade-off of peak memory and step time");
  arguments->graph.add_to(command);
  arguments->graph.add_mesh_to(command);
  arguments->graph.add_freeze_to(command);
  command
      .add_option("--points", arguments->request.points,
                  "Number of budgets, evenly spread from the least peak to the peak without "
                  "recomputation (default: 50)")
      ->check(CLI::Range(std::size_t{2}, kMaxCurvePoints))
      ->type_name("N");
  command
      .add_option("--csv", arguments->csv,
                  "Write the points as CSV: Recut's by rising budget, then PyTorch's")
      ->type_name("FILE");
  command
      .add_option("--svg", arguments->svg, "Draw peak memory against step time to this file (SVG)")
      ->type_name("FILE");
  arguments->picture.add_to(command);
  command.add_flag("--json", arguments->json, "Print one JSON value instead of the tables");
  command
      .add_option("--effort", arguments->request.effort,
                  "Search effort, as a multiple of the usual one (default: 1). The same effort "
                  "gives the same curve on every machine")
      ->type_name("FACTOR")
      ->check(CLI::PositiveNumber);
  command
      .add_option("--search-seed", arguments->request.seed,
                  "Seed of the search's random choices (default: 1)")
      ->type_name("N");
  add_cost_model(command, arguments->request.device, arguments->request.cost_model);
  add_override_options(command, arguments->request.overrides);
  add_torch_options(command, arguments->request.torch);
  command.footer(footer_with_examples(
      "Column solve_ms is an equal share of the whole curve's time, or in PyTorch's rows the time "
      "of that one plan. PyTorch's rows have their own peak as budget_bytes.\nCtrl-C ends the "
      "search and keeps the points found so far.",
      {"sweep samples/joint/gpt2.json.gz --points 10 --csv build/curve.csv --svg build/curve.svg",
       "sweep samples/joint/tiny_lm.json.gz --model fused --device h100"}));
  command.callback([arguments, &chosen] {
    chosen = [arguments](const Console& console) { return sweep(*arguments, console); };
  });
}

}  // namespace recut::native
