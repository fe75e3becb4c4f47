#include "engine/codegen/cuda/helpers.h"

#include <algorithm>
#include <sstream>

#include "engine/support/check.h"

namespace recut::cuda {

const std::string& Helpers::use(const std::string& name) {
  const std::span<const Helper> all = all_helpers();
  const auto helper =
      std::find_if(all.begin(), all.end(), [&](const Helper& one) { return one.name == name; });
  RECUT_CHECK(helper != all.end(), "a helper is in the table");
  std::istringstream others{std::string(helper->uses)};
  for (std::string other; others >> other;) use(other);
  return *used_.insert(name).first;
}

std::string Helpers::text() const {
  std::string text;
  for (const Helper& helper : all_helpers())
    if (used_.contains(std::string(helper.name))) text.append(helper.text) += '\n';
  return text;
}

}  // namespace recut::cuda
