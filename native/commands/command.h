// What the commands share: how a file is named and opened, and how each one joins the command line.
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
#include "native/console.h"

namespace recut::native {

// Passes by name, and what a runner needs to run them.
struct ChosenPasses {
  std::vector<std::string> names;
  RunnerOptions options;
};

// The arguments that say which graph: FILE, --graph KEY, --dim, --passes, --no-passes, --inexact,
// --stage, --with, --rules, --skip, --stop-at, --dump.
struct GraphArguments {
  std::string path;
  std::string key = std::string(kDefaultGraphKey);
  std::string passes;
  bool passes_wanted = false;  // where none are named all run, whatever the graph
  bool no_passes = false;
  bool inexact = false;              // those that don't keep every bit, too
  std::string stages;                // "pre-grad,joint"; empty: `usual_stage`
  Stage usual_stage = Stage::joint;  // where passes run and no stage is named
  std::string with;                  // passes that don't run by default, besides the stages' own
  std::vector<std::string> rules;    // FILE, before:STAGE=FILE or after:STAGE=FILE
  std::string device;                // whose figures passes decide by; empty: the reference's
  // The card whose libraries are to multiply: where stages run, products are padded and
  // convolutions laid out for it.
  std::optional<Device> card;
  bool freeze = false;  // the stage freezing after those
  bool halves = false;  // the stage post-grad is for later: see half_passes
  std::string skip;
  int stop_at = -1;                     // -1: run them all
  std::vector<std::string> dimensions;  // "name=N"
  std::string dump;

  void add_to(CLI::App& command);
  void add_device_to(CLI::App& command);  // --device, where nothing else is priced by it
  // The file alone, no pass run.
  Result<GraphFile> read(const Console& console) const;
  Result<Document> open(const Console& console) const;

  // The same for what plans: a joint graph.
  Result<Document> open_joint(const Console& console) const;

  // With passes for that device's libraries, where there is one, and without that pass ("": with
  // all).
  GraphArguments for_card(const std::optional<Device>& device, std::string_view without) const;

  // The passes that open() runs of a file, and how. Fails where the graph isn't what a stage is
  // for.
  Result<ChosenPasses> chosen_passes(const GraphFile& file) const;

  // Those that run on the two halves of a plan: the stage post-grad.
  Result<ChosenPasses> half_passes(const GraphFile& file) const;

 private:
  void add_passes_to(CLI::App& command);
  Result<std::vector<Stage>> named_stages(const GraphFile& file) const;
  Result<ChosenPasses> stage_passes(const GraphFile& file, bool of_halves) const;
  Result<Pipeline> pipeline(std::vector<Stage> stages) const;
  RunnerOptions runner_options() const;
  Result<Done> add_device_passes(RunnerOptions& options) const;
};

// Reads a file of rules.
Result<std::shared_ptr<const RuleSet>> read_rules(const std::string& path);

// Writes a file, or says why it can't.
Result<Done> write_file(const std::string& path, std::string_view bytes);

// The tensors of safetensors files, with their bytes.
struct TensorFiles {
  std::deque<std::string> bytes;
  std::vector<NamedTensor> tensors;
};

// What the files hold ("": nothing) in their order, before what the graph's own has: of two of one
// name, the first counts.
Result<std::unique_ptr<TensorFiles>> read_tensors(const std::vector<std::string>& paths,
                                                  const GraphFile& file);

// A command, once the command line has been read: what to run.
using Action = std::function<int(const Console&)>;

// Each adds its subcommand to `app`; `chosen` is set where the command line asks for it.
void add_show(CLI::App& app, Action& chosen);
void add_opt(CLI::App& app, Action& chosen);
void add_plan(CLI::App& app, Action& chosen);
void add_schedule(CLI::App& app, Action& chosen);
void add_sweep(CLI::App& app, Action& chosen);
void add_fit(CLI::App& app, Action& chosen);
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
void add_emit(CLI::App& app, Action& chosen);
void add_compile(CLI::App& app, Action& chosen);
void add_cache(CLI::App& app, Action& chosen);

}  // namespace recut::native
