// Choosing one of the graphs that the document's file holds: by compilation, each with its kind and
// its size.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "engine/support/units.h"
#include "gui/app/app.h"
#include "gui/app/graphs_view.h"
#include "gui/backend/paths.h"
#include "gui/draw/widgets.h"

namespace recut::gui {
namespace {

// Units: rows, and the columns beside the key.
constexpr float kGraphRow = 26, kGroupRow = 30, kKindColumn = 220, kNumberColumn = 64;
constexpr float kKeyRoom = 150;  // in less, a row has the kind alone

struct GraphsMemory {
  std::string typed;
  std::size_t chosen = 0;
  bool placed = false;  // `chosen` began at the graph that is shown
};

// A graph, or the heading of the compilation that those below are of.
struct GraphLine {
  const GraphEntry* graph = nullptr;
  std::string compile_id;
};

std::string name_in_compilation(const GraphEntry& graph) {
  const std::size_t at =
      graph.compile_id.empty() ? std::string::npos : graph.key.rfind(graph.compile_id + "/");
  return at == std::string::npos ? graph.key : graph.key.substr(at + graph.compile_id.size() + 1);
}

bool fits_graph(const GraphEntry& graph, const std::string& typed) {
  return typed.empty() || graph.key.find(typed) != std::string::npos ||
         graph.kind.find(typed) != std::string::npos;
}

std::vector<GraphLine> graph_lines(const std::vector<GraphEntry>& graphs,
                                   const std::string& typed) {
  std::vector<const GraphEntry*> fitting;
  for (const GraphEntry& graph : graphs)
    if (fits_graph(graph, typed)) fitting.push_back(&graph);
  // Those of one compilation stand together, in the order of the file.
  std::vector<std::string> ids;
  for (const GraphEntry* graph : fitting)
    if (std::find(ids.begin(), ids.end(), graph->compile_id) == ids.end())
      ids.push_back(graph->compile_id);
  std::vector<GraphLine> lines;
  for (const std::string& id : ids) {
    if (!id.empty()) lines.push_back({nullptr, id});
    for (const GraphEntry* graph : fitting)
      if (graph->compile_id == id) lines.push_back({graph, id});
  }
  return lines;
}

class GraphChooser {
 public:
  GraphChooser(Ui& ui, const PanelInput& input, const DocumentView& document, Intents& intents)
      : ui_(ui),
        input_(input),
        document_(document),
        memory_(input.memory<GraphsMemory>("graphs")),
        intents_(intents) {}

  void draw() {
    Rect rest = input_.whole.inset(ui_.px(14), ui_.px(12));
    const auto* view = find_memory<GraphsView>(document_.memories, kGraphsView);
    const bool listed = view != nullptr && view->graphs != nullptr;
    title(rest.cut_top(ui_.px(30)), listed ? view->graphs->size() : 0);
    rest.cut_top(ui_.px(6));
    if (wants_graph_list(input_.app, document_)) intents_.push_back({"file.list_graphs", ""});
    if (!listed) {
      const bool failed = view != nullptr && !view->fault.empty();
      const std::string text = failed ? view->fault : "Reading the graphs of the file …";
      ui_.items.add("waiting", ItemKind::figure, rest, true, text);
      return wrapped(ui_, rest, text, failed ? ui_.theme.conflict : ui_.theme.dim, Face::text);
    }
    choose(rest, *view->graphs);
  }

 private:
  void title(Rect line, std::size_t count) const {
    const std::string many = fmt::format("{} graphs", format_count(static_cast<long>(count)));
    if (count > 0)
      ui_.text(line.cut_right(ui_.px(110)), many, Face::small, ui_.theme.faint, Align::right);
    line.cut_left(ui_.text(line, "Choose a graph", Face::strong, ui_.theme.text) + ui_.px(12));
    ui_.path(line, file_name(document_.path), Face::mono_small, ui_.theme.dim);
  }

  void choose(Rect rest, const std::vector<GraphEntry>& graphs) {
    FieldLook look;
    look.take_keyboard = true;
    look.hint = "Part of a key, or of a kind";
    const FieldAnswer answer =
        field(ui_, "name", rest.cut_top(ui_.target(30)), memory_.typed, look);
    if (answer.changed) memory_.chosen = 0;
    const std::vector<GraphLine> lines = graph_lines(graphs, memory_.typed);
    std::vector<const GraphEntry*> offered;
    for (const GraphLine& line : lines)
      if (line.graph != nullptr && line.graph->fault.empty()) offered.push_back(line.graph);
    place(offered);
    if (answer.committed && !offered.empty()) return take(*offered[memory_.chosen]);
    rest.cut_top(ui_.px(10));
    if (lines.empty()) {
      ui_.text(rest.cut_top(ui_.px(26)), "No graph fits", Face::text, ui_.theme.dim);
      return;
    }
    heads(rest.cut_top(ui_.px(20)));
    list(rest, lines, offered.empty() ? nullptr : offered[memory_.chosen]);
  }

  // Keys go from graph to graph, and begin at the one that is shown.
  void place(const std::vector<const GraphEntry*>& offered) {
    if (!memory_.placed)
      for (std::size_t i = 0; i < offered.size(); ++i)
        if (offered[i]->key == document_.document->file.key) memory_.chosen = i;
    memory_.placed = true;
    if (ImGui::IsKeyPressed(ImGuiKey_DownArrow)) ++memory_.chosen;
    if (ImGui::IsKeyPressed(ImGuiKey_UpArrow) && memory_.chosen > 0) --memory_.chosen;
    memory_.chosen = offered.empty() ? 0 : std::min(memory_.chosen, offered.size() - 1);
  }

