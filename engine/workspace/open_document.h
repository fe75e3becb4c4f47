// Opens a document in one call; document_opener.h does it in steps.
#pragma once

#include <string>
#include <string_view>

#include "engine/input/graph_file.h"
#include "engine/support/result.h"
#include "engine/workspace/document.h"

namespace recut {

// Reads the file and runs the passes. A pass that breaks a graph invariant is an error.
Result<Document> open_document(const std::string& path, const OpenOptions& options);

// The same for the bytes of a file.
Result<Document> open_document_bytes(std::string_view bytes, std::string_view file_name,
                                     const OpenOptions& options);

// The same for a graph that another reader made. `file_name` is for messages.
Result<Document> open_document_graph(GraphFile file, std::string_view file_name,
                                     const OpenOptions& options);

}  // namespace recut
