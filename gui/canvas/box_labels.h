// Labels in and beside boxes.
#pragma once

#include <string>
#include <vector>

#include "gui/canvas/picture.h"

namespace recut::gui {

// A node's own name, or a group's.
std::string name_of(const Picture& picture, const layout::Box& box);

// The texts in a box. A call: its operator, then its name, "softmax" "p", without the path of the
// group that it stands in; an output of several, "var_mean[0]" "getitem". An input: its name, or
// where that is a mere number, its path, "attn.c_attn.bias" "primals_7", or the module that reads
// it.
struct BoxLabel {
  std::string title, own;  // own: "" where the title says it
  bool joined = false;     // the two are one name: "mm" "_3"
  bool path = false;       // the title is a module's path, whose end tells most
};
BoxLabel box_label(const Picture& picture, const layout::Box& box);
// The label of an operator: "mul" of mul.Tensor, "softmax" of _softmax.
std::string_view operator_label(const Operator& op);
// A name without the leading parts that `path` has in a row: "h.0.attn.weight" in "m.h.0" is
// "attn.weight", "/h/h.0/mlp/Relu" in "h.h.0.mlp" is "Relu".
std::string_view within_path(std::string_view name, std::string_view path);

// A group's own name; a number has its list's name before it: "h.3".
std::string label_of(const layout::Group& group);
// The count of groups like this one, longest first: "1 of 11 alike", "1 of 11"; empty if there is
// no other.
std::vector<std::string> alike_text(const layout::Group& group);
// Variants of the text at the right of a name, longest first: "32×64×56×56 · 24.5 MiB", "24.5 MiB".
std::vector<std::string> details_of(const Picture& picture, const layout::Box& box,
                                    std::int64_t saved_bytes);
// Operator, arguments and types as the text form writes them, without the name.
std::string call_of(const Graph& graph, NodeId node);
// The call in lines of at most `letters` letters, at most `lines` of them.
std::vector<std::string> wrapped(const std::string& text, std::size_t letters, std::size_t lines);
// At most `bytes` of a name, at a boundary between letters: names may be of any length.
std::string_view clipped(std::string_view name, std::size_t bytes = 160);

}  // namespace recut::gui
