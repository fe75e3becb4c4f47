// How long the layout of a graph takes, and how much of it a screen shows.
//
// usage: bench_layout_bench FILE…
//        bench_layout_bench picture FILE OUT.svg [BOXES|all]     the layout as SVG
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/input/graph_file_reader.h"
#include "engine/support/table.h"
#include "engine/support/units.h"
#include "gui/layout/graph_layout.h"
#include "gui/layout/lay_out.h"
#include "gui/layout/scene_of.h"
#include "gui/pictures/graph_picture.h"
#include "tests/gui/repeated_blocks.h"

namespace {

namespace layout = recut::gui::layout;
using Clock = std::chrono::steady_clock;

// The median of five, in milliseconds.
double median_ms(const std::function<void()>& work) {
  std::vector<double> times;
  for (int i = 0; i < 5; ++i) {
    const auto start = Clock::now();
    work();
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

layout::GraphLayout laid_out(const layout::Scene& scene, const layout::Expansion& expansion,
                             layout::LayoutCache& cache) {
  return *layout::lay_out(scene, expansion, cache);
}

// The first group that is closed in `expansion` and shows.
const layout::Group* first_closed(const layout::Scene& scene, const layout::GraphLayout& shown) {
  for (const layout::Box& box : shown.boxes)
    if (!box.node.valid() && box.side == layout::Side::forward)
      return &scene.groups[box.group.index];
  return nullptr;
}

struct Figures {
  std::size_t nodes = 0, boxes = 0, most_drawn = 0;
  double scene = 0, full = 0, standard = 0, expand = 0, query = 0;
};

// The slowest of looks at zooms from all to 1, each at 9 places, and the most that one gives.
void measure_looks(const layout::GraphLayout& all, Figures& figures) {
  layout::Visible visible;
  const float fit = std::min(1.0f, 1000 / std::max(1.0f, all.bounds.height()));
  for (float zoom = fit; zoom <= 1; zoom *= 2)
    for (int place = 0; place < 9; ++place) {
      const float height = 1000 / zoom, width = 1600 / zoom;
      const float top =
          all.bounds.top + (all.bounds.height() - height) * static_cast<float>(place) / 8;
      const layout::Rect rect{-width / 2, top, width / 2, top + height};
      figures.query =
          std::max(figures.query, median_ms([&] { layout::look(all, rect, zoom, visible); }));
      figures.most_drawn =
          std::max(figures.most_drawn, visible.bands.size() + visible.blocks.size() +
                                           visible.boxes.size() + visible.edges.size());
    }
}

Figures measure(const recut::Graph& graph) {
  Figures figures;
  layout::Scene scene;
  figures.scene = median_ms([&] { scene = layout::scene_of(graph); });
  figures.nodes = scene.nodes.size();
  layout::Expansion all;
  all.all = true;
  layout::GraphLayout shown;
  figures.full = median_ms([&] {
    layout::LayoutCache fresh;
    shown = laid_out(scene, all, fresh);
  });
  figures.boxes = shown.boxes.size();
  measure_looks(shown, figures);
  const layout::Expansion some = layout::default_expansion(scene);
  figures.standard = median_ms([&] {
    layout::LayoutCache fresh;
    shown = laid_out(scene, some, fresh);
  });
  layout::Expansion more = some;
  if (const layout::Group* group = first_closed(scene, shown)) more.set(*group, true);
  layout::LayoutCache cache;
  std::vector<double> times;
  for (int i = 0; i < 5; ++i) {
    cache = layout::LayoutCache();
    laid_out(scene, some, cache);
    const auto start = Clock::now();
    laid_out(scene, more, cache);
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  std::sort(times.begin(), times.end());
  figures.expand = times[2];
  return figures;
}

std::string base_name(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::size_t start = slash == std::string::npos ? 0 : slash + 1;
  return path.substr(start, path.find('.', start) - start);
}

int draw(int argc, char** argv) {
  const auto file = recut::read_graph_file(argv[2], "joint_after_passes");
  if (!file) {
    fmt::print(stderr, "{}\n", recut::format(file.diagnostics().front()));
    return 1;
  }
  const layout::Scene scene = layout::scene_of(file->graph);
  const std::string_view boxes = argc > 4 ? argv[4] : "150";
  layout::Expansion expansion = layout::default_expansion(
      scene, static_cast<std::size_t>(std::strtoul(boxes.data(), nullptr, 10)));
  expansion.all = boxes == "all";
  layout::LayoutCache cache;
  const layout::GraphLayout shown = laid_out(scene, expansion, cache);
  std::size_t routes = 0;
  for (const layout::Edge& edge : shown.edges) routes += edge.points > 0 ? 1 : 0;
  fmt::print("{} boxes, {} edges, {} of them routes, {} stubs, {:.0f} x {:.0f}\n",
             shown.boxes.size(), shown.edges.size(), routes, shown.stubs.size(),
             shown.bounds.width(), shown.bounds.height());
  std::ofstream(argv[3]) << recut::gui::layout_svg(file->graph, scene, shown, recut::gui::kDark);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 3 && std::string_view(argv[1]) == "picture") return draw(argc, argv);
  recut::Table table;
  table.column("graph");
  for (const char* title : {"nodes", "boxes", "scene ms", "full ms", "default ms",
                            "after one expand ms", "slowest look ms", "most drawn"})
    table.column(title, recut::Table::Align::right);
  const auto row = [&](const std::string& name, const recut::Graph& graph) {
    const Figures f = measure(graph);
    const auto count = [](std::size_t n) {
      return recut::format_count(static_cast<std::int64_t>(n));
    };
    table.row({name, count(f.nodes), count(f.boxes), fmt::format("{:.1f}", f.scene),
               fmt::format("{:.1f}", f.full), fmt::format("{:.2f}", f.standard),
               fmt::format("{:.2f}", f.expand), fmt::format("{:.3f}", f.query),
               count(f.most_drawn)});
  };
  for (int i = 1; i < argc; ++i) {
    const auto file = recut::read_graph_file(argv[i], "joint_after_passes");
    if (!file) {
      fmt::print(stderr, "{}\n", recut::format(file.diagnostics().front()));
      return 1;
    }
    row(base_name(argv[i]), file->graph);
  }
  row("2,170 blocks", recut::test::RepeatedBlocks::make(2170));
  fmt::print("{}", table.format(0));
  return 0;
}
