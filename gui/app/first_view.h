// The figures of the first screen: a step's peak, the cost of the shown plan beside its bound and
// beside PyTorch, and the share of each block of the model that it saves. No drawing.
#pragma once

#include <string>
#include <vector>

#include "gui/model/document_view.h"
#include "gui/model/memory_stack.h"

namespace recut::gui {

// The first sentence: "One training step of gpt2 peaks at 8.51 GiB. Drag the budget's line."
std::string first_sentence(const DocumentView& document);

// The cost of the plan: "4.25 GiB: +8.70 ms (15.3 %), within 1.0 % of the least recomputation that
// is proved. PyTorch at this peak: +18.2 ms." ("Partitioned as by PyTorch" if PyTorch's choices
// weren't recorded.) The same text as the command's. Of a budget that isn't held: the least peak
// that is.
std::string first_cost(const DocumentView& document);

// A block of the model: of the bytes that its forward makes the shares that are kept for backward
// and that are made again.
struct FirstBlock {
  std::string name;
  double saved = 0, again = 0;  // 0 … 1
};
// The blocks in the order of forward, at most LayerBands::kMax; empty if the graph names no
// modules.
std::vector<FirstBlock> first_blocks(const PlanView& plan, const LayerBands& layers);

}  // namespace recut::gui
