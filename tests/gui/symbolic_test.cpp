// A graph of symbolic sizes in the window: its hints are said, and another size is a command away.
#include <catch2/catch_test_macros.hpp>
#include <string>

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

}  // namespace
}  // namespace recut::gui
