// Panel Transforms: the changes of each pass, and the plan at the end of them; the rules that fired
// in the shown pass, each with its hits; the history of the selected node; and the legend.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "engine/passes/freezing.h"
#include "engine/passes/pass_table.h"
#include "engine/passes/rule_pass.h"
#include "engine/support/units.h"
#include "engine/workspace/gradients.h"
#include "engine/workspace/sharded_document.h"
#include "engine/workspace/training.h"
#include "gui/app/app.h"
#include "gui/app/glossary.h"
#include "gui/draw/widgets.h"
#include "gui/panels/transforms_frozen.h"
#include "gui/panels/transforms_history.h"
#include "gui/panels/transforms_lines.h"
#include "gui/panels/transforms_own.h"
#include "gui/panels/transforms_rules.h"
#include "gui/panels/transforms_stages.h"

namespace recut::gui {
namespace {

constexpr float kMillisecondsColumn = 52;  // units: the column of milliseconds

std::string milliseconds(double ms) {
  return ms <= 0 ? "" : ms < 99.95 ? fmt::format("{:.1f} ms", ms) : fmt::format("{:.0f} ms", ms);
}

struct LegendRow {
  Role role;
  std::string_view text, short_text;
};
constexpr LegendRow kTransformsLegendRows[] = {
    {Role::saved, "saved", "saved"},
    {Role::recomputed, "recomputed", "recomputed"},
    {Role::freed, "freed in forward", "freed"},
    {Role::result, "result or gradient", "result"},
};
constexpr float kHigh = 21;

// Draws the graph's mark of a box that the previous pass has not.
void new_row(Ui& ui, Rect row) {
  ui.items.add("legend new", ItemKind::figure, row, true, "new in this pass");
  const Rect sign = row.cut_left(ui.px(16));
  const ImVec2 c{sign.left + ui.px(6), sign.centre().y};
  const Rect box = rect_around(c, ui.px(11), ui.px(9));
  ui.frame(box, ui.theme.line, ui.px(1));
  ImGui::GetWindowDrawList()->AddTriangleFilled(
      {box.right - ui.px(6), box.top}, {box.right, box.top}, {box.right, box.top + ui.px(6)},
      Ui::paint(ui.theme.text, 0.9));
  row.cut_left(ui.px(4));
  ui.text(row, "new in this pass", Face::text, ui.theme.dim);
}

constexpr LegendRow kInferenceLegendRows[] = {
    {Role::recomputed, "recomputed", "recomputed"},
    {Role::freed, "freed after its last use", "freed"},
    {Role::result, "result", "result"},
};

std::span<const LegendRow> legend_rows(const DocumentView& document) {
  if (document.shown && document.shown->report().inference) return kInferenceLegendRows;
  return kTransformsLegendRows;
}

float legend_height(const Ui& ui, const DocumentView& document) {
  return std::round(ui.px(kHigh)) * static_cast<float>(legend_rows(document).size() + 1) +
         ui.px(30);
}

// The legend: each role's colour and shape, and its bytes in the plan.
void draw_legend(Ui& ui, const App& app, const DocumentView& document, Rect area,
                 const Transforms& memory, Intents& intents) {
  heading(ui, area.cut_top(std::round(ui.px(24))), "Legend",
          memory.baseline ? "against the baseline" : "of the plan that is shown");
  for (const LegendRow& row : legend_rows(document)) {
    const auto role = static_cast<std::size_t>(row.role);
    const RoleTotal& total = memory.totals[role];
    Rect rect = area.cut_top(std::round(ui.px(kHigh)));
    // The two that the plan chooses have their noun, and room for it.
    const bool chosen = row.role == Role::saved || row.role == Role::recomputed;
    std::string count = chosen ? counted_text(row.role, total.count) : format_count(total.count);
    if (memory.baseline) count = signed_bytes(total.bytes - memory.baseline_totals[role].bytes);
    const WidgetResponse t =
        interact(ui, fmt::format("legend {}", name_of(row.role)), ItemKind::row, rect, true,
                 fmt::format("{}, {}", count, format_bytes(total.bytes)));
    if (t.pressed) {
      intents.push_back({"values.filter", std::string(name_of(row.role))});
      intents.push_back({"panel.show", "values"});
    }
    explain(ui, app, name_of(row.role), fmt::format("Click: list each value that is {}", row.text));
    const Rect sign = rect.cut_left(ui.px(16));
    ui.sign({sign.left + ui.px(6), sign.centre().y}, row.role);
    rect.cut_left(ui.px(4));
    ui.text(rect.cut_right(ui.px(63)), format_bytes(total.bytes), Face::mono, ui.theme.dim,
            Align::right);
    const Colour ink = t.hovered ? ui.theme.text : ui.theme.dim;
    const std::vector<std::string> text{std::string(row.text), std::string(row.short_text)};
    rect.cut_left(ui.fitting(rect, text, Face::text, ink) + ui.px(4));
    ui.fitting(rect, {count, memory.baseline ? count : format_count(total.count)}, Face::small,
               ui.theme.faint, Align::right);
  }
  new_row(ui, area.cut_top(std::round(ui.px(kHigh))));
}

class TransformsPanel {
 public:
  TransformsPanel(Ui& ui, const PanelInput& input, const DocumentView& document, Transforms& memory,
                  Intents& intents)
      : ui_(ui),
        input_(input),
        document_(document),
        passes_(document.document->passes),
        memory_(memory),
        intents_(intents),
        idle_(document.mesh == nullptr && input.app.settings.flag("passes.idle", false)) {}

