// recut run --device cuda: a planned training step on an NVIDIA card, measured beside its plan.
#include <fmt/core.h>

#include <algorithm>

#include "engine/support/units.h"
#include "engine/workspace/scheduling.h"
#include "native/commands/card_options.h"
#include "native/commands/card_profile.h"
#include "native/commands/command.h"
#include "native/commands/run_arguments.h"
#include "native/commands/run_report.h"
#include "native/cuda/attention_call.h"
#include "native/cuda/execution.h"

namespace recut::native {
namespace {

// How many times quicker a step of convolutions is with their channels last, at least:
// resnet50 1.09, unet 1.23 on one H100.
constexpr double kWonByLayout = 1.09;

class CudaRun {
 public:
  CudaRun(const RunCommand& command, const Console& console, cuda::SharedCard card)
      : command_(command), console_(console), card_(std::move(card)) {}

  int run() {
    const auto most = most_workspace(command_.workspace);
    if (!most) return console_.complain(most.diagnostics());
    most_workspace_ = *most;
    auto planned = plan();
    if (!planned) return console_.complain(planned.diagnostics());
    const auto& [document, scheduled] = *planned;
    if (!scheduled.holds()) return refuse_arena(document, scheduled, command_.json, console_);
    const auto step = compile(document, scheduled);
    if (!step) return console_.complain(step.diagnostics());
    return execute(document, *step);
  }

 private:
  struct Planned {
    Document document;
    ScheduledPlan scheduled;
  };

  cuda::Precision precision() const { return cuda::precision_named(command_.precision); }

  // The libraries that were asked are closed again before the step runs.
  Result<cuda::ReadyStep> compile(const Document& document, const ScheduledPlan& scheduled) const {
    console_.say("compiling");
    cuda::StepCache steps(
        usual_store(command_, console_), card_,
        {.library = !command_.no_library,
         .library_takes = cuda::library_takes(card_, {precision(), most_workspace_}),
         .lower = cuda::lower_options(card_->sm_limits())},
        cuda::factors_of(precision()));
    auto step = steps.compile(document, scheduled);
    console_.say("");
    for (const std::string& note : steps.notes()) console_.err << "note: " << note << "\n";
    return step;
  }

  // Copies in another layout take room, too: where the budget hasn't that, or recomputation costs
  // more than channels that lie last save, convolutions stay as they are.
  Result<Planned> plan() {
    auto planned = plan(true);
    if (!planned || !lays_out(planned->document)) return planned;
    const bool held = planned->scheduled.holds();
    if (held && lengthened(planned->scheduled) <= kWonByLayout) return planned;
    auto plain = plan(false);
    if (!plain || !is_better(plain->scheduled, planned->scheduled)) return planned;
    if (plain->scheduled.holds())
      console_.err << (held ? "note: within the budget convolutions are no quicker with their "
                              "channels last: they stay as the graph has them\n"
                            : "note: with their channels last, convolutions don't fit the budget: "
                              "they stay as the graph has them\n");
    return plain;
  }

  static bool is_better(const ScheduledPlan& plain, const ScheduledPlan& laid_out) {
    if (plain.holds() != laid_out.holds()) return plain.holds();
    if (!plain.holds()) return plain.planned.report.peak_bytes < laid_out.planned.report.peak_bytes;
    return kWonByLayout * lengthened(plain) < lengthened(laid_out);
  }

  // How many times longer the step is by what is computed again.
  static double lengthened(const ScheduledPlan& scheduled) {
    const PlanReport& report = scheduled.planned.report;
    return report.step_us / report.step_us_unplanned;
  }

  Result<Planned> plan(bool channels_last) {
    auto document = open(channels_last);
    if (!document) return document.diagnostics();
    const auto request = scheduling(*document);
    if (!request) return request.diagnostics();
    if (!command_.no_library) cuda::add_attention_workspaces(planned_graph(*document));
    console_.say("planning");
    auto scheduled = schedule_document(*document, *request);
    if (!scheduled) return scheduled.diagnostics();
    return Planned{std::move(*document), std::move(*scheduled)};
  }

  static bool lays_out(const Document& document) {
    const auto& passes = document.passes.passes;
    return std::any_of(passes.begin(), passes.end(), [](const PassReport& pass) {
      return pass.name == "channels_last" && pass.changed;
    });
  }

  // Products that libraries take are padded by what the card's profile says of them.
  Result<Document> open(bool channels_last) const {
    GraphArguments graph = command_.graph;
    if (!channels_last) graph.skip += graph.skip.empty() ? "channels_last" : ",channels_last";
    if (!command_.no_library) {
      const auto found = profile(nullptr);
      if (!found) return found.diagnostics();
      graph.card = found->profile;
      graph.card->runs_step = true;
      graph.card->f32_uses_tf32 = precision() != cuda::Precision::f32;
    }
    return graph.open_joint(console_);
  }

