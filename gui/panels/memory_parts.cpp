#include "gui/panels/memory_parts.h"

#include <fmt/format.h>

#include <cmath>

#include "engine/support/units.h"
#include "gui/app/app.h"
#include "gui/draw/widgets.h"

namespace recut::gui {

void MemoryCache::bring_up(const DocumentView& document, bool by_kind) {
  if (layers_of_ != document.document && document.start) {
    layers_ = layer_bands(*document.start);
    layers_of_ = document.document;
    stack_of_ = nullptr;
  }
  if (stack_of_ == document.shown && by_kind_ == by_kind) return;
  stack_of_ = document.shown;
  by_kind_ = by_kind;
  stack = by_kind ? stack_by_kind(*document.shown) : stack_by_module(*document.shown, layers_);
}

const std::vector<double>& MemoryCache::places_of(const DocumentView& document,
                                                  const SharedPlanView& other) {
  if (places_on_ != document.shown || places_of_ != other) {
    places_on_ = document.shown;
    places_of_ = other;
    places_ = aligned_steps(*document.shown, *other);
  }
  return places_;
}

namespace {

// A place at the right of the heading for words with `extra` units around them.
Rect place_for(const Ui& ui, Rect& rest, std::string_view words, float extra) {
  const Rect place =
      rest.cut_right(std::ceil(ui.width(words, Face::text)) + ui.px(extra)).inset(0, ui.px(8));
  rest.cut_right(ui.px(8));
  return place;
}

// What the outline is of: the plans that people compare with most.
void baselines(Ui& ui, const Baseline& baseline, Rect rest, Intents& intents) {
  struct Choice {
    const char *words, *argument, *title;
  };
  constexpr Choice kChoices[] = {{"this plan", "shown", "before"},
                                 {"nothing recomputed", "start", "nothing recomputed"},
                                 {"PyTorch", "torch 0.5", "PyTorch"}};
  rest.cut_left(ui.text(rest, "with", Face::small, ui.theme.faint) + ui.px(8));
  for (const Choice& choice : kChoices) {
    const float wide = std::ceil(ui.width(choice.words, Face::text)) + 1;
    if (wide > rest.width()) return;
    const bool chosen = baseline.title.rfind(choice.title, 0) == 0;
    if (tab(ui, std::string("with ") + choice.words, rest.cut_left(wide).inset(0, ui.px(9)),
            choice.words, chosen))
      intents.push_back({"baseline.pin", choice.argument});
    rest.cut_left(ui.px(12));
  }
}

}  // namespace

void memory_heading(Ui& ui, const PanelInput& input, const DocumentView& document,
                    const MemoryView& view, Intents& intents) {
  Rect rest = input.heading;
  const auto place = [&](std::string_view words, float extra) {
    return place_for(ui, rest, words, extra);
  };
  const bool by_kind = input.app.settings.text("memory.by", "module") == "kind";
  const bool list = input.app.settings.flag("memory.list", false);
  if (button(ui, "copy", place("Copy", 14), "Copy", ButtonLook::quiet))
    intents.push_back({"memory.copy_csv", ""});
  hint(ui, "The timeline as CSV, to the clipboard");
  if (toggle(ui, "list", place("At the peak", 24), "At the peak", list))
    intents.push_back({"memory.list", ""});
  const Baseline& baseline = document.baseline;
  const bool pinned = baseline.plan != nullptr;
  if (toggle(ui, "compare", place("Compare", 24), "Compare", pinned))
    intents.push_back({pinned ? "baseline.drop" : "baseline.pin", ""});
  hint(ui, pinned ? "Drop the baseline: no outline of another plan"
                  : "Pin this plan as the baseline: an outline, to see the next one beside it");
  if (tab(ui, "by kind", place("by kind", 2).inset(0, ui.px(1)), "by kind", by_kind))
    intents.push_back({"memory.by", "kind"});
  if (tab(ui, "by module", place("by module", 2).inset(0, ui.px(1)), "by module", !by_kind))
    intents.push_back({"memory.by", "module"});
  if (!view.whole() && button(ui, "all steps", place("All steps", 14), "All steps"))
    intents.push_back({"memory.zoom", ""});
  ui.items.add("plan", ItemKind::figure, rest, true, format_bytes(document.shown->peak()));
  if (!baseline.asked_for.empty() && input.app.jobs.is_alive(baseline.making)) {
    ui.text(rest, "planning: " + baseline.asked_for, Face::small, ui.theme.text);
  } else if (pinned) {
    baselines(ui, baseline, rest, intents);
  } else {
    ui.text(rest, "in program order", Face::small, ui.theme.dim);
  }
}

namespace {

constexpr std::size_t kNamedLayers = 6;  // more share one strip of colours

class Legend {
 public:
  Legend(Ui& ui, const Rect& row) : ui_(ui), rest_(row) {}

