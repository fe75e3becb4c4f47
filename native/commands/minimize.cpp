// recut minimize: a small graph, with its inputs, on which a command fails as before.
#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "engine/ir/printer.h"
#include "engine/passes/minimize.h"
#include "engine/support/units.h"
#include "native/commands/command.h"
#include "native/commands/examples.h"
#include "native/commands/failure.h"
#include "native/commands/reduced_inputs.h"

namespace recut::native {
namespace {

struct MinimizeArguments {
  GraphArguments graph;
  std::string check;
  std::string out;
  std::string out_tensors;
  std::vector<std::string> tensors;
  std::uint64_t seed = 0;
  std::optional<double> slower_than;
  bool any_failure = false;
  bool json = false;
};

// The search's state: the command, the failure to keep, and the inputs.
class Minimization {
 public:
  Minimization(const MinimizeArguments& arguments, ShellCommand shell, const Console& console)
      : arguments_(arguments), shell_(std::move(shell)), console_(console) {}

  Result<Done> run(const Graph& graph, std::span<const NamedTensor> tensors) {
    if (shell_.wants_tensors()) {
      auto inputs = ReducedInputs::of(graph, tensors, arguments_.seed);
      if (!inputs) return inputs.diagnostics();
      inputs_ = std::move(*inputs);
    }
    auto found = minimize(graph, [&](const Graph& reduced) { return holds(reduced); });
    if (!found) return found.diagnostics();
    found_ = std::move(*found);
    return inputs_ ? simplify_inputs() : Result<Done>(Done{});
  }

  const Graph& graph() const { return found_->graph; }
  std::size_t checks() const { return checks_; }
  const Failure& failure() const { return *failure_; }
  const std::optional<ReducedInputs>& inputs() const { return inputs_; }

 private:
  // The check for the search: the first failure is the one to keep.
  Result<bool> holds(const Graph& reduced) {
    console_.say(fmt::format("check {}: {} nodes", ++checks_, reduced.order().size()));
    const std::string file = inputs_ ? inputs_->file_for(reduced) : std::string();
    const auto run = shell_.run(reduced, file, arguments_.slower_than);
    console_.say("");
    if (!run) return run.diagnostics();
    const auto failure = failure_of(*run, arguments_.slower_than);
    if (!failure) return true;
    if (!failure_) failure_ = failure;
    return !arguments_.any_failure && !is_same(*failure_, *failure);
  }

  Result<Done> simplify_inputs() {
    using Simpler = ReducedInputs::Simpler;
    for (const NodeId id : graph().order()) {
      if (!graph().op(id).is(kInput)) continue;
      for (const Simpler how : {Simpler::zeros, Simpler::ones, Simpler::whole}) {
        const ReducedInputs before = *inputs_;
        if (!inputs_->simplify(std::string(graph().node_name(id)), how)) continue;
        const auto passes = holds(graph());
        if (!passes) return passes.diagnostics();
        if (!*passes) break;
        inputs_ = before;
      }
    }
    return Done{};
  }

