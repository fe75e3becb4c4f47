// The step from one pass to another, on which the selection goes along.
#pragma once

#include <cstddef>

#include "gui/model/document_view.h"

namespace recut::gui {

// Shows another pass. The selection is kept while the shown graph has no counterpart of it, and
// returns with one.
void show_pass(DocumentView& document, std::size_t pass);
// Selects a node of the graph after `pass` passes, or its counterpart in the shown graph.
void select_in_pass(DocumentView& document, NodeId id, std::size_t pass);

// The selected node and the pass in whose graph it was selected: its place there outlives passes in
// which it is gone.
SelectionAnchor anchor_of(const DocumentView& document);

}  // namespace recut::gui