  void draw() {
    update(memory_, document_, document_.baseline.plan);
    head();
    Rect area = input_.area;
    if (document_.document->file.graph_keys.size() > 1) graph_of_file(area);
    slide(area.cut_top(ui_.target(20)));
    const Rect legend = area.cut_bottom(legend_height(ui_, document_));
    area.cut_bottom(ui_.px(8));
    list(area);
    ui_.line({area.left, legend.top - ui_.px(3)}, {area.right, legend.top - ui_.px(3)},
             ui_.theme.line, ui_.whole(1));
    draw_legend(ui_, input_.app, document_, legend, memory_, intents_);
  }

 private:
  // Draws "3 changed · 1 idle hidden", a button that shows and hides idle passes.
  void head() {
    Rect rect = input_.heading;
    // The passes ran before the graph was spread, on the whole of it.
    if (document_.mesh)
      return (void)ui_.fitting(rect,
                               {"over " + document_.mesh->settings.axes + ", after the passes",
                                "over " + document_.mesh->settings.axes, "over a mesh"},
                               Face::small, ui_.theme.faint, Align::right);
    const std::size_t idle = idle_passes(document_);
    const auto changed = std::count_if(passes_.passes.begin(), passes_.passes.end(),
                                       [](const PassReport& pass) { return pass.changed; });
    std::string text = fmt::format("{} changed", changed);
    if (idle > 0) text += fmt::format(" · {} idle{}", idle, idle_ ? "" : " hidden");
    if (ui_.width(text, Face::small) > rect.width()) text = fmt::format("{} changed", changed);
    const float wide = std::min(rect.width(), ui_.width(text, Face::small) + ui_.px(2));
    const Rect box = rect.cut_right(wide);
    const WidgetResponse t =
        interact(ui_, "idle", ItemKind::toggle, box, true, idle_ ? "on" : "off");
    ui_.text(box, text, Face::small, t.hovered ? ui_.theme.text : ui_.theme.faint, Align::right);
    if (t.hovered)
      hint(ui_, idle_ ? "Hide passes that changed nothing" : "Show all passes, to switch them");
    if (t.pressed) intents_.push_back({"pass.idle", ""});
  }

  // The graph of the file that is shown, which opens the list of them.
  void graph_of_file(Rect& area) {
    const GraphFile& file = document_.document->file;
    const Rect rect = area.cut_top(ui_.target(24));
    area.cut_top(ui_.px(4));
    const WidgetResponse t = interact(ui_, "graph", ItemKind::button, rect, true, file.key);
    hint(ui_, file.key + "\nChoose another graph of the file");
    ui_.fill(rect, t.hovered ? ui_.theme.line : ui_.theme.raised, ui_.px(kRadius));
    Rect line = rect.inset(ui_.px(9), 0);
    const std::string count = fmt::format("1 of {}", file.graph_keys.size());
    ui_.text(line.cut_right(ui_.width(count, Face::small)), count, Face::small, ui_.theme.faint,
             Align::right);
    line.cut_right(ui_.px(8));
    ui_.path(line, file.key, Face::mono_small, ui_.theme.text);
    if (t.pressed) intents_.push_back({"file.graphs", ""});
  }

  void slide(const Rect& rect) {
    const std::vector<std::size_t> stops = stop_passes();
    const auto here = std::lower_bound(stops.begin(), stops.end(), document_.pass);
    int at = static_cast<int>(here - stops.begin());
    if (slider(ui_, "pass", rect, at, static_cast<int>(stops.size()) - 1))
      go(stops[static_cast<std::size_t>(at)]);
  }

  // The choice of rows, and the last pass, whose graph the plan is for.
  std::vector<std::size_t> stop_passes() const {
    std::vector<std::size_t> stops = listed_passes(document_, idle_);
    if (stops.back() != passes_.passes.size()) stops.push_back(passes_.passes.size());
    return stops;
  }

  void go(std::size_t pass) {
    if (pass != document_.pass) intents_.push_back({"pass.set", fmt::format("{}", pass)});
  }

