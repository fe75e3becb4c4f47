#include "engine/cost/measured_kernels.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/ir/printer.h"
#include "engine/support/hash.h"
#include "engine/support/text.h"

namespace recut {
namespace {

constexpr double kMaxMicros = 1e12;
constexpr std::int64_t kMaxWorkspace = std::int64_t{1} << 50;  // as large as a value may be
constexpr std::size_t kDigits = 16;
constexpr std::string_view kMeasuredKernelsKeys[] = {"graph", "digest", "kernels"};
constexpr std::string_view kKernelKeys[] = {"calls", "us", "workspace_bytes"};

bool is_digest(std::string_view text) {
  return text.size() == kDigits && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

MeasuredKernel read_kernel(JsonValue object, DiagnosticCollector& diagnostics) {
  JsonFields fields(object, "a kernel of 'measured'", diagnostics);
  fields.only(kKernelKeys);
  MeasuredKernel kernel;
  kernel.calls = fields.texts("calls");
  if (kernel.calls.empty()) fields.report_error("'calls' is missing or names none");
  const auto micros = fields.number("us");
  if (!micros)
    fields.report_error("'us' is missing, expected a number of microseconds");
  else if (!(*micros >= 0 && *micros <= kMaxMicros))
    fields.report_error(fmt::format("'us' is {}, expected 0 to {}", *micros, kMaxMicros),
                        fields.find("us"));
  kernel.micros = micros.value_or(0);
  kernel.workspace_bytes = fields.integer("workspace_bytes").value_or(0);
  if (kernel.workspace_bytes < 0 || kernel.workspace_bytes > kMaxWorkspace)
    fields.report_error(fmt::format("'workspace_bytes' is {}, expected 0 to {}",
                                    kernel.workspace_bytes, kMaxWorkspace),
                        fields.find("workspace_bytes"));
  return kernel;
}

Result<NodeId> call_of(const Graph& graph, const std::string& name) {
  const NodeId id = graph.find(name);
  if (id.valid()) return id;
  return error(fmt::format("the device profile has measured a call {}, and the graph has none",
                           quote(name)));
}

}  // namespace

bool MeasuredGraph::is_of(const Graph& graph) const { return digest == graph_digest(graph); }

std::string graph_digest(const Graph& graph) {
  return fmt::format("{:016x}", hash_text(0, print(graph)));
}

MeasuredGraph read_measured_graph(JsonValue object, DiagnosticCollector& diagnostics) {
  JsonFields fields(object, "'measured'", diagnostics);
  fields.only(kMeasuredKernelsKeys);
  MeasuredGraph measured;
  measured.name = printable(fields.text("graph", true).value_or(""), 200);
  const auto digest = fields.text("digest", true);
  if (digest && !is_digest(*digest))
    fields.report_error(
        fmt::format("'digest' is {}, expected {} digits from 0 to f", quote(*digest), kDigits),
        fields.find("digest"));
  measured.digest = digest.value_or("");
  const JsonValue kernels = fields.find("kernels", JsonKind::array, true);
  if (!kernels.present()) return measured;
  for (const JsonMember& item : kernels.items()) {
    if (item.value.is(JsonKind::object))
      measured.kernels.push_back(read_kernel(item.value, diagnostics));
    else
      fields.report_error("a kernel is no object", item.value);
  }
  return measured;
}

Result<std::shared_ptr<const KernelTimes>> KernelTimes::make(const MeasuredGraph& measured,
                                                             const Graph& graph) {
  auto kernel_times = std::make_shared<KernelTimes>();
  for (const MeasuredKernel& kernel : measured.kernels) {
    std::vector<NodeId> calls;
    for (const std::string& name : kernel.calls) {
      const auto id = call_of(graph, name);
      if (!id) return id.diagnostics();
      calls.push_back(*id);
    }
    kernel_times->micros_[std::move(calls)] = kernel.micros;
  }
  return std::shared_ptr<const KernelTimes>(std::move(kernel_times));
}

std::optional<double> KernelTimes::of(std::span<const NodeId> calls) const {
  const auto found = micros_.find(std::vector<NodeId>(calls.begin(), calls.end()));
  if (found == micros_.end()) return std::nullopt;
  return found->second;
}

Result<std::shared_ptr<const Measurements>> with_workspaces(const MeasuredGraph& measured,
                                                            const Graph& graph,
                                                            std::int64_t max_bytes) {
  auto measurements = graph.measured == nullptr ? std::make_shared<Measurements>()
                                                : std::make_shared<Measurements>(*graph.measured);
  bool any = graph.measured != nullptr;
  for (const MeasuredKernel& kernel : measured.kernels) {
    if (kernel.workspace_bytes == 0 || kernel.workspace_bytes > max_bytes) continue;
    const auto id = call_of(graph, kernel.calls.front());
    if (!id) return id.diagnostics();
    measurements->add(*id, {std::nullopt, kernel.workspace_bytes});
    any = true;
  }
  if (!any) return std::shared_ptr<const Measurements>();
  return std::shared_ptr<const Measurements>(std::move(measurements));
}

}  // namespace recut
