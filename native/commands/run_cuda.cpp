// recut run --device cuda: a planned training step on an NVIDIA card, measured beside its plan.
#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "engine/partition/device_profile.h"
#include "engine/support/check.h"
#include "engine/support/units.h"
#include "engine/workspace/scheduling.h"
#include "native/commands/command.h"
#include "native/commands/run_arguments.h"
#include "native/commands/run_report.h"
#include "native/cuda/execution.h"

namespace recut::native {
namespace {

using Json = nlohmann::ordered_json;

// Prices of cards that no profile is of.
constexpr std::string_view kUsualCard = "h100";

std::string plain(std::string_view name) {
  std::string letters;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)))
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return letters;
}

// The built-in profile whose name is in the card's: "NVIDIA H100 80GB HBM3", "h100".
const BuiltinProfile* profile_of_card(std::string_view card) {
  const std::string name = plain(card);
  for (const BuiltinProfile& profile : builtin_profiles())
    if (name.find(plain(profile.name)) != std::string::npos) return &profile;
  return nullptr;
}

// With the rate of f32 that the libraries' products will have; convolutions are priced like them.
DeviceProfile profile_at(const BuiltinProfile& builtin, cuda::Precision precision) {
  Json json = Json::parse(builtin.json);
  json["f32_uses_tf32"] =
      precision == cuda::Precision::tf32 && json["flops_per_second"].contains("tf32");
  auto profile = parse_device_profile(json.dump(), builtin.name);
  RECUT_CHECK(profile.ok(), "a built-in profile is one");
  if (precision == cuda::Precision::bf16)
    for (DeviceRates* rates : {&profile->rates, &profile->peaks})
      rates->flops_of(DType::f32) = rates->flops_of(DType::bf16);
  return std::move(*profile);
}

class CudaRun {
 public:
  CudaRun(const RunCommand& command, const Console& console, cuda::SharedCard card)
      : command_(command), console_(console), card_(std::move(card)) {}

  int run() {
    if (!command_.workspace.empty()) {
      const auto bytes = parse_bytes(command_.workspace);
      if (!bytes) return console_.complain({error("--workspace takes a number of bytes: 256MiB")});
      most_workspace_ = *bytes;
    }
    const auto document = command_.graph.open_joint(console_);
    if (!document) return console_.complain(document.diagnostics());
    console_.say("planning");
    const auto scheduled = schedule_document(*document, scheduling());
    if (!scheduled) return console_.complain(scheduled.diagnostics());
    if (!scheduled->holds()) return refuse_arena(*scheduled, console_);
    console_.say("compiling");
    cuda::StepCache steps(usual_store(command_, console_), card_,
                          {.library = !command_.no_library, .library_takes = cuda::library_takes},
                          cuda::factors_of(precision()));
    const auto step = steps.compile(*document, *scheduled);
    console_.say("");
    for (const std::string& note : steps.notes()) console_.err << "note: " << note << "\n";
    if (!step) return console_.complain(step.diagnostics());
    return execute(*document, *step);
  }

 private:
  cuda::Precision precision() const {
    if (command_.precision == "bf16") return cuda::Precision::bf16;
    return command_.precision == "tf32" ? cuda::Precision::tf32 : cuda::Precision::f32;
  }

  SchedulingRequest scheduling() {
    SchedulingRequest request{command_.plan.request(), {}};
    request.planning.cost_model = "fused";
    if (!command_.plan.device.empty()) {
      const auto given = find_device(command_.plan.device);
      if (given) ceilings_ = {given->name, given->title, given->peaks};
      return request;
    }
    request.planning.device = kUsualCard;
    const BuiltinProfile* builtin = profile_of_card(card_->name());
    const bool known = builtin != nullptr;
    for (const BuiltinProfile& profile : builtin_profiles())
      if (!known && profile.name == kUsualCard) builtin = &profile;
    request.planning.profile = profile_at(*builtin, precision());
    const DeviceProfile& profile = *request.planning.profile;
    if (known) ceilings_ = {profile.name, profile.title, profile.peaks};
    return request;
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
    request.calls = {precision(), most_workspace_};
    if (ceilings_) request.ceilings = ceilings_->peaks;
    request.progress = [&](std::string_view what) { console_.say(what); };
    const auto execution = cuda::execute(document, step, request);
    console_.say("");
    if (!execution) return console_.complain(execution.diagnostics());
    if (const auto written = write_outputs(command_, execution->values); !written)
      return console_.complain(written.diagnostics());
    const RunReport report = report_of(*execution);
    console_.out << (command_.json ? as_json(report) : as_text(report));
    return execution->holds() && (!command_.check || execution->agrees()) ? kDone : kCheckFailed;
  }

  RunReport report_of(const cuda::Execution& e) const {
    const std::string graph = e.not_recorded.empty()
                                  ? "one graph of all launches"
                                  : "launched kernel by kernel: " + e.not_recorded;
    return {e,
            e.origin,
            command_.steps,
            command_.check,
            ceilings_,
            card_->name(),
            "cuBLASLt and cuDNN",
            fmt::format("card {} bytes taken of {} free before, {} in all: the step with its "
                        "inputs, code and libraries\n{}, {} products{}\n",
                        format_count(e.taken_bytes), format_count(e.card.free),
                        format_count(e.card.total), graph, command_.precision,
                        precision() == cuda::Precision::bf16 ? ", tf32 convolutions" : ""),
            {{"card", card_->name()},
             {"capability", card_->capability()},
             {"driver", card_->driver_version()},
             {"precision", command_.precision},
             {"precision_of_convolutions",
              precision() == cuda::Precision::bf16 ? "tf32" : command_.precision},
             {"recorded", e.not_recorded.empty()},
             {"card_bytes_taken", e.taken_bytes},
             {"card_bytes_free_before", e.card.free},
             {"card_bytes", e.card.total}},
            "no profile is of this card: --profile names one, by which it is planned, too\n"};
  }

  const RunCommand& command_;
  const Console& console_;
  cuda::SharedCard card_;
  std::int64_t most_workspace_ = cuda::kUsualWorkspace;
  std::optional<Ceilings> ceilings_;
};

}  // namespace

int run_on_cuda(const RunCommand& command, const Console& console) {
  auto card = cuda::Card::open();
  if (!card) return console.complain(card.diagnostics());
  return CudaRun(command, console, std::move(*card)).run();
}

}  // namespace recut::native
