#include "gui/app/check_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "gui/app/app.h"

namespace recut::gui {
namespace {

std::string file_name(const std::string& path) {
  const std::size_t cut = path.find_last_of("/\\:");
  return cut == std::string::npos ? path : path.substr(cut + 1);
}

// The run of one check, off the frame.
class Check {
 public:
  Check(Backend& backend, SharedPlanView plan, CheckInputs inputs, JobControl& control)
      : backend_(backend), plan_(std::move(plan)), inputs_(std::move(inputs)), control_(control) {}

  Result<std::shared_ptr<const CheckReport>> run() {
    control_.progress(0, "making the inputs");
    auto report = std::make_shared<CheckReport>();
    report->plan = plan_;
    report->planned_peak_bytes = plan_->report().eager_peak_bytes;
    const Result<Done> read = read_tensors(*report);
    if (!read) return read.diagnostics();
    const bool given = std::any_of(tensors_.begin(), tensors_.end(), [](const NamedTensor& tensor) {
      return tensor.name.rfind("out.", 0) == 0;
    });
    report->expected = given ? "the file's outputs" : "the graph as read, in program order";
    if (!given) {
      const Result<Done> made = expect_from_input();
      if (!made) return made.diagnostics();
    }
    EvaluationRequest request = request_for(given ? 0 : 0.5, given ? 1 : 0.5, "the plan");
    request.plan = &plan_->planned.plan;
    auto evaluated = evaluate_graph(plan_->graph(), request);
    if (!evaluated) return evaluated.diagnostics();
    report->outputs = std::move(evaluated->outputs);
    report->measured_peak_bytes = evaluated->measured_peak_bytes;
    report->seconds = evaluated->seconds;
    return std::shared_ptr<const CheckReport>(std::move(report));
  }

 private:
  Result<Done> read_tensors(CheckReport& report) {
    report.inputs = fmt::format("seed {}", inputs_.seed);
    if (inputs_.path.empty()) return Done{};
    if (!inputs_.bytes) {
      auto read = backend_.read(inputs_.path);
      if (!read && inputs_.may_lack) return Done{};
      if (!read) return read.diagnostics();
      inputs_.bytes = std::make_shared<const std::string>(std::move(*read));
    }
    auto tensors = parse_safetensors(*inputs_.bytes, file_name(inputs_.path));
    if (!tensors) return tensors.diagnostics();
    tensors_ = std::move(*tensors);
    seeded_ = false;
    report.inputs = file_name(inputs_.path);
    return Done{};
  }

  // What the graph as it was read makes of the same inputs.
  Result<Done> expect_from_input() {
    auto evaluated =
        evaluate_graph(plan_->document->passes.input, request_for(0, 0.5, "the graph as read"));
    if (!evaluated) return evaluated.diagnostics();
    reference_ = std::move(*evaluated);
    tensors_.insert(tensors_.end(), reference_.tensors.begin(), reference_.tensors.end());
    return Done{};
  }

  EvaluationRequest request_for(double from, double share, std::string_view what) {
    EvaluationRequest request;
    request.tensors = tensors_;
    if (seeded_) request.seed = inputs_.seed;
    request.progress = [this, from, share, what, last = -1](std::size_t step,
                                                            std::size_t steps) mutable {
      const int percent = steps == 0 ? 0 : static_cast<int>(100 * step / steps);
      if (percent != last)
        control_.progress(from + share * percent / 100,
                          fmt::format("{}, step {} of {}", what, step + 1, steps));
      last = percent;
      return !control_.cancelled();
    };
    return request;
  }

  Backend& backend_;
  const SharedPlanView plan_;
  CheckInputs inputs_;
  JobControl& control_;
  bool seeded_ = true;
  std::vector<NamedTensor> tensors_;  // views of inputs_.bytes and of reference_
  EvaluationReport reference_;
};

}  // namespace

std::size_t CheckReport::differing() const {
  return static_cast<std::size_t>(std::count_if(
      outputs.begin(), outputs.end(), [](const OutputComparison& output) { return !output.ok(); }));
}

CheckView& check_view(DocumentView& document) {
  std::any& slot = document.memories[std::string(kCheckMemory)];
  if (!slot.has_value()) slot = CheckView();
  return std::any_cast<CheckView&>(slot);
}

std::string tensors_beside(const std::string& path) {
  std::string stem = path;
  for (const std::string_view ending : {".gz", ".json", ".recut"})
    if (stem.size() > ending.size() &&
        stem.compare(stem.size() - ending.size(), ending.size(), ending) == 0)
      stem.resize(stem.size() - ending.size());
  return stem + ".safetensors";
}

void start_check(App& app, DocumentView& document, CheckInputs inputs) {
  CheckView& view = check_view(document);
  app.jobs.cancel(view.job);
  view.faults.clear();
  Job job{fmt::format("Checking {}", document.title), document.serial, false, false, {}};
  job.part = [&app, serial = document.serial, plan = document.shown,
              inputs = std::move(inputs)](JobControl& control) {
    const auto report = Check(app.backend, plan, inputs, control).run();
    control.post([&app, serial, report] {
      DocumentView* document = app.documents.find(serial);
      if (document == nullptr) return;
      CheckView& view = check_view(*document);
      if (report) view.report = *report;
      if (!report) view.faults = report.diagnostics();
    });
    return false;
  };
  view.job = app.jobs.start(std::move(job));
}

}  // namespace recut::gui
