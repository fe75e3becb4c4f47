#include "gui/app/flow_view.h"

#include <fmt/core.h>

#include <algorithm>

namespace recut::gui {

std::int64_t FlowView::used(NodeId node) const {
  std::int64_t used = 0;
  for (std::size_t i = 0; i < std::min(step, flow->paths.size()); ++i)
    for (const TorchFlowPath::Stop& stop : flow->paths[i].stops)
      if (stop.node == node)
        used += stop.through ? flow->paths[i].amount : stop.returned ? -flow->paths[i].amount : 0;
  return used;
}

std::int64_t FlowView::sent() const {
  if (at_cut()) return flow->capacity;
  std::int64_t sent = 0;
  for (std::size_t i = 0; i < step; ++i) sent += flow->paths[i].amount;
  return sent;
}

std::string FlowView::description() const {
  if (step == 0) return "network";
  return at_cut() ? "cut" : fmt::format("path {} of {}", step, flow->paths.size());
}

FlowView& flow_view(DocumentView& document) {
  return memory_of<FlowView>(document.memories, kFlowMemory);
}

const FlowView* shown_flow(const DocumentView& document) {
  const auto* view = find_memory<FlowView>(document.memories, kFlowMemory);
  return view != nullptr && view->flow ? view : nullptr;
}

}  // namespace recut::gui
