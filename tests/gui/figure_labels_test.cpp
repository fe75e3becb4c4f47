// Pictures of every sample joint graph, for screens, phones and papers: whole, no two of their
// words meet, none leaves the picture, and on paper all can be read.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/input/text.h"
#include "engine/workspace/curve.h"
#include "engine/workspace/open_document.h"
#include "engine/workspace/planning.h"
#include "engine/workspace/sweep_document.h"
#include "gui/layout/lay_out.h"
#include "gui/layout/scene_of.h"
#include "gui/pictures/graph_picture.h"
#include "gui/pictures/loss_curve.h"
#include "gui/pictures/memory_timeline.h"
#include "gui/pictures/trade_off_curve.h"
#include "tests/effort.h"
#include "tests/gui/picture_texts.h"
#include "tests/paths.h"

namespace recut::gui {
namespace {

std::vector<std::string> joint_samples() {
  // Under the sanitizers large graphs take minutes, and their pictures are made by the same code.
  const std::uintmax_t most = test::kSanitized ? 20'000 : UINTMAX_MAX;
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(RECUT_SOURCE_DIR "/samples/joint"))
    if (entry.path().extension() == ".gz" && entry.file_size() <= most)
      paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::vector<PictureLook> looks() {
  PictureLook carried(kLight);
  carried.fonts = true;
  return {PictureLook(kDark), carried, narrow(kLight), printed(kLight, 84), printed(kDark, 174)};
}

void check_picture(const std::string& svg, const PictureLook& look) {
  CAPTURE(look.width, look.print_mm, look.title);
  CHECK(is_well_formed(svg));
  CHECK(picture_texts(svg).size() > 1);
  CHECK(meeting_texts(svg) == "");
  CHECK(text_outside(svg) == "");
  CHECK((svg.find("@font-face") != std::string::npos) == look.fonts);
  CHECK(svg.find("sans-serif") != std::string::npos);
  if (look.print_mm > 0) CHECK(least_points(svg) > kMinPoints - 0.05);
}

TEST_CASE("figures: words of every sample's pictures stand apart", "[gui][figures]") {
  const std::vector<std::string> paths = joint_samples();
  REQUIRE(paths.size() > 3);
  for (const std::string& path : paths) {
    CAPTURE(path);
    const auto document = open_document(path, {});
    REQUIRE(document.ok());
    for (const char* budget : {"none", "90%"}) {
      PlanningRequest request;
      request.budget = budget;
      request.limits.effort = 0.1;
      const auto plan = plan_document(*document, request);
      REQUIRE(plan.ok());
      for (const PictureLook& look : looks())
        check_picture(memory_timeline_svg(plan->report, look), look);
    }
    for (const PictureLook& look : looks()) check_picture(graph_svg(document->graph(), look), look);
  }
}

TEST_CASE("figures: words of trade-offs stand apart", "[gui][figures]") {
  for (const char* name : {"mlp", "tiny_conv", "tiny_lm", "tiny_lstm", "tiny_ops"}) {
    CAPTURE(name);
    const auto document =
        open_document(RECUT_SOURCE_DIR "/samples/joint/" + std::string(name) + ".json.gz", {});
    REQUIRE(document.ok());
    CurveRequest request;
    request.points = 12;
    request.effort = 0.1;
    const auto curve = sweep_document(*document, request);
    REQUIRE(curve.ok());
    for (const PictureLook& look : looks()) check_picture(trade_off_svg(curve->report, look), look);
  }
}

TEST_CASE("figures: points that crowd keep the labels that have room", "[gui][figures]") {
  CurveReport report;
  report.model = "crowded";
  report.once_us = 100;
  report.peak_bound_bytes = 900;
  CurvePoint point;
  for (int i = 0; i < 9; ++i) {
    point.peak_bytes = point.budget_bytes = 1000 + 10 * i;
    point.recompute_us = 40 - 4 * i;
    report.points.push_back(point);
    point.recompute_us = 42 - 4 * i;
    point.fraction = 0.35 + 0.05 * i;
    report.torch.push_back(point);
  }
  for (const PictureLook& look : looks()) check_picture(trade_off_svg(report, look), look);
}

TEST_CASE("figures: a loss curve's words stand apart", "[gui][figures]") {
  LossCurve curve{"mlp", "adam, learning rate 0.001", {}, 8};
  for (int i = 0; i < 4000; ++i) curve.losses.push_back(1000.0 / (i + 1) - 0.25);
  for (const PictureLook& look : looks()) check_picture(loss_curve_svg(curve, look), look);
}

TEST_CASE("figures: backward's groups have titles, lines have heads", "[gui][figures]") {
  const auto document = open_document(RECUT_SOURCE_DIR "/samples/joint/tiny_lm.json.gz", {});
  REQUIRE(document.ok());
  const layout::Scene scene = layout::scene_of(document->graph());
  layout::Expansion open;
  open.all = true;
  layout::LayoutCache cache;
  const auto layout = layout::lay_out(scene, open, cache);
  const std::string svg = layout_svg(document->graph(), scene, *layout, kLight);
  std::size_t frames = 0, titles = 0, heads = 0, routes = 0;
  for (const layout::Band& band : layout->bands)
    frames += !band.forward.empty() + !band.backward.empty();
  for (const layout::Edge& edge : layout->edges) routes += edge.points > 0;
  for (const PictureText& word : picture_texts(svg)) titles += word.size == 11;
  for (std::size_t at = svg.find("<polygon"); at != std::string::npos;
       at = svg.find("<polygon", at + 1))
    ++heads;
  CHECK(frames > 4);
  CHECK(titles == frames);
  CHECK(routes > 20);
  CHECK(heads >= routes);
}

TEST_CASE("figures: a printed graph closes groups until it can be read", "[gui][figures]") {
  const auto document = open_document(RECUT_SOURCE_DIR "/samples/joint/tiny_lm.json.gz", {});
  REQUIRE(document.ok());
  const Graph& graph = document->graph();
  const double least = least_print_mm(graph);
  CHECK(least > 40);
  const auto text = [&](double mm) {
    return picture_texts(graph_svg(graph, printed(kLight, mm))).size();
  };
  CHECK(text(least) < text(2000));
  // Narrower than can be read, it is as wide as it has to be.
  CHECK(graph_svg(graph, printed(kLight, least / 2)) == graph_svg(graph, printed(kLight, least)));
}

TEST_CASE("figures: labels keep clear, and words that meet are found", "[gui][figures]") {
  const PictureLook look(kLight);
  const TextStyle style{kLight.text, 12};
  const LabelBox area{0, 0, 200, 100};
  Svg crowded(look, kLight.panel);
  crowded.text({10, 50}, "first", style);
  crowded.text({20, 52}, "second", style);
  const std::string met = std::move(crowded).finish(area, "crowded");
  CHECK(meeting_texts(met) == "first meets second");
  CHECK(text_outside(met) == "");
  Svg apart(look, kLight.panel);
  apart.keep_labels_in(area);
  apart.text({10, 50}, "first", style);
  apart.keep_clear_if_possible({0, 80}, {200, 80});
  CHECK_FALSE(apart.label({{{20, 52}, Anchor::start}}, {"second"}, style));
  CHECK_FALSE(apart.label({{{190, 20}, Anchor::start}}, {"outside"}, style));
  CHECK_FALSE(apart.label({{{10, 84}, Anchor::start}}, {"on the line"}, style, true));
  CHECK(apart.label({{{10, 84}, Anchor::start}}, {"on the line"}, style));
  CHECK(apart.label({{{20, 52}, Anchor::start}, {{100, 52}, Anchor::start}}, {"long words", "b"},
                    style));
  const std::string clear = std::move(apart).finish(area, "apart");
  CHECK(meeting_texts(clear) == "");
  CHECK(clear.find(">long words<") != std::string::npos);
}

TEST_CASE("figures: an empty graph, plan and trade-off draw in every look", "[gui][figures]") {
  for (const PictureLook& look : looks()) {
    CHECK(is_well_formed(graph_svg(Graph(), look)));
    CHECK(is_well_formed(memory_timeline_svg(PlanReport(), look)));
    CHECK(is_well_formed(trade_off_svg(CurveReport(), look)));
    CHECK(is_well_formed(loss_curve_svg(LossCurve(), look)));
  }
}

}  // namespace
}  // namespace recut::gui