  // The one that is named, or the card's; with a graph, that of its kernels where there is one:
  // they are measured with the libraries' products of f32 and of tf32.
  Result<FoundProfile> profile(const Graph* graph) const {
    const std::string& named = command_.plan.device;
    return profile_on_card(named == kMeasuredDevice ? "" : named, card_->name(),
                           command_.no_library ? nullptr : graph, precision());
  }

  // By that profile; its workspaces become the graph's.
  Result<SchedulingRequest> scheduling(Document& document) {
    SchedulingRequest request{command_.plan.request(), {}};
    request.planning.cost_model = "fused";
    if (command_.plan.device == kMeasuredDevice) return request;
    auto found = profile(&document.graph());
    if (!found) return found.diagnostics();
    request.planning.profile = std::move(found->profile);
    if (found->known) set_ceilings(*request.planning.profile);
    if (command_.no_library) return request;
    if (auto done = add_workspaces(document, *request.planning.profile, most_workspace_); !done)
      return done.diagnostics();
    return request;
  }

  void set_ceilings(const DeviceProfile& profile) {
    ceilings_ = {profile.name, profile.title, profile.peaks, profile.source};
  }

  int execute(const Document& document, const cuda::ReadyStep& step) const {
    const auto tensors = read_tensors(command_.tensors, document.file);
    if (!tensors) return console_.complain(tensors.diagnostics());
    cuda::ExecutionRequest request;
    request.tensors = (*tensors)->tensors;
    request.seed = command_.seed;
    request.steps = command_.steps;
    request.check = command_.check;
    request.keep_outputs = !command_.out_tensors.empty();
    request.calls = {precision(), most_workspace_, command_.nondeterministic};
    if (ceilings_) request.ceilings = ceilings_->peaks;
    request.progress = [&](std::string_view what) { console_.say(what); };
    const auto execution = cuda::execute(document, step, request);
    console_.say("");
    if (const cuda::KeptWays* ways = step.step.ways())
      for (const std::string& note : ways->notes()) console_.err << "note: " << note << "\n";
    if (!execution) return console_.complain(execution.diagnostics());
    if (const auto written = write_outputs(command_, execution->values); !written)
      return console_.complain(written.diagnostics());
    const RunReport report = report_of(*execution, step.step.program().budget_bytes);
    console_.out << (command_.json ? as_json(report) : as_text(report));
    return execution->holds() && (!command_.check || execution->agrees()) ? kDone : kCheckFailed;
  }

  RunReport report_of(const cuda::Execution& e, std::int64_t budget_bytes) const {
    const std::string graph = e.not_recorded.empty()
                                  ? "one graph of all launches"
                                  : "launched kernel by kernel: " + e.not_recorded;
    return {
        e,
        e.origin,
        command_.steps,
        command_.check,
        ceilings_,
        card_->name(),
        "cuBLASLt and cuDNN",
        fmt::format("libraries may take {} bytes beside the arena\n"
                    "card {} bytes taken of {} free before, {} in all: the step with its "
                    "inputs, code and libraries\n{}, {} products{}\n",
                    format_count(e.scratch_limit_bytes), format_count(e.taken_bytes),
                    format_count(e.card.free), format_count(e.card.total), graph,
                    command_.precision,
                    precision() == cuda::Precision::bf16 ? ", tf32 convolutions" : ""),
        {{"card", card_->name()},
         {"capability", card_->capability()},
         {"driver", card_->driver_version()},
         {"precision", command_.precision},
         {"precision_of_convolutions",
          precision() == cuda::Precision::bf16 ? "tf32" : command_.precision},
         {"recorded", e.not_recorded.empty()},
         {"budget_bytes", budget_bytes},
         {"scratch_limit_bytes", e.scratch_limit_bytes},
         {"card_bytes_taken", e.taken_bytes},
         {"card_bytes_free_before", e.card.free},
         {"card_bytes", e.card.total}},
        "no profile is of this card: recut calibrate --device cuda measures one, by which it is "
        "planned, too\n"};
  }

  const RunCommand& command_;
  const Console& console_;
  cuda::SharedCard card_;
  std::int64_t most_workspace_ = 0;
  std::optional<Ceilings> ceilings_;
};

}  // namespace

int run_on_card(const RunCommand& command, const Console& console, cuda::SharedCard card) {
  return CudaRun(command, console, std::move(card)).run();
}

int run_on_cuda(const RunCommand& command, const Console& console) {
  auto card = cuda::Card::open();
  if (!card) return console.complain(card.diagnostics());
  return run_on_card(command, console, std::move(*card));
}

}  // namespace recut::native
