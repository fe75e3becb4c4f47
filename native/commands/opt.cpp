// recut opt: runs passes and reports the changes of each.
#include <fmt/format.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>

#include "engine/ir/printer.h"
#include "engine/passes/freezing.h"
#include "engine/passes/pass_table.h"
#include "engine/support/table.h"
#include "engine/support/units.h"
#include "engine/workspace/json_text.h"
#include "native/commands/command.h"
#include "native/commands/examples.h"

// Passes run while the document is opened; the command then prints their report. --freeze also
// computes values, after the passes:
//   matmul(x, add(p, q)), p and q in --tensors  ⇒  matmul(x, c), c in --out-tensors
// Values belong to inputs by name (in.NAME), and must have their dtype and shape. --out-tensors
// writes tensors sorted by name, so that equal values give equal files. Rules that don't fit or
// don't converge are reported, but don't fail the command.

namespace recut::native {
namespace {

using Json = nlohmann::ordered_json;

struct OptArguments {
  GraphArguments graph;
  std::string out;
  bool json = false;
  bool verbose = false;
  std::string out_tensors;
};

std::string hits_text(const PassReport& pass) {
  std::string text;
  for (const auto& [rule, hits] : rule_hits(pass.changes))
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", hits, rule);
  for (const RegionReport& region : pass.regions)
    for (const auto& [rule, hits] : rule_hits(region.changes))
      text += fmt::format("{}{} {} in {}", text.empty() ? "" : ", ", hits, rule, region.region);
  return text;
}

std::string report_text(const PipelineReport& report) {
  Table table;
  table.column("pass");
  table.column("time", Table::Align::right);
  table.column("nodes", Table::Align::right);
  table.column("change", Table::Align::right);
  table.column("what it did");
  for (const PassReport& pass : report.passes) {
    const auto before = static_cast<std::int64_t>(pass.nodes_before);
    const auto after = static_cast<std::int64_t>(pass.nodes_after);
    table.row({pass.name, format_micros(pass.milliseconds * 1000), format_count(after),
               before == after ? "" : fmt::format("{:+}", after - before),
               pass.skipped   ? "skipped"
               : pass.changed ? hits_text(pass)
                              : "nothing"});
  }
  return table.format(0);
}

// The numbers of tries and matches of each rule of rule passes, and its time.
std::string statistics_text(const PipelineReport& report) {
  Table table;
  table.column("pass");
  table.column("rule");
  table.column("tries", Table::Align::right);
  table.column("hits", Table::Align::right);
  table.column("time", Table::Align::right);
  bool any = false;
  for (const PassReport& pass : report.passes)
    for (const RuleStatistics& rule : pass.rules.statistics) {
      table.row({pass.name, std::string(rule.rule), format_count(rule.tries),
                 format_count(rule.hits), format_micros(rule.milliseconds * 1000)});
      any = true;
    }
  return any ? table.format(0) : "";
}

// Faults of rules that the graph reveals.
std::string failure_text(const PipelineReport& report) {
  std::string text;
  for (const PassReport& pass : report.passes) {
    for (const RuleStatistics& rule : pass.rules.statistics)
      if (rule.untyped > 0)
        text += fmt::format("{}: {}: {} matches given up, the replacement does not fit: {}\n",
                            pass.name, rule.rule, rule.untyped, rule.untyped_reason);
    if (!pass.rules.converged)
      text += fmt::format("{}: stopped: the rules go on matching what they made\n", pass.name);
  }
  return text;
}

std::string changes_text(const PipelineReport& report) {
  std::string text;
  for (const PassReport& pass : report.passes) {
    for (const Change& change : pass.changes)
      text += fmt::format("{}: {}: {}\n", pass.name, change.rule, change.description.text());
    for (const RegionReport& region : pass.regions)
      for (const Change& change : region.changes)
        text += fmt::format("{}: {}: in {}: {}\n", pass.name, change.rule, region.region,
                            change.description.text());
  }
  return text;
}

Json statistics_json(const PassReport& pass) {
  Json rows = Json::array();
  for (const RuleStatistics& rule : pass.rules.statistics)
    rows.push_back({{"rule", rule.rule},
                    {"tries", rule.tries},
                    {"hits", rule.hits},
                    {"ms", rule.milliseconds},
                    {"untyped", rule.untyped}});
  return rows;
}

std::string report_json(const Document& document) {
  const PipelineReport& report = document.passes;
  Json passes = Json::array();
  for (const PassReport& pass : report.passes) {
    Json rules = Json::object();
    for (const auto& [rule, hits] : rule_hits(pass.changes)) rules[std::string(rule)] = hits;
    passes.push_back({{"name", pass.name},
                      {"skipped", pass.skipped},
                      {"changed", pass.changed},
                      {"ms", pass.milliseconds},
                      {"nodes_before", pass.nodes_before},
                      {"nodes_after", pass.nodes_after},
                      {"rules", rules}});
    for (const RegionReport& region : pass.regions)
      for (const auto& [rule, hits] : rule_hits(region.changes))
        passes.back()["regions"][region.region][std::string(rule)] = hits;
    if (pass.rules.rules != nullptr) passes.back()["rule_statistics"] = statistics_json(pass);
  }
  Json json = {{"passes", passes}};
  if (document.frozen) json["frozen"] = Json::parse(freeze_json(*document.frozen));
  return json_text(json);
}

// Writes the values that the frozen graph holds, and the given ones of its inputs and outputs.
Result<Done> write_values(const Document& document, std::span<const NamedTensor> given,
                          const std::string& path) {
  const Graph& read = document.passes.input;
  const auto is_of_input = [&](const NamedTensor& tensor) {
    const NodeId id = read.find(tensor.name.substr(3));
    return id.valid() && read.op(id).is(kInput) && document.graph().contains(id);
  };
  std::map<std::string_view, NamedTensor> tensors;
  for (const NamedTensor& tensor : given)
    if (tensor.name.starts_with("out.") || (tensor.name.starts_with("in.") && is_of_input(tensor)))
      tensors.emplace(tensor.name, tensor);
  for (const NamedTensor& tensor : document.file.tensors) tensors.emplace(tensor.name, tensor);
  std::vector<NamedTensor> sorted;
  for (const auto& [name, tensor] : tensors) sorted.push_back(tensor);
  return write_file(path, write_safetensors(sorted));
}

int opt(const OptArguments& arguments, const Console& console) {
  if (!arguments.graph.freeze &&
      !(arguments.graph.weights.empty() && arguments.out_tensors.empty()))
    return console.report_error({{"--tensors and --out-tensors go with --freeze", "", 0, 0}});
  const auto document = arguments.graph.open(console);
  if (!document) return console.report_error(document.diagnostics());
  if (!arguments.out.empty()) {
    const auto written = write_file(arguments.out, print(document->graph()));
    if (!written) return console.report_error(written.diagnostics());
  }
  if (!arguments.out_tensors.empty()) {
    const auto given = read_tensors(arguments.graph.weights, GraphFile());
    if (!given) return console.report_error(given.diagnostics());
    const auto written = write_values(*document, (*given)->tensors, arguments.out_tensors);
    if (!written) return console.report_error(written.diagnostics());
  }
  if (arguments.json) {
    console.out << report_json(*document);
    return kDone;
  }
  console.out << report_text(document->passes) << failure_text(document->passes);
  if (document->frozen) console.out << freeze_text(*document->frozen) << "\n";
  if (document->frozen && arguments.verbose) console.out << freeze_table(*document->frozen);
  if (arguments.verbose) console.out << statistics_text(document->passes);
  if (arguments.verbose) console.out << changes_text(document->passes);
  return kDone;
}

std::string passes_text() {
  std::string text =
      "Stages and their passes in order; [pass] runs with --inexact, (pass) only by name:\n";
  constexpr const char* kForms[] = {" {}", " [{}]", " ({})"};
  for (const StageInfo& stage : all_stages()) {
    std::string passes;
    for (const StagePass& pass : stage.passes)
      passes += fmt::format(fmt::runtime(kForms[static_cast<std::size_t>(pass.runs)]), pass.name);
    text += fmt::format("  {:<12}{}\n             {}\n", stage.name, stage.description, passes);
  }
  text += "Passes:\n";
  for (const auto& table : {all_passes(), freezing_passes()})
    for (const Pass& pass : table)
      text += fmt::format("  {:<28}{}{}\n", pass.name, pass.description,
                          pass.exact ? "" : " Not bit-exact.");
  return text;
}

}  // namespace

void add_opt(CLI::App& app, Action& chosen) {
  auto arguments = std::make_shared<OptArguments>();
  CLI::App& command = *app.add_subcommand("opt", "Run passes and report the changes of each");
  arguments->graph.runs_all_passes = arguments->graph.reports_freezing = true;
  arguments->graph.add_to(command);
  arguments->graph.add_device_to(command);
  command.add_option("--out", arguments->out, "Write the resulting graph in text form")
      ->type_name("FILE");
  command.add_flag(
      "--freeze", arguments->graph.freeze,
      "Freeze for inference: fold weights into each other, and compute values that depend "
      "on weights alone. List the fate of each weight by -v or --json");
  arguments->graph.add_for_inference_to(command);
  command
      .add_option("--tensors", arguments->graph.weights,
                  "Values of parameters and constants for --freeze (safetensors, in.<name>)")
      ->allow_extra_args(false)
      ->type_name("FILE");
  command
      .add_option("--out-tensors", arguments->out_tensors,
                  "Write the values of the frozen graph, and the given ones of its inputs and "
                  "outputs (safetensors; needs --freeze)")
      ->type_name("FILE");
  command.add_flag("--json", arguments->json, "Print one JSON value instead of the table");
  command.add_flag("--verbose,-v", arguments->verbose,
                   "Print every rule's statistics and every change, one a line");
  command.footer(footer_with_examples(
      passes_text(), {"opt samples/recompute.recut -v",
                      "opt samples/joint/gpt2.json.gz --inexact --out build/gpt2.recut"}));
  command.callback([arguments, &chosen] {
    chosen = [arguments](const Console& console) { return opt(*arguments, console); };
  });
}

}  // namespace recut::native
