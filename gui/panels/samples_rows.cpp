#include "gui/panels/samples_rows.h"

#include <algorithm>

#include "engine/support/units.h"
#include "gui/model/samples.h"

namespace recut::gui {

void sample_cells(Ui& ui, const Backend& backend, const std::string& name, Rect line) {
  line = line.inset(ui.px(10), 0);
  const SampleFacts* facts = facts_of(backend, name);
  if (facts == nullptr || line.width() < ui.px(300)) {
    ui.text(line, name, Face::mono, ui.theme.text);
    return;
  }
  ui.text(line.cut_left(std::max(ui.px(130), ui.width(name, Face::mono) + ui.px(1))), name,
          Face::mono, ui.theme.text);
  line.cut_left(ui.px(8));
  // The figures are shown if the text leaves room: they are in the graph, too.
  const float text_width = ui.width(facts->text, Face::text) + ui.px(9);
  const auto figure_column = [&](float units, const std::string& figure) {
    if (text_width + ui.px(units) > line.width()) return;
    ui.text(line.cut_right(ui.px(units)), figure, Face::mono_small, ui.theme.dim, Align::right);
  };
  figure_column(76, format_bytes(facts->peak_bytes));
  figure_column(86, format_count(facts->nodes) + " nodes");
  line.cut_right(ui.px(8));
  ui.text(line, facts->text, Face::text, ui.theme.dim);
}

}  // namespace recut::gui
