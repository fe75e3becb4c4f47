// Small functions at the head of the text, which kernels call: each stands there only where one of
// them does.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace recut::cuda {

class Helpers {
 public:
  // Gives the name back, so that it may stand where the call is written.
  const std::string& use(const std::string& name);

  // Those that were used, and what they use, in the table's order.
  std::string text() const;

 private:
  std::set<std::string> used_;
};

// Of all that there are.
std::vector<std::string_view> helper_names();

}  // namespace recut::cuda
