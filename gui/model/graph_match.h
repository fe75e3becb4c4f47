// The nodes that two graphs have in common: of one document's passes by identity and by the changes
// that the passes report, of two documents by names and modules.
#pragma once

#include <vector>

#include "engine/passes/pipeline_report.h"

namespace recut::gui {

// One of the two graphs' side of the match, by position in its order.
struct MatchSide {
  std::vector<NodeId> partner;  // the node's counterpart in the other graph; invalid: none
  std::vector<bool> twin;       // its partner's partner is the node itself: the two are one
};

struct GraphMatch {
  MatchSide here, there;
};

// A graph with itself.
GraphMatch match_same(const Graph& graph);

// The graphs after two numbers of passes (0: as read). A node that a pass replaced has the partner
// that its rule names; it is a twin where nothing else has that partner.
GraphMatch match_passes(const PipelineReport& passes, std::size_t here, std::size_t there);

// Two graphs that have nothing to do with each other but their names: pairs first nodes of one name
// in one module; then, module by module, nodes of one operator in their order; then nodes of one
// name and operator in any modules. One for one. After Model Explorer's sync navigation, which
// knows the first of these three.
GraphMatch match_documents(const Graph& here, const Graph& there);

}  // namespace recut::gui
