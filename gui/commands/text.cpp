// Commands of the graph as text, and of its difference from pass to pass.
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>

#include "gui/app/app.h"
#include "gui/app/conditions.h"
#include "gui/app/text_view.h"

namespace recut::gui {
namespace {

bool has_changes(const App& app) {
  if (!app.has_ready() || app.settings.text("turn.centre") != "text") return false;
  const auto* view = find_memory<TextView>(app.document()->memories, kTextMemory);
  return view != nullptr && view->difference && !view->difference->changes.empty();
}

Result<Done> prepare_text(App& app, std::string_view) {
  prepare_text(app, *app.document());
  return Done{};
}

Result<Done> set_base(App& app, std::string_view text) {
  TextView& view = text_view(*app.document());
  view.base = std::nullopt;
  if (text.empty() || text == "previous") return Done{};
  const auto passes = static_cast<long>(app.document()->document->passes.passes.size());
  char* end = nullptr;
  const std::string digits(text);
  const long pass = std::strtol(digits.c_str(), &end, 10);
  if (*end != '\0' || pass < 0 || pass > passes)
    return error("a pass is a number, 0 as read, or 'previous'");
  view.base = static_cast<std::size_t>(pass);
  return Done{};
}

Result<Done> toggle_fold(App& app, std::string_view) {
  TextView& view = text_view(*app.document());
  view.whole = !view.whole;
  view.open.clear();
  view.fold();
  return Done{};
}

Result<Done> unfold(App& app, std::string_view line) {
  TextView& view = text_view(*app.document());
  const long requested = std::strtol(std::string(line).c_str(), nullptr, 10);
  if (!view.difference || requested < 0) return error("there is no such line");
  const auto at = static_cast<std::size_t>(requested);
  view.open.insert(std::lower_bound(view.open.begin(), view.open.end(), at), at);
  view.fold();
  return Done{};
}

// Goes from block to block of changed lines, around the ends.
template <int by>
Result<Done> step_text(App& app, std::string_view) {
  TextView& view = text_view(*app.document());
  const std::size_t count = view.difference->changes.size();
  if (view.change >= count) {
    view.change = by > 0 ? 0 : count - 1;
  } else {
    view.change = (view.change + count + static_cast<std::size_t>(by)) % count;
  }
  reveal_line(view, view.difference->changes[view.change]);
  return Done{};
}

Result<Done> copy_lines(App& app, std::string_view) {
  TextView& view = text_view(*app.document());
  if (!view.difference) return error("the text isn't there yet");
  const bool plain = view.difference->changes.empty();
  std::string text;
  if (plain) {
    for (const std::string& line : view.difference->after->lines) text += line + "\n";
  } else {
    text = patch_text(*view.difference, view.rows);
  }
  app.backend.set_clipboard(text);
  app.say(plain ? "Copied the graph's text" : "Copied the differences");
  return Done{};
}

constexpr Command kTextRows[] = {
    {"text.prepare", "", "", "", is_ready, prepare_text},
    {"text.base", "Compare the text with that of a pass", "",
     "its number, 0 as read, or 'previous'", is_ready, set_base},
    {"text.fold", "Fold what is the same in both texts, or not", "", "", is_ready, toggle_fold},
    {"text.unfold", "", "", "a line's number", is_ready, unfold},
    {"text.next", "Next difference", "F7 N", "", has_changes, step_text<1>},
    {"text.previous", "Previous difference", "Shift+F7 P", "", has_changes, step_text<-1>},
    {"text.copy", "Copy the text or its differences", "", "", is_ready, copy_lines},
};

}  // namespace

std::span<const Command> text_commands() { return kTextRows; }

}  // namespace recut::gui
