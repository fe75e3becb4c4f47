#include "engine/passes/runner.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

#include "engine/ir/printer.h"
#include "engine/ir/verifier.h"

namespace recut {
namespace {

bool skips(const RunnerOptions& options, std::string_view name) {
  return std::find(options.skip.begin(), options.skip.end(), name) != options.skip.end();
}

void dump(const RunnerOptions& options, std::size_t number, std::string_view name,
          const Graph& graph) {
  if (options.dump) options.dump(fmt::format("{:02}-{}.recut", number, name), print(graph));
}

// What is wrong with what a pass gave back; nothing if it kept its promises.
std::optional<std::string> broken_promise(const Graph& before, const PassResult& result) {
  const Failures failures = verify(result.graph);
  if (!failures.empty())
    return fmt::format("left a graph with {} failures:\n{}", failures.size(),
                       print(result.graph, failures));
  const bool same = same_graph(before, result.graph);
  if (result.changed && same)
    return fmt::format("says that it changed this graph, and did not:\n{}", print(before));
  if (!result.changed && !same)
    return fmt::format("says that it changed nothing, and made of\n{}this:\n{}", print(before),
                       print(result.graph));
  return std::nullopt;
}

// Runs one pass. On a broken promise report.failure is set and nothing is added.
void run_pass(const Pass& pass, PipelineReport& report) {
  const Graph& before = report.graph();
  const auto start = std::chrono::steady_clock::now();
  PassResult result = pass.run(before);
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  if (auto wrong = broken_promise(before, result)) {
    report.failure = PassFailure{std::string(pass.name), std::move(*wrong)};
    return;
  }
  PassReport done{
      std::string(pass.name), false, result.changed, time.count(), before.order().size(), 0, {},
      std::move(result.graph)};
  done.nodes_after = done.graph.order().size();
  done.changes = std::move(result.changes);
  report.passes.push_back(std::move(done));
}

void skip_pass(const Pass& pass, PipelineReport& report) {
  const std::size_t nodes = report.graph().order().size();
  report.passes.push_back(
      {std::string(pass.name), true, false, 0, nodes, nodes, {}, report.graph()});
}

// The pass of each name, or a diagnostic for each name that is no pass's.
Result<std::vector<Pass>> find_passes(std::span<const std::string> names) {
  std::vector<Pass> passes;
  Diagnostics unknown;
  for (const std::string& name : names) {
    const Pass* pass = find_pass(name);
    if (pass != nullptr)
      passes.push_back(*pass);
    else
      unknown.push_back(Diagnostic{fmt::format("unknown pass '{}', expected one of {}", name,
                                               fmt::join(default_passes(), ", "))});
  }
  if (!unknown.empty()) return unknown;
  return passes;
}

}  // namespace

bool PipelineReport::changed() const {
  return std::any_of(passes.begin(), passes.end(), [](const PassReport& p) { return p.changed; });
}

Result<PipelineReport> run_passes(const Graph& graph, std::span<const std::string> names,
                                  const RunnerOptions& options) {
  const auto skipped = find_passes(options.skip);
  if (!skipped) return skipped.diagnostics();
  const auto passes = find_passes(names);
  if (!passes) return passes.diagnostics();
  return run_passes(graph, std::span<const Pass>(*passes), options);
}

PipelineReport run_passes(const Graph& graph, std::span<const Pass> passes,
                          const RunnerOptions& options) {
  PipelineReport report{graph, {}, std::nullopt};
  report.passes.reserve(passes.size());
  dump(options, 0, "input", graph);
  if (const Failures failures = verify(graph); !failures.empty())
    report.failure = PassFailure{"input", fmt::format("the graph that came in has {} failures:\n{}",
                                                      failures.size(), print(graph, failures))};
  const std::size_t last = std::min(passes.size(), options.stop_at.value_or(passes.size()));
  for (std::size_t i = 0; i < last && !report.failure; ++i) {
    if (skips(options, passes[i].name))
      skip_pass(passes[i], report);
    else
      run_pass(passes[i], report);
    if (!report.failure) dump(options, i + 1, passes[i].name, report.graph());
  }
  return report;
}

std::vector<std::string> default_passes() {
  std::vector<std::string> names;
  for (const Pass& pass : all_passes()) names.emplace_back(pass.name);
  return names;
}

std::vector<std::string> split_pass_names(std::string_view list) {
  std::vector<std::string> names;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    std::string_view name = list.substr(0, comma);
    const std::size_t first = std::min(name.find_first_not_of(' '), name.size());
    name.remove_prefix(first);
    name = name.substr(0, name.find_last_not_of(' ') + 1);
    if (!name.empty()) names.emplace_back(name);
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return names;
}

bool same_graph(const Graph& a, const Graph& b) {
  const auto same_list = [](auto x, auto y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end());
  };
  if (a.shared_pool() != b.shared_pool() || !same_list(a.order(), b.order()) ||
      !same_list(a.aliases(), b.aliases()) || a.results != b.results || a.gradients != b.gradients)
    return false;
  for (const NodeId id : a.order()) {
    if (a.node_name(id) != b.node_name(id)) return false;
    if (a[id].op == Op::placeholder && a.input_kind(id) != b.input_kind(id)) return false;
  }
  return true;
}

}  // namespace recut
