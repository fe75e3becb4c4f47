#include "engine/workspace/document.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/input/bytes.h"
#include "engine/workspace/document_opener.h"

namespace recut {

std::vector<std::string> usual_passes(const GraphFile& file) {
  return file.key == "joint_after_passes" ? std::vector<std::string>() : default_passes();
}

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
  return begin_passes(std::move(*file));
}

bool DocumentOpener::begin_passes(GraphFile file) {
  file_ = std::move(file);
  const std::vector<std::string> names = options_.passes.value_or(usual_passes(*file_));
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

Result<Document> open_document_graph(GraphFile file, std::string_view file_name,
                                     const OpenOptions& options) {
  DocumentOpener opener("", file_name, options);
  bool more = opener.begin_passes(std::move(file));
  while (more) more = opener.step();
  return opener.take();
}

Result<Done> check_joint(const Document& document, std::string_view file_name) {
  const Graph& graph = document.graph();
  const auto is_tangent = [&](NodeId id) { return graph.input_kind(id) == InputKind::tangent; };
  const auto inputs = graph.inputs();
  if (!graph.gradients.empty() || std::any_of(inputs.begin(), inputs.end(), is_tangent))
    return Done{};
  return Diagnostic{
      "a forward graph alone: there is no backward to keep values for. Planning needs a joint "
      "graph; `recut grad` makes one",
      std::string(file_name), 0, 0};
}

Result<Document> open_document(const std::string& path, const OpenOptions& options) {
  const auto bytes = read_file(path);
  if (!bytes) return bytes.diagnostics();
  return open_document_bytes(*bytes, path, options);
}

}  // namespace recut
