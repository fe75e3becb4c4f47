#include "gui/model/opening_notices.h"

#include "engine/workspace/torch_saved.h"

namespace recut::gui {
namespace {

void append(std::vector<std::string>& notices, const std::vector<std::string>& more) {
  notices.insert(notices.end(), more.begin(), more.end());
}

}  // namespace

std::vector<std::string> opening_notices(const DocumentView& document) {
  const Document& opened = *document.document;
  std::vector<std::string> notices;
  const auto add = [&](std::string text) {
    if (!text.empty()) notices.push_back(std::move(text));
  };
  if (const std::string hints = hints_text(opened.file.symbols); !hints.empty())
    add("Sizes by the file's hints: " + hints);
  append(notices, opened.file.notes());
  append(notices, opened.notes());
  add(torch_saved_text(opened));
  add(frozen_notice(document));
  if (document.offers_backward() && !opened.differentiated)
    add("A forward graph, planned as inference; differentiate it (g) to train");
  return notices;
}

std::string frozen_notice(const DocumentView& document) {
  const auto& frozen = document.whole().frozen;
  return frozen ? freeze_text(*frozen) : "";
}

}  // namespace recut::gui
