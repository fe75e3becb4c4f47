// Notices to the user as a document opens.
#pragma once

#include <string>
#include <vector>

#include "gui/model/document_view.h"

namespace recut::gui {

std::vector<std::string> opening_notices(const DocumentView& document);

// The counts of a frozen graph's weights by their fate; "" of another graph.
std::string frozen_notice(const DocumentView& document);

}  // namespace recut::gui
