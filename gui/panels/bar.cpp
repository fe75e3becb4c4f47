// The bar at the top: the documents as tabs, the search, the device, the figures of the plan that
// is shown.
#include <fmt/format.h>

#include <cmath>

#include "engine/support/units.h"
#include "gui/app/app.h"
#include "gui/app/search.h"
#include "gui/draw/widgets.h"

namespace recut::gui {
namespace {

constexpr std::size_t kMostFound = 12;

struct SearchMemory {
  std::string text;
  std::size_t chosen = 0;
  bool open = false;
};

// A document's tab: its title, a dot while it is at work, a cross to close it.
void document_tab(Ui& ui, const PanelInput& input, const DocumentView& document, Rect& rest,
                  Intents& intents) {
  const bool front = &document == input.document;
  const std::string serial = fmt::format("{}", document.serial);
  const float wide = std::min(ui.px(200), ui.width(document.title, Face::text) + ui.px(58));
  Rect tab = rest.cut_left(std::round(wide));
  const Rect whole = tab;
  const Touch t =
      touch(ui, "tab " + document.title, ItemKind::tab, whole, true, front ? "chosen" : "");
  if (t.pressed) intents.push_back({"file.show", serial});
  if (front) ui.fill(whole, ui.theme.background);
  if (front)
    ui.fill({whole.left, whole.bottom - ui.whole(2), whole.right, whole.bottom},
            ui.theme.selection);
  const Rect cross = tab.cut_right(ui.px(28));
  const Colour ink = document.state == DocumentState::failed ? ui.theme.conflict
                     : front || t.hovered                    ? ui.theme.text
                                                             : ui.theme.dim;
  ui.text(tab.inset(ui.px(14), 0), document.title, Face::text, ink);
  const Rect button = rect_around(cross.centre(), ui.px(18), ui.px(18));
  const Touch close = touch(ui, "close " + document.title, ItemKind::button, button);
  if (close.hovered) ui.fill(button, ui.theme.raised, ui.px(kRadius));
  ui.cross(cross.centre(), ui.px(3), close.hovered ? ui.theme.text : ui.theme.faint, ui.px(1.2f));
  if (close.pressed) intents.push_back({"file.close", serial});
}

void found_row(Ui& ui, const DocumentView& document, NodeId id, Rect row) {
  const Graph& graph = document.graph();
  row = row.inset(ui.px(10), 0);
  if (document.shown) ui.sign(row.cut_left(ui.px(14)).centre(), document.shown->role(id));
  row.cut_left(ui.px(8));
  ui.text(row.cut_right(ui.px(70)), format_bytes(bytes_of(graph, id)), Face::mono_small,
          ui.theme.dim, Align::right);
  row.cut_left(ui.text(row, graph.node_name(id), Face::mono, ui.theme.text) + ui.px(12));
  row.cut_left(ui.text(row, graph.op(id).name, Face::small, ui.theme.dim) + ui.px(12));
  ui.path(row, graph.origin(id).module, Face::small, ui.theme.faint);
}

// What was found, under the field, over everything else.
void found_list(Ui& ui, const PanelInput& input, const Rect& field, SearchMemory& memory,
                Intents& intents) {
  const DocumentView& document = *input.document;
  const auto found = search_nodes(document, memory.text, kMostFound);
  const std::size_t rows = found ? std::max<std::size_t>(1, found->size()) : 1;
  const float high = ui.px(kRow) * static_cast<float>(rows) + ui.px(8);
  const float wide = std::max(field.width(), ui.px(520));
  const Rect box = rect_at({field.centre().x - wide / 2, field.bottom + ui.px(4)}, {wide, high});
  ImGui::SetNextWindowPos(box.corner());
  ImGui::SetNextWindowSize(box.size());
  ImGui::Begin("found", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoBackground |
                   ImGuiWindowFlags_NoFocusOnAppearing | ImGuiWindowFlags_Tooltip);
  ui.fill(box, ui.theme.raised, ui.px(kRadius));
  ui.frame(box, ui.theme.line, ui.px(kRadius));
  Rect rest = box.inset(ui.px(1), ui.px(4));
  if (!found || found->empty()) {
    const std::string words = found ? "Nothing fits" : found.diagnostics().front().message;
    ui.text(rest.inset(ui.px(10), 0), words, Face::text, ui.theme.dim);
  } else {
    memory.chosen = std::min(memory.chosen, found->size() - 1);
    for (std::size_t i = 0; i < found->size(); ++i) {
      const Rect line = rest.cut_top(ui.px(kRow));
      const std::string name = document.graph().node_name((*found)[i]);
      const Touch t = row(ui, "found " + name, line, i == memory.chosen);
      found_row(ui, document, (*found)[i], line);
      if (t.pressed) {
        intents.push_back({"select.node", name});
        memory.open = false;
      }
    }
  }
  ImGui::End();
}

// Enter takes the chosen one; arrows go up and down.
void search_keys(const PanelInput& input, const FieldAnswer& answer, SearchMemory& memory,
                 Intents& intents) {
  if (answer.active && ImGui::IsKeyPressed(ImGuiKey_DownArrow)) ++memory.chosen;
  if (answer.active && ImGui::IsKeyPressed(ImGuiKey_UpArrow) && memory.chosen > 0) --memory.chosen;
  if (!answer.committed) return;
  const auto found = search_nodes(*input.document, memory.text, kMostFound);
  if (found && memory.chosen < found->size())
    intents.push_back({"select.node", input.document->graph().node_name((*found)[memory.chosen])});
  memory.open = false;
}

void search(Ui& ui, const PanelInput& input, const Rect& area, Intents& intents) {
  auto& memory = input.memory<SearchMemory>("search");
  FieldLook look;
  look.hint = "Search nodes, modules, bytes > 64MiB …";
  look.face = Face::small;
  const FieldAnswer answer = field(ui, "search", area, memory.text, look);
  if (memory.text.empty() && !answer.active)
    ui.text(area.inset(ui.px(10), 0), "/", Face::mono_small, ui.theme.faint, Align::right);
  if (answer.changed) {
    memory.open = !memory.text.empty();
    memory.chosen = 0;
  }
  if (memory.text.empty()) return;
  search_keys(input, answer, memory, intents);
  const bool over_list = ImGui::IsAnyItemHovered();
  if (!answer.active && !over_list && ImGui::IsMouseClicked(0)) memory.open = false;
  if (memory.open) found_list(ui, input, area, memory, intents);
}

// From the right: figures that belong to the plan, each with what it is.
void figures(Ui& ui, const DocumentView& document, Rect& rest) {
  const PlanReport& report = document.shown->report();
  const auto place = [&](std::string_view label, std::string_view what, const std::string& value,
                         Colour colour) {
    const float wide =
        ui.width(what, Face::text) + ui.width(value, Face::mono_strong) + ui.px(6 + 18);
    figure(ui, label, rest.cut_left(wide), what, value, colour);
  };
  place("peak", "peak", format_bytes(report.peak_bytes),
        document.holds() ? ui.theme.text : ui.theme.conflict);
  place("step", "step", format_micros(report.step_us), ui.theme.text);
  const std::int64_t bound = document.peak_bound();
  if (bound > 0) place("bound", "bound", "≥ " + format_bytes(bound), ui.theme.dim);
}

float figures_width(const Ui& ui, const DocumentView& document) {
  const PlanReport& report = document.shown->report();
  float wide = ui.px(3 * (6 + 18));
  for (const std::string_view what : {"peak", "step", "bound"}) wide += ui.width(what, Face::text);
  for (const std::string& value : {format_bytes(report.peak_bytes), format_micros(report.step_us),
                                   "≥ " + format_bytes(document.peak_bound())})
    wide += ui.width(value, Face::mono_strong);
  return wide;
}

std::string device_words(const DocumentView& document) {
  const std::string& name = document.wishes.device;
  return (name == kReferenceDevice ? std::string("reference device") : name) +
         (document.wishes.cost_model == "fused" ? " · fused" : "");
}

// A half-filled disc: light or dark.
void theme_sign(Ui& ui, ImVec2 centre, Colour colour) {
  ui.ring(centre, ui.px(5.5f), colour, ui.whole(1.2f));
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.PathArcTo(centre, ui.px(5.5f), -1.5708f, 1.5708f);
  list.PathFillConvex(Ui::paint(colour));
}

void buttons(Ui& ui, const PanelInput& input, Rect& rest, Intents& intents) {
  const auto place = [&](float units) {
    return rect_around(rest.cut_right(ui.px(units)).centre(), ui.px(units - 4), ui.px(26));
  };
  if (button(ui, "help", place(32), "?", ButtonLook::quiet)) intents.push_back({"help.open", ""});
  const Rect disc = place(32);
  const Touch t =
      touch(ui, "theme", ItemKind::button, disc, true, input.app.is_dark() ? "dark" : "light");
  if (t.hovered) ui.fill(disc, ui.theme.raised, ui.px(kRadius));
  hint(ui, "Light or dark");
  theme_sign(ui, disc.centre(), t.hovered ? ui.theme.text : ui.theme.dim);
  if (t.pressed) intents.push_back({"theme.toggle", ""});
  if (button(ui, "palette", place(56), "Ctrl K", ButtonLook::quiet))
    intents.push_back({"palette.open", ""});
}

// What is at work, with a way to stop it.
void work(Ui& ui, const PanelInput& input, Rect& rest, Intents& intents) {
  for (const JobStatus& job : input.app.jobs.status()) {
    if (job.quiet) continue;
    const std::string words = job.words.empty() ? job.title : job.title + " · " + job.words;
    const float wide = std::min(ui.px(260), ui.width(words, Face::small) + ui.px(34));
    if (wide + ui.px(20) > rest.width()) return;
    Rect place = rest.cut_right(wide);
    const Rect stop = rect_around(place.cut_right(ui.px(24)).centre(), ui.px(18), ui.px(18));
    ui.items.add("work", ItemKind::figure, place, true, words);
    ui.text(place, words, Face::small, ui.theme.dim, Align::right);
    const Touch t = touch(ui, "stop", ItemKind::button, stop);
    if (t.hovered) ui.fill(stop, ui.theme.raised, ui.px(kRadius));
    ui.fill(rect_around(stop.centre(), ui.px(7), ui.px(7)),
            t.hovered ? ui.theme.text : ui.theme.faint, ui.px(1));
    hint(ui, "Stop");
    if (t.pressed) intents.push_back({"work.stop", ""});
    return;
  }
}

void draw(Ui& ui, const PanelInput& input, Intents& intents) {
  Rect rest = input.whole;
  ui.fill(rest, ui.theme.panel);
  ui.fill(rest.cut_bottom(ui.whole(1)), ui.theme.line);
  const float side = std::round(ui.px(kPadding));
  rest.cut_left(side);
  rest.cut_left(ui.text(rest, "Recut", Face::title, ui.theme.text) + ui.px(20));
  rest.cut_right(ui.px(8));
  buttons(ui, input, rest, intents);

  const DocumentView* ready = input.ready();
  if (ready != nullptr) {
    rest.cut_right(ui.px(8));
    Rect numbers = rest.cut_right(figures_width(ui, *ready));
    figures(ui, *ready, numbers);
    const std::string device = device_words(*ready);
    const float wide = ui.width(device, Face::text) + ui.px(20);
    const Rect place = rest.cut_right(wide + ui.px(14)).inset(ui.px(7), ui.px(7));
    if (button(ui, "device", place, device, ButtonLook::quiet))
      intents.push_back({"palette.open", "device.set"});
    hint(ui, ready->shown->report().device_title + ". Click for another device.");
  }
  // The tabs keep at least as much room as the search, which shrinks first.
  const float field_wide = std::clamp(rest.width() * 0.4f, ui.px(120), ui.px(420));
  Rect field_place = rest.cut_right(field_wide).inset(0, ui.px(8));
  rest.cut_right(ui.px(16));
  for (const auto& document : input.app.documents.all()) {
    if (rest.width() < ui.px(70)) break;
    document_tab(ui, input, *document, rest, intents);
  }
  const Rect plus = rest.cut_left(ui.px(34));
  if (plus.width() > ui.px(20)) {
    if (button(ui, "open", rect_around(plus.centre(), ui.px(24), ui.px(24)), "+",
               ButtonLook::quiet))
      intents.push_back({"file.open", ""});
    hint(ui, "Open a graph (Ctrl+O)");
  }
  work(ui, input, rest, intents);
  if (ready != nullptr) search(ui, input, field_place, intents);
}

}  // namespace

Panel bar_panel() { return {"bar", "", Place::top, 0, 1, draw}; }

}  // namespace recut::gui
