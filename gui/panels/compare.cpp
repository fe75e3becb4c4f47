// Compare: the shown plan beside another one, figure by figure, and the values that the two treat
// differently; or two passes' graphs by their operators.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "engine/support/units.h"
#include "gui/app/app.h"
#include "gui/app/compare_view.h"
#include "gui/app/panes_view.h"
#include "gui/app/torch_plans.h"
#include "gui/draw/table.h"
#include "gui/draw/widgets.h"
#include "gui/model/role_totals.h"
#include "gui/panels/compare_fates.h"

namespace recut::gui {
namespace {

// The widths of the columns of figures in units, at most and at least.
constexpr float kCompareName = 190, kCompareFigure = 132, kCompareCount = 60;
constexpr float kMinCompareName = 132, kMinCompareFigure = 72;
constexpr float kMinRemark = 80;        // fits a short text
constexpr float kCompareWidest = 1020;  // of the list: eyes have to find the other end of a row
constexpr float kMinList = 120;         // in less height everything scrolls, not the list alone
constexpr float kCompareTools = 400;    // of the heading, with full labels on its buttons

// Heights in the last frame.
struct CompareHeights {
  float above = 0;  // height of the part over the list
  float all = 0;
};

class Compare {
 public:
  Compare(Ui& ui, const PanelInput& input, const DocumentView& document, CompareView& view,
          Intents& intents)
      : ui_(ui),
        input_(input),
        document_(document),
        view_(view),
        intents_(intents),
        selected_(document.planned_selection()),
        heights_(input.memory<CompareHeights>("compare.heights")),
        low_(input.area.height() < heights_.above + ui.px(kMinList)),
        visible_(input.area) {}

  void draw() {
    update(view_, input_.app, document_);
    pin_buttons();
    Rect area = input_.area;
    if (!low_) return content(area);
    const Scrolled region = begin_scroll(ui_, "all", area, heights_.all);
    area = region.content;
    area.bottom = 1e9f;
    content(area);
    heights_.all = area.top - region.content.top;
    end_scroll();
  }

 private:
  void content(Rect& area) {
    const float top = area.top;
    choices(area);
    area.cut_top(ui_.px(6));
    if (compared_pass(document_, view_)) return operators(area, top);
    equal_terms(area);
    area.cut_top(ui_.px(4));
    if (!view_.there || (view_.with.empty() && view_.there == view_.here)) {
      const std::string text = waiting();
      const Rect row = lines(area, ui_.px(kRow), text, Face::text, ui_.theme.dim);
      ui_.items.add("waiting", ItemKind::figure, row, true, text);
      return;
    }
    figures(area);
    area.cut_top(ui_.px(14));
    values(area, top);
  }

  // A text in a row of height `high`, or on as many lines as it takes. Returns its rectangle.
  Rect lines(Rect& area, float high, const std::string& text, Face face, Colour ink) const {
    const bool one = ui_.width(text, face) <= area.width();
    const float more = ui_.px(4);
    if (!one) high = wrapped_height(ui_, text, area.width(), face) + 2 * more;
    const Rect rect = area.cut_top(high);
    if (one)
      ui_.text(rect, text, face, ink);
    else
      wrapped(ui_, rect.inset(0, more), text, ink, face);
    return rect.within(visible_);
  }

  // Draws a heading, with a remark beside it, or below it if there is no room.
  void titled(Rect& area, const std::string& text, const std::string& remark) const {
    const Rect row = area.cut_top(std::round(ui_.px(24)));
    const float wide = ui_.width(text, Face::strong) + ui_.px(10);
    if (wide + ui_.width(remark, Face::small) <= row.width())
      return heading(ui_, row, text, remark);
    heading(ui_, row, text);
    lines(area, ui_.px(20), remark, Face::small, ui_.theme.dim);
  }

  void pin_buttons() {
    Rect rect = input_.heading;
    const auto at = [&](float wide) { return rect.cut_right(ui_.px(wide)).inset(0, ui_.px(8)); };
    const bool wide = rect.width() >= ui_.px(kCompareTools);
    if (tinted_button(ui_, "panes", at(wide ? 112 : 92), "Side by side", ui_.theme.selection,
                      has_panes(document_)))
      intents_.push_back({"compare.panes", ""});
    hint(ui_, "Both graphs in two linked panes (c)");
    if (document_.baseline.plan && button(ui_, "drop", at(wide ? 112 : 50),
                                          wide ? "Drop baseline" : "Drop", ButtonLook::quiet))
      intents_.push_back({"baseline.drop", ""});
    if (button(ui_, "pin", at(wide ? 176 : 110),
               wide ? "Pin this plan as baseline" : "Pin as baseline", ButtonLook::quiet))
      intents_.push_back({"baseline.pin", ""});
    ui_.fitting(rect,
                {fmt::format("this plan, {}, against", format_bytes(document_.shown->peak()))},
                Face::small, ui_.theme.dim);
  }

