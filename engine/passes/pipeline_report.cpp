#include "engine/passes/pipeline_report.h"

#include <algorithm>

namespace recut {

bool PipelineReport::changed() const {
  return std::any_of(passes.begin(), passes.end(), [](const PassReport& p) { return p.changed; });
}

}  // namespace recut
