// The figures of a lesson that speak of kernels, which somebody has to count first: how many run,
// what they move, where in the arena a value stands.
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

//   kernels         how many run                 moved     the bytes that all of them move
//   kernel V        the number of the first      moves V…  what those that make these values move
//                   that makes V                 holds V   how many calls the one that makes V runs
//   arena           its bytes                    address V, end V  where V begins in it, and ends
//   line            the line of code where one is
bool is_kernel_figure(std::string_view name);
// None where it isn't known yet, or there is no such thing.
std::optional<LessonFigure> kernel_figure(const DocumentView& document, std::string_view name);

// True if a step's words name such figures of a plan that wasn't counted yet, or isn't scheduled.
bool wants_counting(const App& app, const LessonStep& step);
// Counts, and starts the job that schedules.
void count_for_lesson(App& app, DocumentView& document);

}  // namespace recut::gui
