// recut opt: runs passes and says what each of them did.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "engine/ir/printer.h"
#include "engine/support/table.h"
#include "engine/support/units.h"
#include "native/commands/command.h"

namespace recut::native {
namespace {

using Json = nlohmann::ordered_json;

struct OptArguments {
  GraphArguments graph;
  std::string out;
  bool json = false;
  bool verbose = false;
};

std::string hits_in_words(const PassReport& pass) {
  std::string words;
  for (const auto& [rule, hits] : rule_hits(pass.changes))
    words += fmt::format("{}{} {}", words.empty() ? "" : ", ", hits, rule);
  return words;
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
               : pass.changed ? hits_in_words(pass)
                              : "nothing"});
  }
  return table.format(0);
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
  }
  return Json{{"passes", passes}}.dump(2) + "\n";
}

int opt(const OptArguments& arguments, const Console& console) {
  const auto document = arguments.graph.open(console);
  if (!document) return console.complain(document.diagnostics());
  if (!arguments.out.empty()) {
    const auto written = write_file(arguments.out, print(document->graph()));
    if (!written) return console.complain(written.diagnostics());
  }
  if (arguments.json) {
    console.out << report_json(document->passes);
    return kDone;
  }
  console.out << report_text(document->passes);
  if (arguments.verbose)
    for (const PassReport& pass : document->passes.passes)
      for (const Change& change : pass.changes)
        console.out << fmt::format("{}: {}: {}\n", pass.name, change.rule, change.words);
  return kDone;
}

}  // namespace

void add_opt(CLI::App& app, Action& chosen) {
  auto arguments = std::make_shared<OptArguments>();
  CLI::App& command = *app.add_subcommand("opt", "Run passes and say what each of them did");
  arguments->graph.passes_wanted = true;
  arguments->graph.add_to(command);
  command.add_option("--out", arguments->out, "Write the graph that comes out, in text form")
      ->type_name("FILE");
  command.add_flag("--json", arguments->json, "One JSON value instead of the table");
  command.add_flag("--verbose,-v", arguments->verbose, "Every change, one line each");
  std::string footer = "Passes, in their usual order:\n";
  for (const Pass& pass : all_passes())
    footer += fmt::format("  {:<20}{}\n", pass.name, pass.prose);
  command.footer(footer);
  command.callback([arguments, &chosen] {
    chosen = [arguments](const Console& console) { return opt(*arguments, console); };
  });
}

}  // namespace recut::native
