#include "gui/app/glossary.h"

#include "gui/app/app.h"
#include "gui/draw/widgets.h"

namespace recut::gui {

const std::string& meaning_of(const App& app, std::string_view term) {
  return LessonShelf::built_in().meaning(term, language_of(app));
}

void explain(Ui& ui, const App& app, std::string_view term, std::string_view more) {
  std::string text = meaning_of(app, term);
  if (!text.empty() && !more.empty()) text += "\n";
  hint(ui, text.append(more));
}

}  // namespace recut::gui
