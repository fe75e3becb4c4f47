// Chooses one of the graphs that come with the program, each with a line on its subject.
#include "gui/model/samples.h"

#include <algorithm>

#include "gui/app/app.h"
#include "gui/backend/paths.h"
#include "gui/panels/samples_rows.h"

namespace recut::gui {
namespace {

struct SamplesMemory {
  std::string typed;
  std::string fault;
  std::size_t chosen = 0;
};

// Samples whose name matches the typed text, best first; then samples whose description does.
std::vector<std::string> fitting_samples(const Backend& backend, const std::string& typed) {
  struct Fit {
    std::string name;
    int score;
  };
  std::vector<Fit> fits;
  for (const std::string& name : all_samples(backend)) {
    const SampleFacts* facts = facts_of(backend, name);
    const bool about = facts != nullptr && facts->text.find(typed) != std::string::npos;
    const int score = fuzzy_score(typed, name);
    if (score >= 0 || about) fits.push_back({name, score});
  }
  std::stable_sort(fits.begin(), fits.end(),
                   [](const Fit& a, const Fit& b) { return a.score > b.score; });
  std::vector<std::string> names;
  for (const Fit& fit : fits) names.push_back(fit.name);
  return names;
}

void choose_sample(const std::string& name, SamplesMemory& memory, Intents& intents) {
  memory = SamplesMemory();
  intents.push_back({"overlay.close", ""});
  intents.push_back({"file.sample", name});
}

void list_samples(Ui& ui, const PanelInput& input, const Rect& area,
                  const std::vector<std::string>& names, SamplesMemory& memory, Intents& intents) {
  const float high = ui.target(kSampleRow);
  const Scrolled region =
      begin_scroll(ui, "samples", area, high * static_cast<float>(names.size()));
  const bool by_keys =
      ImGui::IsKeyPressed(ImGuiKey_DownArrow) || ImGui::IsKeyPressed(ImGuiKey_UpArrow);
  for (std::size_t i = 0; i < names.size(); ++i) {
    Rect line = region.content;
    line.cut_top(high * static_cast<float>(i));
    line = line.cut_top(high);
    if (i == memory.chosen && by_keys) scroll_to(line.top, line.bottom, region);
    if (!line.meets(region.visible)) continue;
    const bool pressed = row(ui, names[i], line, i == memory.chosen).pressed;
    sample_cells(ui, input.app.backend, names[i], line);
    if (pressed) choose_sample(names[i], memory, intents);
  }
  end_scroll();
}

void draw_samples(Ui& ui, const PanelInput& input, Intents& intents) {
  auto& memory = input.memory<SamplesMemory>("samples");
  Rect rest = input.whole.inset(ui.px(14), ui.px(12));
  ui.text(rest.cut_top(ui.px(30)), "Open a sample", Face::strong, ui.theme.text);
  rest.cut_top(ui.px(6));
  FieldLook look;
  look.take_keyboard = look.completes = true;
  look.hint = "Part of a name, or of a description";
  const std::vector<std::string> before = fitting_samples(input.app.backend, memory.typed);
  std::string whole;
  if (ui.items.complete && memory.chosen < before.size()) {
    whole = before[memory.chosen];
    look.put = &whole;
  }
  const FieldAnswer answer = field(ui, "name", rest.cut_top(ui.target(30)), memory.typed, look);
  if (answer.changed) memory.chosen = 0, memory.fault.clear();
  const std::vector<std::string> names = fitting_samples(input.app.backend, memory.typed);
  if (ImGui::IsKeyPressed(ImGuiKey_DownArrow)) ++memory.chosen;
  if (ImGui::IsKeyPressed(ImGuiKey_UpArrow) && memory.chosen > 0) --memory.chosen;
  memory.chosen = names.empty() ? 0 : std::min(memory.chosen, names.size() - 1);
  rest.cut_top(ui.px(8));
  if (answer.committed) {
    if (!names.empty()) return choose_sample(names[memory.chosen], memory, intents);
    memory.fault = no_sample(input.app.backend, memory.typed).message;
  }
  if (names.empty()) {
    const bool requested = !memory.fault.empty();
    ui.text(rest.cut_top(ui.px(26)), requested ? memory.fault : "No sample fits", Face::text,
            requested ? ui.theme.conflict : ui.theme.dim);
  }
  list_samples(ui, input, rest, names, memory, intents);
}

}  // namespace

Panel samples_panel() { return {"samples", "", Dock::overlay, 3, 1, draw_samples, 860, 520}; }

}  // namespace recut::gui
