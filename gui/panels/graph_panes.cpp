// Two panes: the shown graph and its baseline, each on a canvas of its own; the cameras, groups and
// selections of the two are linked.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "engine/support/units.h"
#include "gui/app/compare_view.h"
#include "gui/app/panes_view.h"
#include "gui/canvas/box_labels.h"
#include "gui/canvas/pane_link.h"
#include "gui/panels/graph_parts.h"

namespace recut::gui {
namespace {

constexpr float kGraphPanesLegend = 28, kPaneHead = 26;  // units
constexpr float kMinPane = 120;
constexpr std::string_view kSplit = "split.panes";

// The text of a pane's pass: "after fold views", "as read".
std::string pass_text(const ShownGraph& shown) {
  const auto& passes = shown.document->passes.passes;
  if (shown.pass == 0 || passes.empty()) return "as read";
  std::string name = passes[std::min(shown.pass, passes.size()) - 1].name;
  std::replace(name.begin(), name.end(), '_', ' ');  // as the list of passes has it
  return "after " + name;
}

std::string plan_text(const ShownGraph& shown) {
  return shown.plan ? "peak " + format_bytes(shown.plan->peak()) : std::string();
}

std::string number_text(std::size_t count) {
  return format_count(static_cast<std::int64_t>(count));
}

class Panes {
 public:
  Panes(Ui& ui, const PanelInput& input, const DocumentView& document, Intents& intents)
      : ui_(ui),
        input_(input),
        document_(document),
        intents_(intents),
        view_(input.memory<PanesView>(kPanesMemory)),
        choice_(input.memory<CompareView>(kCompareMemory)),
        link_(input.memory<PaneLink>(kLinkMemory)),
        here_(canvas_of(input.memories, Pane::here)),
        there_(canvas_of(input.memories, Pane::there)),
        shown_here_(shown_graph(document)),
        shown_there_(graph_there(input.app, document)) {
    if (shown_there_ && is_of(view_, shown_here_, *shown_there_)) comparison_ = view_.comparison;
  }

  void draw(Rect area) {
    want_comparison();
    legend(area.cut_top(std::round(ui_.px(kGraphPanesLegend))));
    const float share =
        std::clamp(static_cast<float>(input_.app.settings.number(kSplit, 0.5)), 0.1f, 0.9f);
    const Rect whole = area;
    Rect left = area.cut_left(std::round(area.width() * share));
    const Rect line = area.cut_left(ui_.whole(1));
    Rect right = area;
    if (std::min(left.width(), right.width()) < ui_.px(kMinPane) || left.height() < 8) return;
    head(left.cut_top(std::round(ui_.px(kPaneHead))), Pane::here);
    head(right.cut_top(std::round(ui_.px(kPaneHead))), Pane::there);
    canvases(left, right);
    splitter(whole, line);
  }

 private:
  void want_comparison() {
    if (!shown_there_) return;
    const bool made = comparison_ && comparison_->here.shown == shown_here_ &&
                      comparison_->there.shown == *shown_there_;
    const bool requested =
        view_.here_at_work == shown_here_ && view_.there_at_work == *shown_there_;
    if (!made && !requested) intents_.push_back({"compare.prepare", ""});
  }

  NodeId selected(Pane pane) const {
    return pane == Pane::here ? document_.selection.node : selected_there(view_, document_);
  }

  // The title of a pane, with a remark if the selection beside it has no partner here.
  std::string title(Pane pane) const {
    if (compared_pass(document_, choice_))
      return pass_text(pane == Pane::here ? shown_here_ : *shown_there_);
    if (pane == Pane::there) return compared_name(input_.app, document_, choice_);
    return compared_other(document_, choice_) ? document_.title : "this plan";
  }

  std::string facts(Pane pane) const {
    if (compared_pass(document_, choice_)) {
      const ShownGraph& shown = pane == Pane::here ? shown_here_ : *shown_there_;
      return fmt::format("{} nodes",
                         format_count(static_cast<std::int64_t>(shown.graph().order().size())));
    }
    if (pane == Pane::here) return plan_text(shown_here_);
    if (!shown_there_) return "isn't there any more";
    return shown_there_->plan ? plan_text(*shown_there_) : "being planned …";
  }

  // A remark on a node that is selected in the other pane and isn't in this one.
  std::string missing(Pane pane) const {
    const Pane other = pane == Pane::here ? Pane::there : Pane::here;
    const NodeId node = selected(other);
    if (!comparison_ || !node.valid() || selected(pane).valid()) return {};
    const Graph& graph =
        (other == Pane::here ? comparison_->here : comparison_->there).shown.graph();
    if (!graph.contains(node)) return {};
    return fmt::format("no {} {}", clipped(graph.node_name(node), 40),
                       pane == Pane::here ? "here" : "there");
  }

