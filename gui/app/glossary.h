// The words of the field that people may not know, each with what it means in their language. One
// door for prose, headings and figures: gui/lessons/LANGUAGE/glossary.words.
#pragma once

#include <string>
#include <string_view>

#include "gui/draw/ui.h"

namespace recut::gui {

class App;

// "" where the glossary hasn't got it.
const std::string& meaning_of(const App& app, std::string_view term);

// What the last widget's word means, beside the pointer; `more` stands below it.
void explain(Ui& ui, const App& app, std::string_view term, std::string_view more = {});

}  // namespace recut::gui
