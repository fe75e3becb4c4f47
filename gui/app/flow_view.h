// The minimum cut of strategy torch, step by step, as the graph panel draws it.
#pragma once

#include <memory>
#include <string>

#include "engine/partition/torch_flow.h"
#include "gui/model/document_view.h"

namespace recut::gui {

inline constexpr std::size_t kMaxFlowNodes = 400;  // more can't be followed by eye

// The state of the view of a document. Step 0 shows the network, steps from 1 the paths one by one,
// the last step the cut.
struct FlowView {
  std::shared_ptr<const TorchFlow> flow;  // null: nothing is shown
  std::size_t step = 0;

  std::size_t last() const { return flow->paths.size() + 1; }
  bool at_cut() const { return step == last(); }
  // The path of this step; null at the network and at the cut.
  const TorchFlowPath* path() const {
    return step == 0 || at_cut() ? nullptr : &flow->paths[step - 1];
  }
  // The part of a node's price that the paths up to this step use, and the flow that they send
  // together.
  std::int64_t used(NodeId node) const;
  std::int64_t sent() const;
  // The name of the step: "network", "path 2 of 5", "cut".
  std::string description() const;
};

inline constexpr std::string_view kFlowMemory = "flow";
FlowView& flow_view(DocumentView& document);
// The shown flow; null if there is none.
const FlowView* shown_flow(const DocumentView& document);

}  // namespace recut::gui
