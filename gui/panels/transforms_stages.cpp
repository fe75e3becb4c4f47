#include "gui/panels/transforms_stages.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/passes/stages.h"

namespace recut::gui {
namespace {

// The list of stages with this one switched, in the order in which a model passes through them.
std::string switched_stages(const TransformSettings& transforms, Stage stage) {
  const std::vector<Stage> chosen = transforms.chosen_stages();
  const auto has = [&](Stage other) {
    return std::find(chosen.begin(), chosen.end(), other) != chosen.end();
  };
  std::vector<Stage> switched;
  for (const StageInfo& info : all_stages())
    if (has(info.stage) != (info.stage == stage)) switched.push_back(info.stage);
  return stages_text(switched);
}

// "3 of 12 changed": the passes of a stage that runs.
std::string changed_text(const Document& opened, std::size_t at) {
  const auto& passes = opened.passes.passes;
  const std::size_t begin = opened.stages[at].pass;
  const std::size_t end =
      at + 1 < opened.stages.size() ? opened.stages[at + 1].pass : passes.size();
  const auto changed = std::count_if(passes.begin() + static_cast<std::ptrdiff_t>(begin),
                                     passes.begin() + static_cast<std::ptrdiff_t>(end),
                                     [](const PassReport& pass) { return pass.changed; });
  return fmt::format("{} of {} changed", changed, end - begin);
}

// The reason why the stage can't be switched; "" if it can.
std::string why_not_switched(const DocumentView& document, Stage stage, bool on) {
  const TransformSettings& transforms = document.plan_settings.transforms;
  const auto chosen = transforms.chosen_stages();
  const bool own = std::find(chosen.begin(), chosen.end(), stage) != chosen.end();
  if (on && !own) return "It belongs to freezing: Freeze switches it";
  if (on && chosen.size() == 1)
    return "One stage has to stay: its passes have switches of their own";
  if (auto fits = check_stage(stage, document.whole().passes.input); !on && !fits)
    return fits.diagnostics().front().message;
  return "";
}

}  // namespace

bool switch_box(Ui& ui, const std::string& label, const Rect& box, bool on, bool enabled,
                const std::string& why) {
  const WidgetResponse t = interact(ui, label, ItemKind::toggle, box, enabled, on ? "on" : "off");
  hint(ui, why);
  const Rect square = rect_around(box.centre(), ui.px(11), ui.px(11));
  ui.frame(square, t.hovered && enabled ? ui.theme.text : ui.theme.faint, ui.px(2), ui.whole(1));
  if (on) ui.fill(square.inset(ui.px(3), ui.px(3)), ui.theme.selection, ui.px(1));
  return t.pressed;
}

void draw_stage(Ui& ui, const TransformLine& line, const Rect& rect, const DocumentView& document,
                bool idle, Intents& intents) {
  const bool on = line.kind == TransformKind::stage;
  const Document& opened = *document.document;
  const StageInfo& stage = on ? info_of(opened.stages[line.at].stage) : all_stages()[line.at];
  Rect rest = rect;
  if (idle) {
    const std::string obstacle = why_not_switched(document, stage.stage, on);
    const std::string why = !obstacle.empty() ? obstacle
                            : on              ? "Leave the passes of this stage out"
                                              : "Run the passes of this stage";
    if (switch_box(ui, fmt::format("switch stage {}", stage.name), rest.cut_left(ui.px(20)), on,
                   obstacle.empty(), why))
      intents.push_back(
          {"pass.stages", switched_stages(document.plan_settings.transforms, stage.stage)});
  }
  const std::string remark = on ? changed_text(opened, line.at) : "off";
  interact(ui, fmt::format("stage {}", stage.name), ItemKind::row, rest, true, remark);
  hint(ui, fmt::format("Stage {}: {}", stage.name, stage.description));
  rest.cut_left(ui.px(9));
  rest.cut_right(ui.px(2));
  rest.cut_left(ui.text(rest, stage.name, Face::strong, on ? ui.theme.text : ui.theme.faint) +
                ui.px(8));
  ui.fitting(rest, {remark}, Face::small, ui.theme.faint, Align::right);
}

}  // namespace recut::gui
