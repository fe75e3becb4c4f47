// The algebra that conv_bn_folding and conv_bn_eval share.
#pragma once

#include "engine/passes/pass.h"

namespace recut::passes {

// Folds batch norms by running statistics into the convolutions before them; with `frozen_alone`,
// only if their weights, biases and statistics are all frozen.
PassResult fold_batch_norms(const Graph& graph, bool frozen_alone);

}  // namespace recut::passes
