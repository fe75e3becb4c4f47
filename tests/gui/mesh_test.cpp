// A document over a device mesh: the graph of one rank, in its panels, jobs, links and saved state.
#include <catch2/catch_test_macros.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "engine/workspace/open_document.h"
#include "engine/workspace/planning.h"
#include "engine/workspace/sharded_document.h"
#include "engine/workspace/sharding_report.h"
#include "gui/app/link.h"
#include "gui/app/meshes_view.h"
#include "gui/model/device_memory.h"
#include "gui/model/saved_document.h"
#include "tests/gui/near_helper.h"
#include "tests/gui/window.h"
#include "tests/paths.h"

namespace recut::gui {
namespace {

constexpr const char* kSpread = "samples/recompute.recut";
constexpr const char* kFour = "dp=2,tp=2 dp=fsdp,tp=tp";

struct MeshOpened : Window {
  explicit MeshOpened(NullBackend given = sample_backend())
      : Window(bare_options(), std::move(given)) {
    app.open(kSpread);
    settle();
  }
  const DocumentView& document() { return *app.document(); }
  std::string type(const char* name) {
    const NodeId id = document().find(name);
    return id.valid() ? format(document().graph().type(id)) : "none";
  }
};

TEST_CASE("mesh: the document becomes the graph of one rank, and comes back", "[gui]") {
  MeshOpened window;
  REQUIRE(window.document().is_ready());
  const std::size_t nodes = window.document().graph().order().size();
  REQUIRE(window.run("select.node", "a2").ok());
  REQUIRE(window.run("mesh.set", kFour).ok());
  REQUIRE(window.document().mesh);
  CHECK(window.type("w1") == "f32[16, 16]");
  CHECK(window.type("x") == "f32[32, 32]");
  CHECK(window.document().find("a2_all_reduce").valid());
  CHECK(window.document().graph().order().size() > nodes);
  CHECK(window.document().mesh->whole->graph().order().size() == nodes);
  CHECK(window.state("selection") == "a2");
  CHECK(window.state("recipe") == std::string("mesh ") + kFour);

  REQUIRE(window.run("edit.undo").ok());
  CHECK_FALSE(window.document().mesh);
  CHECK(window.type("w1") == "f32[32, 32]");
  REQUIRE(window.run("edit.redo").ok());
  CHECK(window.type("w1") == "f32[16, 16]");
  REQUIRE(window.run("mesh.none").ok());
  CHECK_FALSE(window.document().mesh);
  CHECK(window.document().graph().order().size() == nodes);
  CHECK_FALSE(window.run("mesh.none").ok());
}

TEST_CASE("mesh: plans are those of the command, within the budget of a device", "[gui]") {
  NearHelper helper;
  NullBackend helped = Window::sample_backend();
  helped.helping = &helper;
  MeshOpened alone, with(std::move(helped));
  OpenOptions options;
  const auto whole = open_document(RECUT_SOURCE_DIR "/" + std::string(kSpread), options);
  REQUIRE(whole.ok());
  MeshRequest request;
  request.mesh = "dp=2,tp=2";
  request.preset = "dp=fsdp,tp=tp";
  const auto rank = shard_document(*whole, request, kSpread);
  REQUIRE(rank.ok());
  for (MeshOpened* window : {&alone, &with}) {
    REQUIRE(window->run("mesh.set", kFour).ok());
    REQUIRE(window->run("budget.set", "22528").ok());
    CHECK(window->document().holds());
    const auto expected = plan_document(*rank, request_of(window->document().plan_settings));
    REQUIRE(expected.ok());
    CHECK(window->document().shown->peak() == expected->report.peak_bytes);
    CHECK(window->document().shown->planned.plan.forward == expected->plan.forward);
    CHECK(window->document().curve->report.complete);
    CHECK(window->document().curve->report.nodes ==
          static_cast<std::int64_t>(rank->graph().order().size()));
  }
  CHECK(helper.begun > 0);
}

TEST_CASE("mesh: one that can't be is refused with the engine's reason, and nothing is lost",
          "[gui]") {
  MeshOpened window;
  REQUIRE(window.run("mesh.set", kFour).ok());
  const auto refused = [&](const char* argument, const char* part) {
    INFO(argument);
    const auto done = window.run("mesh.set", argument);
    REQUIRE_FALSE(done.ok());
    CHECK(done.diagnostics().front().message.find(part) != std::string::npos);
    CHECK(window.type("w1") == "f32[16, 16]");
    CHECK(window.state("recipe") == std::string("mesh ") + kFour);
  };
  refused("", "no mesh axis");
  refused("dp", "no mesh axis");
  refused("dp=0", "dp");
  refused("dp=2,dp=2", "dp");
  refused("dp=100000", "ranks");
  refused("dp=2 tp=tp", "tp");
  refused("dp=2 dp=zero", "zero");
  refused("dp=2  dp=ddp", "preset");
}

TEST_CASE("mesh: a graph that is one rank's already says so, and stays", "[gui]") {
  MeshOpened window;
  window.backend.files["rank.recut"] =
      "graph \"rank\" {\n"
      "  %x = input f32[4]\n"
      "  %r = _c10d_functional.all_reduce(%x, \"sum\", \"dp\")\n"
      "  %y = _c10d_functional.wait_tensor(%r)\n"
      "  results %y\n"
      "}\n";
  window.app.open("rank.recut");
  window.settle();
  REQUIRE(window.document().is_ready());
  REQUIRE(window.run("mesh.set", "dp=2").ok());
  CHECK_FALSE(window.document().mesh);
  CHECK(window.document().is_ready());
  CHECK(window.state("recipe_faults").find("one rank's part already") != std::string::npos);
  CHECK(window.state("recipe") == "");

  // A link to it shows the reason, and opens without the mesh.
  window.backend.files["other.recut"] = window.backend.files["rank.recut"];
  REQUIRE(follow_link(window.app, "v=1&file=other.recut&mesh=dp%3D2").ok());
  window.app.open("other.recut");
  window.settle();
  REQUIRE(window.document().state == DocumentState::failed);
  CHECK(window.state("fault").find("one rank's part already") != std::string::npos);
  REQUIRE(window.play("expect item \"fault/no mesh\"\nclick \"fault/no mesh\"\nwait idle\n") == "");
  CHECK(window.document().is_ready());
}

TEST_CASE("mesh: inputs and devices are those of the report", "[gui]") {
  MeshOpened window;
  REQUIRE(window.run("mesh.set", kFour).ok());
  const MeshView& mesh = *window.document().mesh;
  const Graph& rank = window.document().graph();
  MeshRequest request;
  request.mesh = "dp=2,tp=2";
  request.preset = "dp=fsdp,tp=tp";
  const auto report = shard_graph(mesh.whole->graph(), request);
  REQUIRE(report.ok());
  CHECK(mesh.input_bytes() == report->input_bytes());
  CHECK(mesh.sent_bytes() == report->bytes_sent());
  REQUIRE(mesh.inputs.size() == report->inputs.size());
  CHECK(mesh.inputs.front().whole == "f32[32, 32]");
  CHECK(mesh.inputs.front().local == "[16, 16]");
  CHECK(mesh.inputs.front().parameter);
  for (const PlacedInput& input : mesh.inputs)
    CHECK(byte_size(rank.type(input.node)) == input.bytes);

  REQUIRE(mesh.devices.size() == 4);
  CHECK(mesh.devices.back().coordinate == "dp 1, tp 1");
  for (const MeshDevice& device : mesh.devices)
    CHECK(device.parameter_bytes + device.other_bytes == mesh.input_bytes());
}

TEST_CASE("mesh: each row that sends has a collective of its own in the graph", "[gui]") {
  MeshOpened window;
  REQUIRE(window.run("mesh.set", kFour).ok());
  const MeshView& mesh = *window.document().mesh;
  const Graph& rank = window.document().graph();
  REQUIRE(mesh.collectives.size() == 11);
  std::set<std::string> nodes;
  for (const PlacedCollective& row : mesh.collectives) {
    REQUIRE(row.node.valid());
    CHECK(rank.op(row.node).is(kCollective));
    CHECK(rank.node_name(row.node).find(row.value + "_" + row.kind) == 0);
    nodes.insert(rank.node_name(row.node));
  }
  CHECK(nodes.size() == mesh.collectives.size());
  CHECK(mesh.collectives.front().needed_by == "mm a1");
  CHECK(mesh.collectives.back().needed_by == "gradient w1_grad");

  const auto placement = [&](const char* name) {
    const std::int32_t at = mesh.placement[rank.position(rank.find(name))];
    return at < 0 ? std::to_string(at) : mesh.classes[static_cast<std::size_t>(at)].text;
  };
  CHECK(placement("w1") == "[S(0), S(1)]");
  CHECK(placement("h2") == "[S(0), R]");
  CHECK(placement("a2") == "[S(0), P(sum)]");
  CHECK(placement("a2_all_reduce") == std::to_string(MeshView::kCollective));
  CHECK(placement("a2_wait_tensor") == std::to_string(MeshView::kUnplaced));
}

TEST_CASE("mesh: a device's bytes by kind add up to its inputs and the plan's peak", "[gui]") {
  MeshOpened window;
  REQUIRE(window.run("mesh.set", kFour).ok());
  for (const char* budget : {"none", "22528"}) {
    REQUIRE(window.run("budget.set", budget).ok());
    const PlanView& plan = *window.document().shown;
    const DeviceBytes bytes = device_bytes(plan);
    CHECK(total_of(bytes) == window.document().mesh->input_bytes() + plan.peak());
    const MeshDevice& device = window.document().mesh->devices.front();
    CHECK(bytes[static_cast<std::size_t>(DeviceShare::parameters)] == device.parameter_bytes);
    CHECK(bytes[static_cast<std::size_t>(DeviceShare::inputs)] == device.other_bytes);
  }
}

TEST_CASE("mesh: meshes are compared as the command does, by a job or a helper", "[gui]") {
  NearHelper helper;
  NullBackend helped = Window::sample_backend();
  helped.helping = &helper;
  MeshOpened alone, with(std::move(helped));
  for (MeshOpened* window : {&alone, &with}) {
    REQUIRE(window->run("mesh.set", kFour).ok());
    REQUIRE(window->run("budget.set", "22528").ok());
    REQUIRE(window->run("mesh.compare", "4").ok());
    const auto found = meshes_view(*window->app.document()).found;
    REQUIRE(found);
    MeshComparisonRequest request;
    request.devices = 4;
    request.memory_bytes = 22528 + window->document().mesh->input_bytes();
    request.planning = request_of(found->key.plan_settings);
    const auto expected = compare_meshes(*window->document().mesh->whole, request, kSpread);
    REQUIRE(expected.ok());
    CHECK(mesh_comparison_json(found->comparison) == mesh_comparison_json(*expected));
    CHECK(found->key == meshes_key(window->document(), 4));
    // A mesh that is taken has the memory and the plan of its row.
    const MeshRow& row = found->comparison.rows.front();
    REQUIRE(window->run("mesh.take", row.mesh + " " + row.preset).ok());
    CHECK(window->document().mesh->input_bytes() == row.input_bytes);
    CHECK(window->document().shown->peak() == row.peak_bytes);
    CHECK(window->document().holds());
    CHECK(meshes_view(*window->app.document()).found == found);
    CHECK(found->key == meshes_key(window->document(), 4));
    REQUIRE(window->run("budget.set", "none").ok());
    CHECK_FALSE(found->key == meshes_key(window->document(), 4));
  }
  for (const char* wrong : {"0", "x", "-1", "4 ", "100000"})
    CHECK_FALSE(alone.run("mesh.compare", wrong).ok());
}

TEST_CASE("mesh: axes as rows make the mesh that they are of", "[gui]") {
  for (const char* text : {"dp=2,tp=4 dp=fsdp,tp=tp", "dp=8", "a=2,b=3,c=1 b=cp"}) {
    const auto mesh = read_mesh(text);
    REQUIRE(mesh.ok());
    CHECK(write_mesh(mesh_of_axes(axis_choices(*mesh))) == text);
  }
}

TEST_CASE("mesh: uneven parts differ by device", "[gui]") {
  MeshOpened window;
  REQUIRE(window.run("mesh.set", "dp=5 dp=fsdp").ok());
  const MeshView& mesh = *window.document().mesh;
  REQUIRE(mesh.devices.size() == 5);
  // Parameters of 32 rows: 7, 7, 7, 7 and 4 of them.
  CHECK(mesh.devices.front().parameter_bytes == std::int64_t{4} * 7 * 32 * 4);
  CHECK(mesh.devices.back().parameter_bytes == std::int64_t{4} * 4 * 32 * 4);
}

TEST_CASE("mesh: links and saved documents have it", "[gui]") {
  MeshOpened window;
  REQUIRE(window.run("mesh.set", kFour).ok());
  const SavedDocument saved = read_document(write_document(saved_of(window.document())));
  REQUIRE(saved.plan_settings.transforms.mesh);
  CHECK(saved.plan_settings.transforms == window.document().plan_settings.transforms);

  LinkState state = link_of(window.app);
  state.file = "recompute.recut";
  const std::string link = write_link(state);
  CHECK(link.find("&mesh=dp%3D2,tp%3D2%20dp%3Dfsdp,tp%3Dtp") != std::string::npos);
  const auto read = read_link(link);
  REQUIRE(read.ok());
  CHECK(read->plan_settings.transforms == state.plan_settings.transforms);
  REQUIRE(window.run("mesh.none").ok());
  REQUIRE(follow_link(window.app, link).ok());
  window.settle();
  REQUIRE(window.document().is_ready());
  CHECK(window.type("w1") == "f32[16, 16]");
  CHECK_FALSE(read_link("v=1&sample=gpt2&mesh=dp").ok());
  CHECK_FALSE(transform_settings_of(Json::parse(R"({"mesh": "dp=0"})")).mesh);
}

}  // namespace
}  // namespace recut::gui
