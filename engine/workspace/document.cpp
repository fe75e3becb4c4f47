#include "engine/workspace/document.h"

#include <fmt/format.h>

#include "engine/input/bytes.h"

namespace recut {

Result<Document> open_document_bytes(std::string_view bytes, std::string_view file_name,
                                     const OpenOptions& options) {
  auto file = read_graph_bytes(bytes, file_name, options.graph_key);
  if (!file) return file.diagnostics();
  const bool passed = file->key == "joint_after_passes";
  const std::vector<std::string> names =
      options.passes.value_or(passed ? std::vector<std::string>() : default_passes());
  auto passes = run_passes(file->graph, names, options.runner);
  if (!passes) return passes.diagnostics();
  if (passes->failure)
    return Diagnostic{fmt::format("internal error: pass '{}' {}", passes->failure->pass,
                                  passes->failure->message),
                      std::string(file_name), 0, 0};
  return Document{std::move(*file), std::move(*passes)};
}

Result<Document> open_document(const std::string& path, const OpenOptions& options) {
  const auto bytes = read_file(path);
  if (!bytes) return bytes.diagnostics();
  return open_document_bytes(*bytes, path, options);
}

}  // namespace recut
