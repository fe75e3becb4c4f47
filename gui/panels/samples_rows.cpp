#include "gui/panels/samples_rows.h"

#include <fmt/core.h>

#include "engine/support/units.h"
#include "gui/app/samples.h"

namespace recut::gui {

void sample_cells(Ui& ui, const Backend& backend, const std::string& name, Rect line) {
  line = line.inset(ui.px(10), 0);
  const SampleFacts* facts = facts_of(backend, name);
  if (facts == nullptr || line.width() < ui.px(300)) {
    ui.text(line, name, Face::mono, ui.theme.text);
    return;
  }
  ui.text(line.cut_left(ui.px(130)), name, Face::mono, ui.theme.text);
  line.cut_left(ui.px(8));
  ui.text(line.cut_right(ui.px(76)), format_bytes(facts->peak_bytes), Face::mono_small,
          ui.theme.dim, Align::right);
  const std::string nodes = format_count(facts->nodes) + " nodes";
  ui.text(line.cut_right(ui.px(86)), nodes, Face::mono_small, ui.theme.dim, Align::right);
  line.cut_right(ui.px(8));
  ui.text(line, facts->words, Face::text, ui.theme.dim);
}

}  // namespace recut::gui
