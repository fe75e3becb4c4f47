#include "gui/panels/trade_off_cost.h"

#include "gui/app/app.h"
#include "gui/app/first_view.h"

namespace recut::gui {
namespace {

constexpr float kMinPlot = 100;  // units of height, its axes included

}  // namespace

void draw_cost(Ui& ui, const PanelInput& input, const DocumentView& document, Rect& area) {
  if (input.app.window_state() == WindowState::first) return;
  const std::string text = first_cost(document);
  const float wide = area.width() - 2 * ui.px(kPadding);
  const float high = wrapped_height(ui, text, wide, Face::small) + 2 * ui.px(kGap);
  if (area.height() - high < ui.px(kMinPlot)) return;
  const Rect lines = area.cut_top(high).inset(ui.px(kPadding), ui.px(kGap));
  wrapped(ui, lines, text, ui.theme.text, Face::small);
  ui.items.add("cost", ItemKind::figure, lines, true, text);
}

}  // namespace recut::gui
