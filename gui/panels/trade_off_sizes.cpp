#include "gui/panels/trade_off_sizes.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <vector>

#include "engine/support/units.h"
#include "gui/app/app.h"
#include "gui/app/size_slider.h"
#include "gui/draw/widgets.h"

namespace recut::gui {
namespace {

constexpr std::size_t kMaxSizes = 3;    // more have the command
constexpr float kPlotAboveSizes = 112;  // units that the rows leave the plot
constexpr float kSizeName = 64, kSizeNumber = 76, kSizeCost = 120;  // units

// "12.1 µs a unit": the step's time by the size, once the plan for that size is shown.
std::string cost_of_unit(const DocumentView& document, const BoundSymbol& symbol) {
  if (requested_size(document, symbol) != symbol.size || symbol.size <= 0) return "…";
  const double micros = document.shown->report().step_us / static_cast<double>(symbol.size);
  return fmt::format("{} each", format_micros(micros));
}

std::string names_of(const std::vector<BoundSymbol>& symbols) {
  std::string names;
  for (const BoundSymbol& symbol : symbols) names += (names.empty() ? "" : " = ") + symbol.name;
  return names;
}

// From the most of the least sizes to the least of the most.
SizeRange common_range(const std::vector<BoundSymbol>& symbols, std::int64_t traced) {
  SizeRange range = size_range(symbols.front(), traced);
  for (const BoundSymbol& symbol : symbols) {
    const SizeRange own = size_range(symbol, traced);
    range = {std::max(range.least, own.least), std::min(range.most, own.most)};
  }
  return range;
}

void draw_size(Ui& ui, const DocumentView& document, const std::vector<BoundSymbol>& symbols,
               std::int64_t traced, float names_width, Rect row, Intents& intents) {
  const BoundSymbol& symbol = symbols.front();
  const std::string names = names_of(symbols);
  const std::int64_t size = requested_size(document, symbol);
  const SizeRange range = common_range(symbols, traced);
  ui.text(row.cut_left(names_width), names, Face::mono, ui.theme.text);
  if (row.width() > ui.px(kSizeNumber + kSizeCost + 120))
    ui.text(row.cut_right(ui.px(kSizeCost)), cost_of_unit(document, symbol), Face::mono_small,
            ui.theme.dim, Align::right);
  ui.text(row.cut_right(ui.px(kSizeNumber)), format_count(size), Face::mono_strong, ui.theme.text,
          Align::right);
  row.cut_right(ui.px(8));
  int at = range.position_of(size);
  const bool dragged =
      slider(ui, "size " + symbol.name, row, at, range.most > range.least ? kSizeStops : 0);
  const Span span{static_cast<double>(range.least), static_cast<double>(range.most),
                  static_cast<double>(size), fmt::format("{} = {}", names, size)};
  ui.items.set_span(span);
  hint(ui, fmt::format("{} from {} to {}, traced with {}", names, format_count(range.least),
                       format_count(range.most), format_count(traced)));
  std::int64_t requested = dragged ? range.size_at(at) : size;
  if (const auto moved = moved_by_keys(ui, span, 1)) requested = static_cast<std::int64_t>(*moved);
  if (requested == size) return;
  Dimensions given;
  for (const BoundSymbol& one : symbols) given.emplace(one.name, requested);
  intents.push_back({"file.size", write_dimensions(given)});
}

}  // namespace

void draw_sizes(Ui& ui, const PanelInput& input, const DocumentView& document, Rect& area,
                Intents& intents) {
  const std::vector<BoundSymbol>& symbols = document.document->file.symbols;
  if (input.app.first_screen || symbols.empty()) return;
  auto& traced = input.memory<TracedSizes>(kTracedSizes);
  const float high = ui.target(24);
  const auto room =
      static_cast<std::size_t>(std::max(0.0f, (area.height() - ui.px(kPlotAboveSizes)) / high));
  for (const BoundSymbol& symbol : symbols) traced.emplace(symbol.name, symbol.size);
  const auto groups = symbols_of_one_size(document, traced);
  const std::size_t count = std::min({groups.size(), kMaxSizes, room});
  float names_width = ui.px(kSizeName);
  for (const auto& group : groups)
    names_width = std::max(names_width, ui.width(names_of(group), Face::mono) + ui.px(12));
  names_width = std::min(names_width, area.width() / 3);
  Rect rows = area.cut_bottom(high * static_cast<float>(count));
  for (std::size_t i = 0; i < count; ++i)
    draw_size(ui, document, groups[i], traced.at(groups[i].front().name), names_width,
              rows.cut_top(high), intents);
}

}  // namespace recut::gui