  void take(const GraphEntry& graph) {
    memory_ = GraphsMemory();
    intents_.push_back({"overlay.close", ""});
    if (graph.key != document_.document->file.key) intents_.push_back({"file.graph", graph.key});
  }

  struct Cells {
    Rect mark, kind, key, nodes, inputs;
  };
  Cells cells_of(Rect line) const {
    Cells cells;
    line = line.inset(ui_.px(8), 0);
    cells.mark = line.cut_left(ui_.px(16));
    const bool narrow = line.width() < ui_.px(kKindColumn + 2 * kNumberColumn + kKeyRoom);
    cells.inputs = line.cut_right(narrow ? 0 : ui_.px(kNumberColumn));
    cells.nodes = line.cut_right(ui_.px(kNumberColumn));
    line.cut_right(ui_.px(8));
    cells.kind = narrow ? line : line.cut_left(ui_.px(kKindColumn));
    cells.key = narrow ? Rect{} : line;
    return cells;
  }

  void heads(Rect line) const {
    line.right -= ui_.px(kScrollbar);
    const Cells cells = cells_of(line);
    const auto head = [&](const Rect& rect, std::string_view text, Align align) {
      if (rect.width() > 0) ui_.text(rect, text, Face::small, ui_.theme.faint, align);
    };
    head(cells.kind, "kind", Align::left);
    head(cells.key, "key", Align::left);
    head(cells.nodes, "nodes", Align::right);
    head(cells.inputs, "inputs", Align::right);
  }

  void list(const Rect& area, const std::vector<GraphLine>& lines, const GraphEntry* chosen) {
    const auto high_of = [&](const GraphLine& line) {
      return line.graph != nullptr ? ui_.target(kGraphRow) : ui_.px(kGroupRow);
    };
    float all = 0;
    for (const GraphLine& line : lines) all += high_of(line);
    const Scrolled region = begin_scroll(ui_, "graphs", area, all);
    const bool by_keys =
        ImGui::IsKeyPressed(ImGuiKey_DownArrow) || ImGui::IsKeyPressed(ImGuiKey_UpArrow);
    Rect rest = region.content;
    rest.right -= ui_.px(kScrollbar);
    rest.bottom = rest.top + all;
    const GraphEntry* pressed = nullptr;
    for (const GraphLine& line : lines) {
      const Rect rect = rest.cut_top(high_of(line));
      const bool here = line.graph != nullptr && line.graph == chosen;
      if (here && by_keys) scroll_to(rect.top, rect.bottom, region);
      if (!rect.meets(region.visible)) continue;
      if (line.graph == nullptr)
        group(rect, line.compile_id);
      else if (graph_row(*line.graph, rect, here))
        pressed = line.graph;
    }
    end_scroll();
    if (pressed != nullptr) take(*pressed);
  }

  void group(Rect rect, const std::string& compile_id) const {
    rect = rect.inset(ui_.px(8), 0);
    rect.cut_top(ui_.px(8));
    ui_.items.add("compilation " + compile_id, ItemKind::figure, rect, true, compile_id);
    const float wide =
        ui_.text(rect, fmt::format("compilation {}", compile_id), Face::small, ui_.theme.dim);
    rect.cut_left(wide + ui_.px(8));
    const float middle = std::round(rect.centre().y);
    ui_.line({rect.left, middle}, {rect.right, middle}, ui_.theme.line, ui_.whole(1));
  }

  // True if it was pressed.
  bool graph_row(const GraphEntry& graph, const Rect& rect, bool chosen) {
    const bool shown = graph.key == document_.document->file.key;
    const Cells cells = cells_of(rect);
    if (!graph.fault.empty()) {
      (void)interact(ui_, graph.key, ItemKind::row, rect, false, graph.fault);
      hint(ui_, graph.fault);
      ui_.text(cells.kind, graph.kind, Face::text, ui_.theme.faint);
      if (cells.key.width() > 0)
        ui_.text({cells.key.left, rect.top, cells.inputs.right, rect.bottom}, graph.fault,
                 Face::small, ui_.theme.faint);
      return false;
    }
    const bool pressed = row(ui_, graph.key, rect, chosen, shown ? "shown" : graph.kind).pressed;
    if (shown)
      ui_.circle({cells.mark.left + ui_.px(5), cells.mark.centre().y}, ui_.px(3),
                 ui_.theme.selection);
    ui_.text(cells.kind, graph.kind, Face::text, ui_.theme.text);
    if (cells.key.width() > 0)
      ui_.text(cells.key, name_in_compilation(graph), Face::mono_small, ui_.theme.dim);
    number(cells.nodes, graph.nodes);
    if (cells.inputs.width() > 0) number(cells.inputs, graph.inputs);
    return pressed;
  }

  void number(const Rect& rect, std::int64_t value) const {
    ui_.text(rect, format_count(value), Face::mono_small, ui_.theme.dim, Align::right);
  }

  Ui& ui_;
  const PanelInput& input_;
  const DocumentView& document_;
  GraphsMemory& memory_;
  Intents& intents_;
};

void draw_graphs(Ui& ui, const PanelInput& input, Intents& intents) {
  if (input.document == nullptr || !input.document->document) {
    intents.push_back({"overlay.close", ""});
    return;
  }
  GraphChooser(ui, input, *input.document, intents).draw();
}

}  // namespace

Panel graphs_panel() { return {"graphs", "", Dock::overlay, 5, 1, draw_graphs, 780, 460}; }

}  // namespace recut::gui
