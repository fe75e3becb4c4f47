// The program's name is the menu's button. It opens one sheet: the menus as tabs, the rows of the
// open one below them. A bar of menus would take the room of the documents.
#include "gui/panels/bar_menu.h"

#include <cmath>

#include "gui/app/menu.h"
#include "gui/draw/popup.h"

namespace recut::gui {
namespace {

constexpr float kBarMenuWide = 430, kTitles = 36, kMenuRow = 24, kLineRow = 9, kCheck = 26;

// The menu's state; a pointer at rest leaves the rows to the keys.
struct MenuMemory {
  ImVec2 pointer{-1, -1};  // where it was when it chose last

  bool moved() const {
    const ImVec2 at = ImGui::GetIO().MousePos;
    return at.x != pointer.x || at.y != pointer.y;
  }
  void rest() { pointer = ImGui::GetIO().MousePos; }
};

void chevron(const Ui& ui, ImVec2 centre, Colour ink) {
  const float arm = ui.px(3.2f), width = ui.px(1.3f);
  const ImVec2 low{centre.x, centre.y + arm * 0.55f};
  ui.line({centre.x - arm, centre.y - arm * 0.45f}, low, ink, width);
  ui.line(low, {centre.x + arm, centre.y - arm * 0.45f}, ink, width);
}

void check_mark(const Ui& ui, ImVec2 centre, Colour ink) {
  const ImVec2 low{centre.x - ui.px(1), centre.y + ui.px(3)};
  ui.line({centre.x - ui.px(4), centre.y}, low, ink, ui.px(1.6f));
  ui.line(low, {centre.x + ui.px(4), centre.y - ui.px(3.2f)}, ink, ui.px(1.6f));
}

class Sheet {
 public:
  Sheet(Ui& ui, const App& app, const Menu& menu, MenuMemory& memory, Intents& intents)
      : ui_(ui),
        app_(app),
        menu_(menu),
        rows_(rows_of(app, menu)),
        memory_(memory),
        intents_(intents) {}

  // True if a button was pressed outside of it.
  bool draw(ImVec2 corner) {
    float high = 0;
    for (const MenuRow& row : rows_) high += height_of(row);
    const float edges = 3 * ui_.px(kPopupEdge) + ui_.target(kTitles);
    const float room = ImGui::GetIO().DisplaySize.y - corner.y - ui_.px(kPopupEdge);
    Rect box =
        rect_at(corner, {std::min(ui_.px(kBarMenuWide), ImGui::GetIO().DisplaySize.x - corner.x),
                         std::min(high + edges, room)});
    Rect rest = begin_popup(ui_, "menu", box, PopupBackground::blocked);
    titles(rest.cut_top(ui_.target(kTitles)));
    rest.cut_top(ui_.px(kPopupEdge));
    const Scrolled region = begin_scroll(ui_, "menu rows", rest, high);
    Rect lines = region.content;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const Rect line = lines.cut_top(height_of(rows_[i]));
      if (i == app_.menu.row && !memory_.moved()) scroll_to(line.top, line.bottom, region);
      if (line.meets(region.visible)) row(i, line);
    }
    end_scroll();
    end_popup();
    return pressed_outside(box);
  }

 private:
  float height_of(const MenuRow& row) const {
    return row.is_line() ? std::round(ui_.px(kLineRow)) : ui_.target(kMenuRow);
  }

  void titles(Rect row) {
    ui_.fill(row.cut_bottom(ui_.whole(1)), ui_.theme.line);
    row = row.inset(ui_.px(14), 0);
    for (const Menu& menu : menus()) {
      const Rect rect = row.cut_left(std::ceil(ui_.width(menu.title, Face::text)) + 1);
      const bool open = &menu == &menu_;
      const bool pressed = tab(ui_, "menu/" + std::string(menu.id), rect, menu.title, open);
      const bool reached = ImGui::IsItemHovered() && memory_.moved();
      if (!open && (pressed || reached)) {
        intents_.push_back({"menu.open", std::string(menu.id)});
        memory_.rest();
      }
      row.cut_left(ui_.px(15));
    }
  }

