#include "gui/model/pass_steps.h"

#include <algorithm>

#include "gui/model/node_trace.h"

namespace recut::gui {

SelectionAnchor anchor_of(const DocumentView& document) {
  const NodeId node = document.selection.node;
  if (node == document.anchor.shown) return document.anchor;
  // Another node was selected since, and is followed from now on. A selection from a plan may name
  // a node that only the last graph has.
  const bool here = document.graph_at_pass().contains(node);
  return {node, here ? document.pass : document.document->passes.passes.size(), node};
}

void show_pass(DocumentView& document, std::size_t pass) {
  const PipelineReport& passes = document.document->passes;
  document.anchor = anchor_of(document);
  document.pass = std::min(pass, passes.passes.size());
  SelectionAnchor& anchor = document.anchor;
  anchor.shown = trace_node(passes, anchor.node, anchor.pass, document.pass);
  document.selection.node = anchor.shown;
  document.selection.hovered = {};
}

void select_in_pass(DocumentView& document, NodeId id, std::size_t pass) {
  document.anchor = {id, pass, trace_node(document.document->passes, id, pass, document.pass)};
  document.selection.node = document.anchor.shown;
}

}  // namespace recut::gui
