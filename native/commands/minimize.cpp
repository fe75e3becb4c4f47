// recut minimize: a small graph that still makes a command fail.
#include <fmt/core.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "engine/ir/printer.h"
#include "engine/passes/minimize.h"
#include "engine/support/units.h"
#include "native/commands/command.h"
#include "native/commands/examples.h"
#include "native/commands/shell_check.h"

namespace recut::native {
namespace {

struct MinimizeArguments {
  GraphArguments graph;
  std::string check;
  std::string out;
  bool json = false;
};

int minimize_file(const MinimizeArguments& arguments, const Console& console) {
  const auto document = arguments.graph.open(console);
  if (!document) return console.report_error(document.diagnostics());
  const auto check = shell_check(arguments.check);
  if (!check) return console.report_error(check.diagnostics());
  std::size_t checks = 0;
  const auto found = minimize(document->graph(), [&](const Graph& graph) {
    console.say(fmt::format("check {}: {} nodes", ++checks, graph.order().size()));
    auto good = (*check)(graph);
    console.say("");
    return good;
  });
  if (!found) return console.report_error(found.diagnostics());
  const auto written = write_file(arguments.out, print(found->graph));
  if (!written) return console.report_error(written.diagnostics());
  const auto before = static_cast<std::int64_t>(document->graph().order().size());
  const auto after = static_cast<std::int64_t>(found->graph.order().size());
  if (arguments.json)
    console.out << nlohmann::ordered_json{{"nodes_before", before},
                                          {"nodes", after},
                                          {"checks", found->checks}}
                       .dump(2)
                << "\n";
  else
    console.out << fmt::format(
        "{} nodes became {}, by {} checks: {}\n", format_count(before), format_count(after),
        format_count(static_cast<std::int64_t>(found->checks)), arguments.out);
  return kDone;
}

}  // namespace

void add_minimize(CLI::App& app, Action& chosen) {
  auto arguments = std::make_shared<MinimizeArguments>();
  CLI::App& command = *app.add_subcommand(
      "minimize", "Reduce a graph to a small one that still makes a command fail");
  arguments->graph.no_passes = true;
  arguments->graph.add_to(command);
  command
      .add_option("--check", arguments->check,
                  "Shell command with an exit code other than 0 on the graph. {} stands for a file "
                  "with the graph in text form")
      ->required()
      ->type_name("'CMD {}'");
  command.add_option("--out", arguments->out, "Write the resulting graph in text form")
      ->required()
      ->type_name("FILE");
  command.add_flag("--json", arguments->json, "Print one JSON value instead of a sentence");
  command.footer(footer_with_examples(
      "The resulting graph is valid and still fails. Without any one of its outputs, calls and "
      "unread inputs it doesn't.\nA command ended by a signal is an error: write 'CMD {} || exit "
      "1' if it may crash.",
      {"minimize samples/mlp.recut --out build/small.recut --check '! grep -q relu {}'",
       "minimize samples/recompute.recut --out build/small.recut --check '! grep -q mm {}'"}));
  command.callback([arguments, &chosen] {
    chosen = [arguments](const Console& console) { return minimize_file(*arguments, console); };
  });
}

}  // namespace recut::native
