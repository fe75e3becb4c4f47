// recut compile: a planned step of training or inference as a shared library with a C interface.
#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "engine/support/units.h"
#include "engine/workspace/compile.h"
#include "engine/workspace/scheduling.h"
#include "native/aot/driver.h"
#include "native/aot/header.h"
#include "native/aot/link.h"
#include "native/calibrated_profile.h"
#include "native/commands/command.h"
#include "native/commands/examples.h"
#include "native/commands/plan_arguments.h"
#include "native/cpu/object_code.h"

// The command runs the whole way from a graph to a library:
//   graph ⇒ plan ⇒ schedule ⇒ program ⇒ LLVM IR ⇒ object code ⇒ shared library and C header
// It checks prefix and processor before it plans, and the arena against the budget before it
// compiles. The cost model is always `fused`, since the library runs fused kernels. Neither the
// default profile nor the default processor depends on this machine: plan and code are for any
// x86-64-v3 processor.

namespace recut::native {
namespace {

constexpr const char* kDefaultTarget = "x86-64-v3";

struct CompileCommand {
  GraphArguments graph;
  PlanArguments plan;
  std::string library, header, weights;
  std::string processor = kDefaultTarget;
  std::string linker = "ld";
  std::string name;  // empty: the graph's
  bool json = false;
};

Result<cpu::Target> target_of(const std::string& processor) {
  if (processor == "native") return cpu::this_machine();
  return cpu::processor_target(processor);
}

Result<std::string> prefix_of(const CompileCommand& command, const Graph& graph) {
  const std::string fallback = std::filesystem::path(command.library).stem().string();
  if (command.name.empty()) return aot::identifier_of(graph.name.empty() ? fallback : graph.name);
  if (aot::identifier_of(command.name) == command.name) return command.name;
  return error(fmt::format("--name {}: expected small letters, digits and underscores, as {}",
                           command.name, aot::identifier_of(command.name)));
}

// The parts of the command that are checked before any work.
struct CompileTarget {
  std::string prefix;
  cpu::Target target;
};
Result<CompileTarget> compile_target_of(const CompileCommand& command, const Graph& graph) {
  auto prefix = prefix_of(command, graph);
  if (!prefix) return prefix.diagnostics();
  auto target = target_of(command.processor);
  if (!target) return target.diagnostics();
  return CompileTarget{std::move(*prefix), std::move(*target)};
}

Result<aot::Interface> build(const CompileCommand& command, const CompileTarget& compile_target,
                             const Document& document, const ScheduledPlan& scheduled) {
  const Graph& graph = document.graph();
  const auto program = program_of(document, scheduled);
  if (!program) return program.diagnostics();
  auto interface = aot::interface_of(graph, *program, compile_target.prefix);
  if (!command.weights.empty()) {
    const std::string bytes = aot::place_weights(graph, document.file.tensors, interface);
    if (auto done = write_file(command.weights, bytes); !done) return done.diagnostics();
  }
  const auto object = cpu::compile_object(aot::step_text(*program, scheduled.schedule, interface),
                                          compile_target.target);
  if (!object) return object.diagnostics();
  if (auto done =
          aot::link_library(*object, compile_target.prefix, command.linker, command.library);
      !done)
    return done.diagnostics();
  const aot::HeaderFacts facts{graph.name, compile_target.target.processor, program->arena_bytes};
  if (auto done = write_file(command.header, aot::header_text(interface, facts)); !done)
    return done.diagnostics();
  return interface;
}

struct CompileResult {
  const CompileTarget& compile_target;
  const aot::Interface& interface;
  std::int64_t arena_bytes;

