// recut bisect: finds the pass, and its change, that makes a check fail.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "engine/ir/printer.h"
#include "engine/passes/bisect.h"
#include "engine/passes/pass_runner.h"
#include "engine/workspace/open_document.h"
#include "engine/workspace/rerun.h"
#include "native/commands/command.h"
#include "native/commands/debug_output.h"
#include "native/commands/examples.h"
#include "native/commands/shell_check.h"

// The check is a user's command (shell_check.h) or a comparison of values. bisect_passes searches
// the passes, then the changes of the guilty pass, by halves: about log2(passes) + log2(changes)
// checks. The verdict names the pass, the rule and the node. Like LLVM's -opt-bisect-limit, but it
// also bisects within a pass.

namespace recut::native {
namespace {

using Json = nlohmann::ordered_json;
using Verdict = Bisection::Verdict;

struct BisectArguments {
  GraphArguments graph;
  std::string tensors;
  std::string seed;
  std::string check;
  bool json = false;
  DebugOutput debug;
};

Result<GraphCheck> values_check(const BisectArguments& arguments, const GraphFile& file) {
  const auto tensors = read_tensors({arguments.tensors}, file);
  if (!tensors) return tensors.diagnostics();
  std::optional<std::uint64_t> seed;
  if (!arguments.seed.empty()) seed = std::strtoull(arguments.seed.c_str(), nullptr, 10);
  return same_values_check(file.graph, (*tensors)->tensors, seed);
}

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::all_good:
      return "all_good";
    case Verdict::input_bad:
      return "input_bad";
    case Verdict::guilty_pass:
      return "guilty_pass";
    case Verdict::guilty_change:
      return "guilty_change";
    case Verdict::contract_violation:
      break;
  }
  return "broken_promise";
}

std::string as_json(const Bisection& found) {
  Json json = {{"verdict", name_of(found.verdict)}, {"checks", found.checks}};
  if (!found.pass.empty()) json["pass"] = found.pass;
  if (found.change) {
    json["rule"] = found.change->rule;
    json["node"] = found.node;
    json["change"] = found.change->description.text();
    json["change_number"] = found.change_number;
    json["changes"] = found.changes;
  }
  if (!found.failure.empty()) json["failure"] = found.failure;
  return json.dump(2) + "\n";
}

std::string as_text(const Bisection& found) {
  switch (found.verdict) {
    case Verdict::all_good:
      return fmt::format("The check holds before and after the passes ({} checks).\n",
                         found.checks);
    case Verdict::input_bad:
      return "The check fails before the first pass: no pass is guilty.\n";
    case Verdict::contract_violation:
      return fmt::format("{} is guilty: it {}\n", found.pass, found.failure);
    case Verdict::guilty_pass:
    case Verdict::guilty_change:
      break;
  }
  std::string text =
      fmt::format("{} is guilty: the check holds before it and fails after it.\n", found.pass);
  if (found.change)
    text += fmt::format("Its change {} of {} does it, at node %{}:\n  {}: {}\n",
                        found.change_number, found.changes, found.node, found.change->rule,
                        found.change->description.text());
  else
    text += fmt::format("Its {} changes can't be told apart.\n", found.changes);
  return text + fmt::format("Found by {} checks.\n", found.checks);
}

// Writes the last good graph and the first bad one, for a report of the fault.
Result<Done> dump(const Bisection& found, const std::string& folder) {
  if (folder.empty()) return Done{};
  const std::filesystem::path path(folder);
  for (const auto& [name, graph] :
       {std::pair{"good.recut", &found.good}, {"bad.recut", &found.bad}}) {
    if (!*graph) continue;
    auto written = write_file((path / name).string(), print(**graph));
    if (!written) return written;
  }
  return Done{};
}

// The document with all passes, or as it was read where a pass breaks its contract.
Result<Document> passed_document(const GraphFile& file, const std::string& path,
                                 const ChosenPasses& chosen) {
  OpenOptions options;
  options.passes = chosen.names;
  options.runner = chosen.options;
  auto document = open_document_graph(file, path, options);
  if (document) return document;
  options.passes->clear();
  return open_document_graph(file, path, options);
}

// The words of the check. A shell command may name files of this machine, so it stays out.
std::vector<std::string> check_words(const BisectArguments& arguments, DebugRequest& request) {
  if (!arguments.check.empty()) {
    request.notes.emplace_back(
        "check.sh is missing: write the command of --check there, with $1 for the graph's file");
    return {"--check", "sh ./check.sh {}"};
  }
  std::vector<std::string> words = {"--seed", fmt::format("{}", request.seed)};
  if (request.with_data) words.insert(words.end(), {"--tensors", kBundleData});
  return words;
}

