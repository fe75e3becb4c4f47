#include "gui/panels/transforms_history.h"
#include "gui/model/node_trace.h"

#include <fmt/core.h>

#include <algorithm>

namespace recut::gui {
namespace {

constexpr float kMinWhen = 54, kWhen = 104;  // units: the column of passes
constexpr std::size_t kTransformsHistoryLongestHint = 2000;

// The call in a node's line; of a placeholder, its kind.
std::string call_of(const std::string& line) {
  const std::size_t equals = line.find(" = ");
  if (equals == std::string::npos) return line;
  const std::size_t end = std::min(line.find_first_of("( ", equals + 3), line.size());
  return line.substr(equals + 3, end - equals - 3);
}

class History {
 public:
  History(Ui& ui, const Transforms& memory, const DocumentView& document, Intents& intents)
      : ui_(ui),
        memory_(memory),
        document_(document),
        passes_(document.document->passes),
        intents_(intents) {}

  void title_row(const Rect& rect) const {
    const SelectionAnchor& of = memory_.history_of;
    const Graph& graph = graph_after(passes_, of.pass);
    Rect rest = rect;
    rest.cut_left(ui_.text(rest, "History of ", Face::strong, ui_.theme.text) + ui_.px(4));
    ui_.text(rest, graph.node_name(of.node), Face::mono_strong, ui_.theme.selection);
  }

  void event_row(std::size_t at, const Rect& rect) {
    const NodeEvent& event = memory_.history[at];
    const std::string& before = at > 0 ? memory_.history[at - 1].line : event.line;
    std::string text = call_of(event.line);
    if (!event.node.valid()) {
      text = event.rule.empty() ? "gone" : "gone, " + event.rule;
    } else if (at > 0) {
      const bool renamed =
          event.line.substr(0, event.line.find(" = ")) != before.substr(0, before.find(" = "));
      text = !event.rule.empty() ? event.rule : "other operands";
      if (renamed) text += " → " + event.line.substr(0, event.line.find(" = "));
    }
    const WidgetResponse t =
        history_row(fmt::format("event {}", event.pass), rect, pass_title(document_, event.pass),
                    {text, event.node.valid() ? call_of(event.line) : std::string("gone")},
                    event.node.valid() ? ui_.theme.dim : ui_.theme.faint, at == event_shown());
    if (t.pressed) go(event.pass);
    if (t.hovered)
      hint(ui_, (event.node.valid() ? event.line : "gone; it was\n" + before)
                    .substr(0, kTransformsHistoryLongestHint));
  }

  // The event that the line in the shown graph comes from.
  std::size_t event_shown() const {
    std::size_t at = memory_.history.size();
    for (std::size_t i = 0; i < memory_.history.size(); ++i)
      if (memory_.history[i].pass <= document_.pass) at = i;
    return at;
  }

  void fate_row(const Rect& rect) {
    const Role role = document_.shown->role(memory_.planned);
    const std::int64_t runs =
        document_.shown->extra_runs[document_.graph().position(memory_.planned)];
    const std::string fate(name_of(role));
    std::vector<std::string> text{"    " + fate};
    if (runs > 0)
      text = {fmt::format("    {}, {} more run{}", fate, runs, runs > 1 ? "s" : ""),
              fmt::format("    {} +{}", fate, runs), "    " + fate};
    const WidgetResponse t =
        history_row("fate", rect, "plan", text, colour_of(ui_.theme, role), false);
    ui_.sign({rect.left + ui_.px(9 + 7) + when_, rect.centre().y}, role);
    if (t.pressed) go(passes_.passes.size());
    if (t.hovered && runs > 0)
      hint(ui_, fmt::format("{}: {} more run{}", fate, runs, runs > 1 ? "s" : ""));
  }

  void run_row(std::size_t at, const Rect& rect) {
    const PlanStep& step = document_.shown->replay().steps[memory_.runs[at]];
    const std::string at_step = step_label(document_.shown->report(), memory_.runs[at]);
    const std::string how = step.again ? ", again" : step.inlined ? ", inside a kernel" : "";
    history_row(fmt::format("run {}", at), rect, at == 0 ? "runs at" : "", {at_step + how, at_step},
                step.again ? ui_.theme.recomputed : ui_.theme.dim, false);
  }

  void go(std::size_t pass) {
    if (pass != document_.pass) intents_.push_back({"pass.set", fmt::format("{}", pass)});
  }

  // The width of the column of passes.
  float passes_width() const {
    float widest = ui_.px(kMinWhen);
    for (const NodeEvent& event : memory_.history)
      widest =
          std::max(widest, ui_.width(pass_title(document_, event.pass), Face::small) + ui_.px(10));
    return std::min(widest, ui_.px(kWhen));
  }

  // Shows the longest of the texts that fits the row.
  WidgetResponse history_row(const std::string& label, const Rect& rect, std::string_view when,
                             const std::vector<std::string>& text, Colour colour, bool chosen) {
    const WidgetResponse t = row(ui_, label, rect, chosen, text.front());
    Rect rest = rect;
    rest.cut_left(ui_.px(9));
    ui_.text(rest.cut_left(when_), when, Face::small, ui_.theme.dim);
    if (ui_.fitting(rest, text, Face::mono, colour) == 0)
      ui_.text(rest, text.back(), Face::mono, colour);
    return t;
  }

 private:
  Ui& ui_;
  const Transforms& memory_;
  const DocumentView& document_;
  const PipelineReport& passes_;
  Intents& intents_;
  const float when_ = passes_width();  // pixels
};

}  // namespace

void draw_history(Ui& ui, const TransformLine& line, const Rect& rect, const Transforms& memory,
                  const DocumentView& document, Intents& intents) {
  History history(ui, memory, document, intents);
  if (line.kind == TransformKind::title) history.title_row(rect);
  if (line.kind == TransformKind::event) history.event_row(line.at, rect);
  if (line.kind == TransformKind::fate) history.fate_row(rect);
  if (line.kind == TransformKind::run) history.run_row(line.at, rect);
}

}  // namespace recut::gui
