// Finds nodes by a typed query: parts of names, operators and modules, sizes, and roles in the
// plan.
#pragma once

#include <string_view>
#include <vector>

#include "gui/model/document_view.h"

namespace recut::gui {

// A query consists of words that all have to match:
//
//   relu                 a part of the name, the operator, the module or the file and line of its
//                        source, in any case
//   op:add               a part of the operator's name      (op=add.Tensor: all of it)
//   module:h.3           a module and its submodules: "h.3" and "h.3.attn", not "h.31"
//   source:self.act      a part of the line of Python that called it; source:net.py:12
//   name:view            a part of the node's name          (name=view_1: all of it)
//   dtype:bf16           of any of its outputs
//   bytes>64MiB          also >=, <, <=; blanks are allowed
//   saved, recomputed, freed, result, input     its role in the shown plan
//   forward, backward    where the plan runs it first
//   pinned               overridden by the user
//   -relu                must not match; "two words": in quotes, with their blank
//
// Every node of the graph, one of the document's passes, that fits, in program order. Fails where a
// bound or a key isn't one.
Result<std::vector<NodeId>> search_graph(const DocumentView& document, const Graph& graph,
                                         std::string_view typed);
// Searches the graph that plans are about; at most `most` nodes.
Result<std::vector<NodeId>> search_nodes(const DocumentView& document, std::string_view typed,
                                         std::size_t most);

// The matches in the shown graph, as DocumentView keeps them.
Search search_document(const DocumentView& document, std::string_view text);
// True if the pass or the plan changed since the search.
bool is_stale(const Search& search, const DocumentView& document);

// Bytes of all outputs of a node.
std::int64_t bytes_of(const Graph& graph, NodeId id);

}  // namespace recut::gui
