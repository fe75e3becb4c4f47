// The convolutions that become channels last, the calls that follow their layout, and that nothing
// else changes.
#include "engine/passes/channels_last.h"
#include "engine/cost/device.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "engine/input/text.h"
#include "engine/passes/runner.h"
#include "tests/random/same_meaning.h"

namespace recut::test {
namespace {

Graph parsed_images(const std::string& text, const std::string& device = "cuda") {
  const auto graph = parse_graph_text("graph \"g\" on " + device + " {\n" + text + "}", "test");
  if (!graph) FAIL(format(graph.diagnostics()));
  return *graph;
}

// What is left has the same bits, the same types at its ends, and is left as it is once more.
PassReport laid_out(const Graph& graph, const Pass& pass) {
  const Pass passes[] = {pass};
  const PipelineReport report = run_passes(graph, passes);
  if (report.failure) FAIL(report.failure->message);
  CHECK_FALSE(run_passes(report.graph(), passes).changed());
  CHECK(difference(graph, report.graph()) == "");
  const Graph& after = report.graph();
  for (std::size_t i = 0; i < graph.results.size(); ++i)
    CHECK(after.type(after.results[i]) == graph.type(graph.results[i]));
  for (std::size_t i = 0; i < graph.gradients.size(); ++i)
    if (graph.gradients[i].valid())
      CHECK(after.type(after.gradients[i]) == graph.type(graph.gradients[i]));
  return report.passes.front();
}

PassReport laid_out(const Graph& graph, const Device& device = {}) {
  return laid_out(graph, channels_last_pass(device));
}

Device without_tf32() {
  Device device;
  device.f32_uses_tf32 = false;
  return device;
}

Device that_runs_the_step() {
  Device device;
  device.runs_step = true;
  return device;
}

// Four convolutions of as many channels, with a layer behind the first, and what reads the last.
Graph four(const std::string& type, const std::string& between, const std::string& behind,
           const std::string& device = "cuda") {
  const auto convolution = [](const char* of, const char* by) {
    return std::string(" = convolution(") + of + ", " + by +
           ", none, [1, 1], [1, 1], [1, 1], false, [0, 0], 1)\n";
  };
  return parsed_images(" %x = input " + type + "[2, 8, 12, 12]\n %v = parameter " + type +
                           "[8, 8, 3, 3]\n %w = parameter " + type + "[8, 8, 3, 3]\n %a" +
                           convolution("%x", "%v") + between + " %c" + convolution("%b", "%w") +
                           " %d" + convolution("%c", "%w") + " %y" + convolution("%d", "%w") +
                           behind,
                       device);
}

constexpr const char* kRelu = " %b = relu(%a)\n";
constexpr const char* kSum = " %s = sum(%y)\n results %s\n";

std::size_t clones(const Graph& graph) {
  return static_cast<std::size_t>(
      std::count_if(graph.order().begin(), graph.order().end(),
                    [&](NodeId id) { return graph[id].op == Op::clone; }));
}

bool is_last(const Graph& graph, const char* name) {
  const TensorType& type = graph.type(graph.find(name));
  return type.shape.size() == 4 && type.strides[1] == 1;
}

TEST_CASE("channels_last: layers between convolutions follow", "[passes]") {
  for (const char* between :
       {kRelu, " %n = neg(%a)\n %b = add.Tensor(%a, %n)\n",
        " %p = max_pool2d_with_indices(%a, [3, 3], [1, 1], [1, 1])\n %b = getitem(%p, 0)\n",
        " %h = slice.Tensor(%a, 1, 0, 4)\n %l = slice.Tensor(%a, 1, 4, 8)\n %b = cat([%l, %h], "
        "1)\n",
        " %m = mean.dim(%a, [0, 2, 3], true)\n %b = sub.Tensor(%a, %m)\n"}) {
    INFO(between);
    const Graph graph = four("f32", between, kSum);
    const PassReport report = laid_out(graph);
    CHECK(report.changed);
    CHECK(is_last(report.graph, "b"));
    CHECK(is_last(report.graph, "y"));
    CHECK(clones(report.graph) == 3);  // the input and both weights
  }
}

TEST_CASE("channels_last: what else reads them gets them as they were", "[passes]") {
  // A view that the layout doesn't have, one that names its layout, random numbers, what goes out.
  for (const char* behind :
       {" %f = view(%y, [2, 1152])\n %s = sum.dim_IntList(%f, [1])\n results %s\n",
        " %f = clone(%y, memory_format=\"contiguous_format\")\n %s = sum(%f)\n results %s\n",
        " %r = rand_like(%y)\n %q = sum(%r)\n %s = sum(%y)\n results %s, %q\n", " results %y\n",
        " results %y, %b\n"}) {
    INFO(behind);
    const PassReport report = laid_out(four("f32", kRelu, behind));
    CHECK(report.changed);
    CHECK(is_last(report.graph, "b"));
  }
}

TEST_CASE("channels_last: gradients are laid out, and go out as they were", "[passes]") {
  const Graph graph = parsed_images(R"(
    %x = input f32[2, 8, 12, 12]
    %v = parameter f32[8, 8, 3, 3]
    %w = parameter f32[16, 8, 1, 1]
    %u = parameter f32[16]
    %t = tangent f32[2, 16, 12, 12]
    %a = convolution(%x, %v, none, [1, 1], [1, 1], [1, 1], false, [0, 0], 1)
    %b = relu(%a)
    %y = convolution(%b, %w, %u, [1, 1], [0, 0], [1, 1], false, [0, 0], 1)
    %s = sum(%y)
    %n = neg(%t)
    %gb = convolution_backward(%n, %b, %w, none, [1, 1], [0, 0], [1, 1], false, [0, 0], 1, [true, false, false])
    %db = getitem(%gb, 0)
    %gw = convolution_backward(%n, %b, %w, [16], [1, 1], [0, 0], [1, 1], false, [0, 0], 1, [false, true, true])
    %dw = getitem(%gw, 1)
    %dz = getitem(%gw, 2)
    %m = le.Scalar(%b, 0)
    %z = full([], 0.0, dtype=f32)
    %da = where.self(%m, %z, %db)
    %gv = convolution_backward(%da, %x, %v, none, [1, 1], [1, 1], [1, 1], false, [0, 0], 1, [false, true, false])
    %dv = getitem(%gv, 1)
    results %s
    gradients none, %dv, %dw, %dz
)");
  const PassReport report = laid_out(graph);
  REQUIRE(report.changed);
  CHECK(is_last(report.graph, "da"));
  // The input, the weight of 3 by 3, what comes in of the gradient, and both weights' gradients as
  // they were; a weight of 1 by 1 stands alike in both layouts.
  CHECK(clones(report.graph) == 4);
}

// The input's gradient, of a weight that stands alike in both layouts, and an input that nothing
// else has laid out: as its output's gradient, whatever the shape rule makes of that.
TEST_CASE("channels_last: gradients of points", "[passes]") {
  const Graph graph = parsed_images(R"(
    %x = input f32[2, 8, 12, 12]
    %w = parameter f32[8, 8, 1, 1]
    %t = tangent f32[2, 8, 12, 12]
    %p = convolution_backward(%t, %x, %w, none, [1, 1], [0, 0], [1, 1], false, [0, 0], 1, [true, false, false])
    %a = getitem(%p, 0)
    %q = convolution_backward(%a, %x, %w, none, [1, 1], [0, 0], [1, 1], false, [0, 0], 1, [true, false, false])
    %b = getitem(%q, 0)
    %n = sum.dim_IntList(%b, [0, 2, 3])
    %f = view(%n, [8, 1, 1, 1])
    %g = expand(%f, [8, 8, 1, 1])
    %c = clone(%g, memory_format="contiguous_format")
    %s = sum(%x)
    results %s
    gradients none, %c
)");
  const PassReport report = laid_out(graph);
  CHECK(report.changed);
  CHECK(is_last(report.graph, "a"));
  CHECK(is_last(report.graph, "b"));
}

TEST_CASE("channels_last: what stays as it is", "[passes]") {
  CHECK(laid_out(four("bf16", kRelu, kSum)).changed);
  CHECK(laid_out(four("f16", kRelu, kSum), without_tf32()).changed);
  CHECK_FALSE(laid_out(four("f32", kRelu, kSum), without_tf32()).changed);
  CHECK_FALSE(laid_out(four("f64", kRelu, kSum)).changed);
  CHECK_FALSE(laid_out(four("f32", kRelu, kSum, "cpu")).changed);
  CHECK(laid_out(four("f32", kRelu, kSum, "cpu"), that_runs_the_step()).changed);
  // One alone: as much would be copied as is saved.
  CHECK_FALSE(laid_out(parsed_images(R"(
    %x = input f32[2, 8, 12, 12]
    %w = parameter f32[8, 8, 3, 3]
    %y = convolution(%x, %w, none, [1, 1], [1, 1], [1, 1], false, [0, 0], 1)
    results %y
)"))
                  .changed);
  // A channel a group; one dimension; layouts that as_strided reads.
  CHECK_FALSE(laid_out(parsed_images(R"(
    %x = input f32[2, 8, 12, 12]
    %w = parameter f32[8, 1, 3, 3]
    %a = convolution(%x, %w, none, [1, 1], [1, 1], [1, 1], false, [0, 0], 8)
    %b = relu(%a)
    %y = convolution(%b, %w, none, [1, 1], [1, 1], [1, 1], false, [0, 0], 8)
    %s = sum(%y)
    results %s
)"))
                  .changed);
  CHECK_FALSE(laid_out(parsed_images(R"(
    %x = input f32[2, 8, 36]
    %w = parameter f32[8, 8, 3]
    %a = convolution(%x, %w, none, [1], [1], [1], false, [0], 1)
    %y = convolution(%a, %w, none, [1], [1], [1], false, [0], 1)
    %s = sum(%y)
    results %s
)"))
                  .changed);
  const PassReport pinned = laid_out(
      four("f32", kRelu, " %q = as_strided(%a, [4], [1], 3)\n %s = sum(%y)\n results %s, %q\n"));
  CHECK_FALSE(is_last(pinned.graph, "a"));
}

TEST_CASE("channels_last: layouts that are there already cost nothing", "[passes]") {
  const Graph graph = parsed_images(R"(
    %x = input f32[2, 8, 12, 12]{1152, 1, 96, 8}
    %w = parameter f32[8, 8, 3, 3]{72, 1, 24, 8}
    %a = convolution(%x, %w, none, [1, 1], [1, 1], [1, 1], false, [0, 0], 1)
    %y = relu(%a)
    results %y
)");
  CHECK_FALSE(laid_out(graph).changed);
}

TEST_CASE("channels_last on the processor: weights stay, and channels by themselves follow",
          "[passes]") {
  const Pass pass = channels_last_on_processor_pass();
  const PassReport images = laid_out(four("f32", kRelu, kSum, "cpu"), pass);
  CHECK(images.changed);
  CHECK(clones(images.graph) == 1);  // of the image
  CHECK(is_last(images.graph, "y"));
  CHECK_FALSE(is_last(images.graph, "w"));
  CHECK_FALSE(laid_out(four("f64", kRelu, kSum, "cpu"), pass).changed);

  const auto depthwise = [](const char* of, const char* to) {
    return std::string(" ") + to + " = convolution(" + of +
           ", %w, none, [1, 1], [1, 1], [1, 1], false, [0, 0], 8)\n";
  };
  const PassReport alone =
      laid_out(parsed_images(" %x = input f32[2, 8, 12, 12]\n %w = parameter f32[8, 1, 3, 3]\n" +
                                 depthwise("%x", "%a") + depthwise("%a", "%b") +
                                 depthwise("%b", "%y") + kSum,
                             "cpu"),
               pass);
  CHECK(alone.changed);
  CHECK(is_last(alone.graph, "a"));
}

}  // namespace
}  // namespace recut::test
