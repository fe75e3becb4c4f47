// Graphs that PyTorch printed: GraphModule.print_readable, TORCH_LOGS and TORCH_TRACE.
//
//   class joint_helper(torch.nn.Module):
//       def forward(self, primals, tangents):
//           primals_1: "f32[8, 32][32, 1]cuda:0"; tangents_1: "f32[8, 8][8, 1]cuda:0";
//           primals_1, tangents_1, = fx_pytree.tree_flatten_spec([primals, tangents], …)
//           # File: net.py:12 in forward, code: return x @ x.t()
//           permute: "f32[32, 8][1, 32]cuda:0" = torch.ops.aten.permute.default(primals_1, [1, 0])
//           …
//           return pytree.tree_unflatten([mm, add], self._out_spec)
//
// The text is read as words of Python and never run.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/input/dimensions.h"
#include "engine/input/graph_list.h"
#include "engine/input/json.h"
#include "engine/support/result.h"

namespace recut {

struct PrintedGraph {
  std::string json;                // an fx-joint-graph with this one graph
  std::vector<LineColumn> places;  // of each line of `json`, in the file that was read
  std::string key, note;           // GraphFile has them
  std::vector<std::string> keys;
  bool after_joint_passes = false;  // GraphFile has it
  std::string partition_json;       // of the graph that GraphFile has as `partitioned`, or ""

  // The diagnostics of `json` as those of the file.
  void relocate(Diagnostics& diagnostics) const;
};

// Reads the graph `key` of the text; kDefaultGraphKey is the first joint graph, or one that is
// matched from the graphs of forward and backward, or the first of forward. None if the text has
// neither a printed graph nor a record of TORCH_TRACE. Fails on statements and annotations that
// aren't understood, all up to a bound, and if a size's symbol has neither a hint nor a size in
// `given`.
std::optional<Result<PrintedGraph>> read_printed_graph(std::string_view text,
                                                       std::string_view file_name,
                                                       std::string_view key,
                                                       const Dimensions& given);

// The graphs of the text. None if it has another form.
std::optional<Result<std::vector<GraphEntry>>> list_printed_graphs(std::string_view text,
                                                                   std::string_view file_name);

}  // namespace recut
