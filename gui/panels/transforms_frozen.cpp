#include "gui/panels/transforms_frozen.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "engine/support/units.h"
#include "gui/model/node_trace.h"
#include "gui/model/pass_steps.h"

namespace recut::gui {
namespace {

constexpr std::size_t kMaxInto = 12;  // constants that a weight's tooltip names

std::string fate_remark(WeightFate fate) {
  switch (fate) {
    case WeightFate::kept:
      return "The frozen graph reads these weights as they are";
    case WeightFate::folded:
      return "Only computed constants have the values of these weights";
    case WeightFate::unread:
      return "No result depends on these weights";
    case WeightFate::no_value:
      return "The file has no value for these weights, so they stay inputs";
  }
  return "";
}

// "conv1_w", or "3 constants"; "" for none.
std::string into_text(const FrozenWeight& weight) {
  if (weight.into.empty()) return "";
  return weight.into.size() == 1 ? weight.into.front()
                                 : fmt::format("{} constants", weight.into.size());
}

class FrozenPart {
 public:
  FrozenPart(Ui& ui, Transforms& memory, const DocumentView& document, Intents& intents)
      : ui_(ui), memory_(memory), document_(document), intents_(intents) {}

  void title_row(const Rect& rect) const {
    const FreezeReport& report = *document_.document->frozen;
    heading(ui_, rect, "Weights",
            fmt::format("{} become {}", format_bytes(report.bytes_before),
                        format_bytes(report.bytes_after)));
  }

  void fate_row(WeightFate fate, const Rect& rect) {
    const FreezeReport& report = *document_.document->frozen;
    const bool open = memory_.open_fate == fate;
    const std::string count = format_count(report.count(fate));
    const WidgetResponse t = interact(ui_, fmt::format("weights {}", name_of(fate)),
                                      ItemKind::toggle, rect, true, count);
    hint(ui_, fate_remark(fate));
    if (t.pressed) memory_.open_fate = open ? std::nullopt : std::optional(fate);
    if (t.hovered) ui_.fill(rect, mix(ui_.theme.panel, ui_.theme.raised, 0.6));
    Rect rest = rect;
    fold_mark(ui_, rest.cut_left(ui_.px(9)), open, t.hovered);
    rest.cut_left(ui_.px(6));
    rest.cut_right(ui_.px(2));
    ui_.text(rest.cut_right(ui_.width(count, Face::mono_small)), count, Face::mono_small,
             ui_.theme.dim, Align::right);
    ui_.text(rest, name_of(fate), Face::text, open || t.hovered ? ui_.theme.text : ui_.theme.dim);
  }

  // A weight is known by its node in the graph as read: a folded one is in no later graph.
  void weight_row(const FrozenWeight& weight, const Rect& rect) {
    const std::string into = into_text(weight);
    const std::string fate =
        fmt::format("{}{}", name_of(weight.fate), into.empty() ? "" : " into " + into);
    const bool chosen = is_selected(weight.name);
    const WidgetResponse t = row(ui_, "weight " + weight.name, rect, chosen, fate);
    if (t.pressed) intents_.push_back({"select.at", "0 " + weight.name});
    if (t.hovered) hint(ui_, explain(weight));
    Rect rest = rect;
    rest.cut_left(ui_.px(15));
    rest.cut_right(ui_.px(2));
    const std::string bytes = format_bytes(weight.bytes);
    ui_.text(rest.cut_right(ui_.width(bytes, Face::mono_small)), bytes, Face::mono_small,
             ui_.theme.faint, Align::right);
    rest.cut_right(ui_.px(8));
    const Colour ink = chosen || t.hovered ? ui_.theme.text : ui_.theme.dim;
    rest.cut_left(ui_.text(rest, weight.name, Face::mono, ink) + ui_.px(8));
    if (!into.empty()) ui_.text(rest, "→ " + into, Face::mono, ui_.theme.faint);
  }

 private:
  bool is_selected(const std::string& name) const {
    const SelectionAnchor anchor = anchor_of(document_);
    return anchor.node.valid() &&
           graph_after(document_.document->passes, anchor.pass).node_name(anchor.node) == name;
  }

  static std::string explain(const FrozenWeight& weight) {
    std::string text =
        fmt::format("{}: {}, {}", weight.name, name_of(weight.fate), format_bytes(weight.bytes));
    if (weight.into.empty()) return text;
    const std::size_t named = std::min(weight.into.size(), kMaxInto);
    text += fmt::format("\nconstants with its values: {}",
                        fmt::join(weight.into.begin(),
                                  weight.into.begin() + static_cast<std::ptrdiff_t>(named), ", "));
    if (named < weight.into.size()) text += fmt::format(" and {} more", weight.into.size() - named);
    return text;
  }

  Ui& ui_;
  Transforms& memory_;
  const DocumentView& document_;
  Intents& intents_;
};

}  // namespace

void draw_frozen(Ui& ui, const TransformLine& line, const Rect& rect, Transforms& memory,
                 const DocumentView& document, Intents& intents) {
  FrozenPart part(ui, memory, document, intents);
  if (line.kind == TransformKind::weights) part.title_row(rect);
  if (line.kind == TransformKind::weight_fate)
    part.fate_row(static_cast<WeightFate>(line.at), rect);
  if (line.kind == TransformKind::weight)
    part.weight_row(document.document->frozen->weights[line.at], rect);
}

}  // namespace recut::gui
