// recut opt: runs passes and reports the changes of each.
#include <fmt/format.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "engine/eval/inputs.h"
#include "engine/ir/printer.h"
#include "engine/passes/freezing.h"
#include "engine/passes/pass_table.h"
#include "engine/support/table.h"
#include "engine/support/units.h"
#include "native/commands/command.h"
#include "native/commands/examples.h"

// Passes run while the document is opened; the command then prints their report. --freeze also
// computes values, after the passes and outside of their report:
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
  std::string tensors;
  std::string out_tensors;
};

std::string hits_text(const PassReport& pass) {
  std::string text;
  for (const auto& [rule, hits] : rule_hits(pass.changes))
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", hits, rule);
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

std::string report_json(const PipelineReport& report) {
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
    if (pass.rules.rules != nullptr) passes.back()["rule_statistics"] = statistics_json(pass);
  }
  return Json{{"passes", passes}}.dump(2) + "\n";
}

// The file's values for the graph's inputs, as far as it has any.
Result<Inputs> given_values(const Graph& graph, std::span<const NamedTensor> tensors) {
  std::map<std::string_view, const NamedTensor*> by_name;
  for (const NamedTensor& tensor : tensors) by_name.emplace(tensor.name, &tensor);
  Inputs values;
  for (const NodeId id : graph.order()) {
    const auto it = by_name.find("in." + graph.node_name(id));
    if (!graph.op(id).is(kInput) || it == by_name.end()) continue;
    const TensorType& type = graph.type(id);
    if (it->second->dtype != type.dtype || it->second->shape != type.shape)
      return error(fmt::format("tensor '{}' is of another dtype or shape than the graph's",
                               it->second->name));
    values.emplace(id, tensor_from_bytes(type, it->second->bytes));
  }
  return values;
}

// Writes the values that the frozen graph holds, and the file's values of its inputs and outputs.
Result<Done> write_values(const Frozen& frozen, std::span<const NamedTensor> given,
                          const std::string& path) {
  std::vector<std::string> storage;
  std::map<std::string, NamedTensor> tensors;
  storage.reserve(frozen.values.size());
  for (const auto& [id, tensor] : frozen.values) {
    const std::string name = "in." + frozen.graph.node_name(id);
    const std::string& bytes = storage.emplace_back(bytes_of(tensor));
    tensors.emplace(name, NamedTensor{name, tensor.dtype, tensor.shape, bytes});
  }
  for (const NamedTensor& tensor : given)
    if (tensor.name.starts_with("out.") ||
        (tensor.name.starts_with("in.") && frozen.graph.find(tensor.name.substr(3)).valid()))
      tensors.emplace(tensor.name, tensor);
  std::vector<NamedTensor> sorted;
  for (const auto& [name, tensor] : tensors) sorted.push_back(tensor);
  return write_file(path, write_safetensors(sorted));
}

// The document's graph with everything computed that depends on parameters and constants alone.
Result<Graph> frozen_graph(const OptArguments& arguments, const Document& document) {
  const Graph& graph = document.graph();
  const auto tensors = read_tensors({arguments.tensors}, document.file);
  if (!tensors) return tensors.diagnostics();
  const auto values = given_values(graph, (*tensors)->tensors);
  if (!values) return values.diagnostics();
  auto frozen = fold_frozen(graph, *values);
  if (!frozen) return frozen.diagnostics();
  if (!arguments.out_tensors.empty())
    if (auto written = write_values(*frozen, (*tensors)->tensors, arguments.out_tensors); !written)
      return written.diagnostics();
  return std::move(frozen->graph);
}

int opt(const OptArguments& arguments, const Console& console) {
  if (!arguments.graph.freeze && !(arguments.tensors.empty() && arguments.out_tensors.empty()))
    return console.report_error({{"--tensors and --out-tensors go with --freeze", "", 0, 0}});
  const auto document = arguments.graph.open(console);
  if (!document) return console.report_error(document.diagnostics());
  Graph graph = document->graph();
  if (arguments.graph.freeze) {
    auto frozen = frozen_graph(arguments, *document);
    if (!frozen) return console.report_error(frozen.diagnostics());
    graph = std::move(*frozen);
  }
  if (!arguments.out.empty()) {
    const auto written = write_file(arguments.out, print(graph));
    if (!written) return console.report_error(written.diagnostics());
  }
  if (arguments.json) {
    console.out << report_json(document->passes);
    return kDone;
  }
  console.out << report_text(document->passes) << failure_text(document->passes);
  if (arguments.verbose) console.out << statistics_text(document->passes);
  if (arguments.verbose)
    for (const PassReport& pass : document->passes.passes)
      for (const Change& change : pass.changes)
        console.out << fmt::format("{}: {}: {}\n", pass.name, change.rule,
                                   change.description.text());
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
  arguments->graph.runs_all_passes = true;
  arguments->graph.add_to(command);
  arguments->graph.add_device_to(command);
  command.add_option("--out", arguments->out, "Write the resulting graph in text form")
      ->type_name("FILE");
  command.add_flag(
      "--freeze", arguments->graph.freeze,
      "Freeze for inference: fold parameters into each other, and precompute values that "
      "depend on parameters and constants alone");
  command
      .add_option("--tensors", arguments->tensors,
                  "Values of parameters and constants for --freeze (safetensors, in.<name>)")
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
