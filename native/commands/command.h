// Shared by the commands: how a file is named and opened, and how each command is registered.
#pragma once

#include <CLI/App.hpp>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/cost/device.h"
#include "engine/passes/stages.h"
#include "engine/rewrite/rule.h"
#include "engine/workspace/document.h"
#include "native/commands/mesh_arguments.h"
#include "native/console.h"
#include "native/written_files.h"

namespace recut::native {

// Passes by name, and the runner's options for them.
struct ChosenPasses {
  std::vector<std::string> names;
  RunnerOptions options;
};

// The arguments that choose the graph and its passes: FILE, --graph KEY, --dim, --op-library,
// --passes, --no-passes, --inexact, --stage, --with, --rules, --skip, --stop-at, --dump.
struct GraphArguments {
  std::string path;
  std::string key = std::string(kDefaultGraphKey);
  std::string passes;
  bool runs_all_passes = false;  // run all passes where none are named
  bool no_passes = false;
  bool inexact = false;                // also passes that are not bit-exact
  std::string stages;                  // "pre-grad,joint"; empty: the default stage
  Stage default_stage = Stage::joint;  // where passes run and no stage is named
  std::string with;                    // passes off by default, besides the stages' own
  std::vector<std::string> rules;      // FILE, before:STAGE=FILE or after:STAGE=FILE
  std::string device;                  // its figures decide passes; empty: the reference's
  // The GPU whose libraries will multiply: where stages run, products are padded and convolutions
  // laid out for it.
  std::optional<Device> gpu;
  bool processor_library = false;    // the processor's will: frozen graphs are laid out for it
  bool freeze = false;               // also run the stage freezing, last, and fold the weights
  bool reports_freezing = false;     // the command prints that report itself, instead of a note
  std::vector<std::string> weights;  // for that: files with values that the graph's own lacks
  bool post_grad_later = false;      // the stage post-grad runs after the partition
  std::string skip;
  int stop_at = -1;                     // -1: run all
  std::vector<std::string> dimensions;  // "name=N"
  std::vector<std::string> op_library;  // FILE, FOLDER or OPERATOR=FILE
  std::string dump;
  MeshArguments mesh;  // with axes, the graph is one rank's

  void add_to(CLI::App& command);
  void add_device_to(CLI::App& command);  // --device, where nothing else is priced by it
  void add_freeze_to(CLI::App& command);  // --freeze and --for-inference
  void add_for_inference_to(CLI::App& command);
  void add_mesh_to(CLI::App& command);  // options of mesh, and --rank
  // Reads the file alone and runs no pass.
  Result<GraphFile> read(const Console& console) const;
  // A note on the console counts the fates of weights that --freeze folds.
  Result<Document> open(const Console& console) const;

  // Opens a joint graph, for commands that compare training steps.
  Result<Document> open_joint(const Console& console) const;

  // The same arguments with passes for that device's libraries, if any, and without the named
  // pass ("": with all).
  GraphArguments for_gpu(const std::optional<Device>& device, std::string_view without) const;

  // The passes that open() runs on a file, and their options. Fails if a stage isn't for graphs of
  // this kind.
  Result<ChosenPasses> chosen_passes(const GraphFile& file) const;

  // The passes of the two partitioned graphs of a plan: the stage post-grad.
  Result<ChosenPasses> post_grad_passes(const GraphFile& file) const;

 private:
  void add_passes_to(CLI::App& command);
  Result<std::vector<Stage>> named_stages(const GraphFile& file) const;
  Result<ChosenPasses> stage_passes(const GraphFile& file, bool after_partition) const;
  Result<Pipeline> pipeline(std::vector<Stage> stages) const;
  RunnerOptions runner_options() const;
  Result<GraphFile> expanded(GraphFile file) const;
  Result<Document> shard_opened(const Document& document, const Console& console) const;
  Result<Done> add_device_passes(RunnerOptions& options) const;
};

// Reads a file of rules.
Result<std::shared_ptr<const RuleSet>> read_rules(const std::string& path);

// Reads the files of --op-library: FILE, FOLDER or OPERATOR=FILE. Null if there are none.
Result<std::shared_ptr<const OpLibrary>> read_op_library(const std::vector<std::string>& arguments);

// The tensors of safetensors files, with their bytes.
struct TensorFiles {
  std::deque<std::string> bytes;
  std::vector<NamedTensor> tensors;
};

// The files' tensors ("": none) in their order, before the graph's own tensors; of one name, the
// first counts.
Result<std::unique_ptr<TensorFiles>> read_tensors(const std::vector<std::string>& paths,
                                                  const GraphFile& file);

// The parsed command, ready to run.
using Action = std::function<int(const Console&)>;

// Each adds its subcommand to `app`; parsing sets `chosen`.
void add_show(CLI::App& app, Action& chosen);
void add_opt(CLI::App& app, Action& chosen);
void add_plan(CLI::App& app, Action& chosen);
void add_schedule(CLI::App& app, Action& chosen);
void add_sweep(CLI::App& app, Action& chosen);
void add_compare_memory(CLI::App& app, Action& chosen);
void add_fit(CLI::App& app, Action& chosen);
void add_shard(CLI::App& app, Action& chosen);
void add_meshes(CLI::App& app, Action& chosen);
void add_eval(CLI::App& app, Action& chosen);
void add_run(CLI::App& app, Action& chosen);
void add_calibrate(CLI::App& app, Action& chosen);
void add_train(CLI::App& app, Action& chosen);
void add_report(CLI::App& app, Action& chosen);
void add_grad(CLI::App& app, Action& chosen);
void add_test_rules(CLI::App& app, Action& chosen);
void add_bisect(CLI::App& app, Action& chosen);
void add_minimize(CLI::App& app, Action& chosen);
void add_import(CLI::App& app, Action& chosen);
void add_debug(CLI::App& app, Action& chosen);
void add_emit(CLI::App& app, Action& chosen);
void add_compile(CLI::App& app, Action& chosen);
void add_compile_op(CLI::App& app, Action& chosen);
void add_cache(CLI::App& app, Action& chosen);

}  // namespace recut::native
