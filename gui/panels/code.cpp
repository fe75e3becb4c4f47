// Code: the kernels of the shown plan, in order, and each as loops or as a target's text, with
// every line linked to the node of the graph that it is from.
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
void kernel_text(const CodePanelContext& context, Rect row) {
  Ui& ui = context.ui;
  const auto count = static_cast<std::int64_t>(context.schedule.launches.size());
  const bool fused = context.schedule.plan->planned.costs.fused();
  std::vector<std::string> text{fmt::format("{} kernels", format_count(count))};
  if (!fused) text.insert(text.begin(), text.front() + ", a call each");
  Rect rect = row;
  if (!fused) rect.cut_right(ui.px(84));
  const float wide = ui.fitting(rect, text, Face::small, ui.theme.dim);
  ui.items.add("kernels", ItemKind::figure, rect.cut_left(wide), true, text.front());
  if (fused) return;
  if (wide > 0) row.cut_left(wide + ui.px(8));
  if (button(ui, "fuse", row.cut_left(ui.px(76)).inset(0, ui.px(8)), "Fuse them",
             ButtonLook::quiet))
    context.intents.push_back({"model.set", "fused"});
  hint(ui, "Plans again, with calls that run as one kernel where they can");
}

// Right to left: the forms, copying, and the kernels; these get a row of their own where they have
// no room: then false.
bool head(const CodePanelContext& context) {
  Ui& ui = context.ui;
  Rect rest = context.input.heading;
  const auto take = [&](std::string_view text, float extra) {
    const Rect box = rest.cut_right(std::ceil(ui.width(text, Face::text)) + ui.px(extra));
    rest.cut_right(ui.px(8));
    return box.inset(0, ui.px(8));
  };
  if (button(ui, "copy", take("Copy", 14), "Copy", ButtonLook::quiet))
    context.intents.push_back({"code.copy", ""});
  const auto forms = targets();
  for (std::size_t i = forms.size(); i-- > 0;) {
    const bool chosen = &shown_target(context.input.app) == &forms[i];
    if (tab(ui, fmt::format("form {}", forms[i].id), take(forms[i].title, 2).inset(0, ui.px(1)),
            forms[i].title, chosen))
      context.intents.push_back({"code.form", std::string(forms[i].id)});
  }
  if (rest.width() < context.ui.px(kKernelWords)) return false;
  kernel_text(context, rest);
  return true;
}

void faults(Ui& ui, Rect area, std::string_view title, const Diagnostics& why) {
  ui.text(area.cut_top(std::round(ui.px(kRow))), title, Face::strong, ui.theme.conflict);
  for (const Diagnostic& fault : why) {
    const Rect row = area.cut_top(std::round(ui.px(kRow - 2)));
    if (row.empty()) return;
    const std::string text = format(fault);
    interact(ui, "fault", ItemKind::row, row, true, text);
    ui.text(row, text, Face::text, ui.theme.dim);
    hint(ui, text.substr(0, 2000));
  }
}

// Draws the parts beside each other if they fit, else the kernels above the text.
void draw_parts(const CodePanelContext& context) {
  Ui& ui = context.ui;
  Rect area = context.input.whole;
  area.top = context.input.area.top;
  if (!head(context)) kernel_text(context, area.cut_top(ui.px(38)).inset(ui.px(kPadding), 0));
  const bool beside = area.width() >= ui.px(kBeside);
  const Rect list =
      beside ? area.cut_left(std::round(std::min(ui.px(kWidestList), area.width() * kListShare)))
             : area.cut_top(std::round(area.height() * kListShare));
  draw_kernels(context, list);
  ui.fill(beside ? area.cut_left(ui.whole(1)) : area.cut_top(ui.whole(1)), ui.theme.line);
  const CodeText* text = context.view.text.get();
  if (text == nullptr) return;
  if (text->faults.empty()) return draw_code(context, area);
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
  // The former plan's view stays until the new plan has one.
  if (view.of == nullptr) return;
  const CodePanelContext context{ui,      input,    *document,           view,
                                 intents, *view.of, shown_run(*document)};
  draw_parts(context);
}

}  // namespace

Panel code_panel() { return {"code", "Code", Dock::centre, 3, 1, draw_code}; }

}  // namespace recut::gui
