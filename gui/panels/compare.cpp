// Compare: the plan that is shown beside another one, figure by figure, and the values that the two
// treat differently; or two passes' graphs by their operators.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "engine/support/units.h"
#include "gui/app/app.h"
#include "gui/app/compare_view.h"
#include "gui/app/panes_view.h"
#include "gui/app/role_totals.h"
#include "gui/app/torch_plans.h"
#include "gui/draw/widgets.h"

namespace recut::gui {
namespace {

constexpr float kCompareName = 190, kCompareFigure = 132;  // units: the columns of the figures
constexpr float kFateWide = 170, kBytesWide = 96, kBarWide = 120;
constexpr float kCompareWidest = 1020;  // of the list: eyes have to find the other end of a row

class Compare {
 public:
  Compare(Ui& ui, const PanelInput& input, const DocumentView& document, CompareView& view,
          Intents& intents)
      : ui_(ui),
        input_(input),
        document_(document),
        view_(view),
        intents_(intents),
        selected_(document.planned_selection()) {}

  void draw() {
    update(view_, input_.app, document_);
    pins();
    Rect area = input_.area;
    choices(area.cut_top(std::round(ui_.px(28))));
    area.cut_top(ui_.px(6));
    if (compared_pass(document_, view_)) return operators(area);
    equal_terms(area.cut_top(std::round(ui_.px(28))));
    area.cut_top(ui_.px(4));
    if (!view_.there || (view_.with.empty() && view_.there == view_.here)) {
      const Rect row = area.cut_top(ui_.px(kRow));
      const std::string words = waiting();
      ui_.items.add("waiting", ItemKind::figure, row, true, words);
      ui_.text(row, words, Face::text, ui_.theme.dim);
      return;
    }
    figures(area);
    area.cut_top(ui_.px(14));
    values(area);
  }

 private:
  void pins() {
    Rect place = input_.heading;
    const auto at = [&](float wide) { return place.cut_right(ui_.px(wide)).inset(0, ui_.px(8)); };
    if (tinted_button(ui_, "panes", at(112), "Side by side", ui_.theme.selection,
                      has_panes(document_)))
      intents_.push_back({"compare.panes", ""});
    hint(ui_, "Both graphs in two linked panes (c)");
    if (document_.baseline.plan && button(ui_, "drop", at(112), "Drop baseline", ButtonLook::quiet))
      intents_.push_back({"baseline.drop", ""});
    if (button(ui_, "pin", at(176), "Pin this plan as baseline", ButtonLook::quiet))
      intents_.push_back({"baseline.pin", ""});
    ui_.text(place, fmt::format("this plan, {}, against", format_bytes(document_.shown->peak())),
             Face::small, ui_.theme.dim);
  }

  void choices(Rect rest) {
    const std::string now = compared_with(document_, view_);
    for (const CompareChoice& choice : compare_choices(input_.app, document_)) {
      const float wide = ui_.width(choice.words, Face::text) + ui_.px(22);
      if (wide > rest.width()) break;
      if (tinted_button(ui_, "with " + choice.with, rest.cut_left(wide).inset(0, ui_.px(2)),
                        choice.words, choice.with == now ? ui_.theme.selection : ui_.theme.dim,
                        choice.with == now))
        intents_.push_back({"compare.with", choice.with});
      if (choice.with == "unplanned")
        hint(ui_, "The step with nothing recomputed, in program order");
      rest.cut_left(ui_.px(6));
    }
  }

  // Nothing is to be said of who recomputes less where one of the two may keep more.
  void equal_terms(Rect row) {
    const auto fraction = compared_torch(document_, view_);
    const SharedPlanView torch = fraction ? torch_plan(document_, *fraction) : nullptr;
    const std::string found = torch ? equal_peak_words(document_, *torch) : std::string();
    if (!found.empty()) {
      ui_.items.add("equal peak", ItemKind::figure, row, true, found);
      ui_.text(row, found, Face::strong, ui_.theme.text);
      return;
    }
    const std::string words = "Give Recut PyTorch's peak";
    const Rect place = row.cut_left(ui_.width(words, Face::text) + ui_.px(28)).inset(0, ui_.px(2));
    if (button(ui_, "pytorch", place, words)) intents_.push_back({"budget.pytorch", ""});
    hint(ui_, "The budget becomes the peak of PyTorch's own plan, so that both may keep as much");
    row.cut_left(ui_.px(12));
    if (torch) ui_.text(row, unequal_words(*torch), Face::small, ui_.theme.dim);
  }

