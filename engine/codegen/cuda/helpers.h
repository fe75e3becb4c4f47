// Device functions that kernels call. A text contains only the used ones. The files of device/
// define them, as CUDA that tools can read. A marker begins each helper:
//   //: helper quotient uses minus
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>

namespace recut::cuda {

struct Helper {
  std::string_view name;  // of its function, or of the subject of several
  std::string_view uses;  // other helpers before it, separated by spaces
  std::string_view text;  // whole lines
};

// In the order of the text. The build generates the table from the files
// (.setup/cmake/embed_cuda.cmake). It rejects two helpers of one name, and a helper that uses one
// that doesn't come before it.
std::span<const Helper> all_helpers();

class Helpers {
 public:
  // Marks a helper as used. Returns the name, for the text of the call.
  const std::string& use(const std::string& name);

  // The used helpers and their dependencies, in the table's order.
  std::string text() const;

 private:
  std::set<std::string> used_;
};

}  // namespace recut::cuda
