// A document of one rank's graph: all that takes a document then plans, shows and draws one device
// of a mesh.
#pragma once

#include <string>
#include <string_view>

#include "engine/support/result.h"
#include "engine/workspace/document.h"
#include "engine/workspace/mesh_request.h"

namespace recut {

// The graph of a rank, of the document's graph after its passes (engine/mesh/spmd/spmd_graph.h).
// Values of inputs and PyTorch's partitions, which are those of the whole graph, are left out.
// `file_name` is for messages. Fails as shard_graph() does.
Result<Document> shard_document(const Document& document, const MeshRequest& request,
                                std::string_view file_name);

// "rank 0 of dp=2,tp=4: of 8 ranks it has the largest parts, so that a plan of it holds on all"
std::string mesh_note(const MeshRequest& request);

}  // namespace recut
