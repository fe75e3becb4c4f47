// The bytes of a plan by step, in bands that are drawn on top of each other: by module or by kind;
// and steps gathered into columns of pixels. No drawing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gui/model/plan_view.h"

namespace recut::gui {

// The top module of each node of a graph. The same for every plan of a document, so that a module
// keeps its colour from plan to plan.
struct LayerBands {
  static constexpr std::size_t kMax = 12;  // more modules than that share bands, neighbours first

  std::vector<std::string> names;  // "layer1" …, in the order in which forward meets them
  std::vector<std::uint8_t> band;  // by position; names.size(): outside of all of these
};

// The modules below the first that has several of weight, weighed by the bytes that forward makes.
LayerBands layer_bands(const PlanView& start);

// Steps by bands.
struct MemoryStack {
  enum class Paint : std::uint8_t { layer, outside, gradients, kind };
  struct Band {
    std::string name;
    Paint paint = Paint::layer;
    std::size_t index = 0;  // of its layer or MemoryKind
  };
  std::vector<Band> bands;           // bottom first
  std::vector<std::int64_t> bytes;   // step by step: bytes[step * bands.size() + band]
  std::vector<std::int64_t> totals;  // by step

  std::size_t steps() const { return totals.size(); }
  const std::int64_t* at(std::size_t step) const { return bytes.data() + step * bands.size(); }
};

// Stacks the bytes made by forward (also by recomputation) by module, the bytes made by backward as
// "gradients". Empty bands are left out.
MemoryStack stack_by_module(const PlanView& plan, const LayerBands& layers);
MemoryStack stack_by_kind(const PlanView& plan);

// The steps that share a column of pixels.
struct StepColumn {
  std::size_t first = 0, end = 0;
  std::size_t greatest = 0;  // the first that has the most bytes
  std::int64_t least = 0, most = 0;
};

// Steps from … to (which may be fractions) in at most `columns` columns, no step in two: one a step
// where there is room.
std::vector<StepColumn> columns_of(const std::vector<std::int64_t>& totals, double from, double to,
                                   std::size_t columns);

// Storages that are alive during a step, largest first; equal ones in order of birth.
std::vector<const StorageInstance*> alive_at(const PlanView& plan, std::size_t step);
// All instances of the storages behind a value, in order of birth.
std::vector<const StorageInstance*> instances_behind(const PlanView& plan, NodeId id);

// The positions of the steps of `other` on the axis of `plan`: at the first run of the same node,
// runs beyond the first between their neighbours; never falling, forward and backward kept apart.
std::vector<double> aligned_steps(const PlanView& plan, const PlanView& other);

}  // namespace recut::gui
