// Forward mode in the window: the graph with tangents, its plan, its link and saved document, and
// why it is refused. The graph's opening is tested in tests/workspace/forward_mode_test.cpp.
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "engine/ir/data_flow.h"
#include "engine/ir/graph_signature.h"
#include "gui/app/check_view.h"
#include "gui/app/link.h"
#include "gui/model/node_trace.h"
#include "gui/model/saved_document.h"
#include "tests/gui/near_helper.h"
#include "tests/gui/window.h"

namespace recut::gui {
namespace {

constexpr const char* kLossGraph = R"(graph "loss" {
  %w = parameter f32[3, 2]
  %x = input f32[4, 3]
  %y = mm(%x, %w)
  %z = tanh(%y)
  %loss = mean(%z)
  results %loss
}
)";

struct ForwardModeWindow : Window {
  explicit ForwardModeWindow(const std::string& path = "samples/blocks/softmax.recut",
                             NullBackend given = sample_backend())
      : Window(bare_options(), std::move(given)) {
    backend.files["loss.recut"] = kLossGraph;
    app.open(path);
    settle();
  }
  std::string refusal(std::string_view command, std::string_view argument = {}) {
    const auto done = run(command, argument);
    REQUIRE_FALSE(done.ok());
    return done.diagnostics().front().message;
  }
  const DocumentView& document() { return *app.document(); }
};

TEST_CASE("forward mode: a forward graph gets tangents and stays inference", "[gui][jvp]") {
  ForwardModeWindow window;
  REQUIRE(window.run("pass.jvp").ok());
  CHECK(window.state("recipe") == "jvp");
  CHECK(window.state("pass_name") == "jvp");
  const Graph& graph = window.document().graph();
  REQUIRE(graph.signature != nullptr);
  REQUIRE(graph.signature->dual_inputs.size() == 1);
  CHECK(graph.signature->dual_inputs.front().tangent == "x_tangent");
  CHECK(graph.signature->dual_results.size() == 1);
  CHECK(graph.results.size() == 2);
  CHECK_FALSE(is_joint(graph));
  CHECK_FALSE(window.document().has_backward());
  CHECK(window.document().shown->report().inference);
  CHECK(window.state("budget") == "none");
  const PipelineReport& passes = window.document().document->passes;
  for (const Change& change : passes.passes.front().changes)
    CHECK(trace_node(passes, change.after.back(), 1, 0) == change.before);

  REQUIRE(window.run("budget.set", "80%").ok());
  REQUIRE(window.run("check.run").ok());
  const auto* check = find_memory<CheckView>(window.document().memories, kCheckMemory);
  REQUIRE((check != nullptr && check->report != nullptr));
  CHECK(check->report->agrees());
  CHECK(check->report->outputs.size() == 2);
  CHECK(check->report->expected == "the dual numbers before the passes, in program order");
}

TEST_CASE("forward mode: either mode takes the place of the other", "[gui][jvp]") {
  ForwardModeWindow window;
  REQUIRE(window.run("pass.jvp").ok());
  REQUIRE(window.run("pass.differentiate").ok());
  CHECK(window.state("recipe") == "grad");
  CHECK(is_joint(window.document().graph()));
  REQUIRE(window.run("pass.toggle", "jvp").ok());
  CHECK(window.state("recipe") == "jvp");
  CHECK_FALSE(is_joint(window.document().graph()));
  REQUIRE(window.run("pass.jvp").ok());
  CHECK(window.state("recipe").empty());
  REQUIRE(window.run("edit.undo").ok());
  CHECK(window.state("recipe") == "jvp");
}

