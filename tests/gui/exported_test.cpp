// A program of torch.export in the window: it opens by its content, with the archive's weights, and
// is differentiated like any forward graph.
#include <catch2/catch_test_macros.hpp>
#include <memory>
#include <string>

#include "engine/input/bytes.h"
#include "tests/gui/window.h"
#include "tests/paths.h"

namespace recut::gui {

TEST_CASE("exported programs: the window opens one, whatever its name", "[gui]") {
  Window window(bare_options());
  const auto bytes = read_file(RECUT_SOURCE_DIR "/tests/input/exported/mlp_batch.pt2");
  REQUIRE(bytes.ok());
  window.app.open("mlp", std::make_shared<const std::string>(*bytes));
  window.settle();
  REQUIRE(window.app.document()->state == DocumentState::ready);
  CHECK(window.state("fault") == "");
  CHECK(window.app.document()->document->file.tensors.size() == 4);
  REQUIRE(window.app.run("pass.differentiate").ok());
  window.settle();
  CHECK(window.app.document()->document->differentiated);
}

}  // namespace recut::gui
