#include "gui/panels/memory_parts.h"

#include <fmt/core.h>

#include <cmath>

#include "engine/support/units.h"
#include "engine/workspace/plan_report.h"
#include "gui/app/app.h"
#include "gui/app/glossary.h"
#include "gui/app/measured_view.h"
#include "gui/app/torch_plans.h"
#include "gui/backend/paths.h"
#include "gui/draw/widgets.h"

// MemoryCache makes each fact again only when its key changes, so most frames compare pointers:
//   document ⇒ layers      shown plan, by kind or not ⇒ stack      two plans ⇒ aligned positions
// The heading cuts its buttons off from the right, and its text takes the remaining width. Tabs and
// choices without room are left out, and the legend ends at its first entry without room. More than
// six layers share one strip of colours. peak_list draws only rows in view, since a plan may have
// thousands of storages alive at its peak.

namespace recut::gui {

void MemoryCache::bring_up(const DocumentView& document, bool by_kind) {
  if (layers_of_ != document.document && document.start) {
    layers_ = layer_bands(*document.start);
    layers_of_ = document.document;
    stack_of_ = nullptr;
  }
  if (!has_modules()) by_kind = true;
  if (stack_of_ == document.shown && by_kind_ == by_kind) return;
  stack_of_ = document.shown;
  by_kind_ = by_kind;
  stack = by_kind ? stack_by_kind(*document.shown) : stack_by_module(*document.shown, layers_);
}

Colour MemoryCache::colour(const Theme& theme, const Buffer& buffer) const {
  using Paint = MemoryStack::Paint;
  const MemoryKind kind = kind_of(buffer.kind);
  if (by_kind_) return colour_of(theme, kind);
  const std::size_t position = stack_of_->graph().position(buffer.owner);
  const std::size_t layer = position < layers_.band.size() ? layers_.band[position] : SIZE_MAX;
  const bool backward =
      buffer.kind == InstanceClass::gradient || buffer.kind == InstanceClass::backward_temporary;
  const Paint paint = backward                       ? Paint::gradients
                      : layer < layers_.names.size() ? Paint::layer
                                                     : Paint::outside;
  for (std::size_t band = 0; band < stack.bands.size(); ++band) {
    const MemoryStack::Band& it = stack.bands[band];
    if (it.paint == paint && (paint != Paint::layer || it.index == layer))
      return gui::colour_of(theme, stack, band);
  }
  return theme.freed;
}

const std::vector<double>& MemoryCache::positions_of(const DocumentView& document,
                                                     const SharedPlanView& other) {
  if (positions_on_ != document.shown || positions_of_ != other) {
    positions_on_ = document.shown;
    positions_of_ = other;
    positions_ = aligned_steps(*document.shown, *other);
  }
  return positions_;
}

namespace {

// A rectangle at the right of the heading for a text with `extra` units around it.
Rect heading_rect(const Ui& ui, Rect& rest, std::string_view text, float extra) {
  const Rect rect =
      rest.cut_right(std::ceil(ui.width(text, Face::text)) + ui.px(extra)).inset(0, ui.px(8));
  rest.cut_right(ui.px(8));
  return rect;
}

// Choices for the outline: the plans that users compare with most.
void baselines(Ui& ui, const PinnedBaseline& baseline, Rect rest, Intents& intents) {
  struct Choice {
    const char *text, *argument, *title;
  };
  constexpr Choice kChoices[] = {{"this plan", "shown", "before"},
                                 {"nothing recomputed", "start", "nothing recomputed"},
                                 {"PyTorch", "torch 0.5", "PyTorch"}};
  rest.cut_left(ui.text(rest, "with", Face::small, ui.theme.faint) + ui.px(8));
  for (const Choice& choice : kChoices) {
    const float wide = std::ceil(ui.width(choice.text, Face::text)) + 1;
    if (wide > rest.width()) return;
    const bool chosen = baseline.title.rfind(choice.title, 0) == 0;
    if (tab(ui, std::string("with ") + choice.text, rest.cut_left(wide).inset(0, ui.px(9)),
            choice.text, chosen))
      intents.push_back({"baseline.pin", choice.argument});
    rest.cut_left(ui.px(12));
  }
}

// Draws tabs for bytes alive and addresses; the menu has both, too, if there is no room.
void views(Ui& ui, const App& app, Rect& rest, bool arena, Intents& intents) {
  if (rest.width() <= ui.px(110)) return;
  const auto take = [&](std::string_view text, float extra) {
    return heading_rect(ui, rest, text, extra).inset(0, ui.px(1));
  };
  if (tab(ui, "arena", take("arena", 12), "arena", arena))
    intents.push_back({"memory.view", "arena"});
  explain(ui, app, "arena", "Each buffer at its address");
  if (tab(ui, "curve", take("curve", 2), "curve", !arena))
    intents.push_back({"memory.view", "curve"});
}

}  // namespace

void memory_heading(Ui& ui, const PanelInput& input, const DocumentView& document,
                    const MemoryView& view, bool has_modules, Intents& intents) {
  Rect rest = input.heading;
  const auto take = [&](std::string_view text, float extra) {
    return heading_rect(ui, rest, text, extra);
  };
  const bool by_kind = !has_modules || input.app.settings.text("memory.by", "module") == "kind";
  const bool list = input.app.settings.flag("memory.list", false);
  if (button(ui, "copy", take("Copy", 14), "Copy", ButtonLook::quiet))
    intents.push_back({"memory.copy_csv", ""});
  hint(ui, "The timeline as CSV, to the clipboard");
  if (toggle(ui, "list", take("At the peak", 24), "At the peak", list))
    intents.push_back({"memory.list", ""});
  const PinnedBaseline& baseline = document.baseline;
  const bool has_baseline = baseline.plan != nullptr;
  const bool arena = shows_arena(input.app);
  if (!arena && toggle(ui, "compare", take("Compare", 24), "Compare", has_baseline))
    intents.push_back({has_baseline ? "baseline.drop" : "baseline.pin", ""});
  if (!arena)
    hint(ui, has_baseline
                 ? "Drop the baseline: no outline of another plan"
                 : "Pin this plan as the baseline: an outline, to see the next one beside it");
  const auto* measured = find_memory<MeasuredView>(document.memories, kMeasuredView);
  if (measured != nullptr && !measured->path.empty()) {
    if (toggle(ui, "measured", take("Measured", 24), "Measured", true))
      intents.push_back({"measured.close", ""});
    hint(ui, fmt::format("Close {}: no line of measured memory", file_name(measured->path)));
  }
  if (tab(ui, "by kind", take("by kind", 2).inset(0, ui.px(1)), "by kind", by_kind))
    intents.push_back({"memory.by", "kind"});
  if (has_modules &&
      tab(ui, "by module", take("by module", 2).inset(0, ui.px(1)), "by module", !by_kind))
    intents.push_back({"memory.by", "module"});
  views(ui, input.app, rest, arena, intents);
  if (!view.whole() && button(ui, "all steps", take("All steps", 14), "All steps"))
    intents.push_back({"memory.zoom", ""});
  ui.items.add("plan", ItemKind::figure, rest, true, format_bytes(document.shown->peak()));
  if (!baseline.pending_title.empty() && makes_torch_plan(input.app, document)) {
    ui.text(rest, "planning: " + baseline.pending_title, Face::small, ui.theme.text);
  } else if (has_baseline && !arena) {
    baselines(ui, baseline, rest, intents);
  } else {
    ui.text(rest, arena ? "addresses, in program order" : "in program order", Face::small,
            ui.theme.dim);
  }
}

namespace {

constexpr std::size_t kNamedLayers = 6;  // more share one strip of colours

class Legend {
 public:
  Legend(Ui& ui, const Rect& row) : ui_(ui), rest_(row) {}

