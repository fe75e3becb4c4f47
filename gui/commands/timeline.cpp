// Commands of the memory timeline by keys: from step to step, from use to use of a value, zoom.
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>

#include "gui/app/app.h"
#include "gui/app/timeline_cursor.h"

namespace recut::gui {
namespace {

constexpr double kZoom = 1.35, kPan = 0.12;

bool timeline_is_ready(const App& app) {
  return app.has_ready() && app.overlay.empty() && app.document()->shown != nullptr;
}
bool timeline_has_selection(const App& app) {
  return timeline_is_ready(app) && app.document()->planned_selection().valid();
}

const PlanView& plan_of(const App& app) { return *app.document()->shown; }
std::size_t steps_of(const App& app) { return plan_of(app).replay().steps.size(); }

// Selects the node that runs at the step.
Result<Done> go_to(App& app, std::size_t step) {
  DocumentView& document = *app.document();
  if (steps_of(app) == 0) return Done{};
  step = std::min(step, steps_of(app) - 1);
  const Result<Done> done = app.run("select.node", plan_of(app).report().timeline[step].node);
  if (done) place_cursor(document, memory_view(document), step);
  return done;
}

// Steps are counted from 0, as in the CSV.
Result<Done> go_timeline(App& app, std::string_view number) {
  char* end = nullptr;
  const std::string text(number);
  const unsigned long long step = std::strtoull(text.c_str(), &end, 10);
  if (end == text.c_str() || *end != '\0' || step >= steps_of(app))
    return error(fmt::format("a step is a number below {}", steps_of(app)));
  return go_to(app, static_cast<std::size_t>(step));
}

// Moves from the keyboard's cursor; without one, from the edge of the visible steps.
template <int by>
Result<Done> walk_timeline(App& app, std::string_view) {
  DocumentView& document = *app.document();
  const MemoryView& view = memory_view(document);
  const auto at = cursor_step(document, view);
  const auto all = static_cast<double>(steps_of(app));
  if (!at)
    return go_to(app, static_cast<std::size_t>(by > 0 ? view.from * all : view.to * all - 1));
  if (by < 0 && *at == 0) return Done{};
  return go_to(app, *at + static_cast<std::size_t>(by));
}

Result<Done> first(App& app, std::string_view) { return go_to(app, 0); }
Result<Done> last(App& app, std::string_view) { return go_to(app, steps_of(app)); }
Result<Done> peak(App& app, std::string_view) {
  return go_to(app, plan_of(app).replay().peak_step.value_or(0));
}

// Goes along the steps that make or read the selected value, which stays selected.
template <int by>
Result<Done> use(App& app, std::string_view) {
  DocumentView& document = *app.document();
  MemoryView& view = memory_view(document);
  const auto uses = steps_using(plan_of(app), document.planned_selection());
  if (uses.empty()) return error("no step makes or reads what is selected");
  const std::size_t at = cursor_step(document, view).value_or(by > 0 ? 0 : steps_of(app));
  auto next = by > 0 ? std::upper_bound(uses.begin(), uses.end(), at)
                     : std::lower_bound(uses.begin(), uses.end(), at);
  if (by < 0 && next != uses.begin()) --next;
  if (next != uses.end()) place_cursor(document, view, *next);
  return Done{};
}

// Zooms about the cursor if it is on the screen.
template <bool nearer>
Result<Done> zoom_timeline(App& app, std::string_view) {
  DocumentView& document = *app.document();
  MemoryView& view = memory_view(document);
  const double factor = nearer ? 1 / kZoom : kZoom;
  double about = (view.from + view.to) / 2;
  if (const auto step = cursor_step(document, view)) {
    const double at = (static_cast<double>(*step) + 0.5) / static_cast<double>(steps_of(app));
    if (at >= view.from && at <= view.to) about = at;
  }
  view.show(about - (about - view.from) * factor, about + (view.to - about) * factor,
            steps_of(app));
  return Done{};
}

template <int by>
Result<Done> pan(App& app, std::string_view) {
  MemoryView& view = memory_view(*app.document());
  const double delta = by * kPan * (view.to - view.from);
  view.show(view.from + delta, view.to + delta, steps_of(app));
  return Done{};
}

// The lower edge stays, as the longest-lived bytes are at the bottom.
template <bool taller>
Result<Done> stretch(App& app, std::string_view) {
  MemoryView& view = memory_view(*app.document());
  const double high = (view.top - view.bottom) * (taller ? 1 / kZoom : kZoom);
  view.show_bytes(view.bottom, view.bottom + high);
  return Done{};
}

template <int by>
Result<Done> raise(App& app, std::string_view) {
  MemoryView& view = memory_view(*app.document());
  const double delta = by * kPan * (view.top - view.bottom);
  view.show_bytes(view.bottom + delta, view.top + delta);
  return Done{};
}

Result<Done> everything(App& app, std::string_view) { return app.run("memory.zoom"); }

constexpr std::string_view kTimelinePanel = "memory";
constexpr Command kTimelineRows[] = {
    {"timeline.next", "Next step", "RightArrow", "", timeline_is_ready, walk_timeline<1>,
     kTimelinePanel},
    {"timeline.previous", "Previous step", "LeftArrow", "", timeline_is_ready, walk_timeline<-1>,
     kTimelinePanel},
    {"timeline.first", "First step", "Home", "", timeline_is_ready, first, kTimelinePanel},
    {"timeline.last", "Last step", "End", "", timeline_is_ready, last, kTimelinePanel},
    {"timeline.peak", "To the step of the peak", "p", "", timeline_is_ready, peak, kTimelinePanel},
    {"timeline.go", "To a step", "", "its number, from 0", timeline_is_ready, go_timeline,
     kTimelinePanel},
    {"timeline.next_use", "Next use of the selected value", "Ctrl+RightArrow", "",
     timeline_has_selection, use<1>, kTimelinePanel},
    {"timeline.previous_use", "Previous use of the selected value", "Ctrl+LeftArrow", "",
     timeline_has_selection, use<-1>, kTimelinePanel},
    {"timeline.nearer", "Fewer steps", "+ =", "", timeline_is_ready, zoom_timeline<true>,
     kTimelinePanel},
    {"timeline.further", "More steps", "-", "", timeline_is_ready, zoom_timeline<false>,
     kTimelinePanel},
    {"timeline.right", "Steps further right", "Shift+RightArrow PageDown", "", timeline_is_ready,
     pan<1>, kTimelinePanel},
    {"timeline.left", "Steps further left", "Shift+LeftArrow PageUp", "", timeline_is_ready,
     pan<-1>, kTimelinePanel},
    {"timeline.taller", "Taller: small storages", "UpArrow", "", timeline_is_ready, stretch<true>,
     kTimelinePanel},
    {"timeline.flatter", "Flatter", "DownArrow", "", timeline_is_ready, stretch<false>,
     kTimelinePanel},
    {"timeline.up", "Further up", "Shift+UpArrow", "", timeline_is_ready, raise<1>, kTimelinePanel},
    {"timeline.down", "Further down", "Shift+DownArrow", "", timeline_is_ready, raise<-1>,
     kTimelinePanel},
    {"timeline.all", "All steps and all bytes", "f Space", "", timeline_is_ready, everything,
     kTimelinePanel},
};

}  // namespace

std::span<const Command> timeline_commands() { return kTimelineRows; }

}  // namespace recut::gui
