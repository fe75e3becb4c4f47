// The report of recut run on all ranks of a mesh.
#pragma once

#include <string>

#include "engine/workspace/rank_execution.h"

namespace recut::native {

std::string ranks_as_json(const RankExecution& execution, bool checked);
std::string ranks_as_text(const RankExecution& execution, int steps, bool checked);

}  // namespace recut::native
