// Transforms: what each pass did and the plan at the end of them; the rules that fired in the pass
// that is shown, each with its hits; the history of the selected node; and the legend.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/support/units.h"
#include "gui/app/app.h"
#include "gui/draw/widgets.h"
#include "gui/panels/transforms_history.h"
#include "gui/panels/transforms_legend.h"
#include "gui/panels/transforms_lines.h"

namespace recut::gui {
namespace {

constexpr float kTime = 40;    // units: the column of milliseconds
constexpr float kChange = 66;  // of what changed

std::string milliseconds(double ms) {
  return ms <= 0 ? "" : ms < 99.95 ? fmt::format("{:.1f}", ms) : fmt::format("{:.0f}", ms);
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
        idle_(input.app.settings.flag("passes.idle", false)) {}

  void draw() {
    update(memory_, document_, document_.baseline.plan);
    head();
    Rect area = input_.area;
    slide(area.cut_top(std::round(ui_.px(20))));
    const Rect legend = area.cut_bottom(legend_height(ui_));
    area.cut_bottom(ui_.px(8));
    list(area);
    ui_.line({area.left, legend.top - ui_.px(3)}, {area.right, legend.top - ui_.px(3)},
             ui_.theme.line, ui_.whole(1));
    draw_legend(ui_, legend, memory_, intents_);
  }

 private:
  // "3 changed · 1 idle hidden", which shows and hides them.
  void head() {
    Rect place = input_.heading;
    const std::size_t idle = idle_passes(document_), all = passes_.passes.size();
    std::string words = fmt::format("{} changed", all - idle);
    if (idle > 0) words += fmt::format(" · {} idle{}", idle, idle_ ? "" : " hidden");
    const float wide = std::min(place.width(), ui_.width(words, Face::small) + ui_.px(2));
    const Rect box = place.cut_right(wide);
    const Touch t = touch(ui_, "idle", ItemKind::toggle, box, idle > 0, idle_ ? "on" : "off");
    ui_.text(box, words, Face::small, t.hovered ? ui_.theme.text : ui_.theme.faint, Align::right);
    if (t.hovered) hint(ui_, idle_ ? "Hide passes that changed nothing" : "Show all passes");
    if (t.pressed) intents_.push_back({"pass.idle", ""});
  }

  void slide(const Rect& rect) {
    const std::vector<std::size_t> stops = stop_passes();
    const auto here = std::lower_bound(stops.begin(), stops.end(), document_.pass);
    int at = static_cast<int>(here - stops.begin());
    if (slider(ui_, "pass", rect, at, static_cast<int>(stops.size()) - 1))
      go(stops[static_cast<std::size_t>(at)]);
  }

  // What is listed, and the last pass, whose graph the plan is for.
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
    const float high = std::round(ui_.px(kRow - 1));
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
      case TransformKind::heading:
        return heading(ui_, rect, "Rules that fired here");
      case TransformKind::rule:
        return rule_row(memory_.rules[line.at], rect);
      case TransformKind::hit:
        return hit_row(line.at, rect);
      case TransformKind::more:
        return more_row(line.at, rect);
      default:
        return draw_history(ui_, line, rect, memory_, document_, intents_);
    }
  }

  void pass_row(std::size_t pass, const Rect& rect) {
    const bool chosen = pass == document_.pass;
    const PassReport* report = pass > 0 ? &passes_.passes[pass - 1] : nullptr;
    const bool changed = report == nullptr || report->changed;
    const std::string change = change_of(report);
    const Touch t = row(ui_, fmt::format("pass {}", pass), rect, chosen, change);
    if (t.pressed) go(pass);
    if (t.hovered) hint(ui_, explain(report));
    Rect rest = rect;
    rest.cut_left(ui_.px(9));
    rest.cut_right(ui_.px(2));
    ui_.text(rest.cut_right(ui_.px(kTime)), report ? milliseconds(report->milliseconds) : "",
             Face::mono, ui_.theme.faint, Align::right);
    const Rect delta = rest.cut_right(ui_.px(kChange));
    const bool fewer = report != nullptr && report->nodes_after < report->nodes_before;
    ui_.text(delta, change, report == nullptr ? Face::small : Face::mono,
             fewer ? ui_.theme.result : ui_.theme.dim, Align::right);
    ui_.text(rest, pass_title(document_, pass), Face::text,
             changed ? ui_.theme.text : ui_.theme.faint);
  }

  std::string change_of(const PassReport* report) const {
    if (report == nullptr)
      return format_number(static_cast<std::int64_t>(passes_.input.order().size())) + " nodes";
    if (report->skipped) return "skipped";
    if (!report->changed) return "";
    const auto difference = static_cast<std::int64_t>(report->nodes_after) -
                            static_cast<std::int64_t>(report->nodes_before);
    if (difference == 0) return fmt::format("×{}", report->changes.size());
    return (difference < 0 ? "−" : "+") + format_number(std::abs(difference));
  }

  std::string explain(const PassReport* report) const {
    if (report == nullptr)
      return fmt::format("The graph as it was read: {} nodes", passes_.input.order().size());
    const Pass* pass = find_pass(report->name);
    return fmt::format("{}{}\n{} to {} nodes, {} changes in {}", pass ? pass->prose : "",
                       report->skipped ? "\nskipped" : "",
                       format_number(static_cast<std::int64_t>(report->nodes_before)),
                       format_number(static_cast<std::int64_t>(report->nodes_after)),
                       format_number(static_cast<std::int64_t>(report->changes.size())),
                       format_micros(report->milliseconds * 1000));
  }

