// The graph as text: the difference of the shown pass from the one before it, or from another one;
// unchanged lines are folded. Only the lines that can be seen are drawn.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "engine/support/units.h"
#include "gui/app/app.h"
#include "gui/app/text_view.h"
#include "gui/draw/widgets.h"
#include "gui/model/node_trace.h"
#include "gui/model/pass_steps.h"
#include "gui/panels/text_line.h"

namespace recut::gui {
namespace {

constexpr float kLetter = 7.2f;  // units: the width of one
constexpr std::size_t kTextLongestHint = 2000;

std::string pass_name(const DocumentView& document, std::size_t pass) {
  if (pass == 0) return "as read";
  std::string name = document.document->passes.passes[pass - 1].name;
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

class Text {
 public:
  Text(Ui& ui, const PanelInput& input, const DocumentView& document, TextView& view,
       Intents& intents)
      : ui_(ui), input_(input), document_(document), view_(view), intents_(intents) {}

  void draw() {
    head();
    if (!is_current(document_, view_) && !input_.app.jobs.is_alive(view_.job))
      intents_.push_back({"text.prepare", ""});
    if (!view_.difference) return;
    follow_selection();
    lines();
  }

 private:
  const TextDifference& difference() const { return *view_.difference; }

  void head() {
    Rect rect = input_.heading;
    buttons(rect);
    const std::size_t base = base_pass(document_, view_);
    std::string text = document_.pass == base
                           ? pass_name(document_, document_.pass)
                           : fmt::format("{} against {}", pass_name(document_, document_.pass),
                                         pass_name(document_, base));
    rect.cut_left(ui_.px(4));
    rect.cut_left(ui_.text(rect, text, Face::small, ui_.theme.dim) + ui_.px(12));
    if (view_.difference) counts(rect);
  }

  void counts(Rect rect) {
    const TextDifference& d = difference();
    ui_.items.add("counts", ItemKind::figure, rect, true,
                  fmt::format("-{} +{}", d.removed, d.added));
    if (d.changes.empty()) {
      ui_.text(rect, "nothing differs", Face::small, ui_.theme.faint);
      return;
    }
    rect.cut_left(ui_.text(rect, "−" + format_count(static_cast<std::int64_t>(d.removed)),
                           Face::mono, ui_.theme.conflict) +
                  ui_.px(8));
    rect.cut_left(ui_.text(rect, "+" + format_count(static_cast<std::int64_t>(d.added)), Face::mono,
                           ui_.theme.result) +
                  ui_.px(12));
    if (view_.change < d.changes.size())
      ui_.text(rect, fmt::format("{} of {}", view_.change + 1, d.changes.size()), Face::small,
               ui_.theme.dim);
  }

  void buttons(Rect& rect) {
    const bool any = view_.difference && !difference().changes.empty();
    const auto at = [&](float wide) {
      rect.cut_right(ui_.px(4));
      return rect.cut_right(ui_.px(wide)).inset(0, ui_.px(8));
    };
    if (button(ui_, "copy", at(46), "Copy", ButtonLook::quiet))
      intents_.push_back({"text.copy", ""});
    if (button(ui_, "fold", at(92), view_.whole ? "Fold the rest" : "Show all lines",
               ButtonLook::quiet, any))
      intents_.push_back({"text.fold", ""});
    hint(ui_, any ? "" : "Nothing differs");
    const bool against_input = view_.base == std::optional<std::size_t>(0);
    if (button(ui_, "base", at(112), against_input ? "Against last pass" : "Against as read",
               ButtonLook::quiet, document_.pass > 0))
      intents_.push_back({"text.base", against_input ? "previous" : "0"});
    hint(ui_, document_.pass > 0 ? "" : "This is the graph as read");
    arrow("next", at(20), true, any);
    arrow("previous", at(20), false, any);
  }

  void arrow(const std::string& label, const Rect& rect, bool down, bool enabled) {
    if (button(ui_, label, rect, "", ButtonLook::quiet, enabled))
      intents_.push_back({"text." + label, ""});
    ui_.items.set_name(down ? "Next difference" : "Previous difference");
    hint(ui_, !enabled ? "Nothing differs"
              : down   ? "Next difference: N"
                       : "Previous difference: P");
    const ImVec2 c = rect.centre();
    const float r = ui_.px(4), tip = down ? r / 2 : -r / 2;
    ImGui::GetWindowDrawList()->AddTriangleFilled(
        {c.x - r, c.y - tip}, {c.x + r, c.y - tip}, {c.x, c.y + 1.6f * tip},
        Ui::paint(enabled ? ui_.theme.dim : ui_.theme.faint));
  }

  // The selected node; if this pass's graph lacks it, its anchor, the node that was selected.
  NodeId marked() const {
    const NodeId shown = document_.selection.node;
    return shown.valid() ? shown : anchor_of(document_).node;
  }

  void follow_selection() {
    if (marked() == view_.followed) return;
    view_.followed = marked();
    reveal_line(view_, difference().line_of(marked()));
  }

  void lines() {
    Rect area = input_.whole;
    area.top = input_.area.top;
    const float high = std::round(ui_.px(kTextLine));
    const Scrolled region =
        begin_scroll(ui_, "lines", area, high * static_cast<float>(view_.rows.size()));
    const auto first =
        static_cast<std::size_t>(std::max(0.0f, (region.visible.top - region.content.top) / high));
    const auto shown = static_cast<std::size_t>(region.visible.height() / high) + 2;
    const std::size_t end = std::min(view_.rows.size(), first + shown);
    for (std::size_t i = first; i < end; ++i)
      row(view_.rows[i],
          rect_at({region.content.left, region.content.top + high * static_cast<float>(i)},
                  {region.content.width(), high}));
    bring(region, high);
    end_scroll();
  }

  void bring(const Scrolled& region, float high) {
    if (!view_.bring) return;
    const std::size_t row = row_of(view_.rows, *view_.bring);
    const float top = region.content.top + high * static_cast<float>(row);
    const float around = std::min(region.visible.height() / 3, high * 8);
    scroll_to(top - around, top + high + around, region);
    view_.bring = std::nullopt;
  }

  void row(const TextRow& row, const Rect& rect) {
    if (row.fold) return fold(row, rect);
    const DiffLine& line = difference().lines[row.first];
    const NodeId id = difference().node(line);
    const bool removed = line.edit == Edit::removed;
    const std::string label = fmt::format("line {}", row.first);
    const WidgetResponse t = interact(ui_, label, ItemKind::row, rect, id.valid(),
                                      difference().text(line).substr(0, 200));
    const bool chosen = id.valid() && id == marked();
    if (chosen || t.hovered) ui_.fill(rect, ui_.theme.raised, 0, chosen ? 1 : 0.6);
    draw_text_line(ui_, rect, difference(), line);
    const std::string& text = difference().text(line);
    if (t.hovered && static_cast<float>(text.size()) * ui_.px(kLetter) > rect.width())
      hint(ui_, text.substr(0, kTextLongestHint));
    if (line.edit != Edit::same && in_change(row.first))
      ui_.fill({rect.left, rect.top, rect.left + ui_.whole(3), rect.bottom}, ui_.theme.dim);
    if (chosen)
      ui_.fill({rect.left, rect.top, rect.left + ui_.whole(2), rect.bottom}, ui_.theme.selection);
    if (!t.pressed) return;
    const std::size_t pass = removed ? view_.base_pass : view_.pass;
    const Graph& graph = graph_after(document_.document->passes, pass);
    view_.followed = id;  // it is in view already
    intents_.push_back({"select.at", fmt::format("{} {}", pass, graph.node_name(id))});
  }

  // The block of changes that was gone to last.
  bool in_change(std::size_t line) const {
    const auto& changes = difference().changes;
    if (view_.change >= changes.size() || line < changes[view_.change]) return false;
    return view_.change + 1 == changes.size() || line < changes[view_.change + 1];
  }

  void fold(const TextRow& row, const Rect& rect) {
    const WidgetResponse t = interact(ui_, fmt::format("fold {}", row.first), ItemKind::button,
                                      rect, true, fmt::format("{}", row.count));
    ui_.fill(rect, ui_.theme.raised, 0, t.hovered ? 0.9 : 0.45);
    Rect rest = rect;
    rest.cut_left(ui_.px(98));
    ui_.text(
        rest,
        fmt::format("{} lines are the same", format_count(static_cast<std::int64_t>(row.count))),
        Face::small, t.hovered ? ui_.theme.text : ui_.theme.dim);
    if (t.pressed) intents_.push_back({"text.unfold", fmt::format("{}", row.first)});
  }

  Ui& ui_;
  const PanelInput& input_;
  const DocumentView& document_;
  TextView& view_;
  Intents& intents_;
};

void draw_text(Ui& ui, const PanelInput& input, Intents& intents) {
  const DocumentView* document = input.ready();
  if (document == nullptr) return;
  Text(ui, input, *document, input.memory<TextView>(kTextMemory), intents).draw();
}

}  // namespace

Panel text_panel() { return {"text", "Text", Dock::centre, 2, 1, draw_text}; }

}  // namespace recut::gui
