// The options and the report of a run of passes: plain data, with the graph after every pass.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/passes/pass.h"

namespace recut {

struct RunnerOptions {
  std::vector<std::string> skip;  // names of passes to leave out
  std::vector<Pass> more;         // passes beside the table's

  // Runs only this many passes, for a bisection (as LLVM's -opt-bisect-limit).
  std::optional<std::size_t> stop_at;

  // Called with the graph's text before the first pass and after each: ("00-input.recut", text),
  // ("01-noop_removal.recut", text), … The engine has no file system; the command writes files.
  std::function<void(const std::string& file_name, const std::string& text)> dump;
};

// A nested graph that a pass changed (region_passes.h).
struct RegionReport {
  std::string region;           // "body", or "body/yes" for a nested graph of that
  std::vector<Change> changes;  // their nodes are those of the nested graph
  RuleReport rules = {};
};

// The report of one pass.
struct PassReport {
  std::string name;
  bool skipped = false;
  bool changed = false;
  double milliseconds = 0;
  std::size_t nodes_before = 0;
  std::size_t nodes_after = 0;
  std::vector<Change> changes;
  Graph graph;  // after the pass
  RuleReport rules = {};
  std::vector<RegionReport> regions = {};

  std::size_t change_count() const;  // with those of nested graphs
};

// A violation of the pass contract: a bug in the pass, with the data to reproduce it.
struct PassFailure {
  std::string pass;     // "input" if the graph was unsound before the first pass
  std::string message;  // a predicate, "says that it changed this graph, and did not:\n…"
};

struct PipelineReport {
  Graph input;
  std::vector<PassReport> passes;      // without the pass that failed
  std::optional<PassFailure> failure;  // the runner stops at the first

  // The last sound graph.
  const Graph& graph() const { return passes.empty() ? input : passes.back().graph; }
  bool changed() const;
};

}  // namespace recut
