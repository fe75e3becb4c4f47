// The selected value: its definition, its lifetime and storage, the reason for the plan's choice,
// and the effect of the opposite one.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "engine/ir/aliases.h"
#include "gui/app/app.h"
#include "gui/app/glossary.h"
#include "gui/app/memory_view.h"
#include "gui/draw/widgets.h"
#include "gui/model/value_details.h"
#include "gui/panels/values_parts.h"

namespace recut::gui {
namespace {

constexpr float kWords = 70;  // units: the column of labels
constexpr std::size_t kMaxLinks = 24;

// The details of the selection, as long as nothing of it changes.
struct DetailsMemory {
  NodeId node;
  std::size_t pass = 0;
  SharedPlanView shown;
  std::shared_ptr<const Reasons> reasons;
  std::shared_ptr<const ValueRows> rows;
  OverrideRequest overrides;
  ValueDetails details;
  float height = 0;  // of all lines, as drawn last
};

void bring_up(DetailsMemory& memory, const DocumentView& document, const ValueTable& table) {
  const NodeId planned = document.planned_selection();
  const NodeId node = planned.valid() ? planned : document.selection.node;
  const OverrideRequest& overrides = document.plan_settings.overrides;
  const bool same = memory.node == node && memory.pass == document.pass &&
                    memory.shown == document.shown && memory.reasons == document.reasons &&
                    memory.rows == table.rows && memory.overrides == overrides;
  if (same) return;
  memory = {node,
            document.pass,
            document.shown,
            document.reasons,
            table.rows,
            overrides,
            details_of(document, node),
            memory.height};
}

class Details {
 public:
  Details(Ui& ui, const PanelInput& input, const DocumentView& document, DetailsMemory& memory,
          Intents& intents)
      : ui_(ui),
        input_(input),
        document_(document),
        memory_(memory),
        details_(memory.details),
        flip_(input.memory<FlipAnswer>("flip")),
        intents_(intents) {}

  void draw() {
    Rect area = input_.area;
    title(area.cut_top(ui_.target(34)));
    if (details_.in_plan) buttons(area.cut_bottom(ui_.target(36)));
    const Scrolled region = begin_scroll(ui_, "lines", area, memory_.height);
    Rect column = region.content;
    column.bottom = 1e9f;
    const float top = column.top;
    for (const DetailLine& line : details_.lines) {
      const float above = column.top;
      paragraph(column, line.what, line.text, ui_.theme.text);
      ui_.items.add(line.what, ItemKind::figure,
                    Rect{column.left, above, column.right, column.top}.within(area), true,
                    line.text);
    }
    conflict(column);
    exact(column);
    links(column, "reads", details_.operands);
    links(column, "read by", details_.users);
    memory_.height = column.top - top;
    end_scroll();
  }

 private:
  void title(const Rect& row) {
    Rect rest = row;
    const Rect end = rest.cut_right(ui_.px(16));
    if (details_.in_plan) ui_.sign({end.centre().x, end.centre().y}, details_.role);
    Rect copy = rest.cut_right(ui_.px(50)).inset(ui_.px(3), ui_.px(6));
    if (button(ui_, "copy", copy, "Copy", ButtonLook::quiet))
      intents_.push_back({"value.copy", ""});
    ui_.text(rest, details_.title, Face::strong, ui_.theme.text);
    ui_.items.add("title", ItemKind::figure, rest, true, details_.title);
  }

  // A line's label, and its text on as many lines as it takes.
  void paragraph(Rect& column, std::string_view what, std::string_view text, Colour ink) const {
    const float wide = column.width() - ui_.px(kWords);
    const float high = wrapped_height(ui_, text, wide) + ui_.px(5);
    Rect strip = column.cut_top(high);
    const Rect name = strip.cut_left(ui_.px(kWords));
    const float one = wrapped_height(ui_, "M", wide);
    ui_.text({name.left, name.top, name.right - ui_.px(4), name.top + one}, what, Face::small,
             ui_.theme.faint);
    wrapped(ui_, strip, text, ink);
  }

  void conflict(Rect& column) {
    if (details_.override_kind == OverrideKind::no) return;
    const std::string why = conflict_text(document_);
    if (!why.empty()) paragraph(column, "conflict", why, ui_.theme.conflict);
  }

  // The other choice, planned again on request.
  void exact(Rect& column) {
    if (!details_.can_flip) return;
    const NodeId maker = defining_node(document_.graph(), memory_.node);
    const bool mine = flip_.node == maker && flip_.of == document_.reasons;
    const bool saved = details_.role == Role::saved;
    const std::string what = saved ? "if recomputed" : "if saved";
    if (mine && flip_.done) {
      const bool holds = flip_.flip && flip_.flip->holds;
      const std::string found =
          flip_.flip ? flip_text(*flip_.flip, *document_.shown) : std::string("no plan was found");
      const float top = column.top;
      paragraph(column, "flipped", what + ": " + found,
                holds ? ui_.theme.text : ui_.theme.conflict);
      ui_.items.add("flipped", ItemKind::figure, {column.left, top, column.right, column.top}, true,
                    found);
      promise(column, maker);
      return;
    }
    const bool working = mine && !flip_.done && input_.app.jobs.is_alive(flip_.making);
    Rect row = column.cut_top(ui_.target(28)).inset(0, ui_.px(3));
    row.cut_left(ui_.px(kWords));
    const std::string offer = working ? "Planning …" : "Plan it " + what + ", exactly";
    const float wide = ui_.width(offer, Face::text) + ui_.px(20);
    if (button(ui_, "flip", row.cut_left(wide), offer, ButtonLook::plain, !working))
      intents_.push_back({"value.flip", ""});
    explain(ui_, input_.app, "flip", working ? "It is being planned" : "");
  }

