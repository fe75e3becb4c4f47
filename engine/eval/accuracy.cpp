#include "engine/eval/accuracy.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "engine/eval/double_graph.h"
#include "engine/eval/inputs.h"
#include "engine/eval/output_judge.h"
#include "engine/eval/tolerance.h"

namespace recut {
namespace {

bool has_f32(const Graph& graph) {
  return std::any_of(graph.order().begin(), graph.order().end(), [&](NodeId id) {
    const auto& types = graph[id].outputs;
    return std::any_of(types.begin(), types.end(),
                       [](const TensorType& type) { return type.dtype == DType::f32; });
  });
}

class OutputsJudge {
 public:
  OutputsJudge(const Graph& graph, const Inputs& inputs, const EvaluateOptions& options,
               std::span<const Tensor> found, double allowed)
      : graph_(graph), inputs_(inputs), options_(options), found_(found), allowed_(allowed) {}

  Result<Accuracy> run() {
    auto own = evaluated(graph_, inputs_, {}, 0, 2);
    if (!own) return own.diagnostics();
    own_ = std::move(*own);
    if (auto done = evaluate_exact(); !done) return done.diagnostics();
    for (std::size_t i = 0; i < own_.size(); ++i)
      if (own_[i].exists()) judge(i);
    if (!all_ok(accuracy_.outputs))
      if (auto done = judge_by_random_rounding(); !done) return done.diagnostics();
    return std::move(accuracy_);
  }

 private:
  using Outputs = std::vector<Tensor>;

  // The outputs of evaluation `number` of `of`, which share the progress.
  Result<Outputs> evaluated(const Graph& graph, const Inputs& inputs,
                            const std::optional<RandomRounding>& rounding, std::size_t number,
                            std::size_t of) {
    EvaluateOptions options = options_;
    options.rounding = rounding;
    if (options_.progress)
      options.progress = [&, number, of](std::size_t step, std::size_t steps) {
        const bool goes_on = options_.progress(number * steps + step, of * steps);
        ended_ = ended_ || !goes_on;
        return goes_on;
      };
    auto evaluation = evaluate(graph, inputs, options);
    if (!evaluation) return evaluation.diagnostics();
    return std::move(evaluation->outputs);
  }

  Result<Done> evaluate_exact() {
    if (!has_f32(graph_)) {
      accuracy_.no_f64 = "the graph has no values of f32";
      return Done{};
    }
    const DoubleGraph in_f64(graph_);
    auto exact = evaluated(in_f64.graph(), in_f64.inputs(inputs_), {}, 1, 2);
    if (!exact && ended_) return exact.diagnostics();
    if (exact)
      exact_ = std::move(*exact);
    else
      accuracy_.no_f64 = exact.diagnostics().front().message;
    return Done{};
  }

  OutputValues values_of(std::size_t i) const {
    return {found_[i], own_[i], exact_.empty() ? own_[i] : exact_[i], !exact_.empty()};
  }

  void judge(std::size_t i) {
    OutputComparison& output = accuracy_.outputs.emplace_back();
    output.position = i;
    output.gradient = i >= graph_.results.size();
    output.name = graph_.node_name(output.gradient ? graph_.gradients[i - graph_.results.size()]
                                                   : graph_.results[i]);
    judge_output(values_of(i), allowed_, output);
  }

  // Evaluates under random rounding of both signs. An evaluation that fails, such as by an index
  // that rounding moves out of range, explains nothing.
  Result<Done> judge_by_random_rounding() {
    const double share =
        RandomRounding().share * std::max(1.0, allowed_ / kUsualTolerance.relative);
    std::vector<Outputs> runs;
    for (const double signed_share : {share, -share}) {
      const RandomRounding rounding{options_.seed, signed_share};
      auto outputs = evaluated(graph_, perturbed(inputs_, options_.seed, signed_share), rounding,
                               2 + runs.size(), 4);
      if (ended_) return outputs.diagnostics();
      if (outputs) runs.push_back(std::move(*outputs));
    }
    if (runs.empty()) return Done{};
    for (OutputComparison& output : accuracy_.outputs) {
      if (output.ok()) continue;
      std::vector<Tensor> perturbed_values;
      for (const Outputs& outputs : runs) perturbed_values.push_back(outputs[output.position]);
      judge_by_perturbation(values_of(output.position), perturbed_values, allowed_, output);
    }
    return Done{};
  }

  const Graph& graph_;
  const Inputs& inputs_;
  const EvaluateOptions& options_;
  std::span<const Tensor> found_;
  double allowed_;
  bool ended_ = false;
  Outputs own_, exact_;
  Accuracy accuracy_;
};

}  // namespace

Result<Accuracy> judge_outputs(const Graph& graph, const Inputs& inputs,
                               const EvaluateOptions& options, std::span<const Tensor> found,
                               double allowed) {
  return OutputsJudge(graph, inputs, options, found, allowed).run();
}

std::string_view name_of(ErrorBound bound) {
  switch (bound) {
    case ErrorBound::dtype:
      return "dtype";
    case ErrorBound::interpreter:
      return "interpreter";
    case ErrorBound::perturbed:
      return "perturbed";
    case ErrorBound::none:
      break;
  }
  return "exceeded";
}

std::string accuracy_text(const OutputComparison& output) {
  const Comparison& c = output.comparison;
  std::string text = fmt::format("{} '{}': ", output.gradient ? "gradient" : "result", output.name);
  if (!c.problem.empty()) text += c.problem + "; ";
  text += fmt::format("relative error {:.1e}, the interpreter's own {:.1e}", c.relative_error,
                      output.interpreter_error);
  if (output.perturbed_error > 0)
    text += fmt::format(", by random rounding {:.1e}", output.perturbed_error);
  if (c.worst)
    text += fmt::format("; element {} is {:.6g}, expected {:.6g}", c.worst->index, c.worst->found,
                        c.worst->expected);
  return text;
}

}  // namespace recut
