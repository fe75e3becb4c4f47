#include "gui/panels/transforms_rules.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/ir/printer.h"
#include "engine/support/units.h"
#include "engine/workspace/gradients.h"
#include "engine/workspace/training.h"
#include "gui/model/node_trace.h"
#include "gui/model/pass_steps.h"

namespace recut::gui {
namespace {

constexpr float kHits = 40, kTried = 64;  // units: the column of hits, and of "3 of 40"
constexpr std::size_t kTransformsRulesLongestHint = 2000;

std::string count_text(std::size_t number) {
  return format_count(static_cast<std::int64_t>(number));
}

// Draws each kind of line by a method of its own. The open rule and hit live in Transforms, so that
// a Rules object lasts for one line. A hit compares the graph before the pass with the graph after
// it. A NodeId means the same node in both, so a look-up gives the sign of a line:
//   "−" only before      "+" only after      "→" after, and there before, too
// A click on a hit selects the node in the graph before the pass; a click on a replacement selects
// it after the pass.
class Rules {
 public:
  Rules(Ui& ui, Transforms& memory, const DocumentView& document, Intents& intents)
      : ui_(ui),
        memory_(memory),
        document_(document),
        pass_(document.document->passes.passes[document.pass - 1]),
        before_(graph_after(document.document->passes, document.pass - 1)),
        after_(pass_.graph),
        intents_(intents) {}

  void title_row(const Rect& rect) const {
    heading(ui_, rect,
            pass_.name == kGradPass        ? "Derivative rules"
            : pass_.name == kJvpPass       ? "Dual numbers"
            : pass_.name == kOptimizerPass ? "Updates of the optimiser"
                                           : "Rules that fired here");
  }

  void restless_row(Rect rect) {
    constexpr std::string_view text = "stopped: rules go on matching what they made";
    interact(ui_, "restless", ItemKind::row, rect, true, std::string(text));
    hint(ui_, text);
    rect.cut_left(ui_.px(9));
    ui_.text(rect, text, Face::small, ui_.theme.conflict);
  }

  void rule_row(const RuleHits& rule, const Rect& rect) {
    const bool open = rule.rule == memory_.open_rule, hits = !rule.changes.empty();
    const bool gave_up = rule.statistics != nullptr && rule.statistics->untyped > 0;
    const WidgetResponse t = interact(ui_, "rule " + rule.rule, ItemKind::toggle, rect, true,
                                      fmt::format("{}", rule.changes.size()));
    if (t.pressed) {
      memory_.open_rule = open ? "" : rule.rule;
      memory_.all_hits = false;
      memory_.open_hit = Transforms::kNoPass;
    }
    if (t.hovered) {
      ui_.fill(rect, mix(ui_.theme.panel, ui_.theme.raised, 0.6));
      if (const std::string text = explain(rule); !text.empty()) hint(ui_, text);
    }
    Rect rest = rect;
    const Rect mark = rest.cut_left(ui_.px(9));
    if (hits) fold_mark(ui_, mark, open, t.hovered);
    rest.cut_left(ui_.px(6));
    rest.cut_right(ui_.px(2));
    const Colour ink = gave_up             ? ui_.theme.conflict
                       : !hits             ? ui_.theme.faint
                       : open || t.hovered ? ui_.theme.text
                                           : ui_.theme.dim;
    std::string figure = count_text(rule.changes.size());
    if (rule.statistics != nullptr) figure += " of " + format_count(rule.statistics->tries);
    ui_.text(rest.cut_right(ui_.px(rule.statistics != nullptr ? kTried : kHits)), figure,
             Face::mono_small, hits ? ui_.theme.dim : ui_.theme.faint, Align::right);
    ui_.text(rest, rule.rule, Face::text, ink);
  }

  // A hit is known by the node that it changed, in the graph before the pass.
  void hit_row(std::size_t at, const Rect& rect) {
    const std::size_t number = open_rule().changes[at];
    const Change& change = pass_.changes[number];
    if (!before_.contains(change.before)) return;
    const SelectionAnchor anchor = anchor_of(document_);
    const bool chosen = anchor.node == change.before && anchor.pass + 1 == document_.pass;
    const std::string& name = before_.node_name(change.before);
    const WidgetResponse t = row(ui_, fmt::format("hit {}", at), rect, chosen, name);
    if (t.hovered) hint(ui_, change.description.text().substr(0, kTransformsRulesLongestHint));
    if (t.pressed) {
      memory_.open_hit = memory_.open_hit == number ? Transforms::kNoPass : number;
      intents_.push_back({"select.at", fmt::format("{} {}", document_.pass - 1, name)});
    }
    Rect rest = rect;
    rest.cut_left(ui_.px(15));
    const Colour ink = change.after.empty() ? ui_.theme.faint
                       : chosen             ? ui_.theme.text
                                            : ui_.theme.dim;
    rest.cut_left(ui_.text(rest, name, Face::mono, ink) + ui_.px(8));
    ui_.text(rest, became(change, name), Face::mono, ui_.theme.faint);
  }

  void before_row(const Rect& rect) {
    const Change& change = *open_change(memory_, document_);
    if (!before_.contains(change.before)) return;
    const bool stays = after_.contains(change.before);
    line_row("before", rect, stays ? " " : "−", stays ? ui_.theme.dim : ui_.theme.conflict,
             print_node(before_, change.before), true, false);
  }

