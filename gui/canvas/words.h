// What stands in and beside boxes.
#pragma once

#include <string>
#include <vector>

#include "gui/canvas/picture.h"

namespace recut::gui {

std::string name_of(const Picture& picture, const layout::Box& box);
// A group's own name; a number says nothing without what it numbers: "h.3".
std::string label_of(const layout::Group& group);
// "h.3 × 24": a group and how many there are of its kind.
std::string title_of(const layout::Group& group);
// What may stand at the right of a name, longest first: "32×64×56×56 · 24.5 MiB", "24.5 MiB".
std::vector<std::string> details_of(const Picture& picture, const layout::Box& box,
                                    std::int64_t saved_bytes);
// Operator, arguments and types as the text form writes them, without the name.
std::string call_of(const Graph& graph, NodeId node);
// The same in lines of at most `letters`, at most `lines` of them.
std::vector<std::string> wrapped(const std::string& words, std::size_t letters, std::size_t lines);
// At most `bytes` of a name, at a boundary between letters: names may be of any length.
std::string_view clipped(std::string_view name, std::size_t bytes = 160);

}  // namespace recut::gui
