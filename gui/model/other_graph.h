// From one graph of a document to another, which another recipe made of the same file.
#pragma once

#include <functional>
#include <string>

#include "gui/model/document_view.h"

namespace recut::gui {

// Forgets what is known of the graph before, has `install` put `after` and what belongs to it in
// the document, and shows and selects there what fits best by its name: the pass that came, or else
// the one that was shown. Returns what people should know of: choices by hand that went because
// the graph has no such node; "" for none.
std::string move_to_graph(DocumentView& document, const Document& after,
                          const std::function<void()>& install);

}  // namespace recut::gui