TEST_CASE("forward mode: no training, and no joint graph", "[gui][jvp]") {
  ForwardModeWindow window("loss.recut");
  const std::string reason = "forward mode makes tangents, and an optimiser reads gradients";
  REQUIRE(window.run("pass.jvp").ok());
  CHECK(window.refusal("train.optimizer", "adam").find(reason) == 0);
  CHECK(window.refusal("pass.toggle", "optimizer").find(reason) == 0);
  CHECK(window.state("recipe") == "jvp");
  REQUIRE(window.run("pass.jvp").ok());
  REQUIRE(window.run("train.optimizer", "sgd 0.1").ok());
  CHECK(window.refusal("pass.jvp").find(reason) == 0);
  CHECK(window.state("recipe") == "sgd 0.1");

  // A link says both: nothing opens, and the page of the fault says why.
  ForwardModeWindow linked("sample:tiny_conv");
  CHECK(linked.refusal("pass.toggle", "jvp") == "no pass 'jvp' to switch here");
  CHECK_FALSE(linked.run("pass.jvp").ok());
  REQUIRE(follow_link(linked.app, "v=1&sample=softmax&grad=jvp&train=sgd,0.1").ok());
  linked.settle();
  CHECK(linked.state("fault").find(reason) != std::string::npos);
}

TEST_CASE("forward mode: a link to a joint graph says what to open", "[gui][jvp][link]") {
  Window window(bare_options());
  REQUIRE(follow_link(window.app, "v=1&sample=tiny_conv&grad=jvp").ok());
  window.settle();
  const std::string fault = window.state("fault");
  CHECK(fault.find("`recut grad --mode jvp`") != std::string::npos);
  CHECK(fault.find("open the forward graph, which `recut_torch.export(…, forward=True)` writes, "
                   "or this one without forward mode") != std::string::npos);
}

TEST_CASE("forward mode: links and saved documents keep it", "[gui][jvp][link]") {
  LinkState state;
  state.sample = "softmax";
  state.plan_settings.transforms.differentiate = GradMode::forward;
  CHECK(write_link(state) == "v=1&sample=softmax&budget=none&grad=jvp");
  CHECK(*read_link(write_link(state)) == state);
  const auto bad = read_link("v=1&grad=2");
  REQUIRE_FALSE(bad.ok());
  CHECK(bad.diagnostics().front().message.find("grad is '2', expected 1 or jvp") !=
        std::string::npos);

  Window window(bare_options());
  REQUIRE(follow_link(window.app, write_link(state)).ok());
  window.settle();
  CHECK(window.state("recipe") == "jvp");
  CHECK(link_of(window.app).plan_settings.transforms == state.plan_settings.transforms);
  REQUIRE(follow_link(window.app, "v=1&file=mine.recut&grad=jvp").ok());
  window.settle();
  CHECK(window.play("expect value \"fault/setting differentiated\" \"in forward mode\"\n") == "");

  SavedDocument saved;
  saved.path = "a.recut";
  for (const auto mode : {GradMode::forward, GradMode::reverse}) {
    saved.plan_settings.transforms.differentiate = mode;
    CHECK(read_document(write_document(saved)).plan_settings == saved.plan_settings);
  }
  const auto transforms_in = [](const std::string& recipe) {
    return read_document(R"({"path": "a", "recipe": )" + recipe + "}").plan_settings.transforms;
  };
  CHECK(transforms_in(R"({"jvp": true})").differentiate == GradMode::forward);
  CHECK(transforms_in(R"({"differentiate": true})").differentiate == GradMode::reverse);
  CHECK_FALSE(transforms_in(R"({"jvp": false})").differentiate.has_value());
  CHECK_FALSE(transforms_in(R"({"jvp": "yes"})").differentiate.has_value());
}

TEST_CASE("forward mode: a helper makes the same graph and plan", "[gui][jvp]") {
  NearHelper helper;
  NullBackend backend = Window::sample_backend();
  backend.helping = &helper;
  const std::string path = "samples/blocks/residual_block.recut";
  ForwardModeWindow helped(path, std::move(backend)), alone(path);
  for (ForwardModeWindow* window : {&helped, &alone}) {
    REQUIRE(window->run("pass.jvp").ok());
    REQUIRE(window->run("budget.set", "80%").ok());
  }
  CHECK(helper.begun > 1);
  CHECK(helped.document().shown->planned.plan.forward ==
        alone.document().shown->planned.plan.forward);
}

}  // namespace
}  // namespace recut::gui