  std::string unequal_words(const PlanView& torch) const {
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

  void cell(Rect& row, float wide, std::string_view words, Face face, Colour colour) const {
    ui_.text(row.cut_left(ui_.px(wide)), words, face, colour, Align::right);
  }

  void figures(Rect& area) {
    Rect head = area.cut_top(ui_.px(20));
    head.cut_left(ui_.px(kCompareName));
    for (const std::string& title :
         {std::string("this plan"), compared_name(input_.app, document_, view_),
          std::string("difference")})
      cell(head, kCompareFigure, title, Face::small, ui_.theme.faint);
    const PlanReport &here = document_.shown->report(), &there = view_.there->report();
    const auto bytes = [](std::int64_t value) { return format_bytes(value); };
    figure(area, "peak", bytes(here.peak_bytes), bytes(there.peak_bytes),
           signed_bytes(here.peak_bytes - there.peak_bytes), here.peak_bytes - there.peak_bytes);
    // More that is saved is neither good nor bad by itself.
    figure(area, "saved for backward", bytes(here.saved_bytes), bytes(there.saved_bytes),
           signed_bytes(here.saved_bytes - there.saved_bytes), 0);
    counted(area, "storages saved", here.saved_storages(), there.saved_storages(), false);
    timed(area, "recomputed", here.recompute_us, there.recompute_us);
    counted(area, "runs beyond the first", here.recomputed_runs, there.recomputed_runs, true);
    timed(area, "step", here.step_us, there.step_us);
  }

  void counted(Rect& area, std::string_view name, std::int64_t here, std::int64_t there,
               bool fewer_is_better) {
    const std::int64_t by = here - there;
    const std::string words = by == 0 ? "0" : (by > 0 ? "+" : "-") + format_count(std::abs(by));
    figure(area, name, format_count(here), format_count(there), words, fewer_is_better ? by : 0);
  }

  void timed(Rect& area, std::string_view name, double here, double there) {
    const std::string words = signed_micros(here - there);
    figure(area, name, format_micros(here), format_micros(there), words,
           words == "0"   ? 0
           : here > there ? 1
                          : -1);
  }

  // `sign`: below 0 the plan is better by it, above 0 worse.
  void figure(Rect& area, std::string_view name, const std::string& here, const std::string& there,
              const std::string& by, std::int64_t sign) {
    Rect row = area.cut_top(std::round(ui_.px(kRow - 1)));
    ui_.items.add(fmt::format("figure {}", name), ItemKind::figure, row, true, by);
    ui_.text(row.cut_left(ui_.px(kCompareName)), name, Face::text, ui_.theme.dim);
    cell(row, kCompareFigure, here, Face::mono_strong, ui_.theme.text);
    cell(row, kCompareFigure, there, Face::mono, ui_.theme.dim);
    cell(row, kCompareFigure, by, Face::mono,
         sign == 0  ? ui_.theme.dim
         : sign < 0 ? ui_.theme.result
                    : ui_.theme.conflict);
  }

  void values(Rect area) {
    const PlanDifference& d = view_.difference;
    area.right = std::min(area.right, area.left + ui_.px(kCompareWidest));
    std::string remark = fmt::format(
        "saved only here {}, {} · only there {}, {} · {} values have the same fate",
        counted_words(Role::saved, d.saved_here.storages), format_bytes(d.saved_here.bytes),
        counted_words(Role::saved, d.saved_there.storages), format_bytes(d.saved_there.bytes),
        format_count(d.same));
    if (d.only_here + d.only_there > 0)
      remark += fmt::format(" · {} stand only here, {} only there", format_count(d.only_here),
                            format_count(d.only_there));
    const auto count = static_cast<std::int64_t>(d.rows.size());
    heading(ui_, area.cut_top(std::round(ui_.px(24))),
            fmt::format("{} value{} with another fate", format_count(count), count == 1 ? "" : "s"),
            remark);
    ui_.items.add("differing", ItemKind::figure, area, true, fmt::format("{}", count));
    if (count == 0) return;
    Rect head = area.cut_top(ui_.px(20));
    const bool why = !why_flipped(view_, document_, d.rows.front()).empty();
    columns(head, why ? "value, and why" : "value", why ? "now" : "here", why ? "before" : "there",
            "bytes");
    rows(area);
  }

  void columns(Rect row, std::string_view value, std::string_view here, std::string_view there,
               std::string_view bytes) const {
    row.cut_right(ui_.px(kBarWide + 12));
    ui_.text(row.cut_right(ui_.px(kBytesWide)), bytes, Face::small, ui_.theme.faint, Align::right);
    ui_.text(row.cut_right(ui_.px(kFateWide)), there, Face::small, ui_.theme.faint);
    ui_.text(row.cut_right(ui_.px(kFateWide)), here, Face::small, ui_.theme.faint);
    row.cut_left(ui_.px(8));
    ui_.text(row, value, Face::small, ui_.theme.faint);
  }

  void rows(const Rect& area) {
    const auto& all = view_.difference.rows;
    const float high = std::round(ui_.px(kRow - 1));
    const Scrolled region =
        begin_scroll(ui_, "values", area, high * static_cast<float>(all.size()));
    const float above = region.visible.top - region.content.top;
    const auto first = static_cast<std::size_t>(std::max(0.0f, above / high));
    const auto shown = static_cast<std::size_t>(region.visible.height() / high) + 2;
    for (std::size_t i = first; i < std::min(all.size(), first + shown); ++i)
      value(i, all[i],
            rect_at({region.content.left, region.content.top + high * static_cast<float>(i)},
                    {region.content.width(), high}));
    end_scroll();
  }

  void value(std::size_t at, const FateRow& fate, const Rect& rect) {
    const Graph& graph = document_.graph();
    const std::string& name = graph.node_name(fate.here);
    const Touch t = row(ui_, fmt::format("value {}", at), rect, selected_ == fate.here, name);
    if (t.pressed) intents_.push_back({"select.node", name});
    Rect rest = rect;
    const Rect bar = rest.cut_right(ui_.px(kBarWide + 12));
    const double share =
        static_cast<double>(fate.bytes) / static_cast<double>(view_.difference.rows.front().bytes);
    const float wide = std::max(1.0f, static_cast<float>(share) * ui_.px(kBarWide));
    ui_.fill({bar.left + ui_.px(12), bar.centre().y - ui_.px(3), bar.left + ui_.px(12) + wide,
              bar.centre().y + ui_.px(3)},
             ui_.theme.line, ui_.px(1));
    ui_.text(rest.cut_right(ui_.px(kBytesWide)), format_bytes(fate.bytes), Face::mono,
             ui_.theme.text, Align::right);
    fate_cell(rest.cut_right(ui_.px(kFateWide)), fate.role_there, fate.runs_there);
    fate_cell(rest.cut_right(ui_.px(kFateWide)), fate.role_here, fate.runs_here);
    rest.cut_left(ui_.px(8));
    rest.cut_left(ui_.text(rest, name, Face::mono, ui_.theme.text) + ui_.px(10));
    const std::string& why = why_flipped(view_, document_, fate);
    if (!why.empty()) ui_.items.add(fmt::format("why {}", at), ItemKind::figure, rest, true, why);
    ui_.text(rest, why.empty() ? graph.origin(fate.here).module : why, Face::small,
             why.empty() ? ui_.theme.faint : ui_.theme.dim);
  }

  void fate_cell(Rect rect, Role role, std::int32_t runs) const {
    const Rect sign = rect.cut_left(ui_.px(20));
    ui_.sign({sign.left + ui_.px(6), sign.centre().y}, role);
    std::string words(name_of(role));
    if (runs > 1 || (runs == 1 && role != Role::recomputed))
      words += fmt::format(", {} reruns", runs);
    ui_.text(rect, words, Face::text, colour_of(ui_.theme, role));
  }

  // Two passes: which operators there are more or fewer of.
  void operators(Rect area) {
    heading(ui_, area.cut_top(std::round(ui_.px(24))),
            fmt::format("{} operators in other numbers", view_.counts.size()),
            fmt::format("after pass {} against pass {}", document_.pass, view_.other_pass));
    ui_.items.add("differing", ItemKind::figure, area, true,
                  fmt::format("{}", view_.counts.size()));
    Rect head = area.cut_top(ui_.px(20));
    head.cut_left(ui_.px(kCompareName + 60));
    for (const char* title : {"here", "there", "difference"})
      cell(head, kCompareFigure, title, Face::small, ui_.theme.faint);
    const float high = std::round(ui_.px(kRow - 1));
    const Scrolled region =
        begin_scroll(ui_, "operators", area, high * static_cast<float>(view_.counts.size()));
    for (std::size_t i = 0; i < view_.counts.size(); ++i) {
      const OperatorCount& count = view_.counts[i];
      Rect line = rect_at({region.content.left, region.content.top + high * static_cast<float>(i)},
                          {region.content.width(), high});
      ui_.text(line.cut_left(ui_.px(kCompareName + 60)), count.name, Face::mono, ui_.theme.text);
      cell(line, kCompareFigure, format_count(count.here), Face::mono, ui_.theme.text);
      cell(line, kCompareFigure, format_count(count.there), Face::mono, ui_.theme.dim);
      const std::int64_t by = count.here - count.there;
      cell(line, kCompareFigure, (by > 0 ? "+" : "-") + format_count(std::abs(by)), Face::mono,
           by < 0 ? ui_.theme.result : ui_.theme.dim);
    }
    end_scroll();
  }

  Ui& ui_;
  const PanelInput& input_;
  const DocumentView& document_;
  CompareView& view_;
  Intents& intents_;
  const NodeId selected_;
};

void draw_compare(Ui& ui, const PanelInput& input, Intents& intents) {
  const DocumentView* document = input.ready();
  if (document == nullptr) return;
  Compare(ui, input, *document, input.memory<CompareView>(kCompareMemory), intents).draw();
}

}  // namespace

Panel compare_panel() { return {"compare", "Compare", Place::centre, 3, 1, draw_compare}; }

}  // namespace recut::gui
