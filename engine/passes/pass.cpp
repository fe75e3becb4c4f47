#include "engine/passes/pass.h"

#include <algorithm>

namespace recut {

std::vector<std::pair<std::string_view, int>> rule_hits(std::span<const Change> changes) {
  std::vector<std::pair<std::string_view, int>> hits;
  for (const Change& change : changes) {
    const auto it = std::find_if(hits.begin(), hits.end(),
                                 [&](const auto& hit) { return hit.first == change.rule; });
    if (it == hits.end())
      hits.emplace_back(change.rule, 1);
    else
      ++it->second;
  }
  return hits;
}

}  // namespace recut
