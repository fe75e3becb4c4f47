// Pairs of graphs of a file that are forward and backward of one compilation (printed_match.h).
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "engine/input/printed_sources.h"

namespace recut {

// Appends the joint graphs that can be matched, with their `parts`. In each compilation a graph of
// backward belongs to the last one of forward before it. Graphs of AOTAutograd count first, those
// of Inductor's passes after the partition only where there are none. Cost: one search of each
// graph's text for its primals and tangents.
void add_matched_sources(std::string_view text, std::vector<PrintedSource>& sources);

// The matched graph of the partition of the joint graph `at`; null where the file has none.
const PrintedSource* partition_of(std::size_t at, const std::vector<PrintedSource>& sources);

}  // namespace recut