  // Draws the choices on as many rows as they take.
  void choices(Rect& area) {
    const std::string now = compared_with(document_, view_);
    const float high = ui_.target(28);
    Rect rest = area.cut_top(high);
    for (const CompareChoice& choice : compare_choices(input_.app, document_)) {
      const float wide = std::min(area.width(), ui_.width(choice.text, Face::text) + ui_.px(22));
      if (wide > rest.width()) rest = area.cut_top(high);
      if (tinted_button(ui_, "with " + choice.with, rest.cut_left(wide).inset(0, ui_.px(2)),
                        choice.text, choice.with == now ? ui_.theme.selection : ui_.theme.dim,
                        choice.with == now))
        intents_.push_back({"compare.with", choice.with});
      if (choice.with == "unplanned")
        hint(ui_, "The step with nothing recomputed, in program order");
      rest.cut_left(ui_.px(6));
    }
  }

  // Compares recomputation at an equal peak: a plan that may keep more recomputes less anyway.
  void equal_terms(Rect& area) {
    const auto fraction = compared_torch(document_, view_);
    const SharedPlanView torch = fraction ? torch_plan(document_, *fraction) : nullptr;
    const std::string found = torch ? equal_peak_text(document_, *torch) : std::string();
    if (!found.empty()) {
      const Rect rect = lines(area, std::round(ui_.px(28)), found, Face::strong, ui_.theme.text);
      ui_.items.add("equal peak", ItemKind::figure, rect, true, found);
      return;
    }
    Rect row = area.cut_top(ui_.target(28));
    const std::string text = "Give Recut PyTorch's peak";
    const Rect rect = row.cut_left(ui_.width(text, Face::text) + ui_.px(28)).inset(0, ui_.px(2));
    if (button(ui_, "pytorch", rect, text)) intents_.push_back({"budget.pytorch", ""});
    hint(ui_, "The budget becomes the peak of PyTorch's own plan, so that both may keep as much");
    row.cut_left(ui_.px(12));
    if (!torch) return;
    const std::string unequal = unequal_text(*torch);
    if (ui_.width(unequal, Face::small) <= row.width())
      ui_.text(row, unequal, Face::small, ui_.theme.dim);
    else
      lines(area, ui_.px(20), unequal, Face::small, ui_.theme.dim);
  }

  std::string unequal_text(const PlanView& torch) const {
    const std::int64_t by = document_.shown->peak() - torch.peak();
    return fmt::format(
        "of {}: this plan peaks {}", format_bytes(torch.peak()),
        by == 0 ? "there, too" : format_bytes(std::abs(by)) + (by > 0 ? " above" : " below"));
  }

  std::string waiting() {
    if (view_.there) return "This plan recomputes nothing. Choose another one to compare it with.";
    const auto fraction = compared_torch(document_, view_);
    if (!fraction) return "The other plan isn't there any more.";
    if (wants_torch_plan(input_.app, document_, *fraction))
      intents_.push_back({"torch.prepare", ""});
    const std::string fault = torch_fault(document_, *fraction);
    return fault.empty() ? "Planning as PyTorch does …" : fault;
  }

  void cell(Rect& row, float wide, std::string_view text, Face face, Colour colour) const {
    ui_.text(row.cut_left(wide), text, face, colour, Align::right);
  }

  // If room is short, the other plan's figures are dropped first: this plan's figures and the
  // difference imply them.
  void measure_figures(float room) {
    name_ = std::clamp(room - 3 * ui_.px(kCompareFigure), ui_.px(kMinCompareName),
                       ui_.px(kCompareName));
    shows_there_ = room - name_ >= 3 * ui_.px(kMinCompareFigure);
    figure_ = std::min(ui_.px(kCompareFigure), (room - name_) / (shows_there_ ? 3.0f : 2.0f));
  }

