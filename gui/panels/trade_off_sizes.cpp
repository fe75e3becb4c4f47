#include "gui/panels/trade_off_sizes.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "engine/support/units.h"
#include "gui/app/app.h"
#include "gui/app/size_slider.h"
#include "gui/draw/widgets.h"

namespace recut::gui {
namespace {

constexpr std::size_t kMaxSizes = 3;   // more have the command
constexpr float kPlotAboveSizes = 130;  // units that the rows leave the plot
constexpr float kSizeName = 64, kSizeNumber = 76, kSizeCost = 120;  // units

// The size of each symbol as the file was opened: ranges don't move while it is dragged.
using TracedSizes = std::map<std::string, std::int64_t>;

// "12.1 µs a unit": the step's time by the size, once the plan for that size is shown.
std::string cost_of_unit(const DocumentView& document, const BoundSymbol& symbol) {
  if (requested_size(document, symbol) != symbol.size || symbol.size <= 0) return "…";
  const double micros = document.shown->report().step_us / static_cast<double>(symbol.size);
  return fmt::format("{} each", format_micros(micros));
}

void draw_size(Ui& ui, const DocumentView& document, const BoundSymbol& symbol, std::int64_t traced,
               Rect row, Intents& intents) {
  const std::int64_t size = requested_size(document, symbol);
  const SizeRange range = size_range(symbol, traced);
  ui.text(row.cut_left(ui.px(kSizeName)), symbol.name, Face::mono, ui.theme.text);
  if (row.width() > ui.px(kSizeNumber + kSizeCost + 120))
    ui.text(row.cut_right(ui.px(kSizeCost)), cost_of_unit(document, symbol), Face::mono_small,
            ui.theme.dim, Align::right);
  ui.text(row.cut_right(ui.px(kSizeNumber)), format_count(size), Face::mono_strong, ui.theme.text,
          Align::right);
  row.cut_right(ui.px(8));
  int at = range.position_of(size);
  const std::string label = "size " + symbol.name;
  const bool dragged = slider(ui, label, row, at, range.most > range.least ? kSizeStops : 0);
  ui.items.set_span({static_cast<double>(range.least), static_cast<double>(range.most),
                     static_cast<double>(size), fmt::format("{} = {}", symbol.name, size)});
  hint(ui, fmt::format("{} from {} to {}, traced with {}", symbol.name, format_count(range.least),
                       format_count(range.most), format_count(traced)));
  std::int64_t requested = dragged ? range.size_at(at) : size;
  const Span span{static_cast<double>(range.least),
                  static_cast<double>(range.most),
                  static_cast<double>(size),
                  {}};
  if (const auto moved = moved_by_keys(ui, span, 1)) requested = static_cast<std::int64_t>(*moved);
  if (requested != size)
    intents.push_back({"file.size", fmt::format("{}={}", symbol.name, requested)});
}

}  // namespace

void draw_sizes(Ui& ui, const PanelInput& input, const DocumentView& document, Rect& area,
                Intents& intents) {
  const std::vector<BoundSymbol>& symbols = document.document->file.symbols;
  if (input.app.first_screen || symbols.empty()) return;
  auto& traced = input.memory<TracedSizes>("traced sizes");
  const float high = ui.target(24);
  const auto room =
      static_cast<std::size_t>(std::max(0.0f, (area.height() - ui.px(kPlotAboveSizes)) / high));
  const std::size_t count = std::min({symbols.size(), kMaxSizes, room});
  Rect rows = area.cut_bottom(high * static_cast<float>(count));
  for (std::size_t i = 0; i < count; ++i) {
    const BoundSymbol& symbol = symbols[i];
    const auto first = traced.emplace(symbol.name, symbol.size).first;
    draw_size(ui, document, symbol, first->second, rows.cut_top(high), intents);
  }
}

}  // namespace recut::gui
