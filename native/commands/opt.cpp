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

// Of passes that are made of rules: how often each was tried, matched, and what that took.
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

// What is wrong with rules, where the graph shows it.
std::string complaints(const PipelineReport& report) {
  std::string text;
  for (const PassReport& pass : report.passes) {
    for (const RuleStatistics& rule : pass.rules.statistics)
      if (rule.untyped > 0)
        text += fmt::format("{}: {}: {} matches given up, the replacement does not fit: {}\n",
                            pass.name, rule.rule, rule.untyped, rule.untyped_words);
    if (!pass.rules.at_rest)
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
  console.out << report_text(document->passes) << complaints(document->passes);
  if (arguments.verbose) console.out << statistics_text(document->passes);
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
  command.add_flag("--verbose,-v", arguments->verbose,
                   "Every rule's statistics and every change, one line each");
  std::string footer = "Passes, in their usual order:\n";
  for (const Pass& pass : all_passes())
    footer +=
        fmt::format("  {:<20}{}{}\n", pass.name, pass.prose,
                    pass.by_default ? "" : " Not bit by bit: it runs only where it is named.");
  command.footer(footer);
  command.callback([arguments, &chosen] {
    chosen = [arguments](const Console& console) { return opt(*arguments, console); };
  });
}

}  // namespace recut::native
