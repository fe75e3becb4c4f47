// Code: the kernels of the plan that is shown, in order, and each as loops or as a target's text,
// with every line linked to the node of the graph that it is from.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "engine/support/units.h"
#include "gui/app/app.h"
#include "gui/draw/widgets.h"
#include "gui/panels/code_parts.h"

namespace recut::gui {
namespace {

constexpr float kListShare = 0.4f, kWidestList = 440;  // units
constexpr float kKernelWords = 170;                    // units that "12 kernels" and the offer take
constexpr float kBeside = 640;                         // units that list and text side by side take

// The number of kernels, and the offer to fuse them, which has its rectangle; the text takes the
// rest of the row.
void kernel_words(const CodeStage& stage, Rect row) {
  Ui& ui = stage.ui;
  const auto count = static_cast<std::int64_t>(stage.schedule.launches.size());
  const bool fused = stage.schedule.plan->planned.costs.fused();
  std::vector<std::string> words{fmt::format("{} kernels", format_count(count))};
  if (!fused) words.insert(words.begin(), words.front() + ", a call each");
  Rect place = row;
  if (!fused) place.cut_right(ui.px(84));
  const float wide = ui.fitting(place, words, Face::small, ui.theme.dim);
  ui.items.add("kernels", ItemKind::figure, place.cut_left(wide), true, words.front());
  if (fused) return;
  if (wide > 0) row.cut_left(wide + ui.px(8));
  if (button(ui, "fuse", row.cut_left(ui.px(76)).inset(0, ui.px(8)), "Fuse them",
             ButtonLook::quiet))
    stage.intents.push_back({"model.set", "fused"});
  hint(ui, "Plans anew, with calls that run as one kernel where they can");
}

// Right to left: the forms, copying, and the kernels; these get a row of their own where they have
// no room: then false.
bool head(const CodeStage& stage) {
  Ui& ui = stage.ui;
  Rect rest = stage.input.heading;
  const auto place = [&](std::string_view words, float extra) {
    const Rect box = rest.cut_right(std::ceil(ui.width(words, Face::text)) + ui.px(extra));
    rest.cut_right(ui.px(8));
    return box.inset(0, ui.px(8));
  };
  if (button(ui, "copy", place("Copy", 14), "Copy", ButtonLook::quiet))
    stage.intents.push_back({"code.copy", ""});
  const auto forms = code_forms();
  for (std::size_t i = forms.size(); i-- > 0;) {
    const bool chosen = &shown_form(stage.input.app) == &forms[i];
    if (tab(ui, fmt::format("form {}", forms[i].id), place(forms[i].title, 2).inset(0, ui.px(1)),
            forms[i].title, chosen))
      stage.intents.push_back({"code.form", std::string(forms[i].id)});
  }
  if (rest.width() < stage.ui.px(kKernelWords)) return false;
  kernel_words(stage, rest);
  return true;
}

void faults(Ui& ui, Rect area, std::string_view title, const Diagnostics& why) {
  ui.text(area.cut_top(std::round(ui.px(kRow))), title, Face::strong, ui.theme.conflict);
  for (const Diagnostic& fault : why) {
    const Rect row = area.cut_top(std::round(ui.px(kRow - 2)));
    if (row.empty()) return;
    const std::string words = format(fault);
    touch(ui, "fault", ItemKind::row, row, true, words);
    ui.text(row, words, Face::text, ui.theme.dim);
    hint(ui, words.substr(0, 2000));
  }
}

// Beside each other where there is room, else the kernels above the text.
void draw_parts(const CodeStage& stage) {
  Ui& ui = stage.ui;
  Rect area = stage.input.whole;
  area.top = stage.input.area.top;
  if (!head(stage)) kernel_words(stage, area.cut_top(ui.px(38)).inset(ui.px(kPadding), 0));
  const bool beside = area.width() >= ui.px(kBeside);
  const Rect list =
      beside ? area.cut_left(std::round(std::min(ui.px(kWidestList), area.width() * kListShare)))
             : area.cut_top(std::round(area.height() * kListShare));
  draw_kernels(stage, list);
  ui.fill(beside ? area.cut_left(ui.whole(1)) : area.cut_top(ui.whole(1)), ui.theme.line);
  const CodeText* text = stage.view.text.get();
  if (text == nullptr) return;
  if (text->faults.empty()) return draw_code(stage, area);
  faults(ui, area.inset(ui.px(kPadding), ui.px(6)),
         fmt::format("Kernel {} has no loops.", text->kernel), text->faults);
}

void draw_code(Ui& ui, const PanelInput& input, Intents& intents) {
  const DocumentView* document = input.ready();
  if (document == nullptr) return;
  auto& view = input.memory<CodeView>(kCodeMemory);
  const auto& scheduling = input.memory<Scheduling>(kScheduleMemory);
  follow_selection(*document, view);
  if (wants_code(input.app, *document, view)) intents.push_back({"code.prepare", ""});
  if (scheduling.plan == document->shown && !scheduling.faults.empty())
    return faults(ui, input.area, "This plan can't be scheduled.", scheduling.faults);
  // The view of the plan before stays until there is more.
  if (view.of == nullptr) return;
  const CodeStage stage{ui, input, *document, view, intents, *view.of, shown_run(*document)};
  draw_parts(stage);
}

}  // namespace

Panel code_panel() { return {"code", "Code", Place::centre, 3, 1, draw_code}; }

}  // namespace recut::gui
