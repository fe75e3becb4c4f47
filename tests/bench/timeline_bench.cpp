// What the timeline and the table of values cost a frame: CPU time of building the frame with and
// without the panel, on the null backend, for a plan of as many steps as wanted.
//
// usage: bench_timeline_bench [BLOCKS|FILE…]     24 nodes a block; without: 100 840
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <vector>

#include "engine/input/bytes.h"
#include "engine/ir/printer.h"
#include "engine/support/table.h"
#include "engine/workspace/open_document.h"
#include "gui/app/app.h"
#include "gui/backend/null_backend.h"
#include "gui/model/memory_stack.h"
#include "gui/model/value_table.h"
#include "tests/gui/repeated_blocks.h"

namespace {

using namespace recut;
using namespace recut::gui;
using Clock = std::chrono::steady_clock;

double median_ms(int times, const std::function<void()>& work) {
  std::vector<double> all;
  for (int i = 0; i < times; ++i) {
    const auto start = Clock::now();
    work();
    all.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

// A window with the graph, every node once, without the jobs that a document begins with.
struct Bench {
  Bench(const std::string& graph, Extent extent, float scale) : backend(extent, scale) {
    AppOptions options;
    options.restore = options.remember = options.welcome = false;
    app.emplace(backend, options);
    OpenOptions open;
    open.passes.emplace();
    auto document = open_document_bytes(graph, "bench", open);
    DocumentView& view = app->documents.add("bench", nullptr);
    view.document = std::make_shared<const Document>(std::move(*document));
    view.basis = std::make_shared<const PlanBasis>(
        *plan_basis(view.document, std::string(kReferenceDevice), "eager"));
    PlanningRequest request;
    request.strategy = "default";
    view.start = view.shown = *make_plan_view(*view.basis, request);
    view.known.add(view.shown);
    view.reasons =
        std::make_shared<const Reasons>(*view.document, view.shown->request, view.shown->planned);
    view.state = DocumentState::ready;
    rows_ms = median_ms(1, [&] { rows = make_value_rows(view.shown, view.reasons); });
    value_table(view).rows = rows;
    value_table(view).requested_reasons = view.reasons;
    (void)app->run("panel.toggle", "trade-off");
  }

  double frame_ms() {
    for (int i = 0; i < 5; ++i) frame();
    return median_ms(25, [&] { frame(); });
  }
  void frame() {
    app->want_frames();
    backend.pass(1.0 / 60);
    app->tick();
  }
  // What the panel adds to a frame, and to its vertices.
  std::pair<double, int> cost(const char* panel) {
    const double with = frame_ms();
    const int vertices = backend.vertices;
    (void)app->run("panel.toggle", panel);
    const double without = frame_ms();
    const int rest = backend.vertices;
    (void)app->run("panel.toggle", panel);
    return {with - without, vertices - rest};
  }
  void point_at(const char* label) {
    if (const Item* item = app->items.find(label))
      backend.give(PointerMoved{item->rect.centre().x, item->rect.centre().y});
  }

  NullBackend backend;
  std::optional<App> app;
  std::shared_ptr<const ValueRows> rows;
  double rows_ms = 0;
};

void measure(Table& table, const std::string& graph, Extent extent, float scale) {
  Bench bench(graph, extent, scale);
  const DocumentView& view = *bench.app->document();
  const auto ms = [](double value) { return fmt::format("{:.2f}", value); };
  const auto [memory, vertices] = bench.cost("memory");
  const auto [values, value_vertices] = bench.cost("values");
  bench.point_at("memory/steps");
  bench.frame();
  const double hovered = bench.cost("memory").first;
  const LayerBands layers = layer_bands(*view.shown);
  const double stack = median_ms(9, [&] { (void)stack_by_module(*view.shown, layers); });
  const double align = median_ms(5, [&] { (void)aligned_steps(*view.shown, *view.start); });
  ValueTable& rows = value_table(*bench.app->documents.front());
  const double sort = median_ms(9, [&] {
    rows.falling = !rows.falling;
    rows.arrange(view);
  });
  rows.filter = "relu mm";
  const double filter = median_ms(9, [&] {
    rows.filter += " ";
    rows.arrange(view);
  });
  table.row({fmt::format("{}x{}", extent.width, extent.height),
             fmt::format("{}", view.shown->replay().steps.size()),
             fmt::format("{}", bench.rows->rows.size()), ms(memory), fmt::format("{}", vertices),
             ms(hovered), ms(values), fmt::format("{}", value_vertices), ms(stack), ms(align),
             ms(sort), ms(filter), ms(bench.rows_ms)});
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> graphs(argv + 1, argv + argc);
  if (graphs.empty()) graphs = {"100", "840"};
  Table table;
  table.column("window");
  for (const char* title :
       {"steps", "rows", "timeline ms", "vertices", "hovered ms", "table ms", "vertices",
        "new stack ms", "align ms", "sort ms", "filter ms", "rows (job) ms"})
    table.column(title, Table::Align::right);
  for (const std::string& graph : graphs) {
    const long blocks = std::strtol(graph.c_str(), nullptr, 10);
    const auto text = blocks > 0 ? Result<std::string>(print(test::RepeatedBlocks::make(blocks)))
                                 : read_file(graph);
    if (!text) {
      fmt::print(stderr, "{}\n", format(text.diagnostics().front()));
      return 1;
    }
    measure(table, *text, {1680, 1050}, 1);
    measure(table, *text, {3840, 2160}, 2);
  }
  fmt::print("{}", table.format(0));
  return 0;
}
