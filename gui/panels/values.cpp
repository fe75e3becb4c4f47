// The table of values: the values that a plan chooses among, the plan's choice for each, and the
// effect of the opposite one. Only visible rows are drawn.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/support/units.h"
#include "gui/app/app.h"
#include "gui/draw/widgets.h"
#include "gui/model/plan_change.h"
#include "gui/model/role_totals.h"
#include "gui/model/value_details.h"
#include "gui/panels/values_parts.h"

namespace recut::gui {
namespace {

// State of the panel beside the table itself.
struct ValuesMemory {
  ValueOverrides overrides;
  NodeId scrolled_to;      // the selection that was brought into view last
  std::string filter;      // of the rows that were shown last
  SharedPlanView counted;  // of which the totals are
  RoleTotals totals = {};
  std::shared_ptr<const ValueRows> named;  // of which the longest name is known
  std::size_t longest_name = 0;            // bytes
};

class Values {
 public:
  Values(Ui& ui, const PanelInput& input, const DocumentView& document, Intents& intents)
      : ui_(ui),
        input_(input),
        document_(document),
        table_(input.memory<ValueTable>(kValuesMemory)),
        memory_(input.memory<ValuesMemory>("values-panel")),
        intents_(intents) {
    const bool requested = table_.requested_reasons == document.reasons &&
                           table_.requested_plan == document.shown &&
                           input.app.jobs.is_alive(table_.making);
    if (!table_.is_current(document) && !requested)  // again where the job was stopped
      intents_.push_back({"values.prepare", ""});
    table_.arrange(document);
    memory_.overrides.read(document);
  }

  void draw() {
    Rect area = input_.area;
    counts();
    change(area);
    conflict(area);
    tools(area.cut_top(ui_.target(22) + std::round(ui_.px(4))));
    // Rows reach over the panel's padding, so that the mark of the chosen one stands at its edge.
    area.left = input_.whole.left;
    area.right = input_.whole.right;
    area.bottom += ui_.px(kPadding - 4);
    const ValueColumns columns(ui_, area, names_width());
    head(columns, area.cut_top(ui_.target(24)));
    if (!table_.rows)
      return (void)ui_.text(area.cut_top(ui_.px(30)).inset(ui_.px(kPadding), 0), "Listing values …",
                            Face::text, ui_.theme.dim);
    if (table_.order.empty())
      return (void)ui_.text(area.cut_top(ui_.px(30)).inset(ui_.px(kPadding), 0), "No value fits",
                            Face::text, ui_.theme.faint);
    rows(columns, area);
  }

 private:
  // True if there are prices of the shown plan.
  bool has_prices() const {
    return table_.rows->reasons != nullptr && table_.rows->plan == document_.shown;
  }

  // The width of the longest name; all letters have one width.
  float names_width() {
    if (table_.rows && memory_.named != table_.rows) {
      memory_.named = table_.rows;
      memory_.longest_name = 0;
      for (const ValueRow& row : table_.rows->rows)
        memory_.longest_name =
            std::max(memory_.longest_name, document_.graph().node_name(row.node).size());
    }
    return static_cast<float>(memory_.longest_name) * ui_.width("m", Face::mono);
  }

  void counts() {
    Rect rest = input_.heading;
    if (button(ui_, "copy", rest.cut_right(ui_.px(46)).inset(0, ui_.px(8)), "Copy",
               ButtonLook::quiet))
      intents_.push_back({"values.copy_csv", ""});
    hint(ui_, "The rows below as CSV, to the clipboard");
    rest.cut_right(ui_.px(4));
    const bool planning = input_.app.jobs.is_alive(document_.planning);
    const std::string text = (planning ? "planning … " : "") + listed() + totals();
    ui_.text(rest, text, Face::small, ui_.theme.dim);
    ui_.items.add("counts", ItemKind::figure, rest, true, text);
  }

  // The counts of rows: views of one storage have rows of their own, and a value that runs twice
  // has one.
  std::string listed() const {
    if (!table_.rows || table_.order.size() == table_.rows->rows.size()) return "";
    return fmt::format("{} of {} values listed · ", format_count(table_.order.size()),
                       format_count(table_.rows->rows.size()));
  }

  // The totals as in the legend: "saved 14 storages, 228 MiB · recomputed 3 runs".
  std::string totals() const {
    if (memory_.counted != document_.shown) memory_.totals = totals_of(*document_.shown);
    memory_.counted = document_.shown;
    const auto& [saved, again] =
        std::pair(memory_.totals[static_cast<std::size_t>(Role::saved)],
                  memory_.totals[static_cast<std::size_t>(Role::recomputed)]);
    return fmt::format("saved {}, {} · recomputed {}", counted_text(Role::saved, saved.count),
                       format_bytes(saved.bytes), counted_text(Role::recomputed, again.count));
  }

  // Draws the outcome of the last change of plan settings in a line; the compare panel has the
  // list.
  void change(Rect& area) {
    const PlanChange* change = document_.change.get();
    if (change == nullptr || change->after != document_.shown) return;
    const std::string text = change->cause + ": " + change->outcome;
    const float button_wide = ui_.px(58);
    const float high = wrapped_height(ui_, text, area.width() - button_wide);
    Rect row = area.cut_top(std::max(high + ui_.px(12), ui_.target(kRow)));
    Rect rect = row.cut_right(button_wide);
    if (!change->difference.rows.empty()) {
      if (button(ui_, "flipped", rect.cut_top(ui_.target(kRow)).inset(ui_.px(4), ui_.px(1)), "Show",
                 ButtonLook::quiet))
        intents_.push_back({"compare.with", "before"});
      hint(ui_, "Which values have another fate than before, and why");
    }
    row.cut_top(ui_.px(4));
    wrapped(ui_, row, text, ui_.theme.dim);
    ui_.items.add("change", ItemKind::figure, row, true, text);
  }

