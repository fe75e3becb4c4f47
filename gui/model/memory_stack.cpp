#include "gui/model/memory_stack.h"

#include <algorithm>
#include <cmath>

#include "engine/ir/aliases.h"
#include "engine/workspace/plan_report.h"

namespace recut::gui {
namespace {

using StackBand = MemoryStack::Band;
using Paint = MemoryStack::Paint;

// Sums bytes by step, from differences at births and after last uses.
template <class BandOf>
MemoryStack stack_of(const PlanView& plan, std::vector<StackBand> bands, const BandOf& band_of) {
  MemoryStack stack;
  const std::size_t steps = plan.replay().steps.size(), width = bands.size();
  stack.bands = std::move(bands);
  stack.bytes.assign(steps * width, 0);
  stack.totals.assign(steps, 0);
  for (const StorageInstance& instance : plan.replay().instances) {
    const std::size_t band = band_of(instance);
    stack.bytes[instance.birth * width + band] += instance.bytes;
    if (instance.last_use + 1 < steps)
      stack.bytes[(instance.last_use + 1) * width + band] -= instance.bytes;
  }
  for (std::size_t step = 0; step < steps; ++step)
    for (std::size_t band = 0; band < width; ++band) {
      std::int64_t& bytes = stack.bytes[step * width + band];
      if (step > 0) bytes += stack.bytes[(step - 1) * width + band];
      stack.totals[step] += bytes;
    }
  return stack;
}

MemoryStack without_empty(MemoryStack stack) {
  const std::size_t width = stack.bands.size();
  std::vector<std::size_t> kept;
  for (std::size_t band = 0; band < width; ++band)
    for (std::size_t step = 0; step < stack.steps(); ++step)
      if (stack.bytes[step * width + band] != 0) {
        kept.push_back(band);
        break;
      }
  if (kept.size() == width) return stack;
  MemoryStack less;
  for (const std::size_t band : kept) less.bands.push_back(stack.bands[band]);
  less.bytes.reserve(stack.steps() * kept.size());
  for (std::size_t step = 0; step < stack.steps(); ++step)
    for (const std::size_t band : kept) less.bytes.push_back(stack.bytes[step * width + band]);
  less.totals = std::move(stack.totals);
  return less;
}

bool is_of_backward(const StorageInstance& instance) {
  return instance.kind == InstanceClass::gradient ||
         instance.kind == InstanceClass::backward_temporary;
}

}  // namespace

MemoryStack stack_by_module(const PlanView& plan, const LayerBands& layers) {
  std::vector<StackBand> bands;
  for (std::size_t i = 0; i < layers.names.size(); ++i)
    bands.push_back({layers.names[i], Paint::layer, i});
  const std::size_t gradients = bands.size() + 1;
  bands.push_back({"other modules", Paint::outside, 0});
  bands.push_back({"gradients", Paint::gradients, 0});
  const Graph& graph = plan.graph();
  return without_empty(stack_of(plan, std::move(bands), [&](const StorageInstance& instance) {
    return is_of_backward(instance) ? gradients
                                    : std::size_t{layers.band[graph.position(instance.owner)]};
  }));
}

// Stacks the kinds from the longest-lived, at the bottom, to the shortest-lived.
MemoryStack stack_by_kind(const PlanView& plan) {
  constexpr MemoryKind kOrder[] = {MemoryKind::saved, MemoryKind::result, MemoryKind::recomputed,
                                   MemoryKind::temporary};
  std::vector<StackBand> bands;
  std::size_t slot[kMemoryKinds] = {};
  for (const MemoryKind kind : kOrder) {
    const auto index = static_cast<std::size_t>(kind);
    slot[index] = bands.size();
    bands.push_back({name_of(kind, plan.report().inference), Paint::kind, index});
  }
  return without_empty(stack_of(plan, std::move(bands), [&](const StorageInstance& instance) {
    return slot[static_cast<std::size_t>(kind_of(instance.kind))];
  }));
}

std::vector<StepColumn> columns_of(const std::vector<std::int64_t>& totals, double from, double to,
                                   std::size_t columns) {
  std::vector<StepColumn> made;
  const auto steps = static_cast<double>(totals.size());
  const auto first = static_cast<std::size_t>(std::clamp(std::floor(from), 0.0, steps));
  const auto end = static_cast<std::size_t>(std::clamp(std::ceil(to), 0.0, steps));
  if (end <= first || columns == 0) return made;
  const std::size_t count = std::min(columns, end - first);
  made.reserve(count);
  for (std::size_t c = 0; c < count; ++c) {
    StepColumn column;
    column.first = first + c * (end - first) / count;
    column.end = first + (c + 1) * (end - first) / count;
    column.greatest = column.first;
    column.least = column.most = totals[column.first];
    for (std::size_t step = column.first + 1; step < column.end; ++step) {
      column.least = std::min(column.least, totals[step]);
      if (totals[step] <= column.most) continue;
      column.most = totals[step];
      column.greatest = step;
    }
    made.push_back(column);
  }
  return made;
}

std::vector<const StorageInstance*> alive_at(const PlanView& plan, std::size_t step) {
  std::vector<const StorageInstance*> alive;
  for (const StorageInstance& instance : plan.replay().instances)
    if (instance.birth <= step && instance.last_use >= step) alive.push_back(&instance);
  std::stable_sort(alive.begin(), alive.end(),
                   [](const auto* a, const auto* b) { return a->bytes > b->bytes; });
  return alive;
}

std::vector<const StorageInstance*> instances_behind(const PlanView& plan, NodeId id) {
  std::vector<const StorageInstance*> found;
  if (!plan.graph().contains(id)) return found;
  const NodeId maker = defining_node(plan.graph(), id);
  for (const StorageInstance& instance : plan.replay().instances)
    if (instance.owner == maker) found.push_back(&instance);
  return found;
}

}  // namespace recut::gui
