#include "gui/panels/transforms_own.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/passes/rule_pass.h"
#include "gui/backend/paths.h"

namespace recut::gui {
namespace {

constexpr std::size_t kTransformsOwnLongestHint = 2000;

// Draws a row that is a button.
void offer_row(Ui& ui, const Rect& rect, std::string_view label, std::string_view text,
               std::string_view why, const char* command, Intents& intents, bool enabled = true) {
  const WidgetResponse t = interact(ui, label, ItemKind::button, rect, enabled);
  if (t.pressed) intents.push_back({command, ""});
  hint(ui, why);
  Rect rest = rect;
  rest.cut_left(ui.px(9));
  ui.text(rest, text, Face::text,
          !enabled    ? ui.theme.faint
          : t.hovered ? ui.theme.text
                      : ui.theme.selection);
}

void differentiate_row(Ui& ui, const Rect& rect, const DocumentView& document, Intents& intents) {
  std::string why =
      "Derivative rules, one an operator, make the joint graph of a training step (g)";
  why = document.applied_transforms.freeze
            ? why + "\nSwitches freezing off: training changes the weights"
            : "A forward graph, planned as inference.\n" + why;
  offer_row(ui, rect, "differentiate", "Differentiate …", why, "pass.differentiate", intents);
}

void freeze_row(Ui& ui, const Rect& rect, const DocumentView& document, Intents& intents) {
  const std::string obstacle = document.why_not_frozen();
  std::string why =
      "For inference: weights are folded into each other by the file's values, and what depends "
      "on weights alone is computed once";
  if (document.has_backward() || document.applied_transforms.differentiate)
    why += "\nSwitches the derivatives off: training changes the weights";
  offer_row(ui, rect, "freeze", "Freeze …", obstacle.empty() ? why : obstacle, "pass.freeze",
            intents, obstacle.empty());
}

std::size_t rows_of(const DocumentView& document) {
  for (const PassReport& pass : document.document->passes.passes)
    if (pass.name == kRulesPass && pass.rules.rules) return pass.rules.rules->rows.size();
  return 0;
}

// The file's name, its number of rules, and buttons for it.
void own_row(Ui& ui, Rect rect, const DocumentView& document, Intents& intents) {
  const RuleFile& rules = *document.plan_settings.transforms.rules;
  const Rect cross = rect.cut_right(ui.px(24));
  const WidgetResponse remove = interact(ui, "remove rules", ItemKind::button, cross);
  if (remove.pressed) intents.push_back({"rules.remove", ""});
  if (remove.hovered) hint(ui, "Remove the rules");
  ui.cross(cross.centre(), ui.px(3.5f), remove.hovered ? ui.theme.text : ui.theme.faint,
           ui.px(1.5f));
  const Rect again = rect.cut_right(ui.px(58));
  if (button(ui, "reload rules", again, "Reload", ButtonLook::quiet))
    intents.push_back({"rules.reload", ""});
  hint(ui, "Read the file again (Shift F5)");
  rect.cut_left(ui.px(9));
  const std::size_t rows = rows_of(document);
  const std::string count = rows == 0 ? "" : fmt::format("{} rule{}", rows, rows == 1 ? "" : "s");
  const std::string name = file_name(rules.path);
  ui.items.add("own rules", ItemKind::figure, rect, true, name + ", " + count);
  const float wide = std::min(rect.width(), ui.width(name, Face::mono) + ui.px(8));
  ui.path(rect.cut_left(wide), name, Face::mono, ui.theme.text);
  if (ui.width(count, Face::small) <= rect.width())
    ui.text(rect, count, Face::small, ui.theme.faint);
}

// The fault as a line: "my.rules:3:5 expected a name".
std::string fault_text(const Diagnostic& fault) {
  std::string location = file_name(fault.file);
  if (fault.line > 0) location += fmt::format(":{}:{}", fault.line, fault.column);
  return location.empty() ? fault.message : location + "  " + fault.message;
}

void fault_row(Ui& ui, std::size_t at, const Rect& rect, const Diagnostic& fault) {
  const WidgetResponse t =
      interact(ui, fmt::format("fault {}", at), ItemKind::row, rect, true, format(fault));
  if (t.hovered) hint(ui, fault_text(fault).substr(0, kTransformsOwnLongestHint));
  Rect rest = rect;
  rest.cut_left(ui.px(9));
  ui.text(rest, fault_text(fault), Face::small, ui.theme.conflict);
}

}  // namespace

void draw_own(Ui& ui, const TransformLine& line, const Rect& rect, const DocumentView& document,
              Intents& intents) {
  if (line.kind == TransformKind::differentiate) differentiate_row(ui, rect, document, intents);
  if (line.kind == TransformKind::jvp)
    offer_row(ui, rect, "jvp", "Forward mode …",
              "Every input and result becomes a dual number, with a tangent beside it (Shift G)",
              "pass.jvp", intents);
  if (line.kind == TransformKind::freeze) freeze_row(ui, rect, document, intents);
  if (line.kind == TransformKind::load)
    offer_row(ui, rect, "load rules", "Load rules …",
              "A file of your own rules becomes a pass: choose one, or drop it here", "rules.load",
              intents);
  if (line.kind == TransformKind::own) own_row(ui, rect, document, intents);
  if (line.kind == TransformKind::troubles) {
    Rect rest = rect;
    rest.cut_left(ui.px(9));
    ui.text(rest, "What was requested can't be done:", Face::text, ui.theme.conflict);
  }
  if (line.kind == TransformKind::fault)
    fault_row(ui, line.at, rect, document.transform_faults[line.at]);
}

}  // namespace recut::gui
