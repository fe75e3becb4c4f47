// A graph of symbolic sizes in the window: its hints are said, and another size is a command away.
#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <string>

#include "gui/app/size_slider.h"
#include "tests/gui/near_helper.h"
#include "tests/gui/window.h"
#include "tests/paths.h"

namespace recut::gui {
namespace {

constexpr const char* kSymbolicFile = RECUT_SOURCE_DIR "/tests/input/graphs/mlp_sym.json.gz";

std::int64_t peak_without(const Window& window) {
  return window.app.document()->basis->baseline_cost.peak_bytes;
}

TEST_CASE("symbolic: the window says the hints, and takes other sizes", "[gui]") {
  NearHelper helper;
  NullBackend helped = Window::sample_backend();
  helped.helping = &helper;
  Window alone(bare_options()), with(bare_options(), helped);
  for (Window* window : {&alone, &with}) {
    window->app.open(kSymbolicFile);
    window->settle();
    REQUIRE(window->app.document()->is_ready());
    CHECK(hints_text(window->app.document()->document->file.symbols) == "s17=128");
    const std::int64_t hinted = peak_without(*window);
    REQUIRE(window->app.run("file.dimensions", "s17=512").ok());
    window->settle();
    REQUIRE(window->app.document()->is_ready());
    CHECK(window->app.document()->document->file.symbols.front().size == 512);
    CHECK(peak_without(*window) > hinted);
    CHECK(window->app.document()->curve->report.baseline_peak_bytes == peak_without(*window));

    // Another size that can't be leaves the graph that is shown, and says why.
    REQUIRE(window->app.run("file.dimensions", "s17=1").ok());
    window->settle();
    CHECK(window->app.document()->document->file.symbols.front().size == 512);
    REQUIRE_FALSE(window->app.document()->transform_faults.empty());
    CHECK(format(window->app.document()->transform_faults).find("from 2 to any size") !=
          std::string::npos);
  }
}

TEST_CASE("symbolic: a slider beside the budget changes the size, and the budget stays", "[gui]") {
  const SizeRange range = size_range({"s17", 128, false, 2, std::nullopt}, 128);
  CHECK((range.least == 2 && range.most == 2048));
  for (const int position : {0, 50, 80, kSizeStops})
    CHECK(range.position_of(range.size_at(position)) == position);
  CHECK(size_range({"s17", 128, false, 2, 300}, 128).most == 300);
  CHECK(size_range({"s17", 4, false, 4, 4}, 4).size_at(kSizeStops) == 4);

  Window window(bare_options());
  window.app.open(kSymbolicFile);
  window.settle();
  const auto size = [&] { return window.app.document()->document->file.symbols.front().size; };
  const auto budget = [&] { return window.app.document()->plan_settings.budget_bytes; };
  const std::int64_t before = budget();
  REQUIRE(window.play("expect item \"trade-off/size s17\"\n"
                      "drag \"trade-off/size s17\" 60 0\nwait idle\n") == "");
  const std::int64_t dragged = size();
  CHECK(dragged > 128);
  // The slider's ends stay where the file's hint puts them.
  const Item* slider = window.app.items.find("trade-off/size s17");
  REQUIRE((slider != nullptr && slider->span));
  CHECK((slider->span->least == 2 && slider->span->most == 16 * 128));
  CHECK(budget() == before);
  REQUIRE(window.app.run("file.size", "s17=16").ok());
  window.settle();
  CHECK(size() == 16);
  CHECK(window.app.document()->plan_settings.transforms.dimensions == Dimensions{{"s17", 16}});
  CHECK_FALSE(window.app.run("file.size", "16").ok());
  REQUIRE(window.app.run("edit.undo").ok());
  window.settle();
  CHECK(size() == dragged);
}

TEST_CASE("symbolic: symbols of one size have one slider, and change together", "[gui]") {
  const std::string path = RECUT_SOURCE_DIR "/../shared/inputs/sym/llama_sym.json.gz";
  if (!std::filesystem::exists(path)) SKIP("there is no folder ../shared/inputs");
  Window window(bare_options());
  window.app.open(path);
  window.settle();
  REQUIRE(window.play("expect value \"trade-off/size s17\" contains \"\"\n"
                      "expect no item \"trade-off/size s58\"\n"
                      "drag \"trade-off/size s17\" 30 0\nwait idle\n") == "");
  const DocumentView& document = *window.app.document();
  CHECK(document.transform_faults.empty());
  const Dimensions& sizes = document.plan_settings.transforms.dimensions;
  REQUIRE(sizes.size() == 2);
  CHECK(sizes.at("s17") == sizes.at("s58"));
  CHECK(sizes.at("s17") != 4);
}

}  // namespace
}  // namespace recut::gui
