// Attention whose scores nested graphs change (PyTorch's flex_attention), and its gradients:
//
//   flex_attention(q, k, v, "score", (…, "mask"), scale, options, score buffers, mask buffers)
//   flex_attention_backward(q, k, v, out, logsumexp, d_out, d_logsumexp, "score", "joint",
//                           (…, "mask"), scale, options, score buffers, mask buffers)
//
// "score" takes a score, the indices of batch, head, query, key, and the score buffers, and gives
// another score. "mask" takes the indices and the mask buffers, and tells if the query sees the
// key. "joint" takes the inputs of "score", with the gradient of its result behind the indices, and
// gives the gradients of the score, of the indices (none) and of the score buffers. The other parts
// of the block mask only say which blocks a kernel may pass over. logsumexp and the maximum are in
// units of log 2. A row that sees no key gives zeros.
//
// Outputs: the result, logsumexp and the maximum; or the gradients of q, k, v and score buffers.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ir/graph.h"

namespace recut {

struct FlexAttention {
  bool backward = false;
  NodeId query, key, value;
  NodeId out, logsumexp, out_gradient;  // backward
  NodeId logsumexp_gradient;            // backward; invalid: none
  std::string score, joint, mask;       // nested graphs
  double scale = 1;
  std::vector<NodeId> score_buffers, mask_buffers;
};

// The call, if it is one and its arguments have the form above.
std::optional<FlexAttention> flex_attention(const Node& node);

// True if the graph has the nested graphs of such a call: Recut computes its values.
bool has_flex_regions(const Graph& graph, NodeId id);

// The first reason that such a call isn't sound; none if it is.
std::optional<std::string> check_flex_attention(const Graph& graph, NodeId id);

// True for zeros with values added at indices, the gradient of a read from a buffer:
// (shape, [indices], values).
bool is_zeros_and_scatter(const Operator& op);

// A nested graph in the dtype in which scores are computed, f64 for f64 and f32 for all others, and
// with index_put for zeros_and_scatter. `score_inputs` are the positions of the score and of its
// gradient. Fails on calls that don't take this dtype.
Result<Graph> flex_scalar_graph(const Graph& region, const std::vector<std::size_t>& score_inputs,
                                DType scores);

DType flex_score_dtype(DType query);

}  // namespace recut