  void row(std::size_t index, Rect line) {
    const MenuRow& it = rows_[index];
    if (it.is_line()) {
      const float y = std::round(line.centre().y);
      ui_.fill({line.left, y, line.right, y + ui_.whole(1)}, ui_.theme.line);
      return;
    }
    const std::string label = "menu/" + std::string(menu_.id) + "/" + it.label;
    const bool chosen = index == app_.menu.row;
    const WidgetResponse t =
        interact(ui_, label, ItemKind::row, line, it.enabled, it.on ? "on" : it.title);
    // The pointer's row is the chosen one as soon as it moves: one background for hand and keys.
    if (chosen) ui_.fill(line, mix(ui_.theme.raised, ui_.theme.text, 0.11));
    if (t.hovered && memory_.moved()) {
      if (!chosen) intents_.push_back({"menu.at", std::to_string(index)});
      memory_.rest();
    }
    if (t.pressed) {
      intents_.push_back({"menu.close", ""});
      intents_.push_back(it.intent);
    }
    draw_text(it, line);
  }

  void draw_text(const MenuRow& it, Rect line) {
    const Theme& theme = ui_.theme;
    const Rect check = line.cut_left(ui_.px(kCheck));
    if (it.on) check_mark(ui_, {check.centre().x + ui_.px(1), check.centre().y}, theme.selection);
    line.cut_right(ui_.px(12));
    const float wide = ui_.width(it.hotkey, Face::mono_small);
    ui_.text(line.cut_right(wide + 1), it.hotkey, Face::mono_small,
             it.enabled ? theme.dim : theme.faint, Align::right);
    line.cut_right(ui_.px(14));
    const Colour ink = it.enabled ? theme.text : theme.faint;
    // A file's path is cut at its beginning, since its end tells more.
    if (it.title == it.intent.argument)
      ui_.path(line, it.title, Face::text, ink);
    else
      ui_.text(line, it.title, Face::text, ink);
  }

  Ui& ui_;
  const App& app_;
  const Menu& menu_;
  const std::vector<MenuRow> rows_;
  MenuMemory& memory_;
  Intents& intents_;
};

// Draws three lines as the menu's sign in a narrow bar.
void menu_sign(const Ui& ui, ImVec2 centre, Colour colour) {
  for (const float y : {-4.0f, 0.0f, 4.0f})
    ui.line({centre.x - ui.px(6), centre.y + ui.px(y)}, {centre.x + ui.px(6), centre.y + ui.px(y)},
            colour, ui.whole(1.3f));
}

void name_and_chevron(const Ui& ui, Rect rect, Colour ink) {
  rect.cut_left(ui.px(kPadding));
  rect.cut_left(ui.text(rect, "Recut", Face::title, ui.theme.text) + 1 + ui.px(8));
  chevron(ui, rect.cut_left(ui.px(8)).centre(), ink);
}

}  // namespace

void bar_menu(Ui& ui, const PanelInput& input, Rect& bar, Intents& intents) {
  const App& app = input.app;
  auto& memory = input.memory<MenuMemory>("menu");
  const Menu* open = find_menu(app.menu.id);
  const bool narrow = input.whole.width() < ui.px(kNarrowBar);
  const float wide = ui.px(kPadding) + ui.width("Recut", Face::title) + ui.px(28);
  const Rect whole = bar.cut_left(std::round(narrow ? ui.px(kFinger) : wide));
  const WidgetResponse t =
      interact(ui, "menu", ItemKind::button, whole, true, open != nullptr ? "open" : "");
  if (t.hovered || open != nullptr) ui.fill(whole, ui.theme.raised);
  const Colour ink = t.hovered || open != nullptr ? ui.theme.text : ui.theme.faint;
  if (narrow)
    menu_sign(ui, whole.centre(), ui.theme.text);
  else
    name_and_chevron(ui, whole, ink);
  hint(ui, open == nullptr ? "Menu (F10)" : "");
  bar.cut_left(ui.px(4));
  if (t.pressed) intents.push_back({"menu.open", ""});
  if (open == nullptr) return memory.rest();
  if (Sheet(ui, app, *open, memory, intents).draw({whole.left + ui.px(4), whole.bottom}))
    intents.push_back({"menu.close", ""});
}

}  // namespace recut::gui