  void conflict(Rect& area) {
    const std::string text = conflict_text(document_);
    blamed_ = text.empty() ? std::vector<NodeId>() : blamed_values(document_);
    if (text.empty()) return;
    const Rect box =
        area.cut_top(wrapped_height(ui_, text, area.width() - ui_.px(20)) + ui_.px(14));
    area.cut_top(ui_.px(6));
    ui_.fill(box, mix(ui_.theme.panel, ui_.theme.conflict, 0.13), ui_.px(kRadius));
    ui_.fill({box.left, box.top, box.left + ui_.px(3), box.bottom}, ui_.theme.conflict, ui_.px(1));
    wrapped(ui_, box.inset(ui_.px(10), ui_.px(7)), text, ui_.theme.conflict);
    ui_.items.add("conflict", ItemKind::figure, box, true, text);
  }

  void tools(Rect row) {
    row.cut_bottom(std::round(ui_.px(4)));
    FieldLook look;
    look.hint = "Filter: relu, layer2, saved, bytes > 64MiB";
    look.face = Face::small;
    std::string text = table_.filter;
    if (field(ui_, "filter", row, text, look).changed) intents_.push_back({"values.filter", text});
    if (!table_.filter_fault.empty()) {
      ui_.frame(row, ui_.theme.conflict, ui_.px(kRadius));
      hint(ui_, table_.filter_fault);
    } else if (!table_.filter.empty() && table_.rows) {
      ui_.text(row.inset(ui_.px(8), 0),
               fmt::format("{} of {}", format_count(static_cast<std::int64_t>(table_.order.size())),
                           format_count(static_cast<std::int64_t>(table_.rows->rows.size()))),
               Face::small, ui_.theme.dim, Align::right);
    }
  }

  void head(const ValueColumns& columns, const Rect& strip) {
    for (const ValueColumn column : {ValueColumn::name, ValueColumn::module, ValueColumn::bytes,
                                     ValueColumn::flip_bytes, ValueColumn::flip_us}) {
      const Rect cell = columns.cell(strip, column);
      if (cell.empty()) continue;
      const bool chosen = table_.sort == column;
      const std::string id(name_of(column));
      const WidgetResponse t = interact(ui_, "sort " + id, ItemKind::button, cell, true,
                                        !chosen          ? ""
                                        : table_.falling ? "falling"
                                                         : "rising");
      hint(ui_, meaning_of(column));
      if (t.pressed) intents_.push_back({"values.sort", id});
      column_title(ui_, cell, column, chosen, table_.falling, t.hovered);
    }
    const float y = strip.bottom - 0.5f;
    ui_.line({strip.left, y}, {strip.right, y}, ui_.theme.line);
  }

  void rows(const ValueColumns& columns, const Rect& area) {
    const float high = ui_.target(22);
    const auto count = table_.order.size();
    const Scrolled region = begin_scroll(ui_, "rows", area, high * static_cast<float>(count));
    const auto line = [&](std::size_t i) {
      const float top = region.content.top + high * static_cast<float>(i);
      return Rect{area.left, top, region.content.right, top + high};
    };
    follow_selection(region, line);
    if (std::exchange(memory_.filter, table_.filter) != table_.filter) ImGui::SetScrollY(0);
    const float above = std::max(0.0f, area.top - region.content.top);
    for (auto i = static_cast<std::size_t>(above / high); i < count; ++i) {
      const Rect strip = line(i);
      if (strip.top >= area.bottom) break;
      row_at(columns, strip, table_.rows->rows[table_.order[i]]);
    }
    end_scroll();
  }

  template <class Line>
  void follow_selection(const Scrolled& region, const Line& line) {
    const NodeId selected = selected_;
    if (memory_.scrolled_to == selected) return;
    memory_.scrolled_to = selected;
    const std::size_t row = table_.row_index(selected);
    if (row < table_.order.size()) scroll_to(line(row).top, line(row).bottom, region);
  }

  void row_at(const ValueColumns& columns, const Rect& strip, const ValueRow& value) {
    const std::string& name = document_.graph().node_name(value.node);
    const bool chosen = selected_ == value.node;
    const WidgetResponse t =
        row(ui_, name, strip, chosen, std::string(name_of(document_.shown->role(value.node))));
    if (t.pressed) intents_.push_back({"values.select", name});
    if (t.doubled) intents_.push_back({"value.follow", ""});
    RowLook look;
    look.role = document_.shown->role(value.node);
    look.override_kind = memory_.overrides.of(value.node);
    look.blamed = std::find(blamed_.begin(), blamed_.end(), value.node) != blamed_.end();
    look.priced = has_prices();
    look.module = document_.graph().origin(value.node).module;
    look.bytes = look.priced ? value.bytes : row_bytes(*document_.shown, value.node);
    value_cells(ui_, columns, strip, name, value, look);
    const bool offers =
        (chosen || t.hovered || look.override_kind != OverrideKind::no) && value.has_choice;
    if (offers || (chosen && look.override_kind != OverrideKind::no))
      override_buttons(ui_, columns, strip, name, look.override_kind, intents_);
  }

  Ui& ui_;
  const PanelInput& input_;
  const DocumentView& document_;
  ValueTable& table_;
  ValuesMemory& memory_;
  Intents& intents_;
  const NodeId selected_ = document_.planned_selection();
  std::vector<NodeId> blamed_;
};

void draw_values(Ui& ui, const PanelInput& input, Intents& intents) {
  if (const DocumentView* document = input.ready()) Values(ui, input, *document, intents).draw();
}

}  // namespace

Panel values_panel() { return {"values", "Values", Dock::right, 0, 1.15f, draw_values}; }

}  // namespace recut::gui
