// Stages of passes in the window: chosen as --stage does, switched in the list of passes, kept,
// undone, sent along in links, and run by a helper.
#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "engine/passes/stages.h"
#include "gui/app/link.h"
#include "gui/model/saved_document.h"
#include "tests/gui/near_helper.h"
#include "tests/gui/window.h"

namespace recut::gui {
namespace {

constexpr const char* kThreeStages = "pre-grad,joint,post-grad";

// With a forward graph open.
struct StagesWindow : Window {
  explicit StagesWindow(NullBackend given = sample_backend())
      : Window(bare_options(), std::move(given)) {
    app.open("samples/blocks/softmax.recut");
    settle();
  }
  std::vector<std::string> passes() {
    std::vector<std::string> names;
    for (const PassReport& pass : app.document()->document->passes.passes)
      names.push_back(pass.name);
    return names;
  }
};

// The passes that --stage runs.
std::vector<std::string> passes_of_stages(std::vector<Stage> stages) {
  RunnerOptions options;
  return pipeline_names({std::move(stages), {}, {}, false}, options).value();
}

TEST_CASE("stages: the chosen ones run in their order, and are undone, saved and linked", "[gui]") {
  StagesWindow window;
  const auto usual = passes_of_stages({Stage::joint});
  CHECK(window.passes() == usual);
  REQUIRE(window.run("pass.stages", kThreeStages).ok());
  CHECK(window.state("recipe") == kThreeStages);
  CHECK(window.passes() == passes_of_stages({Stage::pre_grad, Stage::joint, Stage::post_grad}));
  REQUIRE(window.app.document()->document->stages.size() == 3);
  CHECK(window.play("expect item \"transforms/stage post-grad\"\n") == "");

  const LinkState linked = link_of(window.app);
  CHECK(write_link(linked).find("&stages=pre-grad,joint,post-grad") != std::string::npos);
  CHECK(read_link(write_link(linked))->plan_settings.transforms == linked.plan_settings.transforms);
  const TransformSettings& transforms = window.app.document()->plan_settings.transforms;
  CHECK(transform_settings_of(json_of(transforms)) == transforms);
  CHECK_FALSE(read_link("v=1&stages=late").ok());
  CHECK(transform_settings_of(Json{{"stages", "late"}}) == TransformSettings());

  REQUIRE(window.run("edit.undo").ok());
  CHECK(window.state("recipe").empty());
  CHECK(window.passes() == usual);
  REQUIRE(window.run("pass.stages", "post-grad").ok());
  CHECK(window.passes() == passes_of_stages({Stage::post_grad}));
  REQUIRE(window.run("pass.stages", "joint").ok());  // the usual one is no setting
  CHECK(window.state("recipe").empty());
}

TEST_CASE("stages: the list of all passes has a switch for each", "[gui]") {
  StagesWindow window;
  CHECK(window.play("command scale.set 50\n"
                    "expect no item \"transforms/stage joint\"\n"
                    "command pass.idle\n"
                    "expect item \"transforms/stage joint\"\n"
                    "expect value \"transforms/switch stage joint\" on\n"
                    "expect not enabled \"transforms/switch stage joint\"\n"
                    "expect value \"transforms/stage post-grad\" off\n"
                    "click \"transforms/switch stage post-grad\"\n"
                    "wait idle\n"
                    "expect state recipe joint,post-grad\n"
                    "expect value \"transforms/stage post-grad\" contains changed\n"
                    "click \"transforms/switch stage joint\"\n"
                    "wait idle\n"
                    "expect state recipe post-grad\n"
                    "click \"transforms/switch stage joint\"\n"
                    "wait idle\n"
                    "click \"transforms/switch stage post-grad\"\n"
                    "wait idle\n"
                    "expect state recipe \"\"\n") == "");
}

TEST_CASE("stages: those that the graph doesn't allow are refused", "[gui]") {
  const auto refusal = [](Window& window, const char* stages) {
    const auto refused = window.app.run("pass.stages", stages);
    REQUIRE_FALSE(refused.ok());
    return refused.diagnostics().front().message;
  };
  StagesWindow forward;
  CHECK(refusal(forward, "late").find("unknown stage 'late', expected one of pre-grad, joint") ==
        0);
  CHECK(refusal(forward, "joint,joint").find("named twice") != std::string::npos);
  REQUIRE(forward.run("pass.differentiate").ok());
  REQUIRE(forward.run("pass.stages", kThreeStages).ok());
  CHECK(forward.state("recipe_faults").find("before its derivatives") != std::string::npos);

  Window joint(bare_options());
  joint.app.open("sample:tiny_conv");
  joint.settle();
  CHECK(refusal(joint, "pre-grad").find("has its gradients already") != std::string::npos);
  REQUIRE(joint.run("pass.stages", "joint,post-grad").ok());
  CHECK(joint.app.document()->document->stages.size() == 2);
  CHECK(joint.play("command scale.set 50\n"
                   "command pass.idle\n"
                   "expect not enabled \"transforms/switch stage pre-grad\"\n") == "");
}

TEST_CASE("stages: freezing follows the chosen ones, and a pass that is off stays off", "[gui]") {
  StagesWindow window;
  REQUIRE(window.run("pass.stages", "joint,post-grad").ok());
  REQUIRE(window.run("pass.toggle", "view_chains").ok());
  CHECK(window.state("recipe") == "joint,post-grad -view_chains");
  std::size_t skipped = 0;
  for (const PassReport& pass : window.app.document()->document->passes.passes)
    skipped += pass.name == "view_chains" && pass.skipped ? 1 : 0;
  CHECK(skipped == 2);
  REQUIRE(window.run("pass.toggle", "pad_mm").ok());  // its place is in the stage joint
  CHECK(window.state("recipe") == "joint,post-grad +pad_mm -view_chains");
}

TEST_CASE("stages: a helper plans the graph that they make", "[gui]") {
  NearHelper helper;
  NullBackend backend = Window::sample_backend();
  backend.helping = &helper;
  StagesWindow helped(backend), alone;
  for (StagesWindow* window : {&helped, &alone}) {
    REQUIRE(window->run("pass.stages", kThreeStages).ok());
    REQUIRE(window->run("budget.set", "90%").ok());
  }
  CHECK(helper.begun > 1);
  CHECK(helped.state("peak") == alone.state("peak"));
  CHECK(helped.passes() == alone.passes());
}

}  // namespace
}  // namespace recut::gui