  std::size_t gradients() const { return interface.outputs.size() - interface.results; }
};

std::int64_t library_bytes(const CompileCommand& command) {
  std::error_code gone;
  const auto bytes = std::filesystem::file_size(command.library, gone);
  return gone ? 0 : static_cast<std::int64_t>(bytes);
}

std::string as_json(const CompileCommand& command, const CompileResult& result) {
  return nlohmann::ordered_json{{"library", command.library},
                                {"header", command.header},
                                {"library_bytes", library_bytes(command)},
                                {"name", result.interface.prefix},
                                {"processor", result.compile_target.target.processor},
                                {"inputs", result.interface.inputs.size()},
                                {"results", result.interface.results},
                                {"gradients", result.gradients()},
                                {"weights_bytes", result.interface.weights_bytes},
                                {"planned_peak_bytes", result.arena_bytes}}
             .dump(2) +
         "\n";
}

std::string as_text(const CompileCommand& command, const CompileResult& result) {
  const std::string gradients =
      result.interface.inference ? "" : fmt::format(", gradients {}", result.gradients());
  return fmt::format("{}: {} for {}\n{}: inputs {}, results {}{}, arena {}\n", command.library,
                     format_bytes(library_bytes(command)), result.compile_target.target.processor,
                     command.header, result.interface.inputs.size(), result.interface.results,
                     gradients, format_bytes(result.arena_bytes));
}

// The values of weights that only a file can bring to the library.
Result<Done> check_weights(const CompileCommand& command, const Document& document) {
  if (command.graph.freeze && command.weights.empty())
    return error("--freeze computes weights: --weights FILE says where to write them");
  if (!command.weights.empty() && document.file.tensors.empty())
    return error("--weights: the file has no values of weights");
  return Done{};
}

int compile(const CompileCommand& command, const Console& console) {
  const auto document = command.graph.open(console);
  if (!document) return console.report_error(document.diagnostics());
  if (auto done = check_weights(command, *document); !done)
    return console.report_error(done.diagnostics());
  const auto compile_target = compile_target_of(command, document->graph());
  if (!compile_target) return console.report_error(compile_target.diagnostics());
  console.say("planning");
  PlanningRequest planning = command.plan.request();
  planning.cost_model = "fused";
  if (command.plan.device.empty()) planning.device = kDefaultProcessor;
  const auto scheduled = schedule_document(*document, {planning, {}});
  if (!scheduled) return console.report_error(scheduled.diagnostics());
  if (!scheduled->holds()) return refuse_arena(*document, *scheduled, command.json, console);
  console.say("compiling");
  const auto interface = build(command, *compile_target, *document, *scheduled);
  console.say("");
  if (!interface) return console.report_error(interface.diagnostics());
  const CompileResult result{*compile_target, *interface, scheduled->schedule.arena_bytes};
  console.out << (command.json ? as_json(command, result) : as_text(command, result));
  return kDone;
}

}  // namespace

void add_compile(CLI::App& app, Action& chosen) {
  auto arguments = std::make_shared<CompileCommand>();
  CLI::App& command = *app.add_subcommand(
      "compile",
      "Plan, schedule and compile a step of training or inference into a shared library for C");
  arguments->graph.add_to(command);
  arguments->graph.add_freeze_to(command);
  arguments->plan.add_search_to(command);
  add_profile(command, "--profile", arguments->plan.device, kDefaultProcessor);
  command.add_option("-o,--out", arguments->library, "Shared library to write")
      ->required()
      ->type_name("FILE");
  command.add_option("--header", arguments->header, "C header to write")
      ->required()
      ->type_name("FILE");
  command
      .add_option("--weights", arguments->weights,
                  "File of weights to write: the values that the graph's file or --freeze has, as "
                  "NAME_set_weights reads them")
      ->type_name("FILE");
  command
      .add_option("--cpu", arguments->processor,
                  "Processor to compile for: native (this machine), or a name or level of LLVM, "
                  "such as znver4 or x86-64-v4 (default: x86-64-v3)")
      ->type_name("NAME");
  command
      .add_option("--name", arguments->name,
                  "Prefix of the C functions and types (default: the graph's name)")
      ->type_name("NAME");
  command.add_option("--linker", arguments->linker, "Linker of the library (default: ld)")
      ->type_name("PROGRAM");
  command.add_flag("--json", arguments->json, "Print one JSON value instead of the text");
  command.footer(
      footer_with_examples("The library needs no Recut, and no library but C's own. The header "
                           "describes its use; samples/aot/train.c trains a model with it.",
                           {"compile samples/mlp.recut -o build/mlp.so --header build/mlp.h",
                            "compile samples/joint/tiny_conv.json.gz --budget 90% --cpu native -o "
                            "build/conv.so --header build/conv.h"}));
  command.callback([arguments, &chosen] {
    chosen = [arguments](const Console& console) { return compile(*arguments, console); };
  });
}

}  // namespace recut::native
