// The documents' tabs in the bar: on a phone the name of the one in front can be read.
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "tests/gui/letters.h"
#include "tests/gui/window.h"

namespace recut::gui {
namespace {

constexpr const char* kTabFiles[] = {"sample:tiny_conv", "samples/blocks/residual_block.recut",
                                     "sample:tiny_ops"};

void check_front_tab(const Window& window) {
  const Items& items = window.app.items;
  const std::string& title = window.app.document()->title;
  CAPTURE(title);
  const Item* tab = items.find("bar/tab " + title);
  REQUIRE(tab != nullptr);
  CHECK(tab->visible());
  CHECK(tab->value == "chosen");
  CHECK(items.find_text(title, "bar") != nullptr);
  for (const std::string& shown : items.remains_of_cut_texts("bar")) {
    CAPTURE(shown);
    CHECK(count_letters(shown) >= kLeastLetters);
  }
}

TEST_CASE("bar: on a phone the document in front has its name", "[gui]") {
  for (const bool fingers : {false, true})
    for (const float scale : {1.0f, 2.0f}) {
      CAPTURE(fingers, scale);
      NullBackend backend = Window::sample_backend();
      backend.fingers = fingers;
      backend.resize({static_cast<int>(390 * scale), static_cast<int>(844 * scale)}, scale);
      Window window(bare_options(), std::move(backend));
      window.app.items.keep_texts = true;
      for (const char* file : kTabFiles) {
        window.app.open(file);
        window.settle();
        REQUIRE(window.app.has_ready());
        check_front_tab(window);
      }
    }
}

TEST_CASE("bar: on a phone a button goes from document to document", "[gui]") {
  NullBackend backend = Window::sample_backend();
  backend.fingers = true;
  backend.resize({390, 844}, 1);
  Window window(bare_options(), std::move(backend));
  window.app.items.keep_texts = true;
  window.app.open(kTabFiles[0]);
  window.settle();
  CHECK(window.app.items.find("bar/next document") == nullptr);
  for (const char* file : {kTabFiles[1], kTabFiles[2]}) {
    window.app.open(file);
    window.settle();
  }
  const std::string last = window.state("document");
  const Item* next = window.app.items.find("bar/next document");
  REQUIRE(next != nullptr);
  CHECK(next->value == "3/3");
  CHECK(spoken_name(*next) == "Next document");
  CHECK(window.play("click \"bar/next document\"\nwait idle\n") == "");
  CHECK(window.state("document") != last);
  CHECK(window.app.items.find("bar/next document")->value == "1/3");
  check_front_tab(window);

  // Where all tabs have room they stand beside each other.
  window.backend.resize({1680, 1050}, 1);
  window.settle();
  CHECK(window.app.items.find("bar/next document") == nullptr);
  for (const auto& document : window.app.documents.all())
    CHECK(window.app.items.find("bar/tab " + document->title) != nullptr);
}

}  // namespace
}  // namespace recut::gui