  // Says that the exact plan differs from the promise of the table's row.
  void promise(Rect& column, NodeId maker) {
    const ValueRows* rows = input_.memory<ValueTable>(kValuesMemory).rows.get();
    const bool priced = rows != nullptr && rows->reasons && rows->plan == document_.shown;
    if (!priced || !flip_.flip) return;
    const auto row = std::find_if(rows->rows.begin(), rows->rows.end(),
                                  [&](const ValueRow& one) { return one.node == maker; });
    if (row == rows->rows.end()) return;
    const std::string promise = promise_text(*flip_.flip, *document_.shown, *row);
    if (promise.empty()) return;
    const float top = column.top;
    paragraph(column, "promised", promise, ui_.theme.dim);
    ui_.items.add("promised", ItemKind::figure, {column.left, top, column.right, column.top}, true,
                  promise);
  }

  // Names that select a node, as many on a line as fit.
  void links(Rect& column, std::string_view what, const std::vector<NodeId>& nodes) {
    if (nodes.empty()) return;
    const float high = ui_.target(20), left = column.left + ui_.px(kWords);
    Rect line = column.cut_top(high);
    ui_.text({line.left, line.top, left - ui_.px(4), line.bottom}, what, Face::small,
             ui_.theme.faint);
    line.left = left;
    for (std::size_t i = 0; i < std::min(nodes.size(), kMaxLinks); ++i) {
      const std::string& name = document_.graph().node_name(nodes[i]);
      const float most = column.right - left;
      const float wide = std::min(most, ui_.width(name, Face::mono) + ui_.px(22));
      if (wide > line.width()) {
        line = column.cut_top(high);
        line.left = left;
      }
      link(line.cut_left(wide), std::string(what) + " " + name, name, nodes[i]);
      line.cut_left(ui_.px(4));
    }
    if (nodes.size() > kMaxLinks)
      ui_.text(line, fmt::format("and {} more", nodes.size() - kMaxLinks), Face::small,
               ui_.theme.dim);
  }

  void link(const Rect& rect, const std::string& label, const std::string& name, NodeId id) {
    const WidgetResponse t = interact(ui_, label, ItemKind::button, rect, true, name);
    if (t.hovered) ui_.fill(rect.inset(-ui_.px(2), ui_.px(1)), ui_.theme.raised, ui_.px(3));
    Rect rest = rect;
    ui_.sign(rest.cut_left(ui_.px(12)).centre(), document_.shown->role(id));
    rest.cut_left(ui_.px(5));
    ui_.text(rest, name, Face::mono, t.hovered ? ui_.theme.selection : ui_.theme.text);
    if (t.pressed) intents_.push_back({"select.node", name});
  }

  void buttons(const Rect& row) {
    Rect rest = row.inset(0, ui_.px(5));
    const float gap = ui_.px(8), wide = (rest.width() - 2 * gap) / 3;
    const auto add_button = [&](const char* id, const char* text, Colour colour, OverrideKind on,
                                const std::string& why_not) {
      const bool chosen = details_.override_kind == on;
      if (tinted_button(ui_, id, rest.cut_left(wide), text, colour, chosen,
                        chosen || why_not.empty()))
        intents_.push_back({std::string("pin.") + id, details_.title});
      if (!why_not.empty() && ImGui::IsItemHovered()) hint(ui_, "It " + why_not);
      rest.cut_left(gap);
    };
    add_button("save", "Must save", ui_.theme.saved, OverrideKind::save, details_.why_not_saved);
    add_button("recompute", "Must recompute", ui_.theme.recomputed, OverrideKind::recompute,
               details_.why_not_recomputed);
    if (button(ui_, "follow", rest, "Follow")) intents_.push_back({"value.follow", ""});
    hint(ui_, "Go to it in graph and timeline (Enter)");
  }

  Ui& ui_;
  const PanelInput& input_;
  const DocumentView& document_;
  DetailsMemory& memory_;
  const ValueDetails& details_;
  FlipAnswer& flip_;
  Intents& intents_;
};

void draw_details(Ui& ui, const PanelInput& input, Intents& intents) {
  const DocumentView* document = input.ready();
  if (document == nullptr) return;
  auto& memory = input.memory<DetailsMemory>("details");
  bring_up(memory, *document, input.memory<ValueTable>(kValuesMemory));
  if (!memory.details.empty()) return Details(ui, input, *document, memory, intents).draw();
  Rect area = input.area;
  area.cut_top(ui.px(12));
  ui.text(area.cut_top(ui.px(kRow)), "Nothing is selected", Face::text, ui.theme.dim);
  wrapped(ui, area, "Click a value in the table, a node of the graph, or a step of the timeline.",
          ui.theme.faint);
}

}  // namespace

Panel details_panel() { return {"details", "", Dock::right, 1, 1, draw_details}; }

}  // namespace recut::gui
