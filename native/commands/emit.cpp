// recut emit: the kernels of a plan's step as a target's code.
#include <fmt/core.h>

#include <map>
#include <memory>

#include "engine/codegen/llvm/emit.h"
#include "engine/codegen/loop/printer.h"
#include "engine/codegen/lower/lower.h"
#include "engine/partition/fusion/kernel_runs.h"
#include "native/commands/command.h"
#include "native/commands/plan_arguments.h"

namespace recut::native {
namespace {

struct EmitCommand {
  GraphArguments graph;
  PlanArguments plan;
  std::string target;
  int kernel = -1;  // -1: all
};

// One kernel of the step and the steps at which it runs: one that is recomputed runs twice.
struct StepKernel {
  std::vector<NodeId> calls;
  std::vector<std::size_t> steps;
};

// The kernels in the order of their first runs. Views run none.
Result<std::vector<StepKernel>> kernels_of(const Graph& graph, const StorageModel& storages,
                                           const FusionGroups& groups, const Plan& plan) {
  const auto runs = kernel_runs(graph, storages, groups, plan);
  if (!runs) return runs.diagnostics();
  std::vector<NodeId> steps = plan.forward;
  steps.insert(steps.end(), plan.backward.begin(), plan.backward.end());
  std::vector<StepKernel> kernels;
  std::map<NodeId, std::size_t> known;  // by the first call
  for (std::size_t s = 0; s < steps.size(); ++s) {
    if (graph.op(steps[s]).is(kView) || (*runs)[s].first != s) continue;
    const auto [found, is_new] = known.emplace(steps[s], kernels.size());
    if (is_new) {
      kernels.emplace_back();
      kernels.back().calls.assign(
          steps.begin() + static_cast<std::ptrdiff_t>(s),
          steps.begin() + static_cast<std::ptrdiff_t>((*runs)[s].last + 1));
    }
    kernels[found->second].steps.push_back(s);
  }
  return kernels;
}

std::string steps_text(const StepKernel& kernel) {
  std::string text = kernel.steps.size() == 1 ? "step" : "steps";
  for (const std::size_t step : kernel.steps) text += fmt::format(" {}", step);
  return text;
}

// Prints the kernels; how many don't lower.
int print_kernels(const EmitCommand& command, const Graph& graph, const StorageModel& storages,
                  const FusionGroups& groups, const std::vector<StepKernel>& kernels,
                  const Console& console) {
  int missing = 0;
  std::vector<loop::Kernel> sound;
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    if (command.kernel >= 0 && k != static_cast<std::size_t>(command.kernel)) continue;
    const std::string which =
        fmt::format("kernel {} of {}, {}", k, kernels.size(), steps_text(kernels[k]));
    auto lowered = loop::lower(graph, storages, groups, kernels[k].calls);
    if (lowered && command.target == "llvm") {
      lowered->kernel.notes.push_back(which);
      sound.push_back(std::move(lowered->kernel));
      continue;
    }
    console.out << fmt::format("; {}\n", which);
    if (lowered) {
      console.out << loop::print(lowered->kernel) << "\n";
      continue;
    }
    ++missing;
    for (const Diagnostic& why : lowered.diagnostics())
      console.out << fmt::format("; {}\n", why.message);
    console.out << "\n";
  }
  if (command.target == "llvm") console.out << llvm_ir::emit(sound).text;
  return missing;
}

int emit(const EmitCommand& command, const Console& console) {
  const auto document = command.graph.open_joint(console);
  if (!document) return console.complain(document.diagnostics());
  const auto planned = command.plan.plan(*document, console);
  if (!planned) return console.complain(planned.diagnostics());
  if (!planned->report.holds()) return refuse(planned->report, console);
  const Graph& graph = document->graph();
  const StorageModel storages(graph);
  const FusionGroups groups = planned->costs.groups(graph, storages);
  const auto kernels = kernels_of(graph, storages, groups, planned->plan);
  if (!kernels) return console.complain(kernels.diagnostics());
  if (command.kernel >= static_cast<int>(kernels->size()))
    return console.complain({error(fmt::format("--kernel {}: the step has kernels 0 to {}",
                                               command.kernel, kernels->size() - 1))});
  const int missing = print_kernels(command, graph, storages, groups, *kernels, console);
  if (missing == 0) return kDone;
  console.err << fmt::format("error: {} of {} kernels have operators that don't lower yet\n",
                             missing, kernels->size());
  return kCheckFailed;
}

}  // namespace

void add_emit(CLI::App& app, Action& chosen) {
  auto arguments = std::make_shared<EmitCommand>();
  CLI::App& command =
      *app.add_subcommand("emit", "Print the kernels of a plan's step as a target's code");
  arguments->graph.add_to(command);
  arguments->plan.add_to(command);
  command
      .add_option("--target", arguments->target,
                  "loop: loop nests over indices and typed scalars, from which every other target "
                  "is written; llvm: LLVM IR, as it is compiled for this machine's processor")
      ->required()
      ->check(CLI::IsMember({"loop", "llvm"}))
      ->type_name("TARGET");
  command.add_option("--kernel", arguments->kernel, "Only this kernel, counted from 0")
      ->check(CLI::NonNegativeNumber)
      ->type_name("N");
  command.footer("Example: recut emit samples/mlp.recut --target loop --model fused");
  command.callback([arguments, &chosen] {
    arguments->graph.device = arguments->plan.device;
    chosen = [arguments](const Console& console) { return emit(*arguments, console); };
  });
}

}  // namespace recut::native