  void head(Rect row, Pane pane) const {
    ui_.fill(row, ui_.theme.panel);
    ui_.fill({row.left, row.bottom - 1, row.right, row.bottom}, ui_.theme.line);
    const bool leads = pane == Pane::here;
    const std::string name = title(pane), text = facts(pane), without = missing(pane);
    ui_.items.add(
        leads ? "pane here" : "pane there", ItemKind::figure, row, true,
        name + (text.empty() ? "" : ", " + text) + (without.empty() ? "" : ", " + without));
    row = row.inset(ui_.px(12), 0);
    row.cut_left(ui_.text(row, leads ? "here" : "there", Face::small, ui_.theme.faint) + ui_.px(8));
    if (!without.empty()) {
      const float wide = std::min(ui_.width(without, Face::mono_small) + 1, row.width() * 0.6f);
      ui_.text(row.cut_right(wide), without, Face::mono_small, ui_.theme.differs, Align::right);
      row.cut_right(ui_.px(8));
    }
    row.cut_left(ui_.text(row, name, Face::strong, ui_.theme.text) + ui_.px(10));
    ui_.text(row, text, Face::mono_small, ui_.theme.dim);
  }

  // The legend above both panes: the signs with their counts, and buttons to step through them.
  void legend(Rect row) {
    ui_.fill(row, ui_.theme.panel);
    row = row.inset(ui_.px(12), 0);
    const auto tool = [&](std::string_view label, std::string_view sign, std::string_view command,
                          std::string_view what, bool enabled) {
      const Rect box = row.cut_right(ui_.px(24)).inset(ui_.px(1), ui_.px(3));
      if (button(ui_, label, box, sign, ButtonLook::quiet, enabled))
        intents_.push_back({std::string(command), ""});
      hint(ui_, what);
    };
    const bool any = comparison_ && !comparison_->steps.empty();
    tool("close panes", "×", "compare.panes", "Back to one pane (c)", true);
    tool("next", "›", "compare.next", "Next difference (d)", any);
    tool("previous", "‹", "compare.previous", "Previous difference (Shift D)", any);
    if (any) position(row);
    if (!comparison_) {
      ui_.text(row, shown_there_ ? "Comparing …" : "What was compared isn't there any more.",
               Face::small, ui_.theme.dim);
      return;
    }
    const DifferenceCounts& counts = comparison_->counts;
    if (!any) ui_.text(row, "the same, node by node", Face::small, ui_.theme.dim);
    if (counts.only_here + counts.only_there > 0)
      entry(row, Difference::only,
            fmt::format("only here {}, only there {}", number_text(counts.only_here),
                        number_text(counts.only_there)));
    if (counts.rewritten > 0)
      entry(row, Difference::rewritten, fmt::format("rewritten {}", number_text(counts.rewritten)));
    if (counts.fate > 0)
      entry(row, Difference::fate,
            fmt::format("other fate {}, with the other plan's sign", number_text(counts.fate)));
    ui_.text(row, step_label(), Face::mono_small, ui_.theme.text);
  }

  void position(Rect& row) const {
    const auto step = selected_step(view_, document_);
    const std::size_t all = comparison_->steps.size();
    const std::string text = step
                                 ? fmt::format("{} of {}", number_text(*step + 1), number_text(all))
                                 : fmt::format("{} differences", number_text(all));
    const Rect rect = row.cut_right(std::ceil(ui_.width(text, Face::small)) + ui_.px(10));
    ui_.items.add("difference", ItemKind::figure, rect, true, text);
    ui_.text(rect.inset(ui_.px(4), 0), text, Face::small, ui_.theme.dim, Align::right);
    row.cut_right(ui_.px(8));
  }

  void entry(Rect& row, Difference kind, const std::string& text) const {
    const float wide = ui_.width(text, Face::small) + 1;
    if (row.width() < wide + ui_.px(20)) return;
    const Rect sign = row.cut_left(ui_.px(16));
    draw_difference_sign(ui_, sign.centre(), ui_.px(9), kind);
    row.cut_left(ui_.px(4));
    ui_.text(row.cut_left(wide), text, Face::small, ui_.theme.dim);
    row.cut_left(ui_.px(16));
  }

  // The label of the selected difference: "relu_3: saved here, recomputed there, 12.3 MiB".
  std::string step_label() const {
    const auto at = selected_step(view_, document_);
    if (!at) return {};
    const ComparisonStep& step = comparison_->steps[*at];
    const Graph &here = comparison_->here.shown.graph(), &there = comparison_->there.shown.graph();
    const std::string name(
        clipped(step.here.valid() ? here.node_name(step.here) : there.node_name(step.there), 48));
    if (step.kind == Difference::only)
      return name + (step.here.valid() ? " only here" : " only there");
    if (step.kind == Difference::rewritten)
      return fmt::format("{}: {} here, {} there", name, here.op(step.here).name,
                         there.op(step.there).name);
    if (step.role_here == step.role_there)
      return fmt::format("{}: runs {} times here, {} there, {}", name, step.runs_here + 1,
                         step.runs_there + 1, format_bytes(step.bytes));
    return fmt::format("{}: {} here, {} there, {}", name, name_of(step.role_here),
                       name_of(step.role_there), format_bytes(step.bytes));
  }

