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

// The reason for a reference in the own dtypes: nothing to widen.
constexpr const char* kNoF32 = "the graph has no values of f32";

class OutputsJudge {
 public:
  OutputsJudge(std::span<const JudgedOutput> outputs, const EvaluateForm& evaluate,
               std::span<const Tensor> found, double allowed)
      : outputs_(outputs), evaluate_(evaluate), found_(found), allowed_(allowed) {}

  // `ended`: an evaluation failed since the caller ended it.
  Result<Accuracy> run(const bool& ended) {
    auto own = evaluate_({});
    if (!own) return own.diagnostics();
    own_ = std::move(*own);
    auto exact = evaluate_({true, {}});
    if (!exact && ended) return exact.diagnostics();
    if (exact)
      exact_ = std::move(*exact);
    else
      accuracy_.no_f64 = exact.diagnostics().front().message;
    for (std::size_t i = 0; i < own_.size(); ++i)
      if (own_[i].exists()) judge(i);
    if (!all_ok(accuracy_.outputs))
      if (auto done = judge_by_random_rounding(ended); !done) return done.diagnostics();
    return std::move(accuracy_);
  }

 private:
  using Outputs = std::vector<Tensor>;

  OutputValues values_of(std::size_t i) const {
    return {found_[i], own_[i], exact_.empty() ? own_[i] : exact_[i], !exact_.empty()};
  }

  void judge(std::size_t i) {
    OutputComparison& output = accuracy_.outputs.emplace_back();
    output.position = i;
    output.gradient = outputs_[i].gradient;
    output.name = outputs_[i].name;
    judge_output(values_of(i), allowed_, output);
  }

  // Evaluates under random rounding of both signs. An evaluation that fails, such as by an index
  // that rounding moves out of range, explains nothing.
  Result<Done> judge_by_random_rounding(const bool& ended) {
    const double share =
        RandomRounding().share * std::max(1.0, allowed_ / kUsualTolerance.relative);
    std::vector<Outputs> runs;
    for (const double signed_share : {share, -share}) {
      auto outputs = evaluate_({false, signed_share});
      if (ended) return outputs.diagnostics();
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

  std::span<const JudgedOutput> outputs_;
  const EvaluateForm& evaluate_;
  std::span<const Tensor> found_;
  double allowed_;
  Outputs own_, exact_;
  Accuracy accuracy_;
};

// Evaluations of one graph. They share the progress: two, or four with random rounding.
class GraphForms {
 public:
  GraphForms(const Graph& graph, const Inputs& inputs, const EvaluateOptions& options)
      : graph_(graph), inputs_(inputs), options_(options) {}

  Result<std::vector<Tensor>> operator()(const EvaluationForm& form) {
    if (form.f64 && !has_f32(graph_)) return error(kNoF32);
    if (form.f64) {
      const DoubleGraph in_f64(graph_);
      return evaluated(in_f64.graph(), in_f64.inputs(inputs_), {}, 1, 2);
    }
    if (!form.random_share) return evaluated(graph_, inputs_, {}, 0, 2);
    const RandomRounding rounding{options_.seed, *form.random_share};
    return evaluated(graph_, perturbed(inputs_, options_.seed, *form.random_share), rounding,
                     *form.random_share > 0 ? 2 : 3, 4);
  }

  const bool& ended() const { return ended_; }

 private:
  // The outputs of evaluation `number` of `of`.
  Result<std::vector<Tensor>> evaluated(const Graph& graph, const Inputs& inputs,
                                        const std::optional<RandomRounding>& rounding,
                                        std::size_t number, std::size_t of) {
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

  const Graph& graph_;
  const Inputs& inputs_;
  const EvaluateOptions& options_;
  bool ended_ = false;
};

std::vector<JudgedOutput> judged_outputs(const Graph& graph) {
  std::vector<JudgedOutput> outputs;
  for (const auto* list : {&graph.results, &graph.gradients})
    for (const NodeId id : *list)
      outputs.push_back({id.valid() ? std::string(graph.node_name(id)) : std::string(),
                         list == &graph.gradients});
  return outputs;
}

}  // namespace

Result<Accuracy> judge_outputs(const Graph& graph, const Inputs& inputs,
                               const EvaluateOptions& options, std::span<const Tensor> found,
                               double allowed) {
  GraphForms forms(graph, inputs, options);
  const EvaluateForm evaluate = [&](const EvaluationForm& form) { return forms(form); };
  return OutputsJudge(judged_outputs(graph), evaluate, found, allowed).run(forms.ended());
}

Result<Accuracy> judge_outputs(std::span<const JudgedOutput> outputs, const EvaluateForm& evaluate,
                               std::span<const Tensor> found, double allowed) {
  const bool never_ended = false;
  return OutputsJudge(outputs, evaluate, found, allowed).run(never_ended);
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