  // Colours side by side and what they are, as far as there is room.
  void entry(const std::vector<Colour>& colours, std::string_view words, bool line = false) {
    const float wide = std::ceil(ui_.width(words, Face::small)) + 1;
    const float swatch = ui_.px(colours.size() > 1 ? 6 : 10);
    const float all = swatch * static_cast<float>(colours.size());
    if (full_ || all + wide + ui_.px(6) > rest_.width()) {
      full_ = true;
      return;
    }
    const float high = line ? ui_.whole(2) : ui_.px(10);
    for (const Colour colour : colours) {
      const Rect place = rest_.cut_left(swatch);
      ui_.fill(rect_around(place.centre(), place.width(), high), colour,
               line || colours.size() > 1 ? 0 : ui_.px(2));
    }
    rest_.cut_left(ui_.px(6));
    ui_.text(rest_.cut_left(wide), words, Face::small, ui_.theme.dim);
    rest_.cut_left(ui_.px(14));
  }

 private:
  Ui& ui_;
  Rect rest_;
  bool full_ = false;
};

}  // namespace

void memory_legend(Ui& ui, const DocumentView& document, const MemoryStack& stack,
                   const Rect& row) {
  Rect place = row;
  place.cut_left(ui.px(58));
  Legend legend(ui, place);
  if (const PlanView* other = document.baseline.plan.get())
    legend.entry(
        {outline_colour(ui.theme, *other)},
        fmt::format("{}, peak {}, step {}", document.baseline.title, format_bytes(other->peak()),
                    signed_micros(other->report().step_us - document.shown->report().step_us)),
        true);
  std::size_t layers = 0;  // they come first
  std::vector<Colour> strip;
  for (; layers < stack.bands.size(); ++layers) {
    if (stack.bands[layers].paint != MemoryStack::Paint::layer) break;
    strip.push_back(colour_of(ui.theme, stack, layers));
  }
  const bool many = layers > kNamedLayers;
  if (many) legend.entry(strip, stack.bands.front().name + " … " + stack.bands[layers - 1].name);
  for (std::size_t band = many ? layers : 0; band < stack.bands.size(); ++band)
    legend.entry({colour_of(ui.theme, stack, band)}, stack.bands[band].name);
}

void mark_border(const Ui& ui, const Plot& plot, const PlanView& plan) {
  const Rect& in = plot.inside();
  const PlanReport& report = plan.report();
  const float x = std::round(plot.x(static_cast<double>(report.forward_runs))) + 0.5f;
  const float y = in.top - ui.px(9), gap = ui.px(7);
  const float room = ui.px(66);
  if (report.backward_runs > 0 && x > in.left && x < in.right)
    ui.dashed_line({x, in.top - ui.px(16)}, {x, in.bottom}, ui.theme.dim, 1, ui.px(3), ui.px(3));
  const float at = std::clamp(x, in.left, in.right);
  if (at - in.left > room)
    ui.label({at - gap, y}, "forward", Face::small, ui.theme.dim, Align::right);
  if (in.right - at > room && report.backward_runs > 0)
    ui.label({at + gap, y}, "backward", Face::small, ui.theme.dim);
}

void mark_unplanned(const Ui& ui, const Plot& plot, const PlanView& plan) {
  const std::int64_t bytes = plan.report().peak_bytes_unplanned;
  if (bytes <= plan.peak()) return;
  const Rect& in = plot.inside();
  const float y = std::round(plot.y(static_cast<double>(bytes))) + 0.5f;
  if (y < in.top || y > in.bottom) return;
  ui.dashed_line({in.left, y}, {in.right, y}, ui.theme.dim, 1, ui.px(6), ui.px(4));
  ui.label({in.right, y - ui.px(8)}, "nothing recomputed " + format_bytes(bytes), Face::small,
           ui.theme.dim, Align::right);
}

void mark_budget(const Ui& ui, const Plot& plot, const DocumentView& document) {
  const std::int64_t budget = document.wishes.budget_bytes;
  if (budget <= 0) return;
  const Rect& in = plot.inside();
  const Colour colour = document.holds() ? ui.theme.selection : ui.theme.conflict;
  const float level = plot.y(static_cast<double>(budget));
  const bool above = level<in.top, below = level> in.bottom;  // out of sight: the label stays
  const float y = above ? in.top : below ? in.bottom - ui.px(10) : std::round(level);
  if (!above && !below) ui.fill({in.left, y - ui.whole(1) / 2, in.right, y + ui.whole(1)}, colour);
  const std::string words = (document.holds() ? "budget " : "not held: budget ") +
                            format_bytes(budget) +
                            (above   ? " ↑"
                             : below ? " ↓"
                                     : "");
  const float wide = ui.width(words, Face::small) + ui.px(14);
  const Rect pill = rect_at({in.left + ui.px(8), y - (above ? 0 : ui.px(9))}, {wide, ui.px(18)});
  ui.fill(pill, colour, ui.px(kRadius));
  ui.text(pill, words, Face::small, ui.theme.background, Align::centre);
  ui.items.add("budget", ItemKind::figure, pill, true, format_bytes(budget));
}

void mark_peak(const Ui& ui, const Plot& plot, const PlanView& plan, Motion& motion) {
  const PlanReport& report = plan.report();
  const Rect& in = plot.inside();
  const double step = motion.ease("memory peak", static_cast<double>(report.peak_step) + 0.5);
  const ImVec2 at = plot.at(step, static_cast<double>(report.peak_bytes));
  if (at.x < in.left || at.x > in.right || at.y < in.top - 1 || at.y > in.bottom) return;
  const std::string bytes = "peak " + format_bytes(report.peak_bytes);
  const std::string where = " " + report.timeline[report.peak_step].node;
  const float strong = ui.width(bytes, Face::strong);
  const float most = std::min(std::ceil(ui.width(where, Face::mono_small)) + 1, ui.px(220));
  const float left = std::clamp(at.x - strong / 2, in.left,
                                std::max(in.left, in.right - strong - most - ui.px(4)));
  // Over the budget's line where the two are near: its label is at the left.
  const float y = at.y - ui.px(14);
  ui.fill({left - ui.px(3), y - ui.px(8), left + strong + most + ui.px(6), y + ui.px(7)},
          ui.theme.panel, ui.px(3), 0.65);
  ui.label({left, y}, bytes, Face::strong, ui.theme.text);
  ui.text({left + strong + ui.px(4), y - ui.px(7), left + strong + ui.px(4) + most, y + ui.px(7)},
          where, Face::mono_small, ui.theme.dim);
  ui.circle(at, ui.px(5), ui.theme.panel);
  ui.circle(at, ui.px(4), ui.theme.text);
  ui.items.add("peak", ItemKind::figure, rect_around(at, ui.px(10), ui.px(10)), true,
               fmt::format("{} at {}", format_bytes(report.peak_bytes),
                           report.timeline[report.peak_step].node));
}

void mark_cursor(const Ui& ui, const Plot& plot, const PlanView& plan, std::size_t step) {
  const Rect& in = plot.inside();
  const TimelineStep& it = plan.report().timeline[step];
  const std::string words =
      fmt::format("{} {}, {} alive", step_words(plan, step), it.node, format_bytes(it.total()));
  const float x = std::round(plot.x(static_cast<double>(step) + 0.5)) + 0.5f;
  const float wide = std::min(in.width(), std::ceil(ui.width(words, Face::mono_small)) + ui.px(12));
  const float left = std::clamp(x - wide / 2, in.left, std::max(in.left, in.right - wide));
  const Rect pill = rect_at({left, in.bottom + ui.px(4)}, {wide, ui.px(17)});
  ui.items.add("cursor", ItemKind::figure, pill, true, words);
  if (x < in.left || x > in.right) return;
  ui.line({x, in.top}, {x, in.bottom + ui.px(4)}, ui.theme.selection, ui.whole(1));
  ui.fill(pill, ui.theme.raised, ui.px(kRadius));
  ui.frame(pill, ui.theme.selection, ui.px(kRadius));
  ui.text(pill.inset(ui.px(4), 0), words, Face::mono_small, ui.theme.text, Align::centre);
}

void peak_list(Ui& ui, const DocumentView& document, Rect area, Intents& intents) {
  const auto& rows = document.shown->report().at_peak;
  const std::string title = fmt::format("{} storages alive at the peak", rows.size());
  ui.text(area.cut_top(ui.px(20)), title, Face::small, ui.theme.dim);
  const float high = std::round(ui.px(20));
  const std::string selected = document.selected_name();
  const Scrolled region = begin_scroll(ui, "at peak", area, high * static_cast<float>(rows.size()));
  const float top = region.content.top;
  const auto from = static_cast<std::size_t>(std::max(0.0f, (area.top - top) / high));
  for (std::size_t i = from; i < rows.size(); ++i) {
    Rect line{region.content.left, top + high * static_cast<float>(i), region.content.right,
              top + high * static_cast<float>(i + 1)};
    if (line.top > area.bottom) break;
    const StorageRow& row_of = rows[i];
    if (row(ui, fmt::format("at peak {}", i), line, row_of.node == selected, row_of.node).pressed)
      intents.push_back({"select.node", row_of.node});
    line = line.inset(ui.px(6), 0);
    const Rect swatch = line.cut_left(ui.px(10));
    line.cut_left(ui.px(7));
    ui.fill(rect_around(swatch.centre(), ui.px(9), ui.px(9)), colour_of(ui.theme, row_of.kind),
            ui.px(2));
    ui.text(line.cut_right(ui.px(66)), format_bytes(row_of.bytes), Face::mono, ui.theme.text,
            Align::right);
    ui.text(line, row_of.node, Face::mono, ui.theme.text);
  }
  end_scroll();
}

}  // namespace recut::gui
