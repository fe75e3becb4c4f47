#include "engine/rewrite/change_description.h"

#include "engine/ir/printer.h"

namespace recut {

std::string ChangeDescription::text() const {
  if (before_ == nullptr) return text_;
  std::string text;
  for (const NodeId id : old_nodes_) text += (text.empty() ? "" : "; ") + print_node(*before_, id);
  if (after_ == nullptr) return text;
  text += "  =>  ";
  bool first = true;
  for (const Part& part : new_nodes_) {
    if (!first) text += "; ";
    first = false;
    text += part.whole ? print_node(*after_, part.node) : print_argument(*after_, part.node);
  }
  return text;
}

}  // namespace recut
