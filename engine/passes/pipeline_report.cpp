#include "engine/passes/pipeline_report.h"

#include <algorithm>

namespace recut {

std::size_t PassReport::change_count() const {
  std::size_t count = changes.size();
  for (const RegionReport& region : regions) count += region.changes.size();
  return count;
}

bool PipelineReport::changed() const {
  return std::any_of(passes.begin(), passes.end(), [](const PassReport& p) { return p.changed; });
}

}  // namespace recut
