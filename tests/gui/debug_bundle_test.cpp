// Debug bundles from the window: offered where a check failed, made of the window's settings.
#include <catch2/catch_test_macros.hpp>

#include "engine/workspace/bundle_archive.h"
#include "engine/workspace/rerun.h"
#include "gui/app/debug_view.h"
#include "tests/gui/near_helper.h"
#include "tests/gui/stub_executor.h"
#include "tests/gui/window.h"

namespace recut::gui {
namespace {

// The graph, under a budget.
void open_budgeted(Window& window) {
  window.app.open("sample:tiny_conv");
  window.settle();
  REQUIRE(window.run("model.set", "fused").ok());
  REQUIRE(window.run("budget.set", "80%").ok());
}

std::string written_file(const Window& window, const std::string& path) {
  const auto found = window.backend.files.find(path);
  return found == window.backend.files.end() ? "" : found->second;
}

// The times of searches differ from one to the next.
bool has_times(const std::string& path) {
  return path.starts_with("plan.") || path.starts_with("schedule.");
}

// Whether the window's folder has the files that the engine makes of the request.
void check_files(const Window& window, const std::string& folder, const Document& document,
                 const DebugRequest& request) {
  const auto bundle = debug_bundle(document, request);
  REQUIRE(bundle.ok());
  CHECK(bundle->files.size() > 10);
  for (const BundleFile& file : bundle->files) {
    CAPTURE(file.path);
    const std::string found = written_file(window, folder + "/" + file.path);
    if (has_times(file.path))
      CHECK_FALSE(found.empty());
    else
      CHECK(found == file.bytes);
  }
}

TEST_CASE("debug bundle: a run that failed offers it, with the window's settings", "[gui]") {
  StubExecutor executor;
  Window window(bare_options(), with_executor(executor));
  open_budgeted(window);
  executor.agreement.problem = "gradient of w: 3 of 4 elements differ";
  REQUIRE(window.run("run.step").ok());
  CHECK(window.app.items.find("run/bundle") == nullptr);  // nothing was compared
  REQUIRE(window.run("run.check").ok());
  REQUIRE(window.app.items.find("run/bundle") != nullptr);
  CHECK(window.play("click run/bundle\nwait idle\nexpect state bundle tiny_conv-debug\n"
                    "expect state notice contains \"Wrote tiny_conv-debug\"\n") == "");

  const DocumentView& document = *window.app.document();
  DebugRequest request;
  request.scheduling.planning = request_of(document.plan_settings);
  request.seed = 1;
  request.finding = "DIFFERS: " + executor.agreement.problem + "\n";
  request.given = document.document->file.tensors;
  REQUIRE(rerun_by_run(request, "reference").ok());
  check_files(window, "tiny_conv-debug", *document.document, request);
  const std::string script = written_file(window, "tiny_conv-debug/run.sh");
  INFO(script);
  CHECK(script.find(" run graph.recut --no-passes --check --steps 1 --no-cache --budget ") !=
        std::string::npos);
  CHECK(script.find("--profile reference --seed 1") != std::string::npos);
  CHECK(script.find("--model") == std::string::npos);
  CHECK(written_file(window, "tiny_conv-debug/inputs.safetensors").empty());
}

TEST_CASE("debug bundle: calls that run one by one, a strategy, and overrides are repeated",
          "[gui]") {
  Window window(bare_options());
  window.app.open("sample:tiny_conv");
  window.settle();
  REQUIRE(window.run("budget.set", "none").ok());
  REQUIRE(window.run("debug.save", "plain").ok());
  const std::string plain = written_file(window, "plain/run.sh");
  CHECK(plain.find("--strategy default --model eager") != std::string::npos);
  CHECK(plain.find("--budget") == std::string::npos);

  REQUIRE(window
              .run("select.node", window.app.document()->graph().node_name(
                                      window.app.document()->shown->planned.plan.saved.front()))
              .ok());
  REQUIRE(window.run("pin.recompute").ok());
  REQUIRE(window.run("debug.save", "pinned").ok());
  CHECK(written_file(window, "pinned/run.sh").find("--recompute ") != std::string::npos);
  CHECK(written_file(window, "pinned/driver.sh").find("--recompute ") != std::string::npos);
}

TEST_CASE("debug bundle: values are in it where they are requested", "[gui]") {
  Window window(bare_options());
  open_budgeted(window);
  REQUIRE(window.run("debug.data").ok());
  CHECK(window.state("setting.debug.data") == "on");
  REQUIRE(window.run("debug.save", "with").ok());
  CHECK_FALSE(written_file(window, "with/inputs.safetensors").empty());
  CHECK(written_file(window, "with/run.sh").find("--tensors inputs.safetensors") !=
        std::string::npos);
}

TEST_CASE("debug bundle: a check that failed is bisected, or evaluated with its file", "[gui]") {
  Window window(bare_options());
  window.app.open("samples/joint/tiny_mlp.json.gz");
  window.settle();
  CHECK_FALSE(window.app.run("debug.check").ok());
  REQUIRE(window.run("check.run", "seed 7").ok());
  CHECK(window.app.items.find("check/bundle") == nullptr);
  auto& view = check_view(*window.app.document());
  CheckReport wrong = *view.report;
  wrong.outputs.front().comparison.ok = false;
  wrong.outputs.front().comparison.problem = "1 of 1 elements differ";
  view.report = std::make_shared<const CheckReport>(wrong);
  window.app.want_frames();
  window.settle();
  REQUIRE(window.app.items.find("check/bundle") != nullptr);
  CHECK(window.play("click check/bundle\nwait idle\nexpect state bundle tiny_mlp-debug\n") == "");
  const std::string script = written_file(window, "tiny_mlp-debug/run.sh");
  INFO(script);
  CHECK(script.find(" bisect passes/00-input.recut --passes ") != std::string::npos);
  CHECK(script.find("--seed 7") != std::string::npos);
  CHECK(written_file(window, "tiny_mlp-debug/README.md").find("DIFFERS: 1 of 1 elements differ") !=
        std::string::npos);

  // The file beside the graph has the expected outputs.
  REQUIRE(window.run("debug.data").ok());
  REQUIRE(window.run("check.run").ok());
  REQUIRE(view.report->given);
  REQUIRE(window.run("debug.check", "file").ok());
  CHECK(written_file(window, "file/run.sh")
            .find(" eval graph.recut --no-passes --check --tensors "
                  "inputs.safetensors") != std::string::npos);
  CHECK(written_file(window, "file/inputs.safetensors").find("out.0") != std::string::npos);
}

// As in a page: the bundle is made by the worker, and there are no folders.
TEST_CASE("debug bundle: a helper makes it, and without folders it is one archive", "[gui]") {
  NearHelper helper;
  NullBackend backend = Window::sample_backend();
  backend.helping = &helper;
  backend.has_folders = false;
  Window helped(bare_options(), backend), alone(bare_options());
  for (Window* window : {&helped, &alone}) {
    open_budgeted(*window);
    const int begun = helper.begun;
    REQUIRE(window->run("debug.save", "saved/net").ok());
    CHECK((window == &alone || helper.begun > begun));
  }
  CHECK(helped.state("bundle") == "saved/net.tar");
  const std::string archive = written_file(helped, "saved/net.tar");
  CHECK(archive.size() % 512 == 0);
  std::size_t found = 0;
  for (const auto& [path, bytes] : alone.backend.files) {
    if (!path.starts_with("saved/net/") || has_times(path.substr(10))) continue;
    CAPTURE(path);
    const auto member = bundle_archive(
        "net", std::vector{BundleFile{path.substr(10), bytes,
                                      path.ends_with(".sh") || path.ends_with(".py")}});
    REQUIRE(member.ok());
    CHECK(archive.find(member->substr(0, member->size() - 1024)) != std::string::npos);
    ++found;
  }
  CHECK(found > 10);
}

TEST_CASE("debug bundle: what can't be repeated is said", "[gui]") {
  Window window(bare_options());
  open_budgeted(window);
  REQUIRE(window.run("mesh.set", "dp=2 dp=ddp").ok());
  const auto refused = window.app.run("debug.save", "mesh");
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.diagnostics().front().message.find("remove the mesh") != std::string::npos);
  CHECK(window.state("bundle") == "");
}

}  // namespace
}  // namespace recut::gui
