#include "gui/jobs/plan_check.h"

#include <fmt/core.h>

#include <algorithm>

namespace recut::gui {
namespace {

class Check {
 public:
  Check(const Document& document, const PlanCheck& check, const CheckProgress& progress)
      : document_(document), check_(check), progress_(progress) {}

  Result<CheckFigures> run() {
    (void)progress_(0, "making the inputs");
    const Result<Done> read = read_tensors();
    if (!read) return read.diagnostics();
    const bool given = std::any_of(tensors_.begin(), tensors_.end(), [](const NamedTensor& tensor) {
      return tensor.name.rfind("out.", 0) == 0;
    });
    figures_.expected =
        given ? "the file's outputs" : fmt::format("{}, in program order", reference());
    if (!given) {
      const Result<Done> made = expect_from_input();
      if (!made) return made.diagnostics();
    }
    EvaluationRequest request = request_for(given ? 0 : 0.5, given ? 1 : 0.5, "the plan");
    request.plan = &check_.plan;
    auto evaluated = evaluate_graph(document_.graph(), request);
    if (!evaluated) return evaluated.diagnostics();
    figures_.outputs = std::move(evaluated->outputs);
    figures_.measured_peak_bytes = evaluated->measured_peak_bytes;
    figures_.seconds = evaluated->seconds;
    return std::move(figures_);
  }

 private:
  Result<Done> read_tensors() {
    figures_.inputs = fmt::format("seed {}", check_.seed);
    if (!check_.tensors) return Done{};
    auto tensors = parse_safetensors(*check_.tensors, check_.tensors_name);
    if (!tensors) return tensors.diagnostics();
    tensors_ = std::move(*tensors);
    figures_.inputs = check_.tensors_name;
    return Done{};
  }

  std::string_view reference() const {
    if (document_.loss) return "the training step before the passes";
    return document_.differentiated ? "the joint graph before the passes" : "the graph as read";
  }

  // What the program before its passes makes of the same inputs.
  Result<Done> expect_from_input() {
    auto evaluated = evaluate_graph(document_.written(), request_for(0, 0.5, reference()));
    if (!evaluated) return evaluated.diagnostics();
    reference_ = std::move(*evaluated);
    tensors_.insert(tensors_.end(), reference_.tensors.begin(), reference_.tensors.end());
    return Done{};
  }

  EvaluationRequest request_for(double from, double share, std::string_view what) {
    EvaluationRequest request;
    request.tensors = tensors_;
    if (!check_.tensors) request.seed = check_.seed;
    request.progress = [this, from, share, what](std::size_t step, std::size_t steps) {
      const double done = steps == 0 ? 0 : static_cast<double>(step) / static_cast<double>(steps);
      return progress_(from + share * done,
                       fmt::format("{}, step {} of {}", what, step + 1, steps));
    };
    return request;
  }

  const Document& document_;
  const PlanCheck& check_;
  const CheckProgress& progress_;
  CheckFigures figures_;
  std::vector<NamedTensor> tensors_;  // views of check_.tensors and of reference_
  EvaluationReport reference_;
};

}  // namespace

Result<CheckFigures> check_plan(const Document& document, const PlanCheck& check,
                                const CheckProgress& progress) {
  return Check(document, check, progress).run();
}

}  // namespace recut::gui
