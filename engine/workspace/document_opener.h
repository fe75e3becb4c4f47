// Opening a document in steps of some milliseconds, so that a frame may come between two.
// open_document.h has them all in one.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/input/graph_file_reader.h"
#include "engine/passes/pass_runner.h"
#include "engine/workspace/document.h"
#include "engine/workspace/training.h"

namespace recut {

// The bytes must outlive it.
class DocumentOpener {
 public:
  DocumentOpener(std::string_view bytes, std::string_view file_name, OpenOptions options);

  bool step();              // true where there is more to do
  Result<Document> take();  // once there is none

  // In place of reading: a graph that is there already. True where there is more to do.
  bool begin_passes(GraphFile file);

 private:
  bool fail(Diagnostics faults);
  std::vector<std::string> pass_names() const;
  bool begin_making(std::vector<Pass>& passes);
  bool step_passes();

  const std::string file_name_;
  const OpenOptions options_;
  GraphFileReader reader_;
  std::optional<GraphFile> file_;  // once it is read
  std::optional<PassRunner> passes_;
  bool differentiated_ = false;
  std::shared_ptr<StepMaking> making_ = std::make_shared<StepMaking>();
  Diagnostics faults_;
};

}  // namespace recut
