// Opening a document in one go; document_opener.h does it in steps.
#pragma once

#include <string>
#include <string_view>

#include "engine/input/graph_file.h"
#include "engine/support/result.h"
#include "engine/workspace/document.h"

namespace recut {

// Reads the file and runs the passes. A pass that breaks a promise is an error here too: there is
// no graph to go on with.
Result<Document> open_document(const std::string& path, const OpenOptions& options);

// The same with the file's bytes in hand.
Result<Document> open_document_bytes(std::string_view bytes, std::string_view file_name,
                                     const OpenOptions& options);

// The same with a graph in hand, read by whoever knows its format. `file_name` is for messages.
Result<Document> open_document_graph(GraphFile file, std::string_view file_name,
                                     const OpenOptions& options);

}  // namespace recut
