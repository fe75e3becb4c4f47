// recut compile-op: a single operator as a kept kernel.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "engine/input/bytes.h"
#include "engine/support/units.h"
#include "engine/workspace/open_document.h"
#include "engine/workspace/scheduling.h"
#include "native/aot/library.h"
#include "native/aot/temporary_files.h"
#include "native/calibrated_profile.h"
#include "native/commands/command.h"
#include "native/commands/examples.h"
#include "native/commands/library_options.h"
#include "native/commands/operator_arguments.h"
#include "native/operators/kernel_json.h"
#include "native/operators/processor.h"

// The command takes one call the way that `recut compile` takes a graph:
//   arguments ⇒ call ⇒ graph of that call ⇒ plan ⇒ library ⇒ kept under the call's metadata
// An equal call that is kept already is found instead. Each fault of the arguments is a refusal
// with its reason, before any work.

namespace recut::native {
namespace {

using operators::Json;

struct CompileOpCommand {
  OperatorArguments call;
  std::string processor = std::string(operators::default_processor());
  std::string linker = kDefaultLinker;
  bool again = false;
  bool json = false;
};

struct CompiledOp {
  operators::KeptKernel kept;
  operators::Miss miss;  // why it was compiled
  bool found = false;
};

Result<cpu::Target> level_target(const std::string& processor) {
  const auto levels = operators::processor_levels();
  if (std::find(levels.begin(), levels.end(), processor) == levels.end())
    return error(fmt::format("--cpu {}: expected {}", processor, fmt::join(levels, ", ")));
  return cpu::processor_target(processor);
}

Result<operators::KeptKernel> compile_call(const CompileOpCommand& command,
                                           const operators::OperatorCall& call,
                                           const operators::OperatorStore& store) {
  const auto target = level_target(command.processor);
  if (!target) return target.diagnostics();
  auto graph = operators::graph_of(call);
  if (!graph) return graph.diagnostics();
  GraphFile file;
  file.graph = std::move(*graph);
  const auto document = open_document_graph(std::move(file), call.op->target, {});
  if (!document) return document.diagnostics();
  PlanningRequest planning;
  planning.cost_model = "fused";
  planning.device = kDefaultProcessor;
  const auto scheduled = schedule_document(*document, {planning, {}});
  if (!scheduled) return scheduled.diagnostics();
  const aot::TemporaryFiles files;
  const std::string path = files.path_of("kernel.so");
  const auto built =
      aot::build_library(*document, *scheduled,
                         {operators::kPrefix, *target, command.linker, aot::Weights::inputs}, path);
  if (!built) return built.diagnostics();
  const auto library = read_file(path);
  if (!library) return library.diagnostics();
  return store.keep(operators::facts_of(call), *library, command.processor, built->arena_bytes);
}

// The kept kernel, compiled where it isn't found.
Result<CompiledOp> find_or_compile(const CompileOpCommand& command,
                                   const operators::OperatorCall& call,
                                   const operators::OperatorStore& store) {
  CompiledOp op;
  auto lookup = store.find(operators::facts_of(call));
  const bool fits = lookup.kernel && lookup.kernel->processor == command.processor;
  if (fits && !command.again) {
    op.kept = std::move(*lookup.kernel);
    op.found = true;
    return op;
  }
  op.miss = std::move(lookup.miss);
  if (fits)
    op.miss = {operators::MissKind::compiled_again, "--again was given", {}};
  else if (lookup.kernel)
    op.miss = {operators::MissKind::other_processor,
               "the kept kernel is for " + lookup.kernel->processor,
               {}};
  auto kept = compile_call(command, call, store);
  if (!kept) return kept.diagnostics();
  op.kept = std::move(*kept);
  return op;
}

std::string types_text(const std::vector<operators::KernelTensor>& tensors) {
  std::vector<std::string> types;
  for (const operators::KernelTensor& tensor : tensors) {
    TensorType type = tensor.type;
    type.device.clear();  // the processor's alone
    types.push_back(format(type));
  }
  return types.empty() ? "none" : fmt::format("{}", fmt::join(types, ", "));
}

int print_kernel(const CompileOpCommand& command, const operators::OperatorCall& call,
                 const CompiledOp& op, const Console& console) {
  const auto kernel = operators::Kernel::load(op.kept, call);
  if (!kernel) return console.report_error(kernel.diagnostics());
  const operators::CallFacts facts = operators::facts_of(call);
  if (command.json) {
    Json json = operators::kernel_json(facts, op.kept, *kernel);
    json["found"] = op.found;
    json["miss"] = op.found ? Json() : operators::miss_json(op.miss);
    console.out << json.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
    return kDone;
  }
  console.out << fmt::format("{}: {}, for {}\n", facts.target,
                             op.found ? "found" : "compiled, since " + op.miss.reason,
                             op.kept.processor)
              << fmt::format("inputs {}; outputs {}\n", types_text(kernel->inputs()),
                             types_text(kernel->outputs()))
              << op.kept.path << "\n";
  return kDone;
}

int compile_op(const CompileOpCommand& command, const Console& console) {
  const auto call = command.call.read();
  if (!call) return console.report_error(call.diagnostics());
  if (const auto can = operators::check_compilable(*call); !can)
    return console.report_error(can.diagnostics());
  auto options = cache::default_store_options();
  if (!options) return console.report_error(options.diagnostics());
  console.say("compiling");
  const auto op = find_or_compile(command, *call, operators::OperatorStore(std::move(*options)));
  console.say("");
  if (!op) return console.report_error(op.diagnostics());
  return print_kernel(command, *call, *op, console);
}

}  // namespace

void add_compile_op(CLI::App& app, Action& chosen) {
  auto arguments = std::make_shared<CompileOpCommand>();
  CLI::App& command = *app.add_subcommand(
      "compile-op", "Compile a single operator for the processor, and keep its library");
  command
      .add_option(
          "OP", arguments->call.name,
          "Operator, such as aten.add.Tensor. Without an overload (aten.add) it is the first "
          "that takes the arguments")
      ->required();
  arguments->call.add_to(command);
  command
      .add_option("--cpu", arguments->processor,
                  fmt::format("Processor to compile for: {} (default: {})",
                              fmt::join(operators::processor_levels(), ", "),
                              operators::default_processor()))
      ->type_name("LEVEL");
  add_linker(command, arguments->linker);
  command.add_flag("--again", arguments->again, "Compile even where an equal call is kept");
  command.add_flag("--json", arguments->json, "Print one JSON value instead of the text");
  command.footer(footer_with_examples(
      std::string(kArgumentGrammar) +
          " Sizes are fixed.\nThe library is kept in the cache (recut cache), and C programs find "
          "it there (native/c_api/README.md). An equal call is found again.",
      {"compile-op aten.add.Tensor --inputs 'f32[2, 3]' 'f32[3]' --set alpha=2",
       "compile-op aten.sum --inputs 'f32[8, 16] grad' '[1]' --set keepdim=true --json"}));
  command.callback([arguments, &chosen] {
    chosen = [arguments](const Console& console) { return compile_op(*arguments, console); };
  });
}

}  // namespace recut::native
