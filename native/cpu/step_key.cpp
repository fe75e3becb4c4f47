#include "native/cpu/step_key.h"

#include <fmt/core.h>

#include "engine/cost/device.h"
#include "engine/cost/measured_kernels.h"
#include "engine/ir/printer.h"
#include "engine/schedule/make_schedule.h"
#include "native/cache/bytes.h"
#include "native/cpu/onednn.h"

namespace recut::cpu {
namespace {

struct StepKeyFields {
  template <class Bytes>
  static void of(Bytes& bytes, DeviceRates& rates) {
    for (double& flops : rates.flops_per_second) bytes(flops);
    bytes(rates.bytes_per_second, rates.launch_micros, rates.measured, rates.corrections.products,
          rates.corrections.memory, rates.corrections.launches, rates.link.bytes_per_second,
          rates.link.micros);
  }
  template <class Bytes>
  static void of(Bytes& bytes, PlanningRequest& request) {
    bytes(request.strategy, request.budget, request.limits.effort, request.limits.seconds,
          request.limits.seed, request.overrides.save, request.overrides.recompute, request.torch);
  }
  template <class Bytes>
  static void of(Bytes& bytes, ScheduleOptions& options) {
    bytes(options.alignment, options.effort, options.in_place);
  }
  template <class Bytes>
  static void of(Bytes& bytes, Measurement& measurement) {
    bytes(measurement.micros, measurement.workspace_bytes);
  }
};

// The parts of a graph that its text form leaves out.
std::string non_text_fields(const Graph& graph) {
  std::string names;
  for (const auto& [alias, id] : graph.aliases())
    names += fmt::format("{} {}\n", alias, graph.position(id));
  if (graph.measured == nullptr) return names;
  std::vector<Measurement> measured;
  for (const NodeId id : graph.order()) {
    const Measurement* known = graph.measurement(id);
    measured.push_back(known == nullptr ? Measurement() : *known);
  }
  std::string device = graph.measured->device;
  std::int64_t granularity = graph.measured->granularity;
  cache::ByteWriter<StepKeyFields> writer;
  writer(names, device, granularity, measured);
  return writer.bytes();
}

// The measured times that price kernels, if any.
std::string prices_text(const Graph& graph, const DeviceRates& rates) {
  std::string text;
  if (rates.kernel_times == nullptr) return text;
  for (const auto& [calls, micros] : rates.kernel_times->all()) {
    for (const NodeId id : calls) text += fmt::format("{} ", graph.position(id));
    text += fmt::format("{}\n", micros);
  }
  return text;
}

std::string target_text(const Target& target) {
  return fmt::format("{} {} {} LLVM {}", target.triple, target.processor, target.features,
                     llvm_version());
}

}  // namespace

Result<cache::Digest> step_key(const Document& document, const SchedulingRequest& request,
                               const ProgramOptions& program, const Target& target,
                               std::string_view build) {
  PlanningRequest planning = request.planning;
  auto costs =
      find_cost_model(document.graph(), planning.profile, planning.device, planning.cost_model);
  if (!costs) return costs.diagnostics();
  ScheduleOptions options = request.options;
  bool fused = costs->fused();
  bool library = program.library, in_f64 = program.lower.precision == loop::Precision::f64,
       collectives = program.collectives;
  loop::RegisterTile registers = program.lower.registers.value_or(loop::RegisterTile{0, 0});
  cache::ByteWriter<StepKeyFields> asked;
  asked(planning, costs->device.rates, fused, options, library, in_f64, collectives, registers.rows,
        registers.bytes);
  const Graph &graph = document.graph(), &written = document.reference_graph();
  return cache::digest_of({"step", build, target_text(target), onednn_version(), asked.bytes(),
                           prices_text(graph, costs->device.rates), print(graph),
                           non_text_fields(graph), print(written), non_text_fields(written)});
}

cache::Digest object_key(std::string_view text, const Target& target, std::string_view build) {
  return cache::digest_of({"kernels", build, target_text(target), text});
}

}  // namespace recut::cpu
