#include "engine/passes/pass_runner.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include "engine/ir/printer.h"
#include "engine/ir/verifier.h"
#include "engine/passes/pass.h"
#include "engine/passes/pass_table.h"

namespace recut {
namespace {

bool skips(const RunnerOptions& options, std::string_view name) {
  return std::find(options.skip.begin(), options.skip.end(), name) != options.skip.end();
}

void dump(const RunnerOptions& options, std::size_t number, std::string_view name,
          const Graph& graph) {
  if (options.dump) options.dump(fmt::format("{:02}-{}.recut", number, name), print(graph));
}

std::vector<std::string_view> known_names(std::span<const Pass> more) {
  std::vector<std::string_view> names;
  for (const Pass& pass : all_passes()) names.push_back(pass.name);
  for (const Pass& pass : more) names.push_back(pass.name);
  return names;
}

// The first violation of the pass contract (pass.h), or nullopt: an unsound graph, another
// signature, or a wrong `changed`.
std::optional<std::string> contract_violation(const Graph& before, const PassResult& result) {
  const Failures failures = verify(result.graph, before);
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

}  // namespace

Result<std::vector<Pass>> find_passes(std::span<const std::string> names,
                                      std::span<const Pass> more) {
  std::vector<Pass> passes;
  Diagnostics unknown;
  for (const std::string& name : names) {
    const auto own =
        std::find_if(more.begin(), more.end(), [&](const Pass& p) { return p.name == name; });
    const Pass* pass = own != more.end() ? &*own : find_pass(name);
    if (pass != nullptr)
      passes.push_back(*pass);
    else
      unknown.push_back(Diagnostic{fmt::format("unknown pass '{}', expected one of {}", name,
                                               fmt::join(known_names(more), ", "))});
  }
  if (!unknown.empty()) return unknown;
  return passes;
}

PassRunner::PassRunner(const Graph& graph, std::vector<Pass> passes, RunnerOptions options)
    : passes_(std::move(passes)), options_(std::move(options)), report_{graph, {}, std::nullopt} {
  report_.passes.reserve(passes_.size());
}

bool PassRunner::step() {
  if (!begun_) {
    begun_ = true;
    check_input();
  } else if (unchecked_) {
    check_result();
  } else if (at_ < last()) {
    run_pass();
  }
  return !report_.failure && (unchecked_ || at_ < last());
}

std::size_t PassRunner::last() const {
  return std::min(passes_.size(), options_.stop_at.value_or(passes_.size()));
}

void PassRunner::check_input() {
  const Graph& graph = report_.input;
  dump(options_, 0, "input", graph);
  if (const Failures failures = verify(graph); !failures.empty())
    report_.failure =
        PassFailure{"input", fmt::format("the graph that came in has {} failures:\n{}",
                                         failures.size(), print(graph, failures))};
}

void PassRunner::run_pass() {
  const Pass& pass = passes_[at_];
  if (!skips(options_, pass.name)) {
    const auto start = std::chrono::steady_clock::now();
    Unchecked found;
    found.result = pass.run(report_.graph());
    found.regions = run_in_regions(pass, found.result.graph, found.nested);
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    found.milliseconds = time.count();
    unchecked_ = std::move(found);
    return;
  }
  const std::size_t nodes = report_.graph().order().size();
  report_.passes.push_back(
      {std::string(pass.name), true, false, 0, nodes, nodes, {}, report_.graph()});
  dump(options_, ++at_, pass.name, report_.graph());
}

// On a violation sets report_.failure and adds nothing.
void PassRunner::check_result() {
  const Pass& pass = passes_[at_];
  const Graph& before = report_.graph();
  Unchecked found = std::move(*unchecked_);
  PassResult& result = found.result;
  unchecked_.reset();
  auto wrong = contract_violation(before, result);
  for (const RegionPass& run : found.nested)
    if (auto fault = wrong ? std::nullopt : contract_violation(run.before, run.result))
      wrong = fmt::format("in the nested graph '{}': {}", run.region, *fault);
  if (wrong) {
    report_.failure = PassFailure{std::string(pass.name), std::move(*wrong)};
    return;
  }
  if (found.regions != nullptr) result.graph = with_regions(result.graph, found.regions);
  PassReport done{std::string(pass.name),
                  false,
                  result.changed || found.regions != nullptr,
                  found.milliseconds,
                  before.order().size(),
                  0,
                  {},
                  std::move(result.graph)};
  for (RegionPass& run : found.nested)
    if (run.result.changed)
      done.regions.push_back(
          {std::move(run.region), std::move(run.result.changes), std::move(run.result.rules)});
  done.nodes_after = done.graph.order().size();
  done.changes = std::move(result.changes);
  done.rules = std::move(result.rules);
  report_.passes.push_back(std::move(done));
  dump(options_, ++at_, pass.name, report_.graph());
}

}  // namespace recut
