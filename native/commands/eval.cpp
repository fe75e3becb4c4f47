// recut eval: interprets a graph, in program order or by a plan, and compares with the file's own
// outputs.
#include <fmt/core.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "engine/input/safetensors.h"
#include "engine/support/table.h"
#include "engine/support/units.h"
#include "engine/workspace/evaluation.h"
#include "engine/workspace/rank_evaluation.h"
#include "engine/workspace/rerun.h"
#include "native/commands/command.h"
#include "native/commands/debug_output.h"
#include "native/commands/examples.h"
#include "native/commands/plan_arguments.h"

namespace recut::native {
namespace {

using Json = nlohmann::ordered_json;

struct EvalArguments {
  GraphArguments graph;
  PlanArguments plan;
  std::vector<std::string> tensors;
  std::string out;
  std::string seed;
  std::int64_t ranks = 0;  // 0: one rank, as the graph stands
  bool check = false;
  bool f64 = false;
  bool json = false;
  DebugOutput debug;
};

// The result of an evaluation, with the peak of the plan that it followed, if any.
struct Evaluated {
  EvaluationReport report;
  std::optional<std::int64_t> planned_peak_bytes;

  bool holds() const {
    return !planned_peak_bytes || *planned_peak_bytes == report.measured_peak_bytes;
  }
};

Json comparison_json(const OutputComparison& output) {
  const Comparison& c = output.comparison;
  Json row = {{"position", output.position},
              {"name", output.name},
              {"gradient", output.gradient},
              {"elements", c.elements},
              {"error", c.error},
              {"bound", c.bound},
              {"ok", output.ok()}};
  if (!output.unchecked.empty())
    row["unchecked"] = output.unchecked;
  else if (!c.problem.empty())
    row["problem"] = c.problem;
  return row;
}

std::string as_json(const Evaluated& evaluated, bool checked) {
  Json outputs = Json::array();
  for (const OutputComparison& output : evaluated.report.outputs)
    outputs.push_back(comparison_json(output));
  Json json = {{"measured_peak_bytes", evaluated.report.measured_peak_bytes}};
  if (evaluated.planned_peak_bytes) json["planned_peak_bytes"] = *evaluated.planned_peak_bytes;
  json["seconds"] = evaluated.report.seconds;
  if (checked) {
    json["ok"] = evaluated.report.agrees() && evaluated.holds();
    json["max_relative_error"] = evaluated.report.max_relative_error();
    json["outputs"] = outputs;
  }
  return json.dump(2) + "\n";
}

std::string verdict(const OutputComparison& output) {
  if (!output.unchecked.empty()) return "not checked: " + output.unchecked;
  return output.comparison.ok ? "agrees" : "DIFFERS: " + output.comparison.problem;
}

std::string as_text(const Evaluated& evaluated, bool checked) {
  const EvaluationReport& report = evaluated.report;
  std::string text;
  if (checked) {
    Table table;
    table.column("output");
    table.column("");
    table.column("elements", Table::Align::right);
    table.column("‖a−b‖", Table::Align::right);
    table.column("bound", Table::Align::right);
    table.column("");
    for (const OutputComparison& o : report.outputs)
      table.row({o.name, o.gradient ? "gradient" : "result", format_count(o.comparison.elements),
                 fmt::format("{:.2e}", o.comparison.error),
                 fmt::format("{:.2e}", o.comparison.bound), verdict(o)});
    text += table.format(0) + "\n";
  }
  text += fmt::format("measured peak {} ({} bytes)", format_bytes(report.measured_peak_bytes),
                      format_count(report.measured_peak_bytes));
  if (evaluated.planned_peak_bytes)
    text += evaluated.holds() ? ", as planned"
                              : fmt::format(", NOT the planned {} bytes",
                                            format_count(*evaluated.planned_peak_bytes));
  return text + fmt::format(", in {}\n", format_micros(report.seconds * 1e6));
}

std::function<bool(std::size_t, std::size_t)> progress_on(const Console& console) {
  return [&console, last = std::size_t{0}](std::size_t step, std::size_t steps) mutable {
    const std::size_t percent = steps == 0 ? 100 : 100 * step / steps;
    if (percent != last) console.say(fmt::format("interpreting: {} %", percent));
    last = percent;
    return true;
  };
}

Result<Evaluated> evaluate_document(const EvalArguments& arguments, const Document& document,
                                    const Planned* planned, const Console& console) {
  EvaluationRequest request;
  const auto tensors = read_tensors(arguments.tensors, document.file);
  if (!tensors) return tensors.diagnostics();
  request.tensors = (*tensors)->tensors;
  request.progress = progress_on(console);
  if (!arguments.seed.empty()) request.seed = std::strtoull(arguments.seed.c_str(), nullptr, 10);

  if (planned != nullptr) request.plan = &planned->plan;
  request.f64 = arguments.f64;
  auto report = evaluate_graph(document.graph(), request);
  console.say("");
  if (!report) return report.diagnostics();
  Evaluated evaluated{std::move(*report), std::nullopt};
  if (planned != nullptr) evaluated.planned_peak_bytes = planned->report.eager_peak_bytes;
  return evaluated;
}

// The bundle of a failed check. Its command needs the expected outputs, which are data.
void leave_debug(const EvalArguments& arguments, const Document& document,
                 const std::string& finding, const Console& console) {
  DebugRequest request;
  const auto tensors = read_tensors(arguments.tensors, document.file);
  if (tensors) request.given = (*tensors)->tensors;
  request.scheduling.planning = arguments.plan.request();
  request.finding = finding;
  request.seed = std::strtoull(arguments.seed.c_str(), nullptr, 10);
  request.with_data = arguments.debug.with_data;
  std::vector<std::string> more;
  const std::string& model = arguments.plan.model;  // the usual one asks for a plan, too
  if (model == kEvalCommand.cost_model) more.insert(more.end(), {"--model", model});
  if (arguments.f64) more.emplace_back("--f64");
  if (const auto done = rerun_by_eval(request, arguments.plan.device, true, more); !done)
    request.notes.push_back(done.diagnostics().front().message);
  arguments.debug.leave(document, request, console);
}

// All ranks of a graph with collectives.
int eval_ranks(const EvalArguments& arguments, const Console& console) {
  const std::size_t files = arguments.tensors.size();
  if (files > 1 && static_cast<std::int64_t>(files) != arguments.ranks)
    return console.report_error(
        {error(fmt::format("--tensors: {} files, expected one for all ranks or one for each of {}",
                           files, arguments.ranks))});
  if (arguments.check || arguments.f64 || arguments.plan.asked() || !arguments.out.empty())
    return console.report_error(
        {error("--ranks evaluates in program order and compares the ranks: leave out --check, "
               "--f64, --out, --budget and --strategy")});
  const auto document = arguments.graph.open(console);
  if (!document) return console.report_error(document.diagnostics());
  RankEvaluationRequest request;
  request.ranks = arguments.ranks;
  if (!arguments.seed.empty()) request.seed = std::strtoull(arguments.seed.c_str(), nullptr, 10);
  std::vector<std::unique_ptr<TensorFiles>> tensors;
  for (const std::string& file : arguments.tensors) {
    auto read = read_tensors({file}, document->file);
    if (!read) return console.report_error(read.diagnostics());
    tensors.push_back(std::move(*read));
    request.tensors.emplace_back(tensors.back()->tensors);
  }
  const auto evaluation = evaluate_on_ranks(document->graph(), request);
  if (!evaluation) return console.report_error(evaluation.diagnostics());
  console.out << (arguments.json ? rank_evaluation_json(*evaluation)
                                 : rank_evaluation_text(*evaluation));
  return kDone;
}

int eval(const EvalArguments& arguments, const Console& console) {
  if (arguments.ranks > 0) return eval_ranks(arguments, console);
  if (arguments.f64 && arguments.plan.asked())
    return console.report_error(
        {error("--f64 computes the graph in program order: a plan's bytes are those of f32; leave "
               "out --budget and --strategy")});
  const auto document = arguments.graph.open(console);
  if (!document) return console.report_error(document.diagnostics());
  std::optional<Planned> planned;
  if (arguments.plan.asked()) {
    auto plan = arguments.plan.plan(*document, console);
    if (!plan) return console.report_error(plan.diagnostics());
    if (!plan->report.holds()) return refuse(plan->report, arguments.json, console);
    planned = std::move(*plan);
  }
  const auto evaluated =
      evaluate_document(arguments, *document, planned ? &*planned : nullptr, console);
  if (!evaluated) return console.report_error(evaluated.diagnostics());
  if (arguments.check && evaluated->report.outputs.empty())
    return console.report_error(
        {{"nothing to check: no expected outputs (out.0, out.1, …, grad.<name>)",
          arguments.tensors.empty() ? arguments.graph.path : arguments.tensors.front(), 0, 0}});
  if (!arguments.out.empty()) {
    const auto written = write_file(arguments.out, write_safetensors(evaluated->report.tensors));
    if (!written) return console.report_error(written.diagnostics());
  }
  console.out << (arguments.json ? as_json(*evaluated, arguments.check)
                                 : as_text(*evaluated, arguments.check));
  if (evaluated->holds() && (!arguments.check || evaluated->report.agrees())) return kDone;
  leave_debug(arguments, *document, as_text(*evaluated, arguments.check), console);
  return kCheckFailed;
}

}  // namespace

void add_eval(CLI::App& app, Action& chosen) {
  auto arguments = std::make_shared<EvalArguments>();
  CLI::App& command = *app.add_subcommand(
      "eval", "Interpret a graph and compare its outputs with the expected ones");
  arguments->graph.add_to(command);
  arguments->graph.add_freeze_to(command);
  arguments->plan.add_to(command);
  command
      .add_option("--tensors", arguments->tensors,
                  "Values of inputs (in.<name>, or in.0, in.1, … of inputs without a value in the "
                  "file) and "
                  "expected outputs (out.<position>, grad.<name>), as safetensors. May be given "
                  "again; if several files have a name, the first "
                  "file's value is used")
      ->type_name("FILE");
  command.add_flag(
      "--check", arguments->check,
      "Compare every output with the expected one. Exit code 1 if one differs by more than "
      "rounding: in f32, an L2 error above 1e-5 of its norm + 1e-6 sqrt(elements)");
  command.add_flag("--f64", arguments->f64,
                   "Compute f32 values in f64 throughout, as a reference for rounding errors");
  command
      .add_option(
          "--seed", arguments->seed,
          "Seed of missing inputs and of random numbers (default: missing inputs are an error)")
      ->check(CLI::Number)
      ->type_name("N");
  command
      .add_option(
          "--ranks", arguments->ranks,
          "Evaluate on this many ranks, which exchange values in collectives, and compare "
          "their outputs. All collectives have one group; rank r draws missing inputs from seed "
          "+ r; --tensors is of all ranks, or given once for each (default: one rank)")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1024}))
      ->type_name("N");
  command
      .add_option(
          "--out", arguments->out,
          "Write the outputs to this file (safetensors): out.0, out.1, …, results before "
          "gradients, and new values of inputs as in.<name>: give the file first to the next "
          "step's --tensors")
      ->type_name("FILE");
  arguments->debug.add_to(command);
  command.add_flag("--json", arguments->json, "Print one JSON value instead of the table");
  command.footer(footer_with_examples(
      "With --strategy or --budget the graph runs by that plan. The measured peak then has to "
      "equal the planned one.",
      {"eval samples/joint/tiny_mlp.json.gz --tensors samples/joint/tiny_mlp.safetensors --check",
       "eval samples/joint/tiny_conv.json.gz --tensors samples/joint/tiny_conv.safetensors --check "
       "--budget 80%"}));
  command.callback([arguments, &chosen] {
    arguments->graph.weights = arguments->tensors;
    chosen = [arguments](const Console& console) { return eval(*arguments, console); };
  });
}

}  // namespace recut::native
