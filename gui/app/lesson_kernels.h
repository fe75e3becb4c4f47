// Figures of a lesson about kernels, which need a schedule: the number of kernels, their traffic, a
// value's place in the arena.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "gui/app/lesson_figure.h"
#include "gui/app/lesson_text.h"
#include "gui/model/document_view.h"

namespace recut::gui {

class App;

// The prefix of a figure of the pinned baseline: "before kernels".
inline constexpr std::string_view kBefore = "before ";

// True for the name of such a figure:
//   kernels         number of kernels          moved           bytes that all kernels move
//   kernel V        number of the first        moves V…        bytes of the kernels that make
//                   kernel that makes V                        these values
//   holds V         number of its calls        arena           its bytes
//   address V,      first and last byte of V   line            line of code at the cursor,
//   end V           in the arena                               if there is one
bool is_kernel_figure(std::string_view name);
// The figure; none while it isn't known, or if there is no such kernel or value.
std::optional<LessonFigure> kernel_figure(const DocumentView& document, std::string_view name);

// True if a step's text names such figures of a plan that isn't counted or scheduled yet.
bool wants_counting(const App& app, const LessonStep& step);
// Counts kernels for the lesson, and starts the job that schedules them.
void count_for_lesson(App& app, DocumentView& document);

}  // namespace recut::gui