  void after_row(std::size_t at, const Rect& rect) {
    const NodeId id = open_change(memory_, document_)->after[at];
    if (!after_.contains(id)) return;
    const bool is_new = !before_.contains(id);
    const WidgetResponse t =
        line_row(fmt::format("after {}", at), rect, is_new ? "+" : "→",
                 is_new ? ui_.theme.result : ui_.theme.dim, print_node(after_, id),
                 named_as_before(id), document_.selection.node == id);
    if (t.pressed)
      intents_.push_back({"select.at", fmt::format("{} {}", document_.pass, after_.node_name(id))});
  }

  // Draws the pass's own report behind the arrow.
  void handed_on_row(const Rect& rect) {
    const std::string text = open_change(memory_, document_)->description.text();
    const std::size_t arrow = text.find("  =>  ");
    line_row("handed on", rect, "→", ui_.theme.faint,
             arrow == std::string::npos ? "nothing stands for it" : text.substr(arrow + 6), false,
             false);
  }

  void more_row(std::size_t hidden, const Rect& rect) {
    Rect rest = rect;
    rest.cut_left(ui_.px(9));
    const WidgetResponse t = interact(ui_, "more", ItemKind::button, rest);
    if (t.pressed) memory_.all_hits = true;
    rest.cut_left(ui_.px(6));
    ui_.text(rest, fmt::format("{} more", count_text(hidden)), Face::text,
             t.hovered ? ui_.theme.text : ui_.theme.selection);
  }

 private:
  const RuleHits& open_rule() const {
    return *std::find_if(memory_.rules.begin(), memory_.rules.end(),
                         [&](const auto& rule) { return rule.rule == memory_.open_rule; });
  }

  static std::string explain(const RuleHits& rule) {
    if (rule.statistics == nullptr) return {};
    const RuleStatistics& row = *rule.statistics;
    std::string text = fmt::format("tried at {} nodes, {} hits, {}", format_count(row.tries),
                                   format_count(row.hits), format_micros(row.milliseconds * 1000));
    if (row.untyped > 0)
      text += fmt::format("\n{} matches given up, the replacement does not fit: {}",
                          format_count(row.untyped), row.untyped_reason);
    return text;
  }

  // The change's result: "→ relu", "→ 3 nodes", "+ relu" beside a node that stays; "" if the name
  // stays.
  std::string became(const Change& change, const std::string& name) const {
    const auto stays = std::count(change.after.begin(), change.after.end(), change.before);
    const std::size_t made = change.after.size() - static_cast<std::size_t>(stays);
    if (made > 1) return fmt::format("→ {} nodes", count_text(made));
    if (made == 1 && stays > 0) {
      const auto other = std::find_if(change.after.begin(), change.after.end(),
                                      [&](NodeId id) { return id != change.before; });
      return after_.contains(*other) ? "+ " + after_.node_name(*other) : std::string();
    }
    const NodeId heir = change.after.empty() ? NodeId() : change.after.front();
    if (!heir.valid() || !after_.contains(heir) || after_.node_name(heir) == name) return {};
    return "→ " + after_.node_name(heir);
  }

  bool named_as_before(NodeId id) const {
    const NodeId before = open_change(memory_, document_)->before;
    return before_.contains(before) && before_.node_name(before) == after_.node_name(id);
  }

  // Draws a node's line, without its name if that is already above it.
  WidgetResponse line_row(const std::string& label, const Rect& rect, std::string_view sign,
                          Colour ink, const std::string& line, bool nameless, bool chosen) {
    const WidgetResponse t = row(ui_, label, rect, chosen, line);
    if (t.hovered) hint(ui_, line.substr(0, kTransformsRulesLongestHint));
    Rect rest = rect;
    rest.cut_left(ui_.px(15));
    ui_.text(rest.cut_left(ui_.px(12)), sign, Face::mono, ink);
    const std::size_t equals = nameless ? line.find(" = ") : std::string::npos;
    const std::string_view text =
        std::string_view(line).substr(equals == std::string::npos ? 0 : equals + 3);
    ui_.text(rest, text, Face::mono_small, chosen ? ui_.theme.text : ink);
    return t;
  }

  Ui& ui_;
  Transforms& memory_;
  const DocumentView& document_;
  const PassReport& pass_;
  const Graph &before_, &after_;
  Intents& intents_;
};

}  // namespace

void draw_rules(Ui& ui, const TransformLine& line, const Rect& rect, Transforms& memory,
                const DocumentView& document, Intents& intents) {
  if (line.kind == TransformKind::blank) return;
  Rules rules(ui, memory, document, intents);
  if (line.kind == TransformKind::heading) rules.title_row(rect);
  if (line.kind == TransformKind::restless) rules.restless_row(rect);
  if (line.kind == TransformKind::rule) rules.rule_row(memory.rules[line.at], rect);
  if (line.kind == TransformKind::hit) rules.hit_row(line.at, rect);
  if (line.kind == TransformKind::before) rules.before_row(rect);
  if (line.kind == TransformKind::after) rules.after_row(line.at, rect);
  if (line.kind == TransformKind::handed_on) rules.handed_on_row(rect);
  if (line.kind == TransformKind::more) rules.more_row(line.at, rect);
}

}  // namespace recut::gui
