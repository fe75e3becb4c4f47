// What the commands share: how a file is named and opened, and how each one joins the command line.
#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/rewrite/rule.h"
#include "engine/workspace/document.h"
#include "native/console.h"

namespace recut::native {

// The arguments that say which graph: FILE, --graph KEY, --dim, --passes, --no-passes, --rules,
// --skip, --stop-at, --dump.
struct GraphArguments {
  std::string path;
  std::string key = std::string(kDefaultGraphKey);
  std::string passes;
  bool passes_wanted = false;  // where none are named all run, whatever the graph
  bool no_passes = false;
  std::string rules;  // a file of the user's own, which is the pass `rules`
  bool freeze = false;  // the freezing passes after those
  std::string skip;
  int stop_at = -1;                     // -1: run them all
  std::vector<std::string> dimensions;  // "name=N"
  std::string dump;

  void add_to(CLI::App& command);
  // The file alone, no pass run.
  Result<GraphFile> read(const Console& console) const;
  Result<Document> open(const Console& console) const;

  // The same for what plans: a joint graph.
  Result<Document> open_joint(const Console& console) const;

  // The passes that open() runs of a file, and how.
  std::vector<std::string> pass_names(const GraphFile& file) const;
  RunnerOptions runner_options() const;
};

// Reads a file of rules.
Result<std::shared_ptr<const RuleSet>> read_rules(const std::string& path);

// Writes a file, or says why it can't.
Result<Done> write_file(const std::string& path, std::string_view bytes);

// The tensors of a safetensors file, with their bytes.
struct TensorFile {
  std::string bytes;
  std::vector<NamedTensor> tensors;
};

// What `path` holds ("": nothing), before what the graph's own file has: of two, the first counts.
Result<std::unique_ptr<TensorFile>> read_tensors(const std::string& path, const GraphFile& file);

// A command, once the command line has been read: what to run.
using Action = std::function<int(const Console&)>;

// Each adds its subcommand to `app`; `chosen` is set where the command line asks for it.
void add_show(CLI::App& app, Action& chosen);
void add_opt(CLI::App& app, Action& chosen);
void add_plan(CLI::App& app, Action& chosen);
void add_sweep(CLI::App& app, Action& chosen);
void add_eval(CLI::App& app, Action& chosen);
void add_report(CLI::App& app, Action& chosen);
void add_grad(CLI::App& app, Action& chosen);
void add_test_rules(CLI::App& app, Action& chosen);
void add_bisect(CLI::App& app, Action& chosen);
void add_import(CLI::App& app, Action& chosen);

}  // namespace recut::native
