// Functions at the head of the text, which kernels call: each stands there only where one of them
// does. The files of device/ define them, as CUDA that tools read. A marker begins each helper:
//   //: helper quotient uses minus
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>

namespace recut::cuda {

struct Helper {
  std::string_view name;  // its function's; its subject where there are several
  std::string_view uses;  // others, before it, with spaces between
  std::string_view text;  // whole lines
};

// In the order in which a text has them. The build writes the table from the files
// (.setup/cmake/embed_cuda.cmake). It refuses two helpers of one name, and a helper that uses what
// doesn't stand before it.
std::span<const Helper> all_helpers();

class Helpers {
 public:
  // Gives the name back, so that it may stand where the call is written.
  const std::string& use(const std::string& name);

  // Those that were used, and what they use, in the table's order.
  std::string text() const;

 private:
  std::set<std::string> used_;
};

}  // namespace recut::cuda