  void list(const Rect& area) {
    const std::vector<TransformLine> lines = transform_lines(memory_, document_, idle_);
    const float high = ui_.target(kRow - 1);
    const Scrolled region =
        begin_scroll(ui_, "list", area, high * static_cast<float>(lines.size()));
    const float above = region.visible.top - region.content.top;
    const auto first = static_cast<std::size_t>(std::max(0.0f, above / high));
    const auto shown = static_cast<std::size_t>(region.visible.height() / high) + 2;
    for (std::size_t i = first; i < std::min(lines.size(), first + shown); ++i) {
      const float top = region.content.top + high * static_cast<float>(i);
      line(lines[i], rect_at({region.content.left, top}, {region.content.width(), high}));
    }
    end_scroll();
  }

  void line(const TransformLine& line, const Rect& rect) {
    switch (line.kind) {
      case TransformKind::pass:
        return pass_row(line.at, rect);
      case TransformKind::plan:
        return plan_row(rect);
      case TransformKind::blank:
        return;
      case TransformKind::offered:
        return offered_row(all_passes()[line.at], rect);
      case TransformKind::differentiate:
      case TransformKind::jvp:
      case TransformKind::freeze:
      case TransformKind::load:
      case TransformKind::own:
      case TransformKind::troubles:
      case TransformKind::fault:
        return draw_own(ui_, line, rect, document_, intents_);
      case TransformKind::stage:
      case TransformKind::offered_stage:
        return draw_stage(ui_, line, rect, document_, idle_, intents_);
      case TransformKind::weights:
      case TransformKind::weight_fate:
      case TransformKind::weight:
        return draw_frozen(ui_, line, rect, memory_, document_, intents_);
      case TransformKind::title:
      case TransformKind::event:
      case TransformKind::fate:
      case TransformKind::run:
        return draw_history(ui_, line, rect, memory_, document_, intents_);
      default:
        return draw_rules(ui_, line, rect, memory_, document_, intents_);
    }
  }

  // The label of a pass's row: its name, and its number if the pass runs again.
  std::string row_of(std::size_t pass) const {
    if (pass == 0) return "pass 0";
    const std::string& name = passes_.passes[pass - 1].name;
    const auto is_it = [&](const PassReport& other) { return other.name == name; };
    const auto here = passes_.passes.begin() + static_cast<std::ptrdiff_t>(pass - 1);
    const bool again = std::any_of(passes_.passes.begin(), here, is_it);
    return again ? fmt::format("pass {} {}", name, pass) : "pass " + name;
  }

  void pass_row(std::size_t pass, const Rect& rect) {
    const bool chosen = pass == document_.pass;
    const PassReport* report = pass > 0 ? &passes_.passes[pass - 1] : nullptr;
    const bool changed = report == nullptr || report->changed;
    const std::string change = change_of(report);
    Rect rest = switched(pass > 0 ? std::string_view(report->name) : std::string_view(),
                         report != nullptr && !report->skipped, rect);
    const WidgetResponse t = row(ui_, row_of(pass), rest, chosen, change);
    if (t.pressed) go(pass);
    if (t.hovered) hint(ui_, explain(report));
    rest.cut_left(ui_.px(9));
    rest.cut_right(ui_.px(2));
    const Face change_face = report == nullptr ? Face::small : Face::mono;
    const std::string title = pass_title(document_, pass);
    took(rest, ui_.width(title, Face::text) + ui_.width(change, change_face),
         report ? milliseconds(report->milliseconds) : "");
    const bool fewer = report != nullptr && report->nodes_after < report->nodes_before;
    last_text(rest, change, change_face, fewer ? ui_.theme.result : ui_.theme.dim);
    ui_.text(rest, title, Face::text, changed ? ui_.theme.text : ui_.theme.faint);
  }

  // The column of milliseconds, if the rest of the row leaves room: the row's tooltip has them,
  // too.
  void took(Rect& rest, float others, const std::string& text) const {
    const float wide = ui_.px(kMillisecondsColumn);
    if (others + ui_.px(8) + wide > rest.width()) return;
    ui_.text(rest.cut_right(wide), text, Face::mono, ui_.theme.faint, Align::right);
  }

  // A text at the right end of the rest of a row; the name has the remaining width.
  void last_text(Rect& rest, const std::string& text, Face face, Colour ink) const {
    if (text.empty()) return;
    ui_.text(rest.cut_right(ui_.width(text, face)), text, face, ink, Align::right);
    rest.cut_right(ui_.px(6));
  }

