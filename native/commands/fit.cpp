// recut fit: the largest batch, or sequence, whose plan holds a budget.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <sstream>

#include "engine/support/table.h"
#include "engine/support/units.h"
#include "engine/workspace/fit.h"
#include "native/commands/command.h"
#include "native/commands/examples.h"
#include "native/commands/plan_arguments.h"

// Binds the named symbols to one size and searches for the largest size whose plan holds the
// budget. Each size is a whole opening and planning of the graph, so few sizes are tried: fit_size
// (engine/workspace/fit.h) guesses by the ratio of budget and peak, then bisects. The table shows
// every tried size.

namespace recut::native {
namespace {

struct FitCommand {
  GraphArguments graph;  // its --dim without a size: the symbols to fit
  PlanArguments plan;
  std::int64_t most = 1 << 20;
  bool json = false;
};

// Takes the symbols to fit out of the graph's --dim.
std::vector<std::string> take_open(GraphArguments& graph) {
  std::vector<std::string> open, bound;
  for (std::string& dimension : graph.dimensions)
    (dimension.find('=') == std::string::npos ? open : bound).push_back(std::move(dimension));
  graph.dimensions = std::move(bound);
  return open;
}

GraphArguments of_size(const GraphArguments& graph, const std::vector<std::string>& symbols,
                       std::int64_t size) {
  GraphArguments sized = graph;
  for (const std::string& symbol : symbols)
    sized.dimensions.push_back(fmt::format("{}={}", symbol, size));
  return sized;
}

std::string as_text(const std::string& title, const Fit& fit) {
  Table table;
  for (const char* head : {"size", "peak", "step", "recomputed", "per unit"})
    table.column(head, Table::Align::right);
  table.column("");
  for (const auto& [size, point] : fit.tried) {
    table.row({format_count(size), format_bytes(point.peak_bytes), format_micros(point.step_us),
               format_micros(point.recompute_us),
               format_micros(point.step_us / static_cast<double>(size)),
               size == fit.size ? "the largest that holds"
               : point.holds    ? "holds"
                                : "the least peak is above the budget"});
  }
  return fmt::format("{}\n\n{}", title, table.format());
}

int fit(FitCommand command, const Console& console) {
  const std::vector<std::string> symbols = take_open(command.graph);
  const std::string names = fmt::format("{}", fmt::join(symbols, " = "));
  if (symbols.empty())
    return console.report_error(
        Diagnostics{error("--dim NAME without a size names the symbol to fit")});
  const auto budget = parse_bytes(command.plan.budget.value_or(""));
  if (!budget)
    return console.report_error(Diagnostics{error("--budget takes bytes here, such as 24GiB")});
  const auto file = command.graph.read(console);
  if (!file) return console.report_error(file.diagnostics());
  const auto bound = symbols_to_fit(*file, symbols);
  if (!bound)
    return console.report_error(Diagnostics{error("--dim " + bound.diagnostics().front().message)});

  FitRequest request;
  request.max_size = command.most;
  if (const auto bounded = bound_by(*bound, request); !bounded)
    return console.report_error(
        Diagnostics{error("--most " + bounded.diagnostics().front().message)});
  request.planning = command.plan.request();
  request.progress = [&](std::int64_t size) {
    console.say(fmt::format("planning {} = {}", names, size));
  };
  std::string note;
  request.open = [&](std::int64_t size) {
    std::ostringstream out, err;  // hints were printed once already
    auto document = of_size(command.graph, symbols, size).open(Console{out, err});
    if (document && !document->file.symbols_note.empty()) note = document->file.symbols_note;
    return document;
  };
  const auto found = fit_size(request);
  console.say("");
  if (!found) return console.report_error(found.diagnostics());
  if (!note.empty()) console.err << "note: " << note << "\n";
  if (command.json)
    console.out << fit_json(symbols, *found, *budget);
  else
    console.out << as_text(fmt::format("{} within {}", names, format_bytes(*budget)), *found);
  if (found->size > 0) return kDone;
  console.err << fmt::format("error: no size of {} was found whose plan holds {}\n", names,
                             format_bytes(*budget));
  return kCheckFailed;
}

}  // namespace

void add_fit(CLI::App& app, Action& chosen) {
  auto arguments = std::make_shared<FitCommand>();
  CLI::App& command = *app.add_subcommand(
      "fit", "Find the largest size of a symbol, such as the batch, whose plan holds a budget");
  arguments->graph.add_to(command);
  arguments->plan.add_to(command);
  command.add_option("--most", arguments->most, "Largest size to try (default: 1048576)")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40))
      ->type_name("N");
  command.add_flag("--json", arguments->json, "Print one JSON value instead of the table");
  command.footer(footer_with_examples(
      "--dim NAME without a size names the symbol to fit; give it several times where one size has "
      "several symbols. --dim NAME=N fixes another symbol. The budget is in bytes.\nExit code 1 "
      "where no size holds.",
      {"fit tests/input/graphs/mlp_sym.json.gz --dim s17 --budget 64MiB",
       "fit tests/input/graphs/mlp_sym.json.gz --dim s17 --budget 1GiB --model fused --json"}));
  command.callback([arguments, &chosen] {
    chosen = [arguments](const Console& console) { return fit(*arguments, console); };
  });
}

}  // namespace recut::native
