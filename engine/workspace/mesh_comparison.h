// The meshes that spread a training step over a number of devices, each with its plan: memory, time
// and traffic side by side.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/support/result.h"
#include "engine/workspace/document.h"
#include "engine/workspace/planning.h"

namespace recut {

struct MeshComparisonRequest {
  std::int64_t devices = 1;
  // Bytes of each device, for inputs and the step's peak together; none: no bound.
  std::optional<std::int64_t> memory_bytes;
  PlanningRequest planning;  // its budget is not read: the bytes that inputs leave are it
  std::function<void(std::size_t planned, std::size_t all)> progress;
  const std::atomic<bool>* cancel = nullptr;  // looked at between meshes: then it fails
};

struct MeshRow {
  std::string mesh, preset;      // "dp=4,tp=2", "dp=fsdp,tp=tp"
  std::int64_t input_bytes = 0;  // parameters and other inputs that rank 0 holds
  std::int64_t peak_bytes = 0;   // of the step, without inputs
  std::int64_t sent_bytes = 0;   // by a rank, without gathers that the plan repeats
  double step_micros = 0, recompute_micros = 0;
  bool holds = true;

  std::int64_t bytes() const { return input_bytes + peak_bytes; }
};

struct MeshComparison {
  std::int64_t devices = 1;
  std::optional<std::int64_t> memory_bytes;
  std::string device;         // whose times these are
  std::vector<MeshRow> rows;  // first the quickest that hold, then the others by their bytes
};

// Plans rank 0 of every mesh with one or two axes: data parallel (ddp or fsdp) along the first, and
// tensor, sequence or context parallel (tp, sp, cp) along the second. A plan that can't hold the
// memory is that of the lowest peak. Fails as shard_document() and plan_document() do, and for less
// than one device.
Result<MeshComparison> compare_meshes(const Document& document,
                                      const MeshComparisonRequest& request,
                                      std::string_view file_name);

std::string mesh_comparison_text(const MeshComparison& comparison);
std::string mesh_comparison_json(const MeshComparison& comparison);

}  // namespace recut