  // Colours side by side with their label, as far as there is room.
  void entry(const std::vector<Colour>& colours, std::string_view text, bool line = false) {
    const float wide = std::ceil(ui_.width(text, Face::small)) + 1;
    const float swatch = ui_.px(colours.size() > 1 ? 6 : 10);
    const float all = swatch * static_cast<float>(colours.size());
    if (full_ || all + wide + ui_.px(6) > rest_.width()) {
      full_ = true;
      return;
    }
    const float high = line ? ui_.whole(2) : ui_.px(10);
    for (const Colour colour : colours) {
      const Rect rect = rest_.cut_left(swatch);
      ui_.fill(rect_around(rect.centre(), rect.width(), high), colour,
               line || colours.size() > 1 ? 0 : ui_.px(2));
    }
    rest_.cut_left(ui_.px(6));
    ui_.text(rest_.cut_left(wide), text, Face::small, ui_.theme.dim);
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
  Rect rect = row;
  rect.cut_left(ui.px(58));
  Legend legend(ui, rect);
  if (const PlanView* other = document.baseline.plan.get())
    legend.entry(
        {outline_colour(ui.theme, *other)},
        fmt::format("{}, peak {}, step {}", document.baseline.title, format_bytes(other->peak()),
                    signed_micros(other->report().step_us - document.shown->report().step_us)),
        true);
  if (const MemoryComparison* measured = shown_memory_comparison(document)) {
    const std::string text = comparison_summary(*measured);
    ui.items.add("measured words", ItemKind::figure, row, true, text);
    legend.entry({measured_colour(ui.theme)}, text, true);
  }
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
