// The words in boxes: operators first, names without what stands around them.
#include <catch2/catch_test_macros.hpp>

#include "gui/canvas/box_labels.h"
#include "gui/canvas/canvas.h"
#include "tests/gui/window.h"

namespace recut::gui {
namespace {

constexpr std::string_view kNamed = R"(graph "named" {
  %primals_1 = parameter f32[4, 4]
  %primals_2 = parameter f32[4, 4]  @"h.0.mlp.weight"
  %bias = parameter f32[4]
  %x = input f32[4, 4]
  %mm_3 = mm(%x, %primals_1)  @"L['s'].m.h.0.attn"
  %h1 = relu(%mm_3)  @"L['s'].m.h.0.attn"
  %"/m/h.0/mlp/Add_output_0" = add.Tensor(%h1, %bias)  @"L['s'].m.h.0.mlp"
  %y = mm(%"/m/h.0/mlp/Add_output_0", %primals_2)  @"L['s'].m.h.0.mlp"
  results %y
  gradients none, none, none, none
}
)";

const Picture& open_all(Window& window, const std::string& file) {
  window.app.open(file);
  window.settle();
  REQUIRE(window.app.run("pass.set", "0").ok());
  window.settle();
  REQUIRE(window.app.run("graph.expand_all").ok());
  window.settle();
  return *canvas_of(window.app.document()->memories).picture;
}

BoxLabel label_in(const Picture& picture, NodeId node) {
  const layout::BoxId box = picture.own_box(node);
  REQUIRE(box.valid());
  return box_label(picture, picture.layout.boxes[box.index]);
}

TEST_CASE("box words: the operator, then the name; inputs by their modules", "[gui][canvas]") {
  NullBackend backend;
  backend.files["made.recut"] = std::string(kNamed);
  Window window(bare_options(), std::move(backend));
  const Picture& picture = open_all(window, "made.recut");
  const auto of = [&](const char* name) { return label_in(picture, picture.graph().find(name)); };
  CHECK(of("primals_1").title == "m.h.0.attn");  // who reads it: its own name is a number
  CHECK(of("primals_1").own == "primals_1");
  CHECK(of("primals_2").title == "h.0.mlp.weight");  // its own path
  CHECK(of("bias").title == "bias");
  CHECK(of("bias").own.empty());
  CHECK(of("mm_3").title == "mm");
  CHECK(of("mm_3").own == "_3");
  CHECK(of("mm_3").joined);
  CHECK(of("h1").title == "relu");
  CHECK(of("h1").own == "h1");
  CHECK_FALSE(of("h1").joined);
  CHECK(of("/m/h.0/mlp/Add_output_0").title == "add");
  CHECK(of("/m/h.0/mlp/Add_output_0").own == "Add_output_0");
}

TEST_CASE("box words: an output of several says of what", "[gui][canvas]") {
  Window window(bare_options(), Window::sample_backend());
  const Picture& picture = open_all(window, "sample:tiny_conv");
  const Graph& graph = picture.graph();
  int outputs = 0;
  for (const NodeId node : graph.order()) {
    const auto& operands = graph[node].operands;
    if (operands.size() != 1 || graph[operands.front()].outputs.size() < 2) continue;
    const std::string from(operator_label(graph.op(operands.front())));
    CHECK(label_in(picture, node).title.rfind(from + "[", 0) == 0);
    ++outputs;
  }
  CHECK(outputs > 0);
}

TEST_CASE("box words: the path around a name is taken off", "[gui][canvas]") {
  CHECK(within_path("h.0.attn.weight", "m.h.0") == "attn.weight");
  CHECK(within_path("h.0.attn.weight", "m.h.01") == "0.attn.weight");
  CHECK(within_path("/h/h.0/mlp/Relu", "h.h.0.mlp") == "Relu");
  CHECK(within_path("/h/h.0/mlp/Relu", "") == "h/h.0/mlp/Relu");
  CHECK(within_path("weight", "weight") == "weight");
  CHECK(within_path("", "a") == "");
  CHECK(within_path("//", "a") == "//");
  CHECK(short_module("L['s'].m.h") == "m.h");
  CHECK(short_module("L['s']") == "s");
  CHECK(short_module("L['s") == "L['s");
  CHECK(short_module("m.h") == "m.h");
}

TEST_CASE("box words: groups that are alike are counted", "[gui][canvas]") {
  layout::Group group;
  CHECK(alike_text(group).empty());
  group.equals = 11;
  CHECK(alike_text(group) == std::vector<std::string>{"1 of 11 alike", "1 of 11"});
}

}  // namespace
}  // namespace recut::gui
