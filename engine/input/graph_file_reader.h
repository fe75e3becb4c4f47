// Reading a graph file of any form in steps of some milliseconds, so that a frame may come between
// two. Only unpacking is one step, and Recut's own text is read in one. graph_file.h has them all
// in one.
#pragma once

#include <memory>
#include <string_view>

#include "engine/input/graph_file.h"

namespace recut {

// The bytes must outlive it.
class GraphFileReader {
 public:
  GraphFileReader(std::string_view bytes, std::string_view file_name,
                  std::string_view key = kDefaultGraphKey);
  GraphFileReader(GraphFileReader&&) noexcept;
  ~GraphFileReader();

  bool step();               // reads on; true where there is more to read
  Result<GraphFile> take();  // once there is none

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace recut
