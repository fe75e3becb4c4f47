// The command that writes the report of what the window shows.
#pragma once

#include <string>

#include "gui/model/document_view.h"

namespace recut::gui {

// "recut report gpt2.json.gz --budget 4563402752 --device h100", to be run beside the file. ""
// where no single command does: the window differentiated the graph, gave it an optimiser or rules.
// `document.shown` is there.
std::string report_command_line(const DocumentView& document);

}  // namespace recut::gui
