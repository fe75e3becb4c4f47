// What a run of passes is told, and what it reports: plain data, with the graph at every stage.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/passes/pass.h"

namespace recut {

struct RunnerOptions {
  std::vector<std::string> skip;  // passes to leave out, by name
  std::vector<Pass> more;         // passes that names may mean besides those of the table

  // Runs only the first so many passes. A search for the pass that breaks something halves this
  // number (as LLVM's -opt-bisect-limit does).
  std::optional<std::size_t> stop_at;

  // Takes the graph in text before the first pass and after each: ("00-input.recut", text),
  // ("01-noop_removal.recut", text), … The engine has no file system; the command writes files.
  std::function<void(const std::string& file_name, const std::string& text)> dump;
};

// What one pass did.
struct PassReport {
  std::string name;
  bool skipped = false;
  bool changed = false;
  double milliseconds = 0;
  std::size_t nodes_before = 0;
  std::size_t nodes_after = 0;
  std::vector<Change> changes;
  Graph graph;  // as the pass left it
  RuleReport rules = {};
};

// A pass broke a promise: a bug of ours, told with what is needed to look into it.
struct PassFailure {
  std::string pass;     // "input": the graph was unsound before the first pass
  std::string message;  // a predicate, "says that it changed this graph, and did not:\n…"
};

struct PipelineReport {
  Graph input;
  std::vector<PassReport> passes;      // up to and without the one that failed
  std::optional<PassFailure> failure;  // the runner stops at the first

  // The last sound graph.
  const Graph& graph() const { return passes.empty() ? input : passes.back().graph; }
  bool changed() const;
};

}  // namespace recut
