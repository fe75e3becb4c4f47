// recut compile: a planned step of training or inference as a shared library with a C interface.
#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "engine/input/bytes.h"
#include "engine/support/units.h"
#include "engine/workspace/scheduling.h"
#include "native/aot/header.h"
#include "native/aot/library.h"
#include "native/aot/temporary_files.h"
#include "native/cache/libraries.h"
#include "native/cache/store.h"
#include "native/calibrated_profile.h"
#include "native/commands/command.h"
#include "native/commands/examples.h"
#include "native/commands/library_options.h"
#include "native/commands/plan_arguments.h"

// The command runs the whole way from a graph to a library:
//   graph ⇒ plan ⇒ schedule ⇒ program ⇒ LLVM IR ⇒ object code ⇒ shared library and C header
// It checks prefix and processor before it plans, and the arena against the budget before it
// compiles. Without an output path, library and header go to the cache's directory under the hash
// of their contents, so that equal ones have one path. The cost model is always `fused`, since the
// library runs fused kernels. Neither the default profile nor the default processor depends on this
// machine: plan and code are for any x86-64-v3 processor.

namespace recut::native {
namespace {

constexpr const char* kDefaultTarget = "x86-64-v3";
constexpr const char* kInside = "inside";
constexpr const char* kNoWeights = "none";

struct CompileCommand {
  GraphArguments graph;
  PlanArguments plan = PlanArguments::of_step();
  std::string library, header;  // empty: a path by contents, and beside the library
  std::string weights;          // inside, none or a file; empty: inside where there are values
  std::string processor = kDefaultTarget;
  std::string linker = kDefaultLinker;
  std::string name;  // empty: the graph's
  bool json = false;
};

Result<cpu::Target> target_of(const std::string& processor) {
  if (processor == "native") return cpu::this_machine();
  return cpu::processor_target(processor);
}

Result<std::string> prefix_of(const CompileCommand& command, const Graph& graph) {
  const std::string& named = command.library.empty() ? command.graph.path : command.library;
  const std::string fallback = std::filesystem::path(named).stem().string();
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

aot::Weights placement(const CompileCommand& command, const Document& document) {
  if (document.file.tensors.empty() || command.weights == kNoWeights) return aot::Weights::inputs;
  const bool inside = command.weights.empty() || command.weights == kInside;
  return inside ? aot::Weights::inside : aot::Weights::beside;
}

struct WrittenFiles {
  std::string library, header, weights;  // paths; no weights: ""
  std::int64_t library_bytes = 0;
};

// Moves library and header to the cache's directory, below the hash of all that was made.
Result<Done> keep_by_contents(const std::string& header_text, const aot::BuiltLibrary& built,
                              WrittenFiles& files) {
  const auto store = cache::default_store_options();
  if (!store) return store.diagnostics();
  const auto library = read_file(files.library, kMaxTensorBytes);
  if (!library) return library.diagnostics();
  auto kept = cache::keep_library(store->directory, built.interface.prefix,
                                  {*library, header_text, built.weights});
  if (!kept) return kept.diagnostics();
  files.library = std::move(kept->library);
  files.header = std::move(kept->header);
  return Done{};
}

Result<Done> write_header(const CompileCommand& command, const std::string& text,
                          const aot::BuiltLibrary& built, WrittenFiles& files) {
  if (command.library.empty())
    if (auto done = keep_by_contents(text, built, files); !done) return done;
  const bool beside = command.header.empty();
  if (beside && command.library.empty()) return Done{};
  files.header = command.header;
  if (beside) files.header = std::filesystem::path(files.library).replace_extension(".h").string();
  return write_file(files.header, text);
}

struct CompileResult {
  const CompileTarget& compile_target;
  aot::BuiltLibrary built;
  WrittenFiles files;
  std::string weights;  // inside, none, or the path

  std::size_t gradients() const { return built.interface.outputs.size() - built.interface.results; }
};

Result<CompileResult> build(const CompileCommand& command, const CompileTarget& compile_target,
                            const Document& document, const ScheduledPlan& scheduled) {
  const aot::TemporaryFiles temporary;
  const aot::Weights weights = placement(command, document);
  WrittenFiles files;
  files.library = command.library.empty() ? temporary.path_of("library.so") : command.library;
  auto built = aot::build_library(
      document, scheduled, {compile_target.prefix, compile_target.target, command.linker, weights},
      files.library);
  if (!built) return built.diagnostics();
  if (weights == aot::Weights::beside)
    if (auto done = write_file(command.weights, built->weights); !done) return done.diagnostics();
  std::error_code gone;
  const auto bytes = std::filesystem::file_size(files.library, gone);
  files.library_bytes = gone ? 0 : static_cast<std::int64_t>(bytes);
  const aot::HeaderFacts facts{document.graph().name, compile_target.target.processor,
                               built->arena_bytes};
  if (auto done = write_header(command, aot::header_text(built->interface, facts), *built, files);
      !done)
    return done.diagnostics();
  const std::string placed = weights == aot::Weights::inputs   ? kNoWeights
                             : weights == aot::Weights::inside ? kInside
                                                               : command.weights;
  return CompileResult{compile_target, std::move(*built), std::move(files), placed};
}

std::string as_json(const CompileResult& result) {
  const aot::Interface& interface = result.built.interface;
  return nlohmann::ordered_json{{"library", result.files.library},
                                {"header", result.files.header},
                                {"library_bytes", result.files.library_bytes},
                                {"name", interface.prefix},
                                {"processor", result.compile_target.target.processor},
                                {"inputs", interface.inputs.size()},
                                {"results", interface.results},
                                {"gradients", result.gradients()},
                                {"weights", result.weights},
                                {"weights_bytes", interface.weights_bytes},
                                {"planned_peak_bytes", result.built.arena_bytes}}
             .dump(2) +
         "\n";
}

std::string as_text(const CompileResult& result) {
  const aot::Interface& interface = result.built.interface;
  const std::string gradients =
      interface.inference ? "" : fmt::format(", gradients {}", result.gradients());
  const std::string weights =
      interface.weights.empty()
          ? ""
          : fmt::format(", weights {} {}{}", format_bytes(interface.weights_bytes),
                        interface.weights_inside ? "" : "in ", result.weights);
  return fmt::format("{}: {} for {}\n{}: inputs {}, results {}{}, arena {}{}\n",
                     result.files.library, format_bytes(result.files.library_bytes),
                     result.compile_target.target.processor, result.files.header,
                     interface.inputs.size(), interface.results, gradients,
                     format_bytes(result.built.arena_bytes), weights);
}

// Weights that are asked for have to be there.
Result<Done> check_weights(const CompileCommand& command, const Document& document) {
  if (command.graph.freeze && command.weights == kNoWeights)
    return error("--freeze computes weights: --weights inside, or a FILE, says where they go");
  if (!command.weights.empty() && command.weights != kNoWeights && document.file.tensors.empty())
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
  if (command.plan.device.empty()) planning.device = kDefaultProcessor;
  const auto scheduled = schedule_document(*document, {planning, {}});
  if (!scheduled) return console.report_error(scheduled.diagnostics());
  if (!scheduled->holds()) return refuse_arena(*document, *scheduled, command.json, console);
  console.say("compiling");
  const auto result = build(command, *compile_target, *document, *scheduled);
  console.say("");
  if (!result) return console.report_error(result.diagnostics());
  console.out << (command.json ? as_json(*result) : as_text(*result));
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
  add_model(command, arguments->plan.model);
  add_profile(command, "--profile", arguments->plan.device, kDefaultProcessor);
  command
      .add_option("-o,--out", arguments->library,
                  "Shared library to write (default: libraries/HASH/NAME.so in the cache's "
                  "directory, by the hash of its contents)")
      ->type_name("FILE");
  command
      .add_option("--header", arguments->header,
                  "C header to write (default: beside the library, with the ending .h)")
      ->type_name("FILE");
  command
      .add_option("--weights", arguments->weights,
                  "Place of the values that the graph's file or --freeze has: inside the library, "
                  "none (the caller's inputs), or a FILE to write beside it (default: inside, "
                  "where there are values). NAME_set_weights points a step at them")
      ->type_name("PLACE");
  command
      .add_option("--cpu", arguments->processor,
                  "Processor to compile for: native (this machine), or a name or level of LLVM, "
                  "such as znver4 or x86-64-v4 (default: x86-64-v3)")
      ->type_name("NAME");
  command
      .add_option("--name", arguments->name,
                  "Prefix of the C functions and types (default: the graph's name)")
      ->type_name("NAME");
  add_linker(command, arguments->linker);
  command.add_flag("--json", arguments->json, "Print one JSON value instead of the text");
  command.footer(
      footer_with_examples("The library needs no Recut, and no library but C's own. The header "
                           "describes its use; samples/aot/train.c trains a model with it.",
                           {"compile tests/onnx/models/tiny_gpt.onnx -o build/gpt.so",
                            "compile samples/joint/tiny_conv.json.gz --budget 90% --cpu native -o "
                            "build/conv.so --header build/conv.h"}));
  command.callback([arguments, &chosen] {
    chosen = [arguments](const Console& console) { return compile(*arguments, console); };
  });
}

}  // namespace recut::native
