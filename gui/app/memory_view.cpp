#include "gui/app/memory_view.h"

#include <algorithm>

#include "gui/app/app.h"

namespace recut::gui {
namespace {

constexpr double kFewest = 8;             // steps that are shown at least
constexpr double kMinBytes = 1.0 / 4096;  // the smallest visible share of all bytes

}  // namespace

void MemoryView::show(double requested_from, double requested_to, std::size_t steps) {
  const double least = std::min(1.0, kFewest / std::max(1.0, static_cast<double>(steps)));
  const double width = std::clamp(requested_to - requested_from, least, 1.0);
  const double middle = (requested_from + requested_to) / 2;
  from = std::clamp(middle - width / 2, 0.0, 1.0 - width);
  to = std::min(1.0, from + width);
}

void MemoryView::show_bytes(double requested_bottom, double requested_top) {
  const double height = std::clamp(requested_top - requested_bottom, kMinBytes, 1.0);
  bottom = std::clamp(requested_bottom, 0.0, 1.0 - height);
  top = std::min(1.0, bottom + height);
}

bool shows_arena(const App& app) { return app.settings.text("memory.view") == "arena"; }

MemoryView& memory_view(DocumentView& document) {
  return memory_of<MemoryView>(document.memories, "memory-view");
}

FlipAnswer& flip_answer(DocumentView& document) {
  return memory_of<FlipAnswer>(document.memories, "flip");
}

}  // namespace recut::gui
