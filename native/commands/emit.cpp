// recut emit: a plan's step as a program: its launches, and its kernels as a target's code.
#include <fmt/core.h>

#include <filesystem>
#include <memory>

#include "engine/codegen/cuda/attention.h"
#include "engine/codegen/cuda/emit.h"
#include "engine/codegen/llvm/emit.h"
#include "engine/codegen/loop/printer.h"
#include "engine/codegen/wasm/emit.h"
#include "engine/runtime/program_text.h"
#include "engine/support/units.h"
#include "engine/workspace/compile.h"
#include "native/commands/command.h"
#include "native/commands/emit_module.h"
#include "native/commands/examples.h"
#include "native/commands/plan_arguments.h"

namespace recut::native {
namespace {

struct EmitCommand {
  GraphArguments graph;
  PlanArguments plan;
  std::string target, precision = "f32", architecture = "sm_80";
  int kernel = -1;  // -1: all
  std::string out;
  bool relaxed = false;
  std::int64_t rows = wasm::kRows;

  wasm::Options options() const { return {relaxed}; }
  cuda::Options cuda_options() const {
    cuda::Options options;
    if (precision == "tf32") options.matmul_precision = cuda::MatmulPrecision::tf32;
    return options;
  }
};

// The limits of an architecture's large GPUs: A100 and H100.
SmLimits default_sm_limits(const std::string& architecture) {
  return architecture == "sm_90" ? kSmLimitsOfH100 : kSmLimitsOfA100;
}

// Loops, and for CUDA the attention kernels.
ProgramOptions options_of(const EmitCommand& command) {
  ProgramOptions options;
  if (command.target == "wasm") options.lower = wasm::lower_options(command.rows);
  if (command.target != "cuda") return options;
  return {.library = true,
          .library_takes = cuda::supports_attention,
          .lower = cuda::lower_options(default_sm_limits(command.architecture))};
}

// Kernels in loop form come first in the count.
std::uint32_t kernel_count(const Program& program) {
  return static_cast<std::uint32_t>(program.kernels.size() + program.library.size());
}

std::vector<std::uint32_t> chosen_kernels(const EmitCommand& command, const Program& program) {
  if (command.kernel >= 0) return {static_cast<std::uint32_t>(command.kernel)};
  std::vector<std::uint32_t> all;
  for (std::uint32_t k = 0; k < kernel_count(program); ++k) all.push_back(k);
  return all;
}

std::string loop_text(const Program& program, const std::vector<std::uint32_t>& chosen) {
  std::string text;
  for (const std::uint32_t k : chosen)
    text += fmt::format("{}; {}\n{}", text.empty() ? "" : "\n", kernel_title(program, k),
                        loop::print(program.kernels[k]));
  return text;
}

std::vector<loop::Kernel> titled(const Program& program, const std::vector<std::uint32_t>& chosen) {
  std::vector<loop::Kernel> kernels;
  for (const std::uint32_t k : chosen) {
    if (k >= program.kernels.size()) continue;
    kernels.push_back(program.kernels[k]);
    kernels.back().locations.push_back(kernel_title(program, k));
  }
  return kernels;
}

std::vector<library::Kernel> titled_library(const Program& program,
                                            const std::vector<std::uint32_t>& chosen) {
  const auto loops = static_cast<std::uint32_t>(program.kernels.size());
  std::vector<library::Kernel> kernels;
  for (const std::uint32_t k : chosen) {
    if (k < loops) continue;
    kernels.push_back(program.library[k - loops]);
    kernels.back().locations.push_back(kernel_title(program, k - loops, true));
  }
  return kernels;
}

std::string text_of(const EmitCommand& command, const Program& program,
                    const std::vector<std::uint32_t>& chosen) {
  if (command.target == "loop") return loop_text(program, chosen);
  const std::vector<loop::Kernel> kernels = titled(program, chosen);
  if (command.target == "llvm") return llvm_ir::emit(kernels).text;
  if (command.target == "cuda")
    return cuda::emit(kernels, titled_library(program, chosen), command.cuda_options()).text;
  std::string text;
  for (const wasm::Line& line : wasm::emit_text(kernels, command.options()))
    text += line.text + "\n";
  return text;
}

// Lines of remarks as the target's comments: WebAssembly's begin with two semicolons, CUDA's with
// two slashes.
std::string remarks(const std::string& target, const std::string& lines) {
  if (target != "wasm" && target != "cuda") return lines;
  std::string text;
  for (std::size_t begin = 0; begin < lines.size();) {
    const std::size_t end = lines.find('\n', begin) + 1;
    if (target == "wasm")
      text += ";" + lines.substr(begin, end - begin);
    else
      text += "//" + lines.substr(begin + 1, end - begin - 1);
    begin = end;
  }
  return text;
}

// The option that only the module's file can honour, if one is misplaced.
std::optional<std::string> misplaced(const EmitCommand& command) {
  if (command.relaxed && command.target != "wasm") return "--relaxed: for --target wasm alone";
  if (command.rows != wasm::kRows && command.target != "wasm")
    return "--rows: for --target wasm alone";
  if (command.precision != "f32" && command.target != "cuda")
    return "--precision: for --target cuda alone";
  if (command.architecture != "sm_80" && command.target != "cuda")
    return "--arch: for --target cuda alone";
  if (command.out.empty()) return std::nullopt;
  if (command.target != "wasm") return "--out: for --target wasm alone; the others are text";
  if (command.kernel >= 0) return "--out: of the whole step, without --kernel";
  return std::nullopt;
}

// Writes the module as bytes, and beside it the JSON that a host needs to run it.
int write_module(const EmitCommand& command, const Graph& graph, const Program& program,
                 const Console& console) {
  const wasm::Module module = wasm::emit(program.kernels, command.options());
  const std::string facts = std::filesystem::path(command.out).replace_extension(".json").string();
  if (auto done = write_file(command.out, module.bytes); !done)
    return console.report_error(done.diagnostics());
  if (auto done = write_file(facts, module_json(graph, program, module, command.options())); !done)
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
  const auto program = program_of(*document, *scheduled, options_of(command));
  if (!program) return console.report_error(program.diagnostics());
  if (!command.out.empty()) return write_module(command, document->graph(), *program, console);
  const auto kernels = static_cast<int>(kernel_count(*program));
  if (command.kernel >= kernels)
    return console.report_error({error(
        fmt::format("--kernel {}: the step has kernels 0 to {}", command.kernel, kernels - 1))});
  const std::vector<std::uint32_t> chosen = chosen_kernels(command, *program);
  if (command.kernel < 0)
    console.out << remarks(command.target, launches_text(document->graph(), *program)) << "\n";
  console.out << text_of(command, *program, chosen);
  return kDone;
}

}  // namespace

void add_emit(CLI::App& app, Action& chosen) {
  auto arguments = std::make_shared<EmitCommand>();
  CLI::App& command = *app.add_subcommand(
      "emit", "Print the code of a plan's step: launches, arena offsets, and each kernel once");
  arguments->plan.model = "fused";
  arguments->graph.add_to(command);
  arguments->graph.add_freeze_to(command);
  arguments->plan.add_to(command);
  command
      .add_option("--target", arguments->target,
                  "Target code: loop (loop nests), llvm (LLVM IR for this processor), wasm "
                  "(WebAssembly text) or cuda (CUDA C++ for NVRTC, sm_80 and up). Every other "
                  "target is generated from loop")
      ->required()
      ->check(CLI::IsMember({"loop", "llvm", "wasm", "cuda"}))
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
  command
      .add_option(
          "--precision", arguments->precision,
          "Matmul precision of f32 in attention, with --target cuda: f32 or tf32 (default: f32)")
      ->check(CLI::IsMember({"f32", "tf32"}))
      ->type_name("TYPE");
  command
      .add_option(
          "--arch", arguments->architecture,
          "Minimum compute capability, with --target cuda: sm_80 or sm_90 (default: sm_80). On "
          "sm_90, clusters of blocks share long rows")
      ->check(CLI::IsMember({"sm_80", "sm_90"}))
      ->type_name("NAME");
  command.add_flag("--relaxed", arguments->relaxed,
                   "Use relaxed multiply-adds in sums of products, with --target wasm. Needs an "
                   "engine with relaxed SIMD (WebAssembly 3.0)");
  command
      .add_option(
          "--rows", arguments->rows,
          "Rows of the matmul microkernel's register tile, with --target wasm: 4 or 6 (default: "
          "4). Use 6 with --relaxed for engines that load operands late (V8 from 13 on); "
          "the bits stay the same")
      ->check(CLI::IsMember({wasm::kRows, wasm::kRowsInOrder}))
      ->type_name("N");
  command.footer(footer_with_examples(
      "The step consists of loops, and of CUDA's functions of attention: it is the same on all "
      "machines. recut run gives products and convolutions to libraries.",
      {"emit samples/recompute.recut --target loop --budget 75%",
       "emit samples/mlp.recut --target cuda --kernel 0"}));
  command.callback([arguments, &chosen] {
    arguments->graph.device = arguments->plan.device;
    chosen = [arguments](const Console& console) { return emit(*arguments, console); };
  });
}

}  // namespace recut::native
