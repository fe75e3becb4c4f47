#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <set>
#include <string>

#include "engine/input/text.h"
#include "gui/layout/lay_out.h"
#include "gui/layout/scene_of.h"
#include "gui/pictures/axis.h"
#include "gui/pictures/graph_picture.h"
#include "gui/pictures/loss_curve.h"
#include "gui/pictures/memory_timeline.h"
#include "gui/pictures/trade_off_curve.h"
#include "tests/gui/odd_names.h"

namespace recut::gui {
namespace {

Graph joint_pictures() {
  auto graph = parse_graph_text(kOddNames, "joint");
  REQUIRE(graph.ok());
  return std::move(*graph);
}

// Counts of '<' that open and close elements agree: a cheap check that a picture is well-formed.
bool balanced(const std::string& svg) {
  long depth = 0;
  for (std::size_t i = 0; i < svg.size(); ++i) {
    if (svg[i] != '<') continue;
    const std::size_t end = svg.find('>', i);
    if (end == std::string::npos) return false;
    if (svg[i + 1] == '/')
      --depth;
    else if (svg[end - 1] != '/')
      ++depth;
    if (depth < 0) return false;
  }
  return depth == 0;
}

PlanReport report_of_two_steps() {
  PlanReport report;
  report.model = "a<b & c";
  report.strategy = "torch";
  report.budget = "0.4";
  report.forward_runs = 1;
  report.backward_runs = 1;
  report.timeline = {{"y", "layer", false, {8, 0, 4, 0}}, {"g", "", true, {8, 16, 4, 4}}};
  report.peak_step = 1;
  report.peak_bytes = 32;
  report.baseline_peak_bytes = 64;
  return report;
}

CurvePoint curve_point(std::int64_t bytes, double recompute_us) {
  CurvePoint point;
  point.budget_bytes = point.peak_bytes = bytes;
  point.recompute_us = recompute_us;
  point.step_us = 100 + recompute_us;
  return point;
}

CurveReport report_of_three_points() {
  CurveReport report;
  report.model = "a<b & c";
  report.once_us = 100;
  report.peak_bound_bytes = 1024;
  report.points = {curve_point(2048, 40), curve_point(4096, 10), curve_point(6144, 0)};
  report.torch = {curve_point(5000, 20), curve_point(3000, 30), curve_point(6000, 35)};
  for (std::size_t i = 0; i < 3; ++i) report.torch[i].fraction = 1.0 - static_cast<double>(i) / 2;
  return report;
}

TEST_CASE("pictures: names are escaped and elements closed", "[gui]") {
  const std::string graph = graph_svg(joint_pictures(), kDark);
  CHECK(balanced(graph));
  CHECK(graph.find("a&lt;b &amp; &quot;c&quot;") != std::string::npos);
  CHECK(balanced(memory_timeline_svg(report_of_two_steps(), kLight)));
}

TEST_CASE("pictures: a plan's roles show by colour, shape and a legend", "[gui]") {
  const Graph graph = joint_pictures();
  const layout::Scene scene = layout::scene_of(graph);
  layout::Expansion everything;
  everything.all = true;
  layout::LayoutCache cache;
  const auto layout = layout::lay_out(scene, everything, cache);
  PictureRoles roles;
  roles.plan = "peak <1> B";
  roles.legend = {{layout::Role::saved, "saved, 2 values"}, {layout::Role::recomputed, "again"}};
  roles.boxes.resize(layout->boxes.size());
  roles.rungs.resize(layout->edges.size());
  const auto box = [&](const char* name) { return layout->find(scene, graph.find(name)).index; };
  roles.boxes[box("y")].role = layout::Role::recomputed;
  roles.boxes[box("z")].role = layout::Role::saved;
  roles.boxes[box("n")].result = true;
  const std::string svg = layout_svg(graph, scene, *layout, kDark, &roles);
  CHECK(balanced(svg));
  CHECK(svg.find("peak &lt;1&gt; B") != std::string::npos);
  CHECK(svg.find("saved, 2 values") != std::string::npos);
  for (const Colour colour : {kDark.saved, kDark.recomputed, kDark.result})
    CHECK(svg.find(css(colour)) != std::string::npos);
  CHECK(svg.find("stroke-dasharray=\"4 3\"") != std::string::npos);
  const std::string plain = layout_svg(graph, scene, *layout, kDark);
  CHECK(plain.find(css(kDark.recomputed)) == std::string::npos);
}

TEST_CASE("pictures: an empty graph and a plan without steps draw", "[gui]") {
  CHECK(balanced(graph_svg(Graph(), kDark)));
  CHECK(balanced(memory_timeline_svg(PlanReport(), kDark)));
}

TEST_CASE("memory timeline: the peak is named and the least is compared", "[gui]") {
  const std::string svg = memory_timeline_svg(report_of_two_steps(), kDark);
  CHECK(svg.find("peak 32 B at g") != std::string::npos);
  CHECK(svg.find("nothing recomputed, in program order: 64 B") != std::string::npos);
}

TEST_CASE("trade-off: ends, ticks, PyTorch's points and what is impossible are named", "[gui]") {
  for (const Theme* theme : {&kDark, &kLight}) {
    const std::string svg = trade_off_svg(report_of_three_points(), *theme);
    CHECK(balanced(svg));
    for (const char* text :
         {"a&lt;b &amp; c", "least peak 2.00 KiB", "6.00 KiB in 100 µs", "nothing recomputed",
          ">4 KiB<", ">+20 µs<", ">+20 %<", "proved impossible", ">0.5<", "strategy torch",
          "budget 0.5: peak 2.93 KiB, 30.0 µs recomputed"}) {
      INFO(text);
      CHECK(svg.find(text) != std::string::npos);
    }
  }
}

TEST_CASE("trade-off: nothing to draw, and a single point, draw", "[gui]") {
  CHECK(balanced(trade_off_svg(CurveReport(), kDark)));
  CurveReport one;
  one.points = {curve_point(0, 0)};
  const std::string svg = trade_off_svg(one, kDark);
  CHECK(balanced(svg));
  CHECK(svg.find("nan") == std::string::npos);
  CHECK(svg.find("inf") == std::string::npos);
}

TEST_CASE("loss curve: steps, means of passes and what is not finite", "[gui][train]") {
  LossCurve curve{"a<b", "sgd, learning rate 0.1", {4, 2, 3, 1, 1}, 2};
  const std::string svg = loss_curve_svg(curve, kDark);
  CHECK(balanced(svg));
  for (const char* text : {"a&lt;b · sgd, learning rate 0.1", "4 at first, 1 at last", ">step<"})
    CHECK(svg.find(text) != std::string::npos);
  curve.losses.push_back(HUGE_VAL);
  for (const std::vector<double>& losses : {curve.losses, {}, {2}, {-1, -2}, {0, 0}}) {
    curve.losses = losses;
    const std::string odd = loss_curve_svg(curve, kLight);
    CHECK(balanced(odd));
    CHECK(odd.find("\"nan") == std::string::npos);
    CHECK(odd.find(",nan") == std::string::npos);
    CHECK(odd.find("-nan") == std::string::npos);
  }
}

}  // namespace
TEST_CASE("pictures: ticks of a short axis have labels of their own", "[gui]") {
  for (const double most : {0.002, 0.012, 0.06, 0.7, 13.0, 4'200.0}) {
    CAPTURE(most);
    const double tick = time_tick(most, 5);
    std::set<std::string> labels;
    int ticks = 0;
    for (int k = 0; k * tick <= most; ++k, ++ticks) labels.insert(time_label(k * tick));
    CHECK(ticks >= 2);
    CHECK(labels.size() == static_cast<std::size_t>(ticks));
  }
  CHECK(time_label(0.02) == "20 ns");
}

}  // namespace recut::gui
