// The step from one graph of a document to another, which other transform settings made of the same
// file.
#pragma once

#include <functional>
#include <string>

#include "gui/model/document_view.h"

namespace recut::gui {

// Forgets everything about the graph before, has `install` put `after` and its facts into the
// document, and restores the shown pass and the selection there by name. Returns a remark for the
// user: overrides that were dropped because the graph has no such node; "" for none.
std::string move_to_graph(DocumentView& document, const Document& after,
                          const std::function<void()>& install);

}  // namespace recut::gui
