#include "engine/passes/bisect.h"

#include "engine/eval/compare.h"
#include "engine/eval/evaluator.h"
#include "engine/eval/inputs.h"
#include "engine/passes/pass_table.h"
#include "engine/passes/runner.h"

namespace recut {
namespace {

class BisectSearch {
 public:
  BisectSearch(const Graph& graph, std::span<const Pass> passes, const RunnerOptions& options,
               const GraphCheck& check)
      : report_(run_passes(graph, passes, options)), check_(check) {}

  Result<Bisection> run() {
    if (report_.failure && report_.failure->pass == "input") return broken();
    const auto begins = good(report_.input);
    if (!begins) return begins.diagnostics();
    if (!*begins) {
      found_.verdict = Bisection::Verdict::input_bad;
      found_.bad = report_.input;
      return found_;
    }
    const auto ends = good(report_.graph());
    if (!ends) return ends.diagnostics();
    if (*ends) return report_.failure ? broken() : found_;
    return find_pass();
  }

 private:
  Result<bool> good(const Graph& graph) {
    ++found_.checks;
    return check_(graph);
  }

  Bisection broken() {
    found_.verdict = Bisection::Verdict::contract_violation;
    found_.pass = report_.failure->pass;
    found_.failure = report_.failure->message;
    found_.good = report_.graph();
    return found_;
  }

  const Graph& before(std::size_t pass) const {
    return pass == 0 ? report_.input : report_.passes[pass - 1].graph;
  }

  // The first `low` passes give a good graph, the first `high` a bad one.
  Result<Bisection> find_pass() {
    std::size_t low = 0, high = report_.passes.size();
    while (high - low > 1) {
      const std::size_t middle = low + (high - low) / 2;
      const auto is_good = good(before(middle));
      if (!is_good) return is_good.diagnostics();
      (*is_good ? low : high) = middle;
    }
    const PassReport& guilty = report_.passes[low];
    found_.verdict = Bisection::Verdict::guilty_pass;
    found_.pass = guilty.name;
    found_.changes = guilty.change_count();
    found_.good = before(low);
    found_.bad = guilty.graph;
    return find_change(guilty);
  }

  // A prefix of the changes is meaningful only if all of them together give the pass's own graph.
  // Node names may differ: a change that is not applied yet may still hold the name.
  Result<Bisection> find_change(const PassReport& pass) {
    if (!pass.regions.empty()) return found_;  // changes of nested graphs come with their graph
    const Graph from = *found_.good;
    std::size_t low = 0, high = pass.changes.size();
    const auto whole = with_changes(from, pass, high);
    if (high == 0 || !whole || !same_calls(*whole, pass.graph)) return found_;
    while (high - low > 1) {
      const std::size_t middle = low + (high - low) / 2;
      const auto part = with_changes(from, pass, middle);
      if (!part) return found_;
      const auto is_good = good(*part);
      if (!is_good) return is_good.diagnostics();
      (*is_good ? low : high) = middle;
      (*is_good ? found_.good : found_.bad) = *part;
    }
    found_.verdict = Bisection::Verdict::guilty_change;
    found_.change = pass.changes[low];
    found_.node = from.node_name(found_.change->before);
    found_.change_number = high;
    return found_;
  }

  static bool same_calls(const Graph& a, const Graph& b) {
    const auto x = a.order();
    const auto y = b.order();
    if (a.results != b.results || a.gradients != b.gradients || x.size() != y.size()) return false;
    for (const NodeId id : x)
      if (!b.contains(id)) return false;
    return true;
  }

  const PipelineReport report_;
  const GraphCheck& check_;
  Bisection found_;
};

}  // namespace

Result<Bisection> bisect_passes(const Graph& graph, std::span<const Pass> passes,
                                const RunnerOptions& options, const GraphCheck& check) {
  return BisectSearch(graph, passes, options, check).run();
}

Result<GraphCheck> same_values_check(const Graph& original, std::span<const NamedTensor> tensors,
                                     std::optional<std::uint64_t> seed) {
  auto inputs = inputs_from(original, tensors, seed);
  if (!inputs) return inputs.diagnostics();
  EvaluateOptions options;
  options.seed = seed.value_or(0);
  auto expected = evaluate(original, *inputs, options);
  if (!expected) return expected.diagnostics();
  return GraphCheck([inputs = std::move(*inputs), expected = std::move(expected->outputs),
                     options](const Graph& graph) -> Result<bool> {
    const auto found = evaluate(graph, inputs, options);
    if (!found || found->outputs.size() != expected.size()) return false;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (expected[i].exists() != found->outputs[i].exists()) return false;
      if (expected[i].exists() && !compare(found->outputs[i], expected[i]).ok) return false;
    }
    return true;
  });
}

}  // namespace recut
