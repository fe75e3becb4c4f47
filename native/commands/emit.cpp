// recut emit: a plan's step as a program: its launches, and its kernels as a target's code.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <tuple>

#include "engine/codegen/wasm/emit.h"
#include "engine/support/units.h"
#include "engine/workspace/scheduling.h"
#include "engine/workspace/target_code.h"
#include "native/commands/command.h"
#include "native/commands/emit_module.h"
#include "native/commands/examples.h"
#include "native/commands/plan_arguments.h"

namespace recut::native {
namespace {

// The limits of an architecture's large GPUs: A100 and H100.
SmLimits default_sm_limits(const std::string& architecture) {
  return architecture == "sm_90" ? kSmLimitsOfH100 : kSmLimitsOfA100;
}

struct EmitCommand {
  GraphArguments graph;
  PlanArguments plan;
  std::string target, precision = "f32", architecture = "sm_80";
  int kernel = -1;  // -1: all
  std::string out;
  bool relaxed = false;
  std::int64_t rows = wasm::kRows;

  const Target& code() const { return *find_target(target); }  // the parser has checked the name
  TargetOptions options() const {
    TargetOptions options{relaxed, rows, cuda::MatmulPrecision::f32,
                          default_sm_limits(architecture)};
    if (precision == "tf32") options.matmul_precision = cuda::MatmulPrecision::tf32;
    return options;
  }
};

// The targets with an option: "wasm".
std::string targets_with(TargetOption option) {
  std::vector<std::string_view> ids;
  for (const Target& target : targets())
    if (target.takes(option)) ids.push_back(target.id);
  return fmt::format("{}", fmt::join(ids, " or "));
}

// The option that the target doesn't take, or that only the module's file can honour, if one is
// given.
std::optional<std::string> misplaced(const EmitCommand& command) {
  const std::tuple<bool, TargetOption, std::string_view> given[] = {
      {command.relaxed, TargetOption::relaxed, "--relaxed"},
      {command.rows != wasm::kRows, TargetOption::rows, "--rows"},
      {command.precision != "f32", TargetOption::matmul_precision, "--precision"},
      {command.architecture != "sm_80", TargetOption::sm_limits, "--arch"},
      {!command.out.empty(), TargetOption::module_bytes, "--out"}};
  for (const auto& [is_given, option, name] : given)
    if (is_given && !command.code().takes(option))
      return fmt::format("{}: for --target {} alone{}", name, targets_with(option),
                         option == TargetOption::module_bytes ? "; the others are text" : "");
  if (!command.out.empty() && command.kernel >= 0)
    return "--out: of the whole step, without --kernel";
  return std::nullopt;
}

// "loop (loop nests), llvm (LLVM IR for this processor) or ...".
std::string list_of_targets() {
  std::string list;
  for (const Target& target : targets())
    list += fmt::format("{}{} ({})",
                        list.empty()                   ? ""
                        : &target == &targets().back() ? " or "
                                                       : ", ",
                        target.id, target.about);
  return list;
}

std::vector<std::string> ids_of_targets() {
  std::vector<std::string> ids;
  for (const Target& target : targets()) ids.emplace_back(target.id);
  return ids;
}

// Writes the module as bytes, and beside it the JSON that a host needs to run it.
int write_module(const EmitCommand& command, const Graph& graph, const Program& program,
                 const Console& console) {
  if (!program.collectives.empty())
    return console.report_error({error(
        "--out: the step has collectives, and a module can't start them; leave out --out for its "
        "text")});
  const wasm::Module module = wasm::emit(program.kernels, {command.relaxed});
  const std::string facts = std::filesystem::path(command.out).replace_extension(".json").string();
  if (auto done = write_file(command.out, module.bytes); !done)
    return console.report_error(done.diagnostics());
  if (auto done = write_file(facts, module_json(graph, program, module, {command.relaxed})); !done)
    return console.report_error(done.diagnostics());
  console.out << fmt::format("{}: {}, kernels {}\n{}: launches {}, arena {}\n", command.out,
                             format_bytes(static_cast<std::int64_t>(module.bytes.size())),
                             program.kernels.size(), facts, program.launches.size(),
                             format_bytes(program.arena_bytes));
  return kDone;
}

int emit(const EmitCommand& command, const Console& console) {
  if (const auto fault = misplaced(command)) return console.report_error({error(*fault)});
  const auto document = command.graph.open(console);
  if (!document) return console.report_error(document.diagnostics());
  console.say("planning and scheduling");
  const auto scheduled = schedule_document(*document, {command.plan.request(), {}});
  console.say("");
  if (!scheduled) return console.report_error(scheduled.diagnostics());
  if (!scheduled->holds()) return refuse_arena(*document, *scheduled, false, console);
  const auto program = program_for(command.code(), *document, *scheduled, command.options());
  if (!program) return console.report_error(program.diagnostics());
  if (!command.out.empty()) return write_module(command, document->graph(), *program, console);
  const auto kernels = static_cast<int>(kernel_count(*program));
  if (command.kernel >= kernels)
    return console.report_error({error(
        fmt::format("--kernel {}: the step has kernels 0 to {}", command.kernel, kernels - 1))});
  std::optional<std::uint32_t> kernel;
  if (command.kernel >= 0) kernel = static_cast<std::uint32_t>(command.kernel);
  console.out << code_of(command.code(), document->graph(), *program, kernel, command.options());
  return kDone;
}

void add_target_options_to(CLI::App& command, EmitCommand& arguments) {
  command
      .add_option(
          "--precision", arguments.precision,
          "Matmul precision of f32 in attention, with --target cuda: f32 or tf32 (default: f32)")
      ->check(CLI::IsMember({"f32", "tf32"}))
      ->type_name("TYPE");
  command
      .add_option(
          "--arch", arguments.architecture,
          "Minimum compute capability, with --target cuda: sm_80 or sm_90 (default: sm_80). On "
          "sm_90, clusters of blocks share long rows")
      ->check(CLI::IsMember({"sm_80", "sm_90"}))
      ->type_name("NAME");
  command.add_flag("--relaxed", arguments.relaxed,
                   "Use relaxed multiply-adds in sums of products, with --target wasm. Needs an "
                   "engine with relaxed SIMD (WebAssembly 3.0)");
  command
      .add_option(
          "--rows", arguments.rows,
          "Rows of the matmul microkernel's register tile, with --target wasm: 4 or 6 (default: "
          "4). Use 6 with --relaxed for engines that load operands late (V8 from 13 on); "
          "the bits stay the same")
      ->check(CLI::IsMember({wasm::kRows, wasm::kRowsInOrder}))
      ->type_name("N");
}

}  // namespace

void add_emit(CLI::App& app, Action& chosen) {
  auto arguments = std::make_shared<EmitCommand>();
  CLI::App& command = *app.add_subcommand(
      "emit", "Print the code of a plan's step: launches, arena offsets, and each kernel once");
  arguments->plan.model = "fused";
  arguments->graph.add_to(command);
  arguments->graph.add_mesh_to(command);
  arguments->graph.add_freeze_to(command);
  arguments->plan.add_to(command);
  command
      .add_option("--target", arguments->target,
                  fmt::format("Target code: {}. Every other target is generated from loop",
                              list_of_targets()))
      ->required()
      ->check(CLI::IsMember(ids_of_targets()))
      ->type_name("TARGET");
  command
      .add_option("--kernel", arguments->kernel,
                  "Print this kernel alone, counted from 0 (default: all)")
      ->check(CLI::NonNegativeNumber)
      ->type_name("N");
  command
      .add_option("-o,--out", arguments->out,
                  "Write the module's bytes to this file, with --target wasm. A .json file beside "
                  "it describes memory, inputs, kernels, launches and outputs")
      ->type_name("FILE");
  add_target_options_to(command, *arguments);
  command.footer(footer_with_examples(
      "The step consists of loops, and of CUDA's functions of attention: it is the same on all "
      "machines. recut run gives products and convolutions to libraries.",
      {"emit samples/recompute.recut --target loop --budget 75%",
       "emit samples/mlp.recut --target cuda --kernel 0",
       "emit samples/mlp.recut --target loop --mesh dp=2 --preset dp=fsdp"}));
  command.callback([arguments, &chosen] {
    arguments->graph.device = arguments->plan.device;
    chosen = [arguments](const Console& console) { return emit(*arguments, console); };
  });
}

}  // namespace recut::native
