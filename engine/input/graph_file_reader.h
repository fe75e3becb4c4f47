// Reads a graph file (graph_file.h) of any form: at once, or in steps of some milliseconds that a
// window can interleave with frames. Unpacking, and reading Recut's text form, are one step each.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "engine/input/graph_file.h"
#include "engine/support/result.h"

namespace recut {

// Reads fx-joint-graph JSON. The graph satisfies the verifier (engine/ir/verifier.h): shapes and
// dtypes are checked against every operator's rule, and inferred where the file has none. All
// errors are reported, up to a bound; every unknown operator once, with its first use. `sizes`
// binds symbols by name.
Result<GraphFile> parse_joint_graph(std::string_view json_text, std::string_view file_name,
                                    std::string_view key = kDefaultGraphKey,
                                    const Dimensions& sizes = {});

// Reads any form, recognised by its first bytes: gzip, zip, JSON, or Recut's text form.
Result<GraphFile> read_graph_bytes(std::string_view bytes, std::string_view file_name,
                                   std::string_view key = kDefaultGraphKey,
                                   const Dimensions& sizes = {});

// The bytes of a graph file. An archive has weights, and may be as large as a file of tensors.
Result<std::string> read_graph_file_bytes(const std::string& path);

// read_graph_file_bytes, then read_graph_bytes.
Result<GraphFile> read_graph_file(const std::string& path, std::string_view key = kDefaultGraphKey);

// The bytes must outlive it.
class GraphFileReader {
 public:
  GraphFileReader(std::string_view bytes, std::string_view file_name,
                  std::string_view key = kDefaultGraphKey, Dimensions sizes = {});
  GraphFileReader(GraphFileReader&&) noexcept;
  ~GraphFileReader();

  bool step();               // reads on; true if there is more to read
  Result<GraphFile> take();  // once step() returned false

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace recut
