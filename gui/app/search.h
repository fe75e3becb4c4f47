// Finding nodes by what people type: parts of names, operators and modules, and sizes.
#pragma once

#include <string_view>
#include <vector>

#include "gui/app/document_view.h"

namespace recut::gui {

// All words have to fit: "relu" is a part of a node's name, operator or module, "bytes>64MiB",
// "bytes<1KiB" bound what the node makes, "saved", "recomputed", "freed", "result" say what the
// plan makes of it. Those whose names begin with the first word come first, the others in program
// order. Fails where a bound isn't one.
Result<std::vector<NodeId>> search_nodes(const DocumentView& document, std::string_view typed,
                                         std::size_t most);

// Bytes of all that a node makes.
std::int64_t bytes_of(const Graph& graph, NodeId id);

}  // namespace recut::gui
