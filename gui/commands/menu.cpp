// Commands that open the menu and go through it by keys. Its rows are those of the table.
#include "gui/app/menu.h"

#include <cstdlib>

#include "gui/app/app.h"

namespace recut::gui {
namespace {

constexpr std::size_t kNone = OpenMenu::kNone;

bool is_open(const App& app) { return !app.menu.id.empty(); }

std::vector<MenuRow> open_rows(const App& app) {
  const Menu* menu = find_menu(app.menu.id);
  return menu != nullptr ? rows_of(app, *menu) : std::vector<MenuRow>();
}

bool can_choose(const MenuRow& row) { return !row.is_line() && row.enabled; }

// The next row after `from` that can be chosen, around the end; kNone where there is none.
std::size_t next_row(const std::vector<MenuRow>& rows, std::size_t from, int by) {
  const std::size_t count = rows.size();
  std::size_t at = from == kNone || from >= count ? (by > 0 ? count - 1 : 0) : from;
  for (std::size_t i = 0; i < count; ++i) {
    at = (at + count + static_cast<std::size_t>(by)) % count;
    if (can_choose(rows[at])) return at;
  }
  return kNone;
}

Result<Done> close_menu(App& app, std::string_view) {
  app.menu = {};
  return Done{};
}

// Without a name the first menu; an open menu closes.
Result<Done> open_menu(App& app, std::string_view id) {
  if (is_open(app) && (id.empty() || id == app.menu.id)) return close_menu(app, {});
  const Menu* menu = id.empty() ? &menus().front() : find_menu(id);
  if (menu == nullptr) return error("no menu '" + std::string(id) + "'");
  app.menu = {std::string(menu->id), kNone};
  return Done{};
}

template <int by>
Result<Done> step_menu(App& app, std::string_view) {
  app.menu.row = next_row(open_rows(app), app.menu.row, by);
  return Done{};
}

template <int by>
Result<Done> end(App& app, std::string_view) {
  app.menu.row = next_row(open_rows(app), kNone, by);
  return Done{};
}

// Goes to the menu beside it; to its first row, if the keyboard's cursor was at a row.
template <int by>
Result<Done> side(App& app, std::string_view) {
  const bool in_rows = app.menu.row != kNone;
  const auto all = menus();
  const auto here = static_cast<std::size_t>(find_menu(app.menu.id) - all.data());
  const auto next = (here + all.size() + static_cast<std::size_t>(by)) % all.size();
  app.menu = {std::string(all[next].id), kNone};
  return in_rows ? end<1>(app, {}) : Result<Done>(Done{});
}

// At the pointer.
Result<Done> go_to(App& app, std::string_view number) {
  app.menu.row = static_cast<std::size_t>(std::strtoul(std::string(number).c_str(), nullptr, 10));
  return Done{};
}

Result<Done> choose_menu(App& app, std::string_view) {
  const std::vector<MenuRow> rows = open_rows(app);
  if (app.menu.row >= rows.size()) return step_menu<1>(app, {});
  const Intent intent = rows[app.menu.row].intent;
  app.menu = {};
  return app.run(intent.command, intent.argument);
}

char lower_menu(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

// The next row whose title begins with the letter.
Result<Done> find_menu(App& app, std::string_view letter) {
  const std::vector<MenuRow> rows = open_rows(app);
  std::size_t at = app.menu.row;
  for (std::size_t i = 0; i < rows.size() && !letter.empty(); ++i) {
    at = next_row(rows, at, 1);
    if (at == kNone || lower_menu(rows[at].title.front()) != lower_menu(letter.front())) continue;
    app.menu.row = at;
    break;
  }
  return Done{};
}

constexpr Command kMenuRows[] = {
    {"menu.open", "Open the menu", "F10 Alt", "file, edit, view …", nullptr, open_menu},
    {"menu.close", "", "Escape", "", is_open, close_menu, "menu"},
    {"menu.down", "", "DownArrow Tab", "", is_open, step_menu<1>, "menu"},
    {"menu.up", "", "UpArrow Shift+Tab", "", is_open, step_menu<-1>, "menu"},
    {"menu.right", "", "RightArrow", "", is_open, side<1>, "menu"},
    {"menu.left", "", "LeftArrow", "", is_open, side<-1>, "menu"},
    {"menu.first", "", "Home PageUp", "", is_open, end<1>, "menu"},
    {"menu.last", "", "End PageDown", "", is_open, end<-1>, "menu"},
    {"menu.choose", "", "Enter KeypadEnter Space", "", is_open, choose_menu, "menu"},
    {"menu.at", "", "", "a row's number", is_open, go_to},
    {"menu.find", "", "", "a letter", is_open, find_menu, "menu"},
};

}  // namespace

std::span<const Command> menu_commands() { return kMenuRows; }

}  // namespace recut::gui
