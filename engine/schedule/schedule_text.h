// A schedule as text, for users and golden files.
#pragma once

#include <string>

#include "engine/schedule/schedule.h"

namespace recut {

// One line a kernel, one a buffer, in order; sizes in bytes.
std::string schedule_text(const Graph& graph, const StorageModel& storages,
                          const Schedule& schedule);

// The name of a buffer: "conv", or "workspace of conv"; with the number of the output if the owner
// has several.
std::string buffer_name(const Graph& graph, const StorageModel& storages, const Buffer& buffer);

}  // namespace recut
