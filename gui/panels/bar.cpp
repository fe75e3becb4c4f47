// The bar at the top: the documents as tabs, the search, the device, the figures of the shown plan.
#include <fmt/core.h>

#include <cmath>
#include <vector>

#include "engine/support/units.h"
#include "gui/app/app.h"
#include "gui/app/glossary.h"
#include "gui/draw/popup.h"
#include "gui/model/schedule_view.h"
#include "gui/model/search.h"
#include "gui/panels/bar_menu.h"
#include "gui/panels/bar_tabs.h"

namespace recut::gui {
namespace {

struct SearchMemory {
  std::string text;
  std::size_t chosen = 0;
  bool open = false;
};

void found_row(Ui& ui, const DocumentView& document, NodeId id, Rect row) {
  const Graph& graph = document.graph_at_pass();
  row = row.inset(ui.px(10), 0);
  if (document.shown && document.graph().contains(id))
    ui.sign(row.cut_left(ui.px(14)).centre(), document.shown->role(id));
  row.cut_left(ui.px(8));
  ui.text(row.cut_right(ui.px(70)), format_bytes(bytes_of(graph, id)), Face::mono_small,
          ui.theme.dim, Align::right);
  row.cut_left(ui.text(row, graph.node_name(id), Face::mono, ui.theme.text) + ui.px(12));
  row.cut_left(ui.text(row, graph.op(id).name, Face::small, ui.theme.dim) + ui.px(12));
  ui.path(row, short_module(graph.origin(id).module), Face::small, ui.theme.faint);
}

// The matches, under the field, over everything else.
void found_list(Ui& ui, const PanelInput& input, const Rect& field, SearchMemory& memory,
                Intents& intents) {
  const DocumentView& document = *input.document;
  const std::vector<NodeId>& found = document.search.best;
  const std::size_t rows = std::max<std::size_t>(1, found.size());
  const float high = ui.px(kRow) * static_cast<float>(rows) + 2 * ui.px(kPopupEdge);
  const float wide = std::max(field.width(), ui.px(520));
  Rect box = rect_at({field.centre().x - wide / 2, field.bottom + ui.px(4)}, {wide, high});
  Rect rest = begin_popup(ui, "found", box);
  if (found.empty()) {
    const std::string text = document.search.fault.empty() ? "Nothing fits" : document.search.fault;
    ui.text(rest.inset(ui.px(10), 0), text, Face::text, ui.theme.dim);
  } else {
    memory.chosen = std::min(memory.chosen, found.size() - 1);
    for (std::size_t i = 0; i < found.size(); ++i) {
      const Rect line = rest.cut_top(ui.px(kRow));
      const std::string name = document.graph_at_pass().node_name(found[i]);
      const WidgetResponse t = popup_row(ui, "found " + name, line, i == memory.chosen);
      found_row(ui, document, found[i], line);
      if (t.pressed) {
        intents.push_back({"select.node", name});
        memory.open = false;
      }
    }
  }
  end_popup();
}

// Enter takes the chosen one; arrows go up and down.
void search_keys(const PanelInput& input, const FieldAnswer& answer, SearchMemory& memory,
                 Intents& intents) {
  if (answer.active && ImGui::IsKeyPressed(ImGuiKey_DownArrow)) ++memory.chosen;
  if (answer.active && ImGui::IsKeyPressed(ImGuiKey_UpArrow) && memory.chosen > 0) --memory.chosen;
  if (!answer.committed) return;
  const std::vector<NodeId>& found = input.document->search.best;
  // Without the list, Enter goes from match to match.
  if (input.document->search.text != memory.text)
    return intents.push_back({"search.find", memory.text});
  const bool again = !memory.open && input.document->search.found != nullptr;
  if (again)
    intents.push_back({"search.next", ""});
  else if (memory.chosen < found.size())
    intents.push_back(
        {"select.node", input.document->graph_at_pass().node_name(found[memory.chosen])});
  memory.open = false;
}

void search(Ui& ui, const PanelInput& input, const Rect& area, Intents& intents) {
  auto& memory = input.memory<SearchMemory>("search");
  FieldLook look;
  constexpr std::string_view kHint = "Search nodes, modules, bytes > 64MiB …";
  look.face = Face::small;
  look.hint = ui.width(kHint, look.face) + ui.px(30) < area.width() ? kHint : "Search …";
  const FieldAnswer answer = field(ui, "search", area, memory.text, look);
  if (memory.text.empty() && !answer.active)
    ui.text(area.inset(ui.px(10), 0), "/", Face::mono_small, ui.theme.faint, Align::right);
  if (answer.changed) {
    memory.open = !memory.text.empty();
    memory.chosen = 0;
  }
  // All panels know the matches; another pass or plan has others. Commands search, too.
  const Search& known = input.document->search;
  if (!answer.active && !answer.changed && !answer.committed) memory.text = known.text;
  const bool stale = known.text != memory.text || is_stale(known, *input.document);
  if (stale) intents.push_back({"search.set", memory.text});
  if (memory.text.empty()) return;
  if (!memory.open && known.found && !known.found->empty())
    ui.text(area.inset(ui.px(10), 0), known.summary(input.document->selection.node),
            Face::mono_small, ui.theme.dim, Align::right);
  search_keys(input, answer, memory, intents);
  const bool over_list = ImGui::IsAnyItemHovered();
  if (!answer.active && !over_list && ImGui::IsMouseClicked(0)) memory.open = false;
  if (memory.open && !stale) found_list(ui, input, area, memory, intents);
}

struct Figure {
  std::string_view what;
  std::string value;
  Colour colour;
};

// The figures of the plan, the first ones kept longest if room is short.
std::vector<Figure> figures_of(const Ui& ui, const DocumentView& document) {
  const PlanReport& report = document.shown->report();
  const bool refused = document.budget_answer() == BudgetAnswer::refused;
  const Colour peak = refused ? ui.theme.conflict : ui.theme.text;
  std::vector<Figure> figures{{"peak", format_bytes(report.peak_bytes), peak}};
  if (const std::string arena = arena_beside_peak(document); !arena.empty())
    figures.push_back(
        {"arena", arena, arena_is_beyond(document) ? ui.theme.conflict : ui.theme.text});
  figures.push_back({"step", format_micros(report.step_us), ui.theme.text});
  if (document.peak_bound() > 0)
    figures.push_back({"bound", "≥ " + format_bytes(document.peak_bound()), ui.theme.dim});
  return figures;
}

float width_of(const Ui& ui, const Figure& figure) {
  return ui.width(figure.what, Face::text) + ui.width(figure.value, Face::mono_strong) +
         ui.px(6 + 18);
}

// A figure with its description as a tooltip.
void bar_figure(Ui& ui, const App& app, const Figure& one, const Rect& rect) {
  (void)interact(ui, one.what, ItemKind::figure, rect, true, one.value);
  explain(ui, app, one.what);
  Rect rest = rect;
  rest.cut_left(ui.text(rest, one.what, Face::text, ui.theme.dim) + ui.px(6));
  ui.text(rest, one.value, Face::mono_strong, one.colour);
}

// Draws figures at the right end of `rest`, as many as leave `keep` of it.
void figures(Ui& ui, const App& app, const DocumentView& document, float keep, Rect& rest) {
  std::vector<Figure> figures = figures_of(ui, document);
  float wide = 0;
  for (const Figure& figure : figures) wide += width_of(ui, figure);
  while (!figures.empty() && rest.width() - wide < keep) {
    wide -= width_of(ui, figures.back());
    figures.pop_back();
  }
  Rect rect = rest.cut_right(wide);
  for (const Figure& one : figures) bar_figure(ui, app, one, rect.cut_left(width_of(ui, one)));
}

std::string device_text(const DocumentView& document) {
  const std::string& name = document.basis->costs.device.name;
  return (name == kReferenceDevice ? std::string("reference device") : name) +
         (document.plan_settings.cost_model == "fused" ? " · fused" : "") +
         (document.plan_settings.effort != 1
              ? fmt::format(" · effort {}", document.plan_settings.effort)
              : "");
}

// Draws the theme's sign, a half-filled disc.
void theme_sign(Ui& ui, ImVec2 centre, Colour colour) {
  ui.ring(centre, ui.px(5.5f), colour, ui.whole(1.2f));
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.PathArcTo(centre, ui.px(5.5f), -1.5708f, 1.5708f);
  list.PathFillConvex(Ui::paint(colour));
}

// A magnifying glass, in front of the search field.
void find_sign(const Ui& ui, ImVec2 centre, Colour colour) {
  const ImVec2 lens{centre.x - ui.px(1.5f), centre.y - ui.px(1.5f)};
  ui.ring(lens, ui.px(4.5f), colour, ui.whole(1.3f));
  ui.line({lens.x + ui.px(3.2f), lens.y + ui.px(3.2f)}, {centre.x + ui.px(6), centre.y + ui.px(6)},
          colour, ui.whole(1.3f));
}

// True for a bar as narrow as a phone's, without room for the program's name and the search, which
// the palette has too.
bool is_narrow(const Ui& ui, const PanelInput& input) {
  return input.whole.width() < ui.px(kNarrowBar);
}

constexpr float kBarButton = 32, kBarPalette = 56;  // units

float button_width(const Ui& ui) { return ui.fingers ? kFinger + 4 : kBarButton; }

float buttons_width(const Ui& ui, const PanelInput& input) {
  const float one = button_width(ui);
  return ui.px(2 * one + (is_narrow(ui, input) ? one : std::max(one, kBarPalette)));
}

void buttons(Ui& ui, const PanelInput& input, Rect rest, Intents& intents) {
  const auto take = [&](float units) {
    return rect_around(rest.cut_left(ui.px(units)).centre(), ui.px(units - 4), ui.target(26));
  };
  const bool narrow = is_narrow(ui, input);
  const float one = button_width(ui);
  const Rect palette = take(narrow ? one : std::max(one, kBarPalette));
  if (button(ui, "palette", palette, narrow ? "" : "Ctrl K", ButtonLook::quiet))
    intents.push_back({"palette.open", ""});
  ui.items.set_name("Find a command");
  hint(ui, "Find a command (Ctrl K)");
  if (narrow) find_sign(ui, palette.centre(), ui.theme.dim);
  const Rect disc = take(one);
  const WidgetResponse t =
      interact(ui, "theme", ItemKind::button, disc, true, input.app.is_dark() ? "dark" : "light");
  if (t.hovered) ui.fill(disc, ui.theme.raised, ui.px(kRadius));
  ui.items.set_name("Light or dark");
  hint(ui, "Light or dark");
  theme_sign(ui, disc.centre(), t.hovered ? ui.theme.text : ui.theme.dim);
  if (t.pressed) intents.push_back({"theme.toggle", ""});
  if (button(ui, "help", take(one), "?", ButtonLook::quiet)) intents.push_back({"help.open", ""});
  ui.items.set_name("Help");
  hint(ui, "Keys and commands (F1)");
}

// The job at work, with a button to stop it.
void work(Ui& ui, const PanelInput& input, Rect& rest, Intents& intents) {
  for (const JobStatus& job : input.app.jobs.status()) {
    if (job.quiet) continue;
    const std::string text = job.text.empty() ? job.title : job.title + " · " + job.text;
    const float wide = std::min(ui.px(260), ui.width(text, Face::small) + ui.px(34));
    if (wide + ui.px(20) > rest.width()) return;
    Rect rect = rest.cut_right(wide);
    const Rect stop = rect_around(rect.cut_right(ui.px(24)).centre(), ui.px(18), ui.px(18));
    ui.items.add("work", ItemKind::figure, rect, true, text);
    if (job.fraction >= 0) {
      Rect done = rect.inset(0, ui.px(8)).cut_bottom(ui.whole(2));
      ui.fill(done, ui.theme.line);
      ui.fill(done.cut_left(done.width() * static_cast<float>(std::min(job.fraction, 1.0))),
              ui.theme.selection);
    }
    ui.text(rect, text, Face::small, ui.theme.dim, Align::right);
    const WidgetResponse t = interact(ui, "stop", ItemKind::button, stop, true, "Stop");
    if (t.hovered) ui.fill(stop, ui.theme.raised, ui.px(kRadius));
    ui.fill(rect_around(stop.centre(), ui.px(7), ui.px(7)),
            t.hovered ? ui.theme.text : ui.theme.faint, ui.px(1));
    hint(ui, "Stop");
    if (t.pressed) intents.push_back({"work.stop", ""});
    return;
  }
}

// The device of the plan, at the right end, where there is room for it.
void device(Ui& ui, const DocumentView& document, float keep, Rect& rest, Intents& intents) {
  const std::string text = device_text(document);
  const float wide = ui.width(text, Face::text) + ui.px(34);
  if (rest.width() - wide < keep) return;
  const Rect rect = rest.cut_right(wide).inset(ui.px(7), ui.px(7));
  if (button(ui, "device", rect, text, ButtonLook::quiet))
    intents.push_back({"palette.open", "device.set"});
  hint(ui, document.shown->report().device_title + ". Click for another device.");
}

void draw_bar(Ui& ui, const PanelInput& input, Intents& intents) {
  Rect rest = input.whole;
  ui.fill(rest.cut_bottom(ui.whole(1)), ui.theme.line);
  const bool narrow_bar = is_narrow(ui, input);
  const DocumentView* ready = input.ready();
  // In a narrow bar peak and step are below the tabs.
  if (narrow_bar && input.app.window_state() == WindowState::open) {
    Rect strip = rest.cut_bottom(ui.px(kBarStrip)).inset(ui.px(kPadding), 0);
    if (ready != nullptr) figures(ui, input.app, *ready, 0, strip);
  }
  bar_menu(ui, input, rest, intents);
  rest.cut_right(ui.px(8));
  const Rect right = rest.cut_right(buttons_width(ui, input));

  // The width of the tabs and the gaps.
  const float needed = ui.px(34 + 16 + 14) + document_tabs_width(ui, input.app);
  const float narrow = narrow_bar ? 0 : ui.px(130);  // the search, at the least
  Rect search_rect;
  if (ready != nullptr && !narrow_bar) {
    rest.cut_right(ui.px(8));
    figures(ui, input.app, *ready, needed + narrow, rest);
    device(ui, *ready, needed + narrow, rest, intents);
  }
  if (ready != nullptr && !narrow_bar) {
    rest.cut_right(ui.px(14));
    const float most = std::min(ui.px(420), rest.width() * 0.45f);
    const float wide = std::clamp(rest.width() - needed, std::min(narrow, most), most);
    search_rect = rest.cut_right(wide).inset(0, ui.px(8));
    rest.cut_right(ui.px(16));
  }
  document_tabs(ui, input, narrow_bar, rest, intents);
  work(ui, input, rest, intents);
  if (!search_rect.empty()) search(ui, input, search_rect, intents);
  buttons(ui, input, right, intents);
}

}  // namespace

Panel bar_panel() { return {"bar", "", Dock::top, 0, 1, draw_bar}; }

}  // namespace recut::gui
