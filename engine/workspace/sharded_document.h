// A document of one rank's graph: all that takes a document then plans, shows and draws one device
// of a mesh.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/mesh/spmd/sharded_graph.h"
#include "engine/support/result.h"
#include "engine/workspace/document.h"
#include "engine/workspace/mesh_request.h"

namespace recut {

// The graph of a rank, of the document's graph after its passes (engine/mesh/spmd/spmd_graph.h).
// Values of inputs and PyTorch's partitions, which are those of the whole graph, are left out.
// `file_name` is for messages. Fails as shard_graph() does.
Result<Document> shard_document(const Document& document, const MeshRequest& request,
                                std::string_view file_name);

// The document of a rank's graph, of the document's; it fails as opening one does.
Result<Document> document_of(const Document& whole, Graph rank, std::string_view file_name);

// As shard_document, with decisions that are made: the rank at a position of the module's mesh.
Result<Document> shard_document(const Document& document, const mesh::DistributedModule& module,
                                const mesh::ShardedGraph& sharded, std::int64_t position,
                                std::string_view file_name);

// "rank 0 of the 8 of dp=2,tp=4, which has the largest part of every value"
std::string mesh_note(const MeshRequest& request);

}  // namespace recut
