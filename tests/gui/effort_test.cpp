// The effort of searches: a plan setting like the device, in links and in the workspace, too.
#include <catch2/catch_test_macros.hpp>

#include "engine/workspace/planning.h"
#include "gui/app/link.h"
#include "tests/gui/window.h"

namespace recut::gui {
namespace {

std::string link_fault(std::string_view link) {
  const auto read = read_link(link);
  return read ? "" : read.diagnostics().front().message;
}

}  // namespace

TEST_CASE("effort: plans are those of a search with that effort, and undo brings the others back",
          "[gui]") {
  AppOptions options = bare_options();
  options.effort = 0.5;
  Window window(options);
  window.app.open("sample:tiny_ops");
  window.settle();
  DocumentView& document = *window.app.document();
  CHECK(window.state("effort") == "0.5");
  CHECK(document.shown->request.limits.effort == 0.5);
  const std::int64_t budget = document.plan_settings.budget_bytes;
  CHECK(budget > 0);  // chosen as with the usual effort

  REQUIRE(window.app.run("effort.set", "0.01").ok());
  window.settle();
  CHECK(window.state("effort") == "0.01");
  CHECK(document.plan_settings.budget_bytes == budget);
  const auto anew = plan_document(*document.document, request_of(document.plan_settings));
  REQUIRE(anew.ok());
  CHECK(document.shown->peak() == anew->report.peak_bytes);
  CHECK(document.shown->report().step_us == anew->report.step_us);
  CHECK(window.app.items.find("bar/device")->value.find("effort 0.01") != std::string::npos);

  REQUIRE(window.app.run("edit.undo").ok());
  window.settle();
  CHECK(window.state("effort") == "0.5");
}

TEST_CASE("effort: no number, and one out of range, are refused", "[gui]") {
  Window window(bare_options());
  window.app.open("sample:tiny_conv");
  window.settle();
  for (const char* text : {"", "much", "0", "-1", "nan", "1e9", "0.5x"}) {
    CAPTURE(text);
    const auto done = window.app.run("effort.set", text);
    REQUIRE_FALSE(done.ok());
    CHECK(done.diagnostics().front().message.find("expected 0.001 to 1000") != std::string::npos);
  }
  CHECK(window.state("effort") == "0.3");
}

TEST_CASE("effort: links and the workspace keep it", "[gui][link]") {
  LinkState state;
  state.sample = "tiny_conv";
  state.plan_settings.effort = 0.25;
  CHECK(write_link(state) == "v=1&sample=tiny_conv&budget=none&effort=0.25");
  CHECK(*read_link(write_link(state)) == state);
  CHECK(link_fault("v=1&effort=none") ==
        "This link is damaged: the effort is 'none', expected 0.001 to 1000");

  SavedDocument saved;
  saved.path = "a.recut";
  saved.plan_settings.effort = 0.25;
  CHECK(read_document(write_document(saved)).plan_settings.effort == 0.25);
  CHECK(read_document(R"({"path": "a.recut", "effort": -3})").plan_settings.effort == 1);
}

}  // namespace recut::gui