  void figures(Rect& area) {
    measure_figures(area.width());
    Rect head = area.cut_top(ui_.px(20));
    head.cut_left(name_);
    cell(head, figure_, "this plan", Face::small, ui_.theme.faint);
    if (shows_there_)
      cell(head, figure_, compared_name(input_.app, document_, view_), Face::small,
           ui_.theme.faint);
    cell(head, figure_, "difference", Face::small, ui_.theme.faint);
    const PlanReport &here = document_.shown->report(), &there = view_.there->report();
    const auto bytes = [](std::int64_t value) { return format_bytes(value); };
    figure(area, "peak", bytes(here.peak_bytes), bytes(there.peak_bytes),
           signed_bytes(here.peak_bytes - there.peak_bytes), here.peak_bytes - there.peak_bytes);
    // More that is saved is neither good nor bad by itself.
    if (!here.inference) {
      figure(area, "saved for backward", bytes(here.saved_bytes), bytes(there.saved_bytes),
             signed_bytes(here.saved_bytes - there.saved_bytes), 0);
      counted(area, "storages saved", here.saved_storages(), there.saved_storages(), false);
    }
    timed(area, "recomputed", here.recompute_us, there.recompute_us);
    counted(area, "runs beyond the first", here.recomputed_runs, there.recomputed_runs, true);
    timed(area, "step", here.step_us, there.step_us);
  }

  void counted(Rect& area, std::string_view name, std::int64_t here, std::int64_t there,
               bool fewer_is_better) {
    const std::int64_t by = here - there;
    const std::string text = by == 0 ? "0" : (by > 0 ? "+" : "-") + format_count(std::abs(by));
    figure(area, name, format_count(here), format_count(there), text, fewer_is_better ? by : 0);
  }

  void timed(Rect& area, std::string_view name, double here, double there) {
    const std::string text = signed_micros(here - there);
    figure(area, name, format_micros(here), format_micros(there), text,
           text == "0"    ? 0
           : here > there ? 1
                          : -1);
  }

  // `sign`: below 0 the plan is better by it, above 0 worse.
  void figure(Rect& area, std::string_view name, const std::string& here, const std::string& there,
              const std::string& by, std::int64_t sign) {
    Rect row = area.cut_top(std::round(ui_.px(kRow - 1)));
    ui_.items.add(fmt::format("figure {}", name), ItemKind::figure, row.within(visible_), true, by);
    ui_.text(row.cut_left(name_), name, Face::text, ui_.theme.dim);
    cell(row, figure_, here, Face::mono_strong, ui_.theme.text);
    if (shows_there_) cell(row, figure_, there, Face::mono, ui_.theme.dim);
    cell(row, figure_, by, Face::mono,
         sign == 0  ? ui_.theme.dim
         : sign < 0 ? ui_.theme.result
                    : ui_.theme.conflict);
  }

  void values(Rect& area, float top) {
    const PlanDifference& d = view_.difference;
    area.right = std::min(area.right, area.left + ui_.px(kCompareWidest));
    std::string remark = fmt::format(
        "saved only here {}, {} · only there {}, {} · {} values have the same fate",
        counted_text(Role::saved, d.saved_here.storages), format_bytes(d.saved_here.bytes),
        counted_text(Role::saved, d.saved_there.storages), format_bytes(d.saved_there.bytes),
        format_count(d.same));
    if (d.only_here + d.only_there > 0)
      remark += fmt::format(" · {} stand only here, {} only there", format_count(d.only_here),
                            format_count(d.only_there));
    const auto count = static_cast<std::int64_t>(d.rows.size());
    titled(area,
           fmt::format("{} value{} with another fate", format_count(count), count == 1 ? "" : "s"),
           remark);
    ui_.items.add("differing", ItemKind::figure, area.within(visible_), true,
                  fmt::format("{}", count));
    if (count == 0) return;
    const bool why = !why_flipped(view_, document_, d.rows.front()).empty();
    const float room = area.width() - ui_.px(kScrollbar);
    const FateColumns columns(ui_, room, longest_name(), why);
    Rect head = area.cut_top(columns.head_height());
    head.right -= ui_.px(kScrollbar);
    columns.titles(head, why);
    list("values", area, top, columns.row_height(), d.rows.size(),
         [&](std::size_t i, const Rect& rect) {
           value(columns, i, {rect.left, rect.top, head.right, rect.bottom});
         });
  }

  // The width of the longest name; all letters have one width.
  float longest_name() const {
    std::size_t longest = 0;
    for (const FateRow& fate : view_.difference.rows)
      longest = std::max(longest, document_.graph().node_name(fate.here).size());
    return static_cast<float>(longest) * ui_.width("m", Face::mono);
  }