void leave_debug(const BisectArguments& arguments, const GraphFile& file,
                 const ChosenPasses& chosen, const Bisection& found, const Console& console) {
  const auto document = passed_document(file, arguments.graph.path, chosen);
  const auto tensors = read_tensors({arguments.tensors}, file);
  if (!document || !tensors) return;
  DebugRequest request;
  request.given = (*tensors)->tensors;
  request.seed = std::strtoull(arguments.seed.c_str(), nullptr, 10);
  request.finding = as_text(found);
  for (const auto& [name, graph] :
       {std::pair{"good.recut", &found.good}, {"bad.recut", &found.bad}})
    if (*graph) request.more.push_back({name, print(**graph)});
  request.with_data = arguments.debug.with_data;
  std::vector<std::string> more = check_words(arguments, request);
  if (!arguments.graph.skip.empty()) more.insert(more.end(), {"--skip", arguments.graph.skip});
  rerun_by_bisect(request, kBundleGraphAsRead, chosen.names, more);
  if (!chosen.options.more.empty())
    request.notes.emplace_back("passes of rules and of a device's figures aren't in the bundle");
  arguments.debug.leave(*document, request, console);
}

int bisect(const BisectArguments& arguments, const Console& console) {
  const bool values = !arguments.tensors.empty() || !arguments.seed.empty();
  if (values != arguments.check.empty())
    return console.report_error(
        {{"expected a check: either --tensors or --seed, or --check", "", 0, 0}});
  const auto file = arguments.graph.read(console);
  if (!file) return console.report_error(file.diagnostics());
  const auto chosen = arguments.graph.chosen_passes(*file);
  if (!chosen) return console.report_error(chosen.diagnostics());
  const RunnerOptions& options = chosen->options;
  const auto passes = find_passes(chosen->names, options.more);
  if (!passes) return console.report_error(passes.diagnostics());
  if (const auto skipped = find_passes(options.skip, options.more); !skipped)
    return console.report_error(skipped.diagnostics());
  const auto check = values ? values_check(arguments, *file) : shell_check(arguments.check);
  if (!check) return console.report_error(check.diagnostics());
  const auto found = bisect_passes(file->graph, *passes, options, [&](const Graph& graph) {
    console.say("checking");
    auto good = (*check)(graph);
    console.say("");
    return good;
  });
  if (!found) return console.report_error(found.diagnostics());
  if (const auto written = dump(*found, arguments.graph.dump); !written)
    return console.report_error(written.diagnostics());
  console.out << (arguments.json ? as_json(*found) : as_text(*found));
  if (found->verdict == Verdict::all_good) return kDone;
  leave_debug(arguments, *file, *chosen, *found, console);
  return kCheckFailed;
}

}  // namespace

void add_bisect(CLI::App& app, Action& chosen) {
  auto arguments = std::make_shared<BisectArguments>();
  CLI::App& command =
      *app.add_subcommand("bisect", "Find the pass, and its change, that makes a check fail");
  arguments->graph.runs_all_passes = true;
  arguments->graph.add_to(command);
  arguments->graph.add_device_to(command);
  command
      .add_option("--tensors", arguments->tensors,
                  "Check the outputs for these inputs (safetensors, in.<name>): they have to be "
                  "the same before and after the passes")
      ->type_name("FILE");
  command
      .add_option("--seed", arguments->seed,
                  "Check the outputs in the same way, and generate inputs that --tensors lacks by "
                  "this seed")
      ->check(CLI::Number)
      ->type_name("N");
  command
      .add_option("--check", arguments->check,
                  "Check by this shell command: it exits with 0 on a good graph. {} stands for a "
                  "file with the graph in text form")
      ->type_name("'CMD {}'");
  arguments->debug.add_to(command);
  command.add_flag("--json", arguments->json, "Print one JSON value instead of sentences");
  command.footer(
      footer_with_examples("--dump writes good.recut and bad.recut: the last graph that passes the "
                           "check and the first that fails it.\nExit codes: 0 the check holds "
                           "throughout; 1 it fails; 2 bad arguments or input.",
                           {"bisect samples/mlp.recut --check 'grep -q permute {}'",
                            "bisect samples/recompute.recut --seed 1"}));
  command.callback([arguments, &chosen] {
    chosen = [arguments](const Console& console) { return bisect(*arguments, console); };
  });
}

}  // namespace recut::native
