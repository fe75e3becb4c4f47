// A figure that lessons may name: its text, and the number that it is compared by.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace recut::gui {

class App;

struct LessonFigure {
  std::string text;
  std::optional<double> amount;  // none: it isn't known yet, or is no number
};

LessonFigure bytes_figure(std::int64_t bytes);
LessonFigure micros_figure(double micros);
LessonFigure count_figure(std::int64_t count);

// The value of a figure: "peak" is 52.0 KiB, "bytes h1" the size of a value. Nullopt for an unknown
// figure; "–" if its value isn't known yet.
std::optional<LessonFigure> lesson_figure(const App& app, std::string_view name);

// True if the comparison holds for the shown texts: `sign` is one of < <= = >= >. Figures with the
// same text are equal. Each side is a figure, a number, or a number times a figure ("0.5 peak").
bool compares(const App& app, std::string_view left, std::string_view sign, std::string_view right);
bool is_comparing_sign(std::string_view word);

// Prose with its figures filled in.
std::string filled_in(const App& app, std::string_view text);

}  // namespace recut::gui