  const MinimizeArguments& arguments_;
  const ShellCommand shell_;
  const Console& console_;
  std::optional<ReducedInputs> inputs_;  // none: the command doesn't read them
  std::optional<Failure> failure_;
  std::optional<Minimized> found_;
  std::size_t checks_ = 0;
};

std::string tensors_path(const MinimizeArguments& arguments) {
  if (!arguments.out_tensors.empty()) return arguments.out_tensors;
  return std::filesystem::path(arguments.out).replace_extension(".safetensors").string();
}

std::string report(const MinimizeArguments& arguments, const Graph& graph,
                   const Minimization& done) {
  const auto before = static_cast<std::int64_t>(graph.order().size());
  const auto after = static_cast<std::int64_t>(done.graph().order().size());
  const auto checks = static_cast<std::int64_t>(done.checks());
  if (arguments.json) {
    nlohmann::ordered_json json{{"nodes_before", before},
                                {"nodes", after},
                                {"checks", checks},
                                {"failure", done.failure().text()}};
    if (done.inputs()) json["tensors"] = tensors_path(arguments);
    return json.dump(2) + "\n";
  }
  return fmt::format("{} nodes became {}, by {} checks: {}{}\nfailure{}: {}\n",
                     format_count(before), format_count(after), format_count(checks), arguments.out,
                     done.inputs() ? ", " + tensors_path(arguments) : "",
                     arguments.any_failure ? " of the whole graph" : "", done.failure().text());
}

int minimize_file(const MinimizeArguments& arguments, const Console& console) {
  const auto document = arguments.graph.open(console);
  if (!document) return console.report_error(document.diagnostics());
  auto shell = ShellCommand::parse(arguments.check);
  if (!shell) return console.report_error(shell.diagnostics());
  const auto tensors = read_tensors(arguments.tensors, document->file);
  if (!tensors) return console.report_error(tensors.diagnostics());
  if (!shell->wants_tensors() && !(arguments.tensors.empty() && arguments.out_tensors.empty()))
    return console.report_error(
        {error("--tensors and --out-tensors: the command has no {tensors}, where the file of "
               "inputs goes")});
  Minimization done(arguments, std::move(*shell), console);
  if (const auto ran = done.run(document->graph(), (*tensors)->tensors); !ran)
    return console.report_error(ran.diagnostics());
  if (done.inputs() && !done.inputs()->note().empty())
    console.err << "note: " << done.inputs()->note() << "\n";
  if (const auto written = write_file(arguments.out, print(done.graph())); !written)
    return console.report_error(written.diagnostics());
  if (done.inputs())
    if (const auto written =
            write_file(tensors_path(arguments), done.inputs()->file_for(done.graph()));
        !written)
      return console.report_error(written.diagnostics());
  console.out << report(arguments, document->graph(), done);
  return kDone;
}

}  // namespace

void add_minimize(CLI::App& app, Action& chosen) {
  auto arguments = std::make_shared<MinimizeArguments>();
  CLI::App& command = *app.add_subcommand(
      "minimize", "Reduce a graph to a small one that makes a command fail in the same way");
  arguments->graph.no_passes = true;
  arguments->graph.add_to(command);
  command
      .add_option("--check", arguments->check,
                  "Shell command that fails on the graph: by an exit code other than 0, or by a "
                  "signal. {} stands for a file with the graph in text form, {tensors} for one of "
                  "its inputs")
      ->required()
      ->type_name("'CMD {}'");
  command.add_option("--out", arguments->out, "Write the resulting graph in text form")
      ->required()
      ->type_name("FILE");
  command
      .add_option("--out-tensors", arguments->out_tensors,
                  "Write the resulting graph's inputs, with {tensors} in the command (default: "
                  "beside --out, with the ending .safetensors)")
      ->type_name("FILE");
  command
      .add_option("--tensors", arguments->tensors,
                  "Values of inputs (safetensors, in.<name>). Missing ones are drawn")
      ->type_name("FILE");
  command.add_option("--seed", arguments->seed, "Seed of drawn inputs (default: 0)")
      ->type_name("N");
  command
      .add_option("--slower-than", arguments->slower_than,
                  "Also take a run for failed that takes longer than this, and end it (default: "
                  "runs may take any time)")
      ->type_name("SECONDS")
      ->check(CLI::PositiveNumber);
  command.add_flag("--any-failure", arguments->any_failure,
                   "Follow any failure (default: the whole graph's exit code or signal, message "
                   "and, to a tenth, its error)");
  command.add_flag("--json", arguments->json, "Print one JSON value instead of sentences");
  command.footer(footer_with_examples(
      "The resulting graph is valid and fails as the whole one did. Without any one of its "
      "outputs, calls and unread inputs, or with a dimension half as long, it doesn't.\nCalls that "
      "became constants keep their values in {tensors}. Inputs become zeros, ones or whole numbers "
      "where "
      "the failure stays.",
      {"minimize samples/mlp.recut --out build/small.recut --check '! grep -q relu {}'",
       "minimize samples/recompute.recut --out build/small.recut --check '! grep -q mm {}'"}));
  command.callback([arguments, &chosen] {
    chosen = [arguments](const Console& console) { return minimize_file(*arguments, console); };
  });
}

}  // namespace recut::native
