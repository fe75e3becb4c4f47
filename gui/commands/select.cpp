// The selection, and the graph that is shown.
#include <cstdlib>

#include "gui/app/app.h"
#include "gui/app/search.h"

namespace recut::gui {
namespace {

bool is_ready(const App& app) { return app.has_ready(); }
bool has_selection(const App& app) {
  return is_ready(app) && app.overlay.empty() && app.document()->selection.node.valid();
}

Result<Done> select(App& app, std::string_view name) {
  DocumentView& document = *app.document();
  NodeId id = document.find(std::string(name));
  if (!id.valid()) id = document.graph_at_pass().find(name);
  if (!id.valid() && !name.empty()) return error("no node '" + std::string(name) + "'");
  document.selection.node = id;
  return Done{};
}

// What the pointer is over, in whatever panel; said when it changes.
Result<Done> hover(App& app, std::string_view name) {
  app.document()->selection.hovered = app.document()->find(std::string(name));
  return Done{};
}

Result<Done> clear(App& app, std::string_view) {
  app.document()->selection = {};
  return Done{};
}

Result<Done> find(App& app, std::string_view text) {
  if (text.empty()) {
    app.items.keyboard_for = "bar/search";
    return Done{};
  }
  const auto found = search_nodes(*app.document(), text, 1);
  if (!found) return found.diagnostics();
  if (found->empty()) return error("nothing fits '" + std::string(text) + "'");
  app.document()->selection.node = found->front();
  return Done{};
}

Result<Done> set_pass(App& app, std::string_view text) {
  DocumentView& document = *app.document();
  const auto passes = static_cast<long>(document.document->passes.passes.size());
  const long wanted = std::strtol(std::string(text).c_str(), nullptr, 10);
  if (wanted < 0 || wanted > passes) return error("no such pass");
  document.pass = static_cast<std::size_t>(wanted);
  return Done{};
}

template <int by>
Result<Done> step_pass(App& app, std::string_view) {
  DocumentView& document = *app.document();
  const auto passes = static_cast<int>(document.document->passes.passes.size());
  const int wanted = static_cast<int>(document.pass) + by;
  document.pass = static_cast<std::size_t>(std::min(passes, std::max(0, wanted)));
  return Done{};
}

Result<Done> copy_name(App& app, std::string_view) {
  app.backend.set_clipboard(app.document()->selected_name());
  app.say("Copied " + app.document()->selected_name());
  return Done{};
}

constexpr Command kRows[] = {
    {"select.node", "Select a value", "", "its name", is_ready, select},
    {"select.hover", "", "", "a name, or nothing", is_ready, hover},
    {"select.clear", "Select nothing", "Escape", "", has_selection, clear},
    {"select.copy", "Copy the selected name", "Ctrl+Shift+C", "", has_selection, copy_name},
    {"search.find", "Search nodes, modules, bytes", "/ Ctrl+F", "", is_ready, find},
    {"pass.set", "Show the graph after a pass", "", "its number, 0 as read", is_ready, set_pass},
    {"pass.next", "Next pass", "n", "", is_ready, step_pass<1>},
    {"pass.previous", "Previous pass", "b", "", is_ready, step_pass<-1>},
};

}  // namespace

std::span<const Command> select_commands() { return kRows; }

}  // namespace recut::gui