  // Draws the rows below everything else; they scroll by themselves, or with the rest if the panel
  // is low.
  template <class Draw>
  void list(std::string_view label, Rect& area, float top, float high, std::size_t count,
            const Draw& draw_row) {
    heights_.above = area.top - top;
    const float all = high * static_cast<float>(count);
    const Scrolled region =
        low_ ? Scrolled{area.cut_top(all), visible_} : begin_scroll(ui_, label, area, all);
    const float above = region.visible.top - region.content.top;
    const auto first = static_cast<std::size_t>(std::max(0.0f, above / high));
    const auto shown = static_cast<std::size_t>(region.visible.height() / high) + 2;
    for (std::size_t i = first; i < std::min(count, first + shown); ++i)
      draw_row(i, rect_at({region.content.left, region.content.top + high * static_cast<float>(i)},
                          {region.content.width(), high}));
    if (!low_) end_scroll();
  }

  void value(const FateColumns& columns, std::size_t at, const Rect& rect) {
    const Graph& graph = document_.graph();
    const FateRow& fate = view_.difference.rows[at];
    const std::string& name = graph.node_name(fate.here);
    const WidgetResponse t =
        row(ui_, fmt::format("value {}", at), rect, selected_ == fate.here, name);
    if (t.pressed) intents_.push_back({"select.node", name});
    const std::string& why = why_flipped(view_, document_, fate);
    hint(ui_, why);
    const double most = static_cast<double>(view_.difference.rows.front().bytes);
    columns.figures(rect, fate, static_cast<double>(fate.bytes) / most);
    const FateCells cells = columns.cells_of(rect);
    Rect rest = cells.name;
    rest.cut_left(ui_.path(rest, name, Face::mono, ui_.theme.text) + ui_.px(10));
    if (columns.in_two_lines()) rest = cells.why;
    if (!why.empty()) ui_.items.add(fmt::format("why {}", at), ItemKind::figure, rest, true, why);
    if (rest.width() < ui_.px(kMinRemark)) return;
    ui_.text(rest, why.empty() ? short_module(graph.origin(fate.here).module) : why, Face::small,
             why.empty() ? ui_.theme.faint : ui_.theme.dim);
  }

  // Draws the operators whose numbers differ between two passes.
  void operators(Rect& area, float top) {
    titled(area, fmt::format("{} operators in other numbers", view_.counts.size()),
           fmt::format("after pass {} against pass {}", document_.pass, view_.other_pass));
    ui_.items.add("differing", ItemKind::figure, area.within(visible_), true,
                  fmt::format("{}", view_.counts.size()));
    measure_operators(area.width() - ui_.px(kScrollbar));
    Rect head = area.cut_top(ui_.px(20));
    head.cut_left(name_);
    for (const char* title : {"here", "there", "difference"})
      cell(head, figure_, title, Face::small, ui_.theme.faint);
    list("operators", area, top, std::round(ui_.px(kRow - 1)), view_.counts.size(),
         [&](std::size_t i, const Rect& rect) { counts(view_.counts[i], rect); });
  }

  void measure_operators(float room) {
    float longest = 0;
    for (const OperatorCount& count : view_.counts)
      longest = std::max(longest, ui_.width(count.name, Face::mono));
    figure_ = std::clamp((room - room_for_names(ui_, longest)) / 3, ui_.px(kCompareCount),
                         ui_.px(kCompareFigure));
    name_ = std::clamp(room - 3 * figure_, 0.0f, ui_.px(kCompareName + 60));
  }

  void counts(const OperatorCount& count, Rect line) const {
    ui_.text(line.cut_left(name_), count.name, Face::mono, ui_.theme.text);
    cell(line, figure_, format_count(count.here), Face::mono, ui_.theme.text);
    cell(line, figure_, format_count(count.there), Face::mono, ui_.theme.dim);
    const std::int64_t by = count.here - count.there;
    cell(line, figure_, (by > 0 ? "+" : "-") + format_count(std::abs(by)), Face::mono,
         by < 0 ? ui_.theme.result : ui_.theme.dim);
  }

  Ui& ui_;
  const PanelInput& input_;
  const DocumentView& document_;
  CompareView& view_;
  Intents& intents_;
  const NodeId selected_;
  CompareHeights& heights_;
  const bool low_;      // too low for a list that scrolls by itself
  const Rect visible_;  // the visible part of the scrolled content
  float name_ = 0, figure_ = 0;
  bool shows_there_ = true;
};

void draw_compare(Ui& ui, const PanelInput& input, Intents& intents) {
  const DocumentView* document = input.ready();
  if (document == nullptr) return;
  Compare(ui, input, *document, input.memory<CompareView>(kCompareMemory), intents).draw();
}

}  // namespace

Panel compare_panel() { return {"compare", "Compare", Dock::centre, 3, 1, draw_compare}; }

}  // namespace recut::gui
