// A kernel's text: line numbers, highlighted words, and the source node of lines.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "gui/app/app.h"
#include "gui/app/run_target.h"
#include "gui/draw/widgets.h"
#include "gui/panels/code_parts.h"

namespace recut::gui {
namespace {

constexpr float kLineHigh = 18, kNumber = 40;              // units
constexpr float kBeforeOrigin = 16, kShortestOrigin = 56;  // units: of a node's name
constexpr std::size_t kCodeLinesMaxBytes = 600;            // more than fits on any screen
constexpr std::size_t kCodeLinesLongestHint = 2000;

struct CodeLinesPiece {
  std::string_view text;
  Colour colour = 0;
};

// The defined name, the operator or statement, and the rest.
std::vector<CodeLinesPiece> code_lines_pieces_of(const Theme& theme, std::string_view line) {
  std::vector<CodeLinesPiece> pieces;
  const auto take = [&](std::size_t end, Colour colour) {
    end = std::min(end, line.size());
    if (end > 0) pieces.push_back({line.substr(0, end), colour});
    line.remove_prefix(end);
  };
  const std::size_t start = std::min(line.find_first_not_of(' '), line.size());
  take(start, theme.faint);
  const bool remark = line.substr(0, 1) == ";" || line.substr(0, 5) == "note ";
  if (remark) {
    take(line.size(), theme.faint);
    return pieces;
  }
  if (line.substr(0, 1) == "%") {
    const std::size_t equals = line.find(" = ");
    take(equals == std::string_view::npos ? equals : equals + 3, theme.text);
  }
  take(line.find(' '), theme.selection);
  take(line.size(), mix(theme.dim, theme.text, 0.35));
  return pieces;
}

class Lines {
 public:
  explicit Lines(const CodePanelContext& context)
      : context_(context),
        ui_(context.ui),
        text_(*context.view.text),
        marked_(marked_node(context.document)) {}

  void draw(const Rect& area) {
    area_ = area;
    const float high = std::round(ui_.px(kLineHigh));
    const Scrolled region =
        begin_scroll(ui_, "lines", area, high * static_cast<float>(text_.lines.size()));
    const float above = region.visible.top - region.content.top;
    const auto first = static_cast<std::size_t>(std::max(0.0f, above / high));
    const auto shown = static_cast<std::size_t>(region.visible.height() / high) + 2;
    const std::size_t end = std::min(text_.lines.size(), first + shown);
    for (std::size_t i = first; i < end; ++i)
      line(i, first,
           rect_at({region.content.left, region.content.top + high * static_cast<float>(i)},
                   {region.content.width(), high}));
    bring(region, high);
    end_scroll();
  }

 private:
  void bring(const Scrolled& region, float high) const {
    const App& app = context_.input.app;
    if (!context_.view.bring_line ||
        !is_current(context_.view, shown_target(app), chosen_library(app)))
      return;
    context_.view.bring_line = false;
    const std::size_t requested = context_.view.line == CodeText::kNoLine ? 0 : context_.view.line;
    const float top = region.content.top + high * static_cast<float>(requested);
    const float around = std::min(region.visible.height() / 3, high * 8);
    scroll_to(top - around, top + high + around, region);
  }

  void line(std::size_t i, std::size_t first, const Rect& row) {
    const CodeLine& it = text_.lines[i];
    const bool marked = it.node.valid() && it.node == marked_;
    const bool pointed = it.node.valid() && it.node == context_.document.selection.hovered;
    const WidgetResponse t = interact(ui_, fmt::format("line {}", i + 1), ItemKind::row, row,
                                      it.node.valid(), it.text.substr(0, 200));
    if (t.hovered && !pointed && it.node.valid())
      context_.intents.push_back({"select.hover", name(it.node)});
    if (t.pressed) context_.intents.push_back({"code.line", fmt::format("{}", i + 1)});
    ground(i, row, marked, t.hovered || pointed);
    Rect rest = row;
    ui_.text(rest.cut_left(ui_.px(kNumber)), fmt::format("{}", i + 1), Face::mono_small,
             mix(ui_.theme.panel, ui_.theme.faint, 0.8), Align::right);
    rest.cut_left(ui_.px(12));
    rest.cut_right(ui_.px(10));
    const float left = draw_text(rest, it.text);
    if (t.hovered && left < 0) hint(ui_, it.text.substr(0, kCodeLinesLongestHint));
    if (says_origin(i, first)) origin(it.node, rest.cut_right(left - ui_.px(kBeforeOrigin)));
  }

  void ground(std::size_t i, const Rect& row, bool marked, bool hovered) const {
    if (marked) ui_.fill(row, ui_.theme.selection, 0, 0.1);
    if (hovered) ui_.fill(row, ui_.theme.raised, 0, marked ? 0.5 : 0.9);
    const float wide = ui_.whole(2);
    if (marked) ui_.fill({row.left, row.top, row.left + wide, row.bottom}, ui_.theme.selection);
    const bool cursor = i == context_.view.line && !context_.view.on_kernel;
    if (!cursor) return;
    ui_.frame(row.inset(ui_.px(1), 0), ui_.theme.selection, ui_.px(2));
    ui_.items.add("cursor", ItemKind::figure, row.within(area_), true,
                  text_.lines[i].text.substr(0, kCodeLinesLongestHint));
  }

  const std::string& name(NodeId node) const { return text_.of->graph().node_name(node); }

  // True for the first of neighbouring lines of the same origin, and for the first visible line.
  bool says_origin(std::size_t i, std::size_t first) const {
    const NodeId node = text_.lines[i].node;
    return node.valid() && (i == first || text_.lines[i - 1].node != node);
  }

  // The source node, in the rest of the line, if that is wide enough.
  void origin(NodeId node, const Rect& rect) const {
    const float wide = ui_.width(name(node), Face::mono_small);
    if (rect.width() < std::min(wide, ui_.px(kShortestOrigin))) return;
    ui_.text(rect, name(node), Face::mono_small,
             node == marked_ ? ui_.theme.selection : ui_.theme.faint, Align::right);
  }

  // Draws the line; returns the pixels that it leaves, below 0 if it ends in "…".
  float draw_text(const Rect& rect, std::string_view text) const {
    ui_.items.add_text(text, rect);
    Rect rest = rect;
    for (const CodeLinesPiece& piece :
         code_lines_pieces_of(ui_.theme, text.substr(0, kCodeLinesMaxBytes))) {
      const float wide = ui_.width(piece.text, Face::mono);
      ui_.text(rest, piece.text, Face::mono, piece.colour);
      if (wide > rest.width()) return rest.width() - wide;
      rest.cut_left(wide);
    }
    return rest.width();
  }

  const CodePanelContext& context_;
  Ui& ui_;
  const CodeText& text_;
  const NodeId marked_;
  Rect area_;
};

}  // namespace

void draw_code(const CodePanelContext& context, const Rect& area) { Lines(context).draw(area); }

}  // namespace recut::gui
