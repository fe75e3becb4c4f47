// A debug bundle of the window is the command's, and its scripts repeat the window's run.
#include <fmt/core.h>

#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "gui/app/run_view.h"
#include "native/executors/cpu_executor.h"
#include "native/written_files.h"
#include "tests/gui/window.h"
#include "tests/native/run_command.h"
#include "tests/native/temporary_folder.h"

namespace recut::native {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDebuggedGraph = "samples/recompute.recut";

// The plan of both: 75 % of the peak, by short searches.
struct DebuggedWindow : gui::Window {
  explicit DebuggedWindow(gui::NullBackend given)
      : gui::Window(gui::bare_options(), std::move(given)) {
    app.open(kDebuggedGraph);
    settle();
    REQUIRE(run("budget.set", "75%").ok());
  }
  std::map<std::string, std::string> saved(const std::string& folder) {
    REQUIRE(run("debug.save", folder).ok());
    std::map<std::string, std::string> files;
    for (const auto& [path, bytes] : backend.files)
      if (path.starts_with(folder + "/")) files[path.substr(folder.size() + 1)] = bytes;
    return files;
  }
};

TEST_CASE("window: its debug bundle is the command's for the same settings", "[native]") {
  for (const char* model : {"eager", "fused"}) {
    CAPTURE(model);
    DebuggedWindow window(gui::Window::sample_backend());
    REQUIRE(window.run("model.set", model).ok());
    const gui::PlanSettings& settings = window.app.document()->plan_settings;
    const auto files = window.saved("bundle");
    const test::TemporaryFolder folder;
    const Ran ran = native::run({"debug", RECUT_SOURCE_DIR "/" + std::string(kDebuggedGraph),
                                 "--budget", std::to_string(settings.budget_bytes), "--effort",
                                 fmt::format("{}", settings.effort), "--model", model, "--profile",
                                 "reference", "--seed", "1", "-o", folder.path()});
    INFO(ran.err);
    REQUIRE(ran.code == kDone);
    std::size_t compared = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder.path())) {
      if (!entry.is_regular_file()) continue;
      const std::string path = fs::relative(entry.path(), folder.path()).string();
      CAPTURE(path);
      REQUIRE(files.count(path) == 1);
      ++compared;
      // These have the times of searches.
      if (path.starts_with("plan.") || path.starts_with("schedule.")) continue;
      CHECK(files.at(path) == bytes_of(entry.path().string()));
    }
    CHECK(compared == files.size());
  }
}

TEST_CASE("window: run.sh of its debug bundle repeats the run", "[native][cpu]") {
  CpuExecutor processor(1);
  gui::NullBackend backend = gui::Window::sample_backend();
  backend.running = {&processor};
  DebuggedWindow window(backend);
  REQUIRE(window.run("run.check", "1").ok());
  const gui::SharedRun run = gui::shown_run(*window.app.document());
  REQUIRE(run);
  REQUIRE(run->agreement);
  const test::TemporaryFolder folder;
  std::vector<BundleFile> files;
  for (const auto& [path, bytes] : window.saved("bundle")) files.push_back({path, bytes, false});
  REQUIRE(write_folder(folder.path(), files).ok());
  const std::string line =
      "cd '" + folder.path() + "' && RECUT='" RECUT_BINARY_DIR "/recut' sh run.sh > shell.txt 2>&1";
  const int status = std::system(line.c_str());
  const std::string out = bytes_of(folder.path() + "/shell.txt");
  INFO(out);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == kDone));
  CHECK(out.find(std::to_string(run->agreement->outputs) +
                 " outputs agree with the interpreter's") != std::string::npos);
  CHECK(bytes_of(folder.path() + "/run.sh")
            .find("--model eager --effort 0.3 --profile reference "
                  "--threads 1 --seed 1") != std::string::npos);
}

}  // namespace
}  // namespace recut::native
