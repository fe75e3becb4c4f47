// One frame: the layout of panels, the panels, and the overlays.
#include <fmt/core.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "gui/app/app.h"
#include "gui/draw/widgets.h"

namespace recut::gui {
namespace {

constexpr ImGuiWindowFlags kFrameBare =
    ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
    ImGuiWindowFlags_NoScrollWithMouse | ImGuiWindowFlags_NoBackground;
constexpr float kHeading = 38;          // units: the row of a panel's title
constexpr float kMinHeading = 270;      // beside tabs: room for a few buttons
constexpr float kNoticesAbove = 40;     // units: the graph's lower controls
constexpr float kTabGap = 16;           // between tabs
constexpr float kTabRow = 28;           // one of several rows of tabs
constexpr float kSplitter = 7;          // units that answer to the pointer
constexpr float kSplitterStep = 0.02f;  // of its way, for a key
constexpr double kLongestStep = 0.5;    // seconds that ImGui counts a pointer as resting, at most

// The title of a tab. A panel without a heading has one, too.
std::string frame_title_of(const Panel& panel) {
  std::string title(panel.title.empty() ? panel.id : panel.title);
  if (panel.title.empty()) title.front() = static_cast<char>(title.front() - 'a' + 'A');
  return title;
}

float turn_tab_width(const Ui& ui, const Panel& panel) {
  const float text_width = std::ceil(ui.width(frame_title_of(panel), Face::text)) + 1;
  return ui.fingers ? std::max(text_width, ui.px(kFinger)) : text_width;
}

// Places tabs from the left, in as many rows as they need.
std::vector<Rect> tab_rects(const Ui& ui, const std::vector<Panel>& panels,
                            const TabGroup& tab_group, const Rect& area, float high) {
  std::vector<Rect> rects;
  ImVec2 at = area.corner();
  for (const std::size_t one : tab_group.panels) {
    const float wide = turn_tab_width(ui, panels[one]);
    if (at.x > area.left && at.x + wide > area.right) at = {area.left, at.y + high};
    rects.push_back(rect_at(at, {std::min(wide, area.width()), high}));
    at.x += wide + ui.px(kTabGap);
  }
  return rects;
}

void begin_region(const char* id, const Rect& area) {
  ImGui::SetCursorScreenPos(area.corner());
  ImGui::BeginChild(id, area.size(), false, kFrameBare | ImGuiWindowFlags_NoScrollbar);
}

// The position to which keys move a splitter that stands at `share` of its range (after ARIA's
// pattern for splitters).
std::optional<float> splitter_moved_by_keys(float share, bool upright) {
  const auto pressed = [](ImGuiKey key) { return ImGui::IsKeyPressed(key); };
  if (pressed(ImGuiKey_Home)) return 0.0f;
  if (pressed(ImGuiKey_End)) return 1.0f;
  const bool back = pressed(upright ? ImGuiKey_LeftArrow : ImGuiKey_UpArrow);
  const bool on = pressed(upright ? ImGuiKey_RightArrow : ImGuiKey_DownArrow);
  if (back == on) return std::nullopt;
  return std::clamp(share + (on ? kSplitterStep : -kSplitterStep), 0.0f, 1.0f);
}

}  // namespace

void App::rebuild_fonts() {
  if (scale() == fonts_scale_) return;
  fonts_scale_ = scale();
  ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
  fonts_.build(atlas, fonts_scale_);
  backend.upload_fonts(atlas);
}

void App::begin_frame() {
  rebuild_fonts();
  ImGuiIO& io = ImGui::GetIO();
  const Extent extent = backend.extent();
  io.DisplaySize = {static_cast<float>(extent.width), static_cast<float>(extent.height)};
  const double now = backend.now();
  io.DeltaTime = static_cast<float>(std::clamp(now - last_frame_, 1e-4, kLongestStep));
  last_frame_ = now;
  ImGuiStyle& style = ImGui::GetStyle();
  style.WindowPadding = {0, 0};
  style.WindowBorderSize = style.ChildBorderSize = style.PopupBorderSize = 0;
  style.WindowMinSize = {1, 1};
  style.HoverStationaryDelay = 0.05f;
  items.begin_frame();
  motion.begin_frame(now, settings.flag("reduced_motion", false));
  ImGui::NewFrame();
}

// Intents of panels are performed at once, and the frame is drawn again: a dragged budget shows its
// plan in the frame of the drag.
void App::frame() {
  ++frames_;
  Intents intents;
  begin_frame();
  draw(intents);
  if (!intents.empty()) {
    ImGui::EndFrame();
    perform(intents);
    intents.clear();
    begin_frame();
    draw(intents);
  }
  items.activate = items.complete = false;
  if (!ImGui::IsAnyItemHovered()) hint_due_ = -1;
  backend.set_cursor(ImGui::GetMouseCursor());
  ImGui::Render();
  backend.draw(*ImGui::GetDrawData());
  // ImGui takes events that follow fast on each other (a wheel that turns while the pointer moves)
  // one by one, a frame each.
  const bool all_taken = ImGui::GetCurrentContext()->InputEventsQueue.empty();
  if (!all_taken) {
    want_frames();
    answers_ = true;
  }
  perform(intents);  // of the second drawing: in the next frame
  holds_.end_frame(all_taken);
}

void App::perform(const Intents& intents) {
  for (const Intent& intent : intents) {
    note_outcome(intent.command, run(intent.command, intent.argument));
  }
}

void App::draw(Intents& intents) {
  Ui ui(theme(), fonts_, scale(), items, backend.has_fingers());
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  const Rect window{0, 0, size.x, size.y};
  ImGui::SetNextWindowPos({0, 0});
  ImGui::SetNextWindowSize(size);
  ImGui::Begin("window", nullptr, kFrameBare | ImGuiWindowFlags_NoBringToFrontOnFocus);
  ui.fill(window, theme().background);
  const Arrangement arrangement =
      arrange(panels, settings, window, scale(), window_state(), ui.fingers);
  Rect middle = window;
  for (const PlacedPanel& placed : arrangement.placed) {
    if (panels[placed.panel].dock == Dock::centre) middle = placed.area;
    const TabGroup* tab_group = nullptr;
    for (const TabGroup& one : arrangement.tab_groups)
      if (one.chosen == placed.panel) tab_group = &one;
    draw_panel(panels[placed.panel], placed.area, tab_group, arrangement.compact, ui, intents);
  }
  items.begin_panel("splitter");
  for (const Splitter& splitter : arrangement.splitters) drag(splitter, ui);
  items.begin_panel("");
  ImGui::End();
  draw_floating_panels(ui, intents);
  draw_overlay(ui, intents);
  draw_notices(middle, ui);
}

// The titles of the panels that take turns at a place, as tabs; or the one title there is.
float App::draw_titles(const Panel& panel, const TabGroup* tab_group, const Rect& row, Ui& ui,
                       Intents& intents) const {
  const bool focused = focus == panel.id && overlay.empty();
  if (tab_group == nullptr)
    return ui.text(row, panel.title, Face::strong, focused ? ui.theme.selection : ui.theme.text);
  const std::vector<Rect> rects = tab_rects(ui, panels, *tab_group, row, row.height());
  draw_tabs(*tab_group, rects, ui, intents);
  return rects.back().right - row.left;
}

void App::draw_tabs(const TabGroup& tab_group, const std::vector<Rect>& rects, Ui& ui,
                    Intents& intents) const {
  for (std::size_t i = 0; i < rects.size(); ++i) {
    const Panel& one = panels[tab_group.panels[i]];
    const std::string id(one.id);
    if (tab(ui, "turn " + id, rects[i], frame_title_of(one),
            tab_group.panels[i] == tab_group.chosen))
      intents.push_back({"panel.show", id});
  }
}

// Draws tabs in rows of their own, which are cut off `whole`.
void App::draw_tab_rows(const TabGroup& tab_group, Rect& whole, Ui& ui, Intents& intents) const {
  const Rect area = whole.inset(std::round(ui.px(kPadding)), 0);
  std::vector<Rect> rects = tab_rects(ui, panels, tab_group, area, ui.target(kHeading));
  if (rects.back().top > rects.front().top)
    rects = tab_rects(ui, panels, tab_group, area, ui.target(kTabRow));
  const Rect rows = whole.cut_top(rects.back().bottom - whole.top);
  draw_tabs(tab_group, rects, ui, intents);
  ui.fill({rows.left, rows.bottom - ui.whole(1), rows.right, rows.bottom}, ui.theme.line);
}

float App::titles_width(const TabGroup& tab_group, const Ui& ui) const {
  float wide = 0;
  for (const std::size_t one : tab_group.panels)
    wide += turn_tab_width(ui, panels[one]) + ui.px(kTabGap);
  return wide;
}

// A press in a panel gives it the focus; a line above it and its title say that it has it.
void App::take_focus(const Panel& panel, const Rect& area, Ui& ui) {
  const bool pressed =
      ImGui::IsMouseClicked(ImGuiMouseButton_Left) || ImGui::IsMouseClicked(ImGuiMouseButton_Right);
  constexpr ImGuiHoveredFlags anywhere =
      ImGuiHoveredFlags_ChildWindows | ImGuiHoveredFlags_AllowWhenBlockedByActiveItem;
  if (pressed && ImGui::IsWindowHovered(anywhere)) give_focus(panel.id);
  if (focus == panel.id && overlay.empty())
    ui.fill({area.left, area.top, area.right, area.top + ui.whole(2)}, ui.theme.selection);
}

// Tabs get a row of their own above the heading if they leave it little room, and in a small
// window.
void App::draw_panel(const Panel& panel, const Rect& area, const TabGroup* tab_group, bool compact,
                     Ui& ui, Intents& intents) {
  const std::string id(panel.id);
  begin_region(id.c_str(), area);
  items.begin_panel(panel.id);
  if (panel.dock != Dock::overlay) ui.fill(area, ui.theme.panel);
  const bool own_row = tab_group != nullptr && (compact || titles_width(*tab_group, ui) >
                                                               area.width() - ui.px(kMinHeading));
  Rect whole = area;
  if (own_row) draw_tab_rows(*tab_group, whole, ui, intents);
  Rect inside = whole.inset(std::round(ui.px(kPadding)), 0);
  Rect heading;
  if (!panel.title.empty()) {
    heading = inside.cut_top(ui.target(kHeading));
    if (!own_row) heading.cut_left(draw_titles(panel, tab_group, heading, ui, intents) + ui.px(10));
  } else if (own_row) {
    inside.cut_top(ui.px(kGap));
  }
  inside.cut_bottom(std::round(ui.px(kPadding - 4)));
  DocumentView* front = documents.front();
  PanelMemory& memories = front != nullptr ? front->memories : no_document_;
  const PanelInput input{*this, front, whole, heading, inside, memories, motion};
  panel.draw(ui, input, intents);
  take_focus(panel, area, ui);
  ImGui::EndChild();
}

void App::drag(const Splitter& splitter, Ui& ui) {
  const float more = ui.px(kSplitter) / 2;
  const Rect area = splitter.line.inset(splitter.upright ? -more : 0, splitter.upright ? 0 : -more);
  begin_region(splitter.setting.c_str(), area);
  const std::string name = splitter.setting.substr(6);
  const WidgetResponse t = interact(ui, name, ItemKind::handle, area);
  const float low = std::min(splitter.from, splitter.to),
              high = std::max(splitter.from, splitter.to);
  const float share = ((splitter.upright ? splitter.line.left : splitter.line.top) - low) /
                      std::max(1.0f, high - low);
  ui.items.set_span({0, 100, std::round(share * 100.0), fmt::format("{:.0f} %", share * 100)});
  if (items.take_keys())
    if (const auto moved = splitter_moved_by_keys(share, splitter.upright))
      settings.set_number(splitter.setting, splitter.from < splitter.to ? *moved : 1 - *moved);
  ui.fill(splitter.line, ui.theme.line);
  if (t.hovered || t.held) {
    ImGui::SetMouseCursor(splitter.upright ? ImGuiMouseCursor_ResizeEW : ImGuiMouseCursor_ResizeNS);
    ui.fill(splitter.line, ui.theme.selection);
  }
  const ImVec2 at = ImGui::GetIO().MousePos;
  if (t.held && ImGui::IsMouseDragging(ImGuiMouseButton_Left, 1))
    settings.set_number(splitter.setting, ((splitter.upright ? at.x : at.y) - splitter.from) /
                                              (splitter.to - splitter.from));
  if (t.doubled) settings.set(splitter.setting, "");  // back to where it stood at first
  ImGui::EndChild();
}

// Draws the panels that float over the others and leave them to the pointer: each opens a window of
// its own.
void App::draw_floating_panels(Ui& ui, Intents& intents) {
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  const Rect window{0, 0, size.x, size.y};
  DocumentView* front = documents.front();
  PanelMemory& memories = front != nullptr ? front->memories : no_document_;
  for (const Panel& panel : panels) {
    if (panel.dock != Dock::floating) continue;
    items.begin_panel(panel.id);
    panel.draw(ui, {*this, front, window, {}, window, memories, motion}, intents);
  }
  items.begin_panel("");
}

void App::draw_overlay(Ui& ui, Intents& intents) {
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  for (const Panel& panel : panels) {
    if (panel.dock != Dock::overlay || panel.id != overlay) continue;
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize(size);
    if (overlay != drawn_overlay_) ImGui::SetNextWindowFocus();
    ImGui::Begin("overlay", nullptr, kFrameBare);
    ui.fill({0, 0, size.x, size.y}, 0x000000, 0, is_dark() ? 0.45 : 0.2);
    const float wide = std::min(ui.px(panel.width), size.x - ui.px(24));
    const float high = std::min(ui.px(panel.height), size.y - ui.px(24));
    const ImVec2 corner{std::round((size.x - wide) / 2), std::round((size.y - high) * 0.28f)};
    const Rect box = rect_at(corner, {wide, high});
    items.begin_panel("");
    if (interact(ui, "around", ItemKind::handle, {0, 0, size.x, size.y}).pressed &&
        !box.contains(ImGui::GetIO().MousePos))
      intents.push_back({"overlay.close", ""});
    ui.fill(box, ui.theme.panel, ui.px(8));
    ui.frame(box, ui.theme.line, ui.px(8));
    draw_panel(panel, box.inset(ui.px(1), ui.px(1)), nullptr, false, ui, intents);
    ImGui::End();
  }
  drawn_overlay_ = overlay;
}

// Notices stand over the lower end of the panel in the middle, in as many lines as they take, so
// that the edges of the window stay visible.
void App::draw_notices(const Rect& middle, Ui& ui) {
  if (notices.empty()) return;
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  const float most = std::max(ui.px(160), std::min(ui.px(620), middle.width() - ui.px(24)));
  float bottom = middle.bottom - ui.px(kNoticesAbove);
  ImGui::SetNextWindowPos({0, 0});
  ImGui::SetNextWindowSize(size);
  ImGui::Begin("notices", nullptr,
               kFrameBare | ImGuiWindowFlags_NoInputs | ImGuiWindowFlags_NoFocusOnAppearing);
  for (std::size_t i = notices.size(); i-- > 0;) {
    const Notice& notice = notices[i];
    const float wide = std::min(most, std::ceil(ui.width(notice.text, Face::text)) + ui.px(32));
    const float text_width = wide - ui.px(30);
    const float high = wrapped_height(ui, notice.text, text_width, Face::text) + ui.px(18);
    const float left =
        std::clamp(middle.centre().x - wide / 2, 0.0f, std::max(0.0f, size.x - wide));
    const Rect box = rect_at({left, bottom - high}, {wide, high});
    const Colour colour = notice.fault ? ui.theme.conflict : ui.theme.selection;
    items.add(fmt::format("notice {}", i), ItemKind::figure, box, true, notice.text);
    ui.fill(box, ui.theme.raised, ui.px(kRadius));
    ui.frame(box, ui.theme.line, ui.px(kRadius));
    ui.fill({box.left, box.top, box.left + ui.px(3), box.bottom}, colour, ui.px(1));
    wrapped(ui, rect_at({box.left + ui.px(14), box.top + ui.px(9)}, {text_width, high - ui.px(18)}),
            notice.text, ui.theme.text, Face::text);
    bottom -= high + ui.px(8);
  }
  ImGui::End();
}

}  // namespace recut::gui
