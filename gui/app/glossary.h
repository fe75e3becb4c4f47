// Terms of the field that users may not know, each with its meaning in their language. The one
// source for prose, headings and figures is gui/lessons/LANGUAGE/glossary.words.
#pragma once

#include <string>
#include <string_view>

#include "gui/draw/ui.h"

namespace recut::gui {

class App;

// The meaning of a term; "" if the glossary hasn't got it.
const std::string& meaning_of(const App& app, std::string_view term);

// Shows the meaning of the last widget's word beside the pointer, and `more` below it.
void explain(Ui& ui, const App& app, std::string_view term, std::string_view more = {});

}  // namespace recut::gui
