#include "engine/workspace/document.h"

#include <fmt/format.h>

#include "engine/input/bytes.h"
#include "engine/workspace/document_opener.h"

namespace recut {

DocumentOpener::DocumentOpener(std::string_view bytes, std::string_view file_name,
                               OpenOptions options)
    : file_name_(file_name),
      options_(std::move(options)),
      reader_(bytes, file_name, options_.graph_key) {}

bool DocumentOpener::step() {
  if (passes_) return passes_->step();
  if (reader_.step()) return true;
  auto file = reader_.take();
  if (!file) return fail(file.diagnostics());
  file_ = std::move(*file);
  return begin_passes();
}

bool DocumentOpener::begin_passes() {
  const bool passed = file_->key == "joint_after_passes";
  const std::vector<std::string> names =
      options_.passes.value_or(passed ? std::vector<std::string>() : default_passes());
  const auto skipped = find_passes(options_.runner.skip, options_.runner.more);
  if (!skipped) return fail(skipped.diagnostics());
  auto passes = find_passes(names, options_.runner.more);
  if (!passes) return fail(passes.diagnostics());
  passes_.emplace(file_->graph, std::move(*passes), options_.runner);
  return true;
}

bool DocumentOpener::fail(Diagnostics faults) {
  faults_ = std::move(faults);
  return false;
}

Result<Document> DocumentOpener::take() {
  if (!faults_.empty()) return faults_;
  PipelineReport report = passes_->take();
  if (report.failure)
    return Diagnostic{
        fmt::format("internal error: pass '{}' {}", report.failure->pass, report.failure->message),
        file_name_, 0, 0};
  return Document{std::move(*file_), std::move(report)};
}

Result<Document> open_document_bytes(std::string_view bytes, std::string_view file_name,
                                     const OpenOptions& options) {
  DocumentOpener opener(bytes, file_name, options);
  while (opener.step()) {
  }
  return opener.take();
}

Result<Document> open_document(const std::string& path, const OpenOptions& options) {
  const auto bytes = read_file(path);
  if (!bytes) return bytes.diagnostics();
  return open_document_bytes(*bytes, path, options);
}

}  // namespace recut
