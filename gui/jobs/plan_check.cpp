#include "gui/jobs/plan_check.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/partition/baseline.h"
#include "engine/partition/replay.h"
#include "engine/support/text.h"
#include "engine/support/units.h"

namespace recut::gui {
namespace {

class Check {
 public:
  Check(const Document& document, const PlanCheck& check, const CheckProgress& progress,
        std::optional<std::int64_t> room)
      : document_(document), check_(check), progress_(progress), room_(room) {}

  Result<CheckFigures> run() {
    (void)progress_(0, "making the inputs");
    const Result<Done> read = read_tensors();
    if (!read) return read.diagnostics();
    const bool given = std::any_of(tensors_.begin(), tensors_.end(), [](const NamedTensor& tensor) {
      return tensor.name.rfind("out.", 0) == 0;
    });
    figures_.given = given;
    figures_.expected =
        given ? "the file's outputs" : fmt::format("{}, in program order", reference());
    const auto fits = fits_into_room(given);
    if (!fits) return fits.diagnostics();
    if (!given) {
      const Result<Done> made = expect_from_input();
      if (!made) return made.diagnostics();
    }
    const std::vector<NamedTensor> values = with_file(document_.file.tensors);
    EvaluationRequest request = request_for(values, given ? 0 : 0.5, given ? 1 : 0.5, "the plan");
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
    return leaves_folded_weights();
  }

  // A folded weight has the value that it had when it was folded.
  Result<Done> leaves_folded_weights() const {
    if (!document_.frozen) return Done{};
    for (const FrozenWeight& weight : document_.frozen->weights)
      for (const NamedTensor& tensor : tensors_)
        if (!weight.into.empty() && tensor.name == "in." + weight.name)
          return Diagnostic{
              fmt::format("tensor {} is of a weight that is folded into {}, by the value in the "
                          "graph's file: leave the tensor out, or switch freezing off",
                          quote(tensor.name), quote(weight.into.front())),
              check_.tensors_name, 0, 0};
    return Done{};
  }

  std::int64_t input_bytes() const {
    const Graph& graph = document_.graph();
    std::int64_t bytes = 0;
    for (const NodeId id : graph.inputs()) bytes += byte_size(graph.type(id));
    return bytes;
  }

  std::int64_t least_bytes_of_reference() const {
    return input_bytes() + baseline_step(document_.reference_graph()).peak_bytes;
  }

  std::int64_t least_bytes_of_plan() const {
    const auto replayed = replay(document_.graph(), check_.plan);
    return input_bytes() + (replayed ? replayed->peak_bytes : 0);
  }

  // The run of the plan alone, or also the reference's run before it, which takes more.
  Result<Done> fits_into_room(bool plan_alone) const {
    if (!room_) return Done{};
    const std::int64_t bytes = plan_alone ? least_bytes_of_plan() : least_bytes_of_reference();
    if (bytes <= *room_) return Done{};
    return error(fmt::format(
        "the check needs at least {} for the graph's inputs and its peak, and there is room for "
        "{}: open a graph of a smaller batch, or check this one by recut eval",
        format_bytes(bytes), format_bytes(*room_)));
  }

  std::string_view reference() const {
    if (document_.loss) return "the training step before the passes";
    if (!document_.differentiated) return "the graph as read";
    return document_.differentiated == GradMode::forward ? "the dual numbers before the passes"
                                                         : "the joint graph before the passes";
  }

  // Computes the expected outputs: the program before its passes, on the same inputs.
  Result<Done> expect_from_input() {
    const std::vector<NamedTensor> values = with_file(document_.reference_tensors());
    auto evaluated =
        evaluate_graph(document_.reference_graph(), request_for(values, 0, 0.5, reference()));
    if (!evaluated) return evaluated.diagnostics();
    reference_ = std::move(*evaluated);
    tensors_.insert(tensors_.end(), reference_.tensors.begin(), reference_.tensors.end());
    return Done{};
  }

  // The given tensors, which precede those of the graph's file.
  std::vector<NamedTensor> with_file(const std::vector<NamedTensor>& file) const {
    std::vector<NamedTensor> tensors = tensors_;
    tensors.insert(tensors.end(), file.begin(), file.end());
    return tensors;
  }

  EvaluationRequest request_for(std::span<const NamedTensor> values, double from, double share,
                                std::string_view what) {
    EvaluationRequest request;
    request.tensors = values;
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
  const std::optional<std::int64_t> room_;
  CheckFigures figures_;
  std::vector<NamedTensor> tensors_;  // views of check_.tensors and of reference_
  EvaluationReport reference_;
};

}  // namespace

Result<CheckFigures> check_plan(const Document& document, const PlanCheck& check,
                                const CheckProgress& progress, std::optional<std::int64_t> room) {
  return Check(document, check, progress, room).run();
}

}  // namespace recut::gui
