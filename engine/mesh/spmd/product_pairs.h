// The dimensions of parameters that tensor parallelism cuts: columns of a product, then rows of the one
// that reads it, as far as the graph has such pairs.
#pragma once

#include <map>

#include "engine/ir/graph.h"

namespace recut::mesh {

// The dimension of each parameter that is cut. A product of a whole value cuts the columns of its
// weight, and its result is cut; the product that contracts over the cut dimension cuts the rows of
// its weight, and its result is whole again. Parameters that meet a cut dimension element by element
// (biases) are cut there, and tables that indices read (embeddings) by rows.
std::map<NodeId, int> product_pairs(const Graph& graph);

}  // namespace recut::mesh