  // In the list of all passes, the switch before a row: a box, filled if the pass runs. Returns the
  // rest of the row.
  Rect switched(std::string_view pass, bool on, Rect rect) {
    if (!idle_) return rect;
    const Rect box = rect.cut_left(ui_.px(20));
    if (pass.empty()) return rect;
    if (switch_box(ui_, fmt::format("switch {}", pass), box, on, true,
                   on ? "Leave this pass out" : "Run this pass"))
      intents_.push_back({"pass.toggle", std::string(pass)});
    return rect;
  }

  // Draws the row of a pass that doesn't run here.
  void offered_row(const Pass& pass, const Rect& rect) {
    Rect rest = switched(pass.name, false, rect);
    const WidgetResponse t = row(ui_, fmt::format("offered {}", pass.name), rest, false, "off");
    if (t.pressed) intents_.push_back({"pass.toggle", std::string(pass.name)});
    if (t.hovered)
      hint(ui_, fmt::format("{}{}", pass.description,
                            pass.by_default ? ""
                            : pass.exact    ? "\nIt runs where it is named"
                                            : "\nNot bit by bit: it runs where it is named"));
    rest.cut_left(ui_.px(9));
    rest.cut_right(ui_.px(2));
    last_text(rest, "off", Face::small, ui_.theme.faint);
    ui_.text(rest, title_of(pass.name), Face::text, ui_.theme.faint);
  }

  std::string change_of(const PassReport* report) const {
    if (report == nullptr)
      return format_count(static_cast<std::int64_t>(passes_.input.order().size())) + " nodes";
    if (report->skipped) return "left out";
    if (!report->changed) return "";
    const auto difference = static_cast<std::int64_t>(report->nodes_after) -
                            static_cast<std::int64_t>(report->nodes_before);
    if (difference == 0) return fmt::format("×{}", report->change_count());
    return (difference < 0 ? "−" : "+") + format_count(std::abs(difference));
  }

  std::string explain(const PassReport* report) const {
    if (report == nullptr)
      return document_.mesh
                 ? mesh_note(request_of(document_.mesh->settings))
                 : fmt::format("The graph as it was read: {} nodes", passes_.input.order().size());
    return fmt::format("{}{}\n{} to {} nodes, {} changes in {}", prose_of(report->name),
                       report->skipped ? "\nleft out" : "",
                       format_count(static_cast<std::int64_t>(report->nodes_before)),
                       format_count(static_cast<std::int64_t>(report->nodes_after)),
                       format_count(static_cast<std::int64_t>(report->change_count())),
                       format_micros(report->milliseconds * 1000));
  }

  static std::string_view prose_of(const std::string& name) {
    if (name == kGradPass) return kGradPassProse;
    if (name == kJvpPass) return kJvpPassProse;
    if (name == kOptimizerPass) return kOptimizerPassProse;
    if (name == kRulesPass) return "Your own rules.";
    if (name == kFoldFrozenPass) return kFoldFrozenProse;
    const Pass* pass = find_pass(name);
    return pass != nullptr ? pass->description : std::string_view();
  }

  void plan_row(const Rect& whole) {
    const Rect rect = switched({}, false, whole);
    const PlanReport& plan = document_.shown->report();
    const bool chosen = document_.pass == passes_.passes.size();
    const std::string runs =
        plan.recomputed_runs > 0 ? "+" + format_count(plan.recomputed_runs) + " runs" : "no reruns";
    const WidgetResponse t = row(ui_, "plan", rect, chosen, runs);
    if (t.pressed) go(passes_.passes.size());
    if (t.hovered)
      hint(ui_, fmt::format("The plan that is shown\npeak {}, step {}\n{} recomputed in {} runs",
                            format_bytes(plan.peak_bytes), format_micros(plan.step_us),
                            format_micros(plan.recompute_us), format_count(plan.recomputed_runs)));
    Rect rest = rect;
    rest.cut_left(ui_.px(9));
    rest.cut_right(ui_.px(2));
    const std::string name = "plan · " + plan.strategy;
    took(rest, ui_.width(name, Face::text) + ui_.width(runs, Face::mono),
         milliseconds(plan.solve_ms));
    last_text(rest, runs, Face::mono,
              plan.recomputed_runs > 0 ? ui_.theme.recomputed : ui_.theme.faint);
    ui_.fitting(rest, {name, "plan"}, Face::text, ui_.theme.text);
  }

  Ui& ui_;
  const PanelInput& input_;
  const DocumentView& document_;
  const PipelineReport& passes_;
  Transforms& memory_;
  Intents& intents_;
  const bool idle_;
};

void draw_transforms(Ui& ui, const PanelInput& input, Intents& intents) {
  const DocumentView* document = input.ready();
  if (document == nullptr) return;
  TransformsPanel(ui, input, *document, input.memory<Transforms>("transforms"), intents).draw();
}

}  // namespace

Panel transforms_panel() { return {"transforms", "Transforms", Dock::left, 0, 1, draw_transforms}; }

}  // namespace recut::gui
