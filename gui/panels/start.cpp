// The panel without a document: the things that can be opened.

#include "gui/app/app.h"
#include "gui/backend/paths.h"
#include "gui/draw/widgets.h"
#include "gui/panels/samples_rows.h"

namespace recut::gui {
namespace {

// Rows under a heading; a click opens one.
void choices(Ui& ui, const App& app, Rect& column, std::string_view title,
             const std::vector<std::string>& paths, Intents& intents) {
  if (paths.empty()) return;
  ui.text(column.cut_top(ui.px(30)), title, Face::strong, ui.theme.text);
  for (const std::string& path : paths) {
    const Rect line = column.cut_top(ui.px(26));
    if (line.height() < ui.px(20)) return;
    if (row(ui, path, line, false).pressed) intents.push_back({"file.open", path});
    if (is_sample(path))
      sample_cells(ui, app.backend, sample_name(path), line);
    else
      ui.path(line.inset(ui.px(10), 0), path, Face::mono, ui.theme.dim);
  }
  column.cut_top(ui.px(18));
}

// Lessons for new users.
void lessons(Ui& ui, const App& app, Rect& column, Intents& intents) {
  const auto all = LessonShelf::built_in().all(language_of(app));
  ui.text(column.cut_top(ui.px(30)), LessonShelf::built_in().word("lessons", language_of(app)),
          Face::strong, ui.theme.text);
  for (const auto& lesson : all) {
    const Rect line = column.cut_top(ui.px(26));
    if (line.height() < ui.px(20)) return;
    if (row(ui, "lesson " + lesson->name, line, false).pressed)
      intents.push_back({"lesson.open", lesson->name});
    ui.text(line.inset(ui.px(10), 0), lesson->title, Face::text, ui.theme.dim);
  }
  column.cut_top(ui.px(18));
}

void draw_start(Ui& ui, const PanelInput& input, Intents& intents) {
  ui.fill(input.whole, ui.theme.background);
  const float wide = std::min(ui.px(640), input.area.width());
  Rect column = rect_around(input.whole.centre(), wide, input.whole.height() * 0.64f);
  ui.text(column.cut_top(ui.px(34)), "Open a graph", Face::title, ui.theme.text);
  ui.text(column.cut_top(ui.px(24)),
          "An fx-joint-graph (JSON, gzipped or not), Recut's text form, or ONNX. Drop one here, or",
          Face::text, ui.theme.dim);
  column.cut_top(ui.px(10));
  const Rect open = column.cut_top(ui.px(30)).cut_left(ui.px(140));
  if (button(ui, "choose", open, "Choose a file", ButtonLook::primary))
    intents.push_back({"file.open", ""});
  column.cut_top(ui.px(26));
  std::vector<std::string> samples, recent;
  for (const std::string& name : input.app.backend.samples()) samples.push_back(sample_path(name));
  for (const std::string& path : input.app.documents.recent())
    if (!is_sample(path)) recent.push_back(path);
  lessons(ui, input.app, column, intents);
  choices(ui, input.app, column, "Recent", recent, intents);
  choices(ui, input.app, column, "Samples", samples, intents);
}

}  // namespace

Panel start_panel() {
  Panel panel{"start", "", Dock::centre, 0, 1, draw_start};
  panel.window_state = WindowState::none;
  return panel;
}

}  // namespace recut::gui
