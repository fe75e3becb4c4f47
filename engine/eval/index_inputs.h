// Integer inputs that are indices into a dimension of one element.
#pragma once

#include "engine/ir/graph.h"

namespace recut {

// True if a call reads or writes a dimension of size 1 at the values of this input, or at values
// that views, copies and element-wise calls make of it: 0 is then the only index. An embedding of
// one token type is such a case.
bool indexes_one_element(const Graph& graph, NodeId input);

}  // namespace recut
