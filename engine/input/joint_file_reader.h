// Reads fx-joint-graph JSON in steps: parses the document, reads its metadata, builds the graph.
// Errors are collected and reported together.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/input/diagnostic_collector.h"
#include "engine/input/dimensions.h"
#include "engine/input/graph_file.h"
#include "engine/input/joint_builder.h"
#include "engine/input/joint_nodes.h"
#include "engine/input/joint_signature.h"
#include "engine/input/json.h"
#include "engine/input/symbols.h"
#include "engine/support/result.h"

namespace recut {

// The nodes of the requested graph.
struct JointFileNodes {
  JointNodes nodes;
  JointRoles roles;
  std::optional<std::int64_t> forward_outputs;  // how many of the outputs are results; none: all
  JointSignature signature;
};

class JointFileReader {
 public:
  // The text must outlive it.
  JointFileReader(std::string_view text, std::string_view file_name, std::string_view key,
                  Dimensions sizes);

  bool step();               // true if there is more to read
  Result<GraphFile> take();  // once step() returned false

 private:
  bool read_nodes();

  const std::string file_name_, key_;
  Dimensions sizes_;
  Symbols symbols_;
  const std::vector<std::string_view> kept_keys_;
  DiagnosticCollector diagnostics_;
  JsonReader json_;
  std::optional<Result<JsonDocument>> document_;
  std::optional<JointFileNodes> graph_nodes_;
  GraphFile file_;
  std::optional<JointGraphBuilder> builder_;
};

}  // namespace recut
