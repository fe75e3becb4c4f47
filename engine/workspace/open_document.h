// Opens a document, in one call or in steps.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/input/graph_file_reader.h"
#include "engine/passes/pass_runner.h"
#include "engine/support/result.h"
#include "engine/workspace/document.h"
#include "engine/workspace/frozen_document.h"
#include "engine/workspace/training.h"

namespace recut {

// Reads the file and runs the passes. A pass that breaks a graph invariant is an error.
Result<Document> open_document(const std::string& path, const OpenOptions& options);

// The same for the bytes of a file.
Result<Document> open_document_bytes(std::string_view bytes, std::string_view file_name,
                                     const OpenOptions& options);

// The same for a graph that another reader made. `file_name` is for messages.
Result<Document> open_document_graph(GraphFile file, std::string_view file_name,
                                     const OpenOptions& options);

// Opens a document in steps of some milliseconds, so that a window can draw between them. The bytes
// must outlive this.
class DocumentOpener {
 public:
  DocumentOpener(std::string_view bytes, std::string_view file_name, OpenOptions options);

  bool step();              // true if there is more to do
  Result<Document> take();  // after the last step

  // Starts from a given graph instead of reading one. True if there is more to do.
  bool begin_passes(GraphFile file);

 private:
  bool fail(Diagnostics faults);
  Result<Done> check_stages() const;
  std::vector<StageRun> stage_names() const;
  std::vector<std::string> pass_names();
  bool add_step_passes(std::vector<Pass>& passes);
  bool step_passes();
  bool begin_freezing();
  bool step_freezing();
  Result<Document> document_of_passes();

  const std::string file_name_;
  const OpenOptions options_;
  GraphFileReader reader_;
  std::optional<GraphFile> file_;  // set once it is read
  std::optional<PassRunner> passes_;
  std::optional<GradMode> differentiated_;
  std::vector<StageBegin> stages_;
  std::optional<Document> document_;  // that is frozen after its passes
  std::optional<DocumentFreezer> freezer_;
  std::shared_ptr<StepPassState> pass_state_ = std::make_shared<StepPassState>();
  Diagnostics faults_;
};

}  // namespace recut
