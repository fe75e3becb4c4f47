#include "gui/panels/bar_tabs.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace recut::gui {
namespace {

constexpr float kWidestTab = 200, kTabEdge = 14, kNarrowTabEdge = 8;  // units
constexpr std::size_t kTabLetters = 8;  // of a name, before its cross gives way

float cross_width(const Ui& ui) { return ui.px(ui.fingers ? kFinger : 28); }

float tab_width(const Ui& ui, const DocumentView& document) {
  const float beside = cross_width(ui) + ui.px(2 * kTabEdge + 2);
  const float widest = ui.px(kWidestTab) + cross_width(ui) - ui.px(28);
  return std::round(std::min(widest, ui.width(document.title, Face::text) + beside));
}

// The least width of a name, or of its beginning with "…".
float least_width(const Ui& ui, const std::string& name) {
  std::size_t bytes = 0;
  for (std::size_t letters = 0; bytes < name.size(); ++bytes) {
    const bool begins = (static_cast<unsigned char>(name[bytes]) & 0xc0) != 0x80;
    if (begins && ++letters > kTabLetters) break;
  }
  const float beginning = ui.width(name.substr(0, bytes) + "…", Face::text);
  return std::min(ui.width(name, Face::text), beginning);
}

void close_cross(Ui& ui, const DocumentView& document, const Rect& rect, Intents& intents) {
  const Rect box = rect_around(rect.centre(), ui.target(18), ui.target(18));
  const WidgetResponse t = interact(ui, "close " + document.title, ItemKind::button, box);
  if (t.hovered) ui.fill(box, ui.theme.raised, ui.px(kRadius));
  ui.items.set_name("Close " + document.title);
  ui.cross(rect.centre(), ui.px(3), t.hovered ? ui.theme.text : ui.theme.faint, ui.px(1.2f));
  if (t.pressed) intents.push_back({"file.close", fmt::format("{}", document.serial)});
}

// Draws a document's title, and a cross to close it if there is room; the menu closes it, too.
void document_tab(Ui& ui, const PanelInput& input, const DocumentView& document, Rect tab,
                  float edge, Intents& intents) {
  const bool front = &document == input.document;
  const Rect whole = tab;
  const WidgetResponse t =
      interact(ui, "tab " + document.title, ItemKind::tab, whole, true, front ? "chosen" : "");
  hint(ui, text_of(document.fault));
  if (t.pressed) intents.push_back({"file.show", fmt::format("{}", document.serial)});
  if (front) ui.fill(whole, ui.theme.background);
  if (front)
    ui.fill({whole.left, whole.bottom - ui.whole(2), whole.right, whole.bottom},
            ui.theme.selection);
  const float room = tab.width() - cross_width(ui) - 2 * ui.px(edge);
  const bool crossed = edge == kTabEdge || room >= least_width(ui, document.title);
  const Rect cross = tab.cut_right(crossed ? cross_width(ui) : 0);
  const Colour ink = document.state == DocumentState::failed ? ui.theme.conflict
                     : front || t.hovered                    ? ui.theme.text
                                                             : ui.theme.dim;
  ui.text(tab.inset(ui.px(edge), 0), document.title, Face::text, ink);
  if (crossed) close_cross(ui, document, cross, intents);
}

// Draws a button to the next document: "2/3" if the second of three is in front.
void next_document(Ui& ui, const PanelInput& input, const Rect& rect, Intents& intents) {
  const auto& all = input.app.documents.all();
  const auto front = std::find_if(all.begin(), all.end(), [&](const auto& document) {
    return document.get() == input.document;
  });
  const std::string text = fmt::format("{}/{}", front - all.begin() + 1, all.size());
  if (button(ui, "next document", rect, text, ButtonLook::quiet))
    intents.push_back({"file.next", ""});
  ui.items.set_name("Next document");
  hint(ui, "Next document (Ctrl Tab)");
}

// Draws only the tab of the document in front: several narrow tabs would have no readable names.
void front_tab(Ui& ui, const PanelInput& input, Rect& rest, float room, Intents& intents) {
  const float next = input.app.documents.all().size() > 1 ? ui.target(34) : 0;
  const float wide = std::min(tab_width(ui, *input.document), room - next);
  document_tab(ui, input, *input.document, rest.cut_left(wide), kNarrowTabEdge, intents);
  if (next > 0) next_document(ui, input, rest.cut_left(next), intents);
}

}  // namespace

float document_tabs_width(const Ui& ui, const App& app) {
  float wide = 0;
  for (const auto& document : app.documents.all()) wide += tab_width(ui, *document);
  return wide;
}

void document_tabs(Ui& ui, const PanelInput& input, bool narrow, Rect& rest, Intents& intents) {
  const float plus = ui.target(34), wide = document_tabs_width(ui, input.app);
  const float room = std::max(0.0f, rest.width() - plus);
  if (narrow && wide > room && input.document != nullptr) {
    front_tab(ui, input, rest, room, intents);
  } else {
    const float share = wide > 0 ? std::min(1.0f, room / wide) : 1;
    for (const auto& document : input.app.documents.all())
      document_tab(ui, input, *document, rest.cut_left(tab_width(ui, *document) * share), kTabEdge,
                   intents);
  }
  const Rect rect = rest.cut_left(plus);
  if (button(ui, "open", rect_around(rect.centre(), ui.target(24), ui.target(24)), "+",
             ButtonLook::quiet))
    intents.push_back({"file.open", ""});
  hint(ui, "Open a graph (Ctrl O)");
}

}  // namespace recut::gui