  void plan_row(const Rect& rect) {
    const PlanReport& plan = document_.shown->report();
    const bool chosen = document_.pass == passes_.passes.size();
    const std::string runs = plan.recomputed_runs > 0
                                 ? "+" + format_number(plan.recomputed_runs) + " runs"
                                 : "no reruns";
    const Touch t = row(ui_, "plan", rect, chosen, runs);
    if (t.pressed) go(passes_.passes.size());
    if (t.hovered)
      hint(ui_, fmt::format("The plan that is shown\npeak {}, step {}\n{} recomputed in {} runs",
                            format_bytes(plan.peak_bytes), format_micros(plan.step_us),
                            format_micros(plan.recompute_us), format_number(plan.recomputed_runs)));
    Rect rest = rect;
    rest.cut_left(ui_.px(9));
    rest.cut_right(ui_.px(2));
    ui_.text(rest.cut_right(ui_.px(kTime)), milliseconds(plan.solve_ms), Face::mono,
             ui_.theme.faint, Align::right);
    ui_.text(rest.cut_right(ui_.px(kChange + 6)), runs, Face::mono,
             plan.recomputed_runs > 0 ? ui_.theme.recomputed : ui_.theme.faint, Align::right);
    ui_.text(rest, "plan · " + plan.strategy, Face::text, ui_.theme.text);
  }

  void rule_row(const RuleHits& rule, const Rect& rect) {
    const bool open = rule.rule == memory_.open_rule;
    const Touch t = touch(ui_, "rule " + rule.rule, ItemKind::toggle, rect, true,
                          fmt::format("{}", rule.changes.size()));
    if (t.pressed) {
      memory_.open_rule = open ? "" : rule.rule;
      memory_.all_hits = false;
    }
    if (t.hovered) ui_.fill(rect, mix(ui_.theme.panel, ui_.theme.raised, 0.6));
    Rect rest = rect;
    triangle(rest.cut_left(ui_.px(9)), open, t.hovered);
    rest.cut_left(ui_.px(6));
    rest.cut_right(ui_.px(2));
    ui_.text(rest.cut_right(ui_.px(kTime)),
             format_number(static_cast<std::int64_t>(rule.changes.size())), Face::mono,
             ui_.theme.dim, Align::right);
    ui_.text(rest, rule.rule, Face::text, open || t.hovered ? ui_.theme.text : ui_.theme.dim);
  }

  void triangle(const Rect& place, bool down, bool strong) const {
    const ImVec2 c{place.left + ui_.px(3.5f), place.centre().y};
    const float r = ui_.px(3);
    const ImU32 ink = Ui::paint(strong ? ui_.theme.text : ui_.theme.faint);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    if (down) {
      list.AddTriangleFilled({c.x - r, c.y - r / 2}, {c.x + r, c.y - r / 2}, {c.x, c.y + r}, ink);
    } else {
      list.AddTriangleFilled({c.x - r / 2, c.y - r}, {c.x + r, c.y}, {c.x - r / 2, c.y + r}, ink);
    }
  }

  const Change& hit(std::size_t at) const {
    const auto open =
        std::find_if(memory_.rules.begin(), memory_.rules.end(),
                     [&](const auto& rule) { return rule.rule == memory_.open_rule; });
    return passes_.passes[document_.pass - 1].changes[open->changes[at]];
  }

  // A hit is known by the node that it changed, in the graph before the pass.
  void hit_row(std::size_t at, const Rect& rect) {
    const Change& change = hit(at);
    const Graph& before = graph_after(passes_, document_.pass - 1);
    const Graph& after = graph_after(passes_, document_.pass);
    if (!before.contains(change.before)) return;
    const SelectionAnchor anchor = anchor_of(document_);
    const bool chosen = anchor.node == change.before && anchor.pass + 1 == document_.pass;
    const std::string& name = before.node_name(change.before);
    const Touch t = row(ui_, fmt::format("hit {}", at), rect, chosen, name);
    if (t.hovered) hint(ui_, change.words.substr(0, 2000));
    if (t.pressed)
      intents_.push_back({"select.at", fmt::format("{} {}", document_.pass - 1, name)});
    Rect rest = rect;
    rest.cut_left(ui_.px(15));
    const bool gone = change.after.empty();
    const NodeId heir = gone ? NodeId() : change.after.front();
    rest.cut_left(ui_.text(rest, name, Face::mono,
                           gone     ? ui_.theme.faint
                           : chosen ? ui_.theme.text
                                    : ui_.theme.dim) +
                  ui_.px(8));
    if (heir.valid() && after.contains(heir) && after.node_name(heir) != name)
      ui_.text(rest, "→ " + after.node_name(heir), Face::mono, ui_.theme.faint);
  }

  void more_row(std::size_t count, const Rect& rect) {
    Rect rest = rect;
    rest.cut_left(ui_.px(9));
    const std::string words =
        fmt::format("{} more", format_number(static_cast<std::int64_t>(count)));
    const Touch t = touch(ui_, "more", ItemKind::button, rest);
    if (t.pressed) memory_.all_hits = true;
    rest.cut_left(ui_.px(6));
    ui_.text(rest, words, Face::text, t.hovered ? ui_.theme.text : ui_.theme.selection);
  }

  Ui& ui_;
  const PanelInput& input_;
  const DocumentView& document_;
  const PipelineReport& passes_;
  Transforms& memory_;
  Intents& intents_;
  const bool idle_;
};

void draw(Ui& ui, const PanelInput& input, Intents& intents) {
  const DocumentView* document = input.ready();
  if (document == nullptr) return;
  TransformsPanel(ui, input, *document, input.memory<Transforms>("transforms"), intents).draw();
}

}  // namespace

Panel transforms_panel() { return {"transforms", "Transforms", Place::left, 0, 1, draw}; }

}  // namespace recut::gui
