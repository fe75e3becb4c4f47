#include "engine/workspace/open_document.h"

#include <utility>

#include "engine/input/bytes.h"
#include "engine/workspace/document_opener.h"

namespace recut {

Result<Document> open_document_bytes(std::string_view bytes, std::string_view file_name,
                                     const OpenOptions& options) {
  DocumentOpener opener(bytes, file_name, options);
  while (opener.step()) {
  }
  return opener.take();
}

Result<Document> open_document_graph(GraphFile file, std::string_view file_name,
                                     const OpenOptions& options) {
  DocumentOpener opener("", file_name, options);
  bool more = opener.begin_passes(std::move(file));
  while (more) more = opener.step();
  return opener.take();
}

Result<Document> open_document(const std::string& path, const OpenOptions& options) {
  const auto bytes = read_file(path);
  if (!bytes) return bytes.diagnostics();
  return open_document_bytes(*bytes, path, options);
}

}  // namespace recut
