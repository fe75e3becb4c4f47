// How long the graph panel takes: from the graph to the first picture drawn, and then a frame, at
// zooms from all of it to one operator. The backend is null, so that this is what the window's own
// code costs and no more: making draw lists, vertices counted. Then the same in two panes, with
// another document of the same nodes beside it: comparing the two, and frames in which both move.
//
// usage: bench_canvas_bench FILE…
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "engine/input/graph_file_reader.h"
#include "engine/ir/printer.h"
#include "engine/support/table.h"
#include "engine/support/units.h"
#include "gui/app/app.h"
#include "gui/app/panes_view.h"
#include "gui/backend/null_backend.h"
#include "gui/canvas/canvas.h"
#include "tests/gui/repeated_blocks.h"

namespace {

using namespace recut;
using namespace recut::gui;
using Clock = std::chrono::steady_clock;

double ms_of(const std::function<void()>& work) {
  const auto start = Clock::now();
  work();
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

constexpr double kZooms[] = {0.001, 0.01, 0.05, 0.075, 0.15, 0.3, 0.5, 0.62, 1, 2, 4};

struct Figures {
  std::size_t nodes = 0, boxes = 0;
  double layout = 0, first = 0;  // the default view: its layout, and the first frame with it
  double all_layout = 0;         // everything expanded
  double plan = 0, search = 0;   // the frame in which another plan is shown; all matches of a word
  double slowest = 0, at_zoom = 0;
  int most_vertices = 0;
  std::vector<double> frames;    // by zoom, the slowest of several places
  double compare = 0, next = 0;  // of two panes: the comparison, a step to the next difference
};

class Bench {
 public:
  // Adds a document without a plan of its own budget: jobs off the frame aren't measured.
  Bench(Graph graph, Extent extent) : backend_(extent), app_(backend_, options()) {
    app_.settings.set_flag("reduced_motion", true);
    add_document("bench", std::move(graph), 0);
    for (const Panel& panel : app_.panels)
      if (panel.id != "graph") app_.settings.set_flag("panel." + std::string(panel.id), false);
  }

  // Measures the canvas beside another one.
  Figures run_panes() {
    Figures figures;
    DocumentView& view = *app_.document();
    figures.nodes = view.graph().order().size();
    add_document("beside", view.graph(), 1);
    app_.documents.show(view.serial);
    must(app_.run("compare.panes", "document 2"));
    figures.compare = ms_of(
        [&] { (void)make_comparison(shown_graph(view), shown_graph(*app_.documents.find(2))); });
    settle();
    must(app_.run("graph.expand_all"));
    settle();
    figures.boxes = canvas().picture->layout.boxes.size() +
                    canvas_of(view.memories, Pane::there).picture->layout.boxes.size();
    for (const double zoom : kZooms) measure(zoom, true, figures);
    must(app_.run("graph.zoom", "100"));
    figures.next = ms_of([&] {
      must(app_.run("compare.next"));
      app_.tick();
    });
    return figures;
  }

  Figures run() {
    Figures figures;
    figures.nodes = app_.document()->graph().order().size();
    while (canvas().picture == nullptr) tick();
    figures.layout = canvas().milliseconds;
    figures.first = first_;
    must(app_.run("graph.expand_all"));
    const int before = canvas().pictures;
    while (canvas().pictures == before) tick();
    figures.all_layout = canvas().milliseconds;
    figures.boxes = canvas().picture->layout.boxes.size();
    for (const double zoom : kZooms) measure(zoom, false, figures);
    DocumentView& view = *app_.document();
    view.shown = std::make_shared<PlanView>(*view.shown);
    app_.want_frames();
    figures.plan = ms_of([&] { app_.tick(); });
    figures.search = ms_of([&] { must(app_.run("search.set", "mul saved bytes > 1 KiB")); });
    return figures;
  }

 private:
  static AppOptions options() {
    AppOptions options;
    options.restore = options.remember = options.welcome = false;
    return options;
  }
  static void must(const Result<Done>& done) {
    if (!done) fmt::print(stderr, "{}\n", done.diagnostics().front().message);
  }

  // Adds a document with a plan; with another `shift`, plans differ at every node.
  void add_document(const char* title, Graph graph, std::size_t shift) {
    DocumentView& view = app_.documents.add(title, nullptr);
    auto document = std::make_shared<Document>();
    document->passes.input = std::move(graph);
    view.document = document;
    view.state = DocumentState::ready;
    auto basis = plan_basis(document, view.plan_settings.device, view.plan_settings.cost_model);
    if (!basis) return;
    view.basis = std::make_shared<const PlanBasis>(std::move(*basis));
    view.shown = plan_of(*view.basis, shift);
  }

  // Ticks until nothing is at work and nothing moves.
  void settle() {
    app_.want_frames();
    do {
      backend_.pass(1.0 / 60);
      app_.tick();
    } while (!app_.idle());
  }

  // Every third value saved, every third computed again: what is drawn is of all kinds.
  static SharedPlanView plan_of(const PlanBasis& basis, std::size_t shift) {
    PlanningRequest request;
    request.budget = "none";
    auto made = make_plan_view(basis, request);
    if (!made) return nullptr;
    auto plan = std::make_shared<PlanView>(**made);
    for (std::size_t i = 0; i < plan->roles.size(); ++i)
      plan->roles[i] = (i + shift) % 3 == 0   ? gui::Role::saved
                       : (i + shift) % 3 == 1 ? gui::Role::recomputed
                                              : gui::Role::freed;
    return plan;
  }

  Canvas& canvas() { return canvas_of(app_.document()->memories); }
  void tick() {
    backend_.pass(1.0 / 60);
    const bool had = canvas().picture != nullptr;
    app_.want_frames();
    const double ms = ms_of([&] { app_.tick(); });
    // Without threads the job runs within a tick: what is left is the frame.
    if (!had && canvas().picture != nullptr) first_ = ms - canvas().milliseconds;
  }

  // The slowest of nine places, each the quickest of three frames. `moving`: frames of a drag, each
  // of which finds anew what stands side by side.
  void measure(double zoom, bool moving, Figures& figures) {
    const gui::layout::Rect bounds = canvas().picture->layout.bounds;
    double slowest = 0;
    constexpr int kPlaces = 9;
    for (int place = 0; place < kPlaces; ++place) {
      Camera camera{place % 3 * 120.0 - 120, 0, zoom};
      camera.y = static_cast<double>(bounds.top) +
                 (place + 0.5) / kPlaces * static_cast<double>(bounds.height());
      jump(canvas(), camera);
      if (!moving) tick();
      double best = 1e9;
      for (int i = 0; i < 3; ++i) {
        if (moving) camera.y += 1 / zoom;
        if (moving) jump(canvas(), camera);
        app_.want_frames();
        backend_.pass(1.0 / 60);
        best = std::min(best, ms_of([&] { app_.tick(); }));
      }
      slowest = std::max(slowest, best);
      figures.most_vertices = std::max(figures.most_vertices, backend_.vertices);
    }
    figures.frames.push_back(slowest);
    if (slowest > figures.slowest) {
      figures.slowest = slowest;
      figures.at_zoom = zoom;
    }
  }

  NullBackend backend_;
  App app_;
  double first_ = 0;
};

std::string base_name(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::size_t start = slash == std::string::npos ? 0 : slash + 1;
  return path.substr(start, path.find('.', start) - start);
}

std::string count(std::size_t n) { return format_count(static_cast<std::int64_t>(n)); }

void row(Table& table, const std::string& name, Graph graph, Extent extent) {
  const Figures f = Bench(std::move(graph), extent).run();
  std::vector<std::string> cells{name,
                                 count(f.nodes),
                                 fmt::format("{:.1f}", f.layout),
                                 fmt::format("{:.1f}", f.layout + f.first),
                                 count(f.boxes),
                                 fmt::format("{:.1f}", f.all_layout)};
  for (const double frame : f.frames) cells.push_back(fmt::format("{:.2f}", frame));
  cells.push_back(fmt::format("{:.2f}", f.plan));
  cells.push_back(fmt::format("{:.1f}", f.search));
  cells.push_back(fmt::format("{:.2f} at {:g}", f.slowest, f.at_zoom));
  cells.push_back(count(static_cast<std::size_t>(f.most_vertices)));
  table.row(cells);
}

void panes_row(Table& table, const std::string& name, Graph graph, Extent extent) {
  const Figures f = Bench(std::move(graph), extent).run_panes();
  std::vector<std::string> cells{name, count(f.nodes), fmt::format("{:.1f}", f.compare),
                                 count(f.boxes)};
  for (const double frame : f.frames) cells.push_back(fmt::format("{:.2f}", frame));
  cells.push_back(fmt::format("{:.2f}", f.next));
  cells.push_back(fmt::format("{:.2f} at {:g}", f.slowest, f.at_zoom));
  cells.push_back(count(static_cast<std::size_t>(f.most_vertices)));
  table.row(cells);
}

Table panes_table() {
  Table table;
  table.column("graph");
  std::vector<std::string> titles{"nodes", "comparing ms", "boxes"};
  for (const double zoom : kZooms) titles.push_back(fmt::format("{:g} %", zoom * 100));
  titles.push_back("next difference ms");
  titles.push_back("slowest frame ms");
  titles.push_back("vertices");
  for (const std::string& title : titles) table.column(title, Table::Align::right);
  return table;
}

}  // namespace

int main(int argc, char** argv) {
  Table beside = panes_table();
  Table table;
  table.column("graph");
  std::vector<std::string> titles{"nodes", "layout ms", "with first frame ms", "boxes",
                                  "layout ms"};
  for (const double zoom : kZooms) titles.push_back(fmt::format("{:g} %", zoom * 100));
  titles.push_back("another plan ms");
  titles.push_back("search ms");
  titles.push_back("slowest frame ms");
  titles.push_back("vertices");
  for (const std::string& title : titles) table.column(title, Table::Align::right);
  for (int i = 1; i < argc; ++i) {
    auto file = read_graph_file(argv[i], "joint_after_passes");
    if (!file) {
      fmt::print(stderr, "{}\n", format(file.diagnostics().front()));
      return 1;
    }
    panes_row(beside, base_name(argv[i]), file->graph, {1680, 1050});
    row(table, base_name(argv[i]), std::move(file->graph), {1680, 1050});
  }
  row(table, "2,170 blocks", test::RepeatedBlocks::make(2170), {1680, 1050});
  row(table, "2,170 blocks, 4K", test::RepeatedBlocks::make(2170), {3840, 2160});
  panes_row(beside, "2,170 blocks", test::RepeatedBlocks::make(2170), {1680, 1050});
  panes_row(beside, "2,170 blocks, 4K", test::RepeatedBlocks::make(2170), {3840, 2160});
  fmt::print("Frames at zooms, everything expanded, in ms:\n{}", table.format(0));
  fmt::print("\nTwo documents in two panes, both moving, in ms:\n{}", beside.format(0));
  return 0;
}