  Subject subject(Pane pane) const {
    if (pane == Pane::here)
      return {pane, shown_here_, document_.selection, &document_.plan_settings.overrides,
              comparison_};
    const Selection selection{selected_there(view_, document_), hovered_there(view_, document_)};
    const PlanView* plan = shown_there_->plan.get();
    return {pane, *shown_there_, selection, plan ? &plan->request.overrides : nullptr, comparison_};
  }

  bool is_one_graph() const {
    return shown_there_->document == shown_here_.document && shown_there_->pass == shown_here_.pass;
  }

  // Two plans of one graph have one layout.
  void share_picture() {
    if (!is_one_graph()) return;
    const bool ready = here_.picture != nullptr && here_.key == requested_key(shown_here_, here_);
    if (ready && there_.picture != here_.picture) take_picture(there_, here_.picture);
    there_.key = requested_key(*shown_there_, there_);  // there is nothing to wait for but that
  }

  void canvases(const Rect& left, const Rect& right) {
    here_.area = left;
    there_.area = right;
    here_.scale = there_.scale = ui_.scale;
    const Subject subject_here = subject(Pane::here);
    auto& memory = input_.memory<GraphMemory>("graph");
    PaneFrame frame_here{document_, subject_here, here_, memory};
    if (!shown_there_) {
      if (prepare_pane(input_, frame_here, intents_)) draw_pane(ui_, input_, frame_here, intents_);
      return;
    }
    const Subject subject_there = subject(Pane::there);
    link_.share_groups(here_, there_, comparison_.get());
    const LinkedCanvas one{here_, subject_here.side(), subject_here.selection.node};
    const LinkedCanvas other{there_, subject_there.side(), subject_there.selection.node};
    link_.find_leader(one, other, view_.selections_there);
    const bool there_leads = link_.leader() == Pane::there;
    auto& memory_there = input_.memory<GraphMemory>(kPointerThere);
    PaneFrame frame_there{document_, subject_there, there_, memory_there};
    frame_here.follows = there_leads;
    frame_there.follows = !there_leads;
    // A group that was selected as a whole stays closed beside it, too.
    frame_here.reveals = !there_leads || shows(other);
    frame_there.reveals = there_leads || shows(one);
    const bool ready_here = prepare_pane(input_, frame_here, intents_);
    if (ready_here && view_.fresh) {
      fit_columns(here_);
      here_.wants_visible = subject_here.selection.node.valid();
    }
    if (ready_here) view_.fresh = false;
    share_picture();
    if (!there_.placed) put(there_, here_.at);
    const bool begun = there_.expansion && (there_.picture != nullptr || !is_one_graph());
    const bool ready_there = begun && prepare_pane(input_, frame_there, intents_);
    if (ready_here && ready_there)
      link_.follow(there_leads ? other : one, there_leads ? one : other, ImGui::GetIO().MousePos,
                   input_.motion, fmt::format("panes {}", document_.serial));
    draw_or_wait(frame_here, ready_here);
    ui_.items.begin_panel("there");
    draw_or_wait(frame_there, ready_there);
    ui_.items.begin_panel("graph");
  }

  static bool shows(const LinkedCanvas& canvas) {
    const SharedPicture& picture = canvas.canvas.picture;
    return picture != nullptr && canvas.selected.valid() &&
           picture->own_box(canvas.selected).valid();
  }

  void draw_or_wait(const PaneFrame& pane, bool ready) {
    if (ready)
      draw_pane(ui_, input_, pane, intents_);
    else
      ui_.text(pane.canvas.area, layout_text(input_.app, pane.canvas), Face::text, ui_.theme.dim,
               Align::centre);
  }

  void splitter(const Rect& whole, const Rect& line) {
    const WidgetResponse t =
        interact(ui_, "between panes", ItemKind::handle, line.inset(-ui_.px(3), 0));
    ui_.fill(line, t.hovered || t.held ? ui_.theme.selection : ui_.theme.line);
    if (t.hovered || t.held) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
    if (t.held && ImGui::IsMouseDragging(ImGuiMouseButton_Left, 1))
      intents_.push_back(
          {"setting.set", fmt::format("{} {:.4f}", kSplit,
                                      (ImGui::GetIO().MousePos.x - whole.left) / whole.width())});
    if (t.doubled) intents_.push_back({"setting.set", std::string(kSplit) + " "});
  }

  Ui& ui_;
  const PanelInput& input_;
  const DocumentView& document_;
  Intents& intents_;
  PanesView& view_;
  CompareView& choice_;
  PaneLink& link_;
  Canvas &here_, &there_;
  const ShownGraph shown_here_;
  const std::optional<ShownGraph> shown_there_;
  SharedComparison comparison_;  // null until it is of the shown graphs
};

}  // namespace

void draw_panes(Ui& ui, const PanelInput& input, const DocumentView& document, Rect area,
                Intents& intents) {
  Panes(ui, input, document, intents).draw(area);
}

}  // namespace recut::gui
