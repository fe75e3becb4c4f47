// recut test-rules: tests every rule of a file alone: both sides on the same values.
#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "engine/passes/rule_pass.h"
#include "engine/rewrite/rule_tester.h"
#include "engine/support/table.h"
#include "native/commands/command.h"
#include "native/commands/examples.h"

namespace recut::native {
namespace {

using Json = nlohmann::ordered_json;

struct TestRulesArguments {
  std::vector<std::string> files;
  RuleTestOptions test;
  bool json = false;
  bool verbose = false;
};

struct TestedFile {
  std::shared_ptr<const RuleSet> rules;
  std::vector<RuleTest> tests;
};

// The named files, or all files of Recut's own rules.
Result<std::vector<TestedFile>> read_all(const std::vector<std::string>& files) {
  std::vector<TestedFile> all;
  Diagnostics faults;
  for (const std::string& path : files) {
    auto rules = read_rules(path);
    if (rules)
      all.push_back({std::move(*rules), {}});
    else
      faults.insert(faults.end(), rules.diagnostics().begin(), rules.diagnostics().end());
  }
  if (!faults.empty()) return faults;
  if (files.empty())
    for (const BuiltinRules& file : builtin_rule_files())
      all.push_back({builtin_rules(file.name), {}});
  return all;
}

std::string verdict(const RuleTest& test, const RuleRow& row) {
  if (!test.failure.empty()) return "FAILED";
  if (!test.untested.empty()) return "untested: " + test.untested;
  if (!row.inexact) return "bit-exact";
  const std::string defined = row.defined.empty() ? "" : "; defined: " + row.defined;
  return fmt::format("within {:.1g} of what it allows: {}{}", test.worst, row.inexact->reason,
                     defined);
}

void print_file(const TestedFile& file, const TestRulesArguments& arguments,
                const Console& console) {
  Table table;
  table.column("rule");
  table.column("forms", Table::Align::right);
  table.column("samples", Table::Align::right);
  table.column("comparisons", Table::Align::right);
  table.column("verdict");
  for (std::size_t i = 0; i < file.tests.size(); ++i) {
    const RuleTest& test = file.tests[i];
    table.row({test.rule, fmt::format("{} of {}", test.forms_fired, test.forms),
               std::to_string(test.samples), std::to_string(test.comparisons),
               verdict(test, file.rules->rows[i])});
  }
  console.out << fmt::format("{}\n{}", file.rules->file, table.format(0));
  for (std::size_t i = 0; i < file.tests.size(); ++i) {
    const RuleTest& test = file.tests[i];
    if (arguments.verbose)
      for (const std::string& line : test.tried)
        console.out << fmt::format("{}: {}\n", test.rule, line);
    if (!test.failure.empty())
      console.out << fmt::format("{}:{}: rule \"{}\" fails {}\n", file.rules->file,
                                 file.rules->rows[i].line, test.rule, test.failure);
  }
}

Json json_of(const TestedFile& file) {
  Json rows = Json::array();
  for (const RuleTest& test : file.tests)
    rows.push_back({{"rule", test.rule},
                    {"forms", test.forms},
                    {"forms_fired", test.forms_fired},
                    {"samples", test.samples},
                    {"comparisons", test.comparisons},
                    {"worst", test.worst},
                    {"tried", test.tried},
                    {"failure", test.failure},
                    {"untested", test.untested}});
  return {{"file", file.rules->file}, {"rules", rows}};
}

int test_all(const TestRulesArguments& arguments, const Console& console) {
  auto files = read_all(arguments.files);
  if (!files) return console.report_error(files.diagnostics());
  bool good = true;
  Json json = Json::array();
  for (TestedFile& file : *files) {
    for (std::size_t row = 0; row < file.rules->rows.size(); ++row) {
      console.say("testing " + file.rules->rows[row].name);
      file.tests.push_back(test_rule(*file.rules, row, arguments.test));
      good = good && file.tests.back().failure.empty();
    }
    console.say("");
    if (arguments.json)
      json.push_back(json_of(file));
    else
      print_file(file, arguments, console);
  }
  if (arguments.json) console.out << Json{{"files", json}}.dump(2) << "\n";
  return good ? kDone : kCheckFailed;
}

}  // namespace

void add_test_rules(CLI::App& app, Action& chosen) {
  auto arguments = std::make_shared<TestRulesArguments>();
  CLI::App& command = *app.add_subcommand(
      "test-rules", "Test every rule by itself: both sides on random and on edge values");
  command.add_option("FILE", arguments->files,
                     "Files of rules (engine/rewrite/README.md) (default: Recut's own)");
  command
      .add_option("--seed", arguments->test.seed,
                  "Seed of the tested graphs and values (default: 1)")
      ->type_name("N");
  command
      .add_option("--samples", arguments->test.samples,
                  "Number of graphs for each rule (default: 24)")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  command.add_flag("--json", arguments->json, "Print one JSON value instead of the table");
  command.add_flag("--verbose,-v", arguments->verbose, "Print every tested graph");
  command.footer(
      footer_with_examples("Exit code 1 if a rule fails.",
                           {"test-rules samples/rules/transposes.rules",
                            "test-rules samples/rules/transposes.rules --samples 50 --seed 2 -v"}));
  command.callback([arguments, &chosen] {
    chosen = [arguments](const Console& console) { return test_all(*arguments, console); };
  });
}

}  // namespace recut::native
