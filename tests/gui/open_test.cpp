// Choosing a file: paths are completed, what can't be read stands back, and no name that names
// nothing makes a document.
#include <catch2/catch_test_macros.hpp>

#include "gui/backend/paths.h"
#include "tests/gui/window.h"

namespace recut::gui {
namespace {

struct PickerWindow : Window {
  PickerWindow() : Window(bare_options(), folders()) {
    REQUIRE(app.run("file.open").ok());
    settle();
  }
  static NullBackend folders() {
    NullBackend backend = sample_backend();
    for (const char* path : {"/work.bin", "/graphs/run-1.bin", "/graphs/run-2.bin",
                             "/graphs/picture.png", "/graphs/deep/inner.recut"})
      backend.files[path] = "x";
    backend.files["/graphs/small.recut"] = backend.files.at("samples/mlp.recut");
    backend.files["/graphs/smaller.recut"] = backend.files.at("samples/mlp.recut");
    return backend;
  }
  std::string typed() const { return app.items.find("open/path")->value; }
};

}  // namespace

TEST_CASE("picker: Tab completes a path as far as names agree", "[gui][open]") {
  PickerWindow window;
  CHECK(window.play("type gr\nkey Tab\n") == "");
  CHECK(window.typed() == "graphs/");
  CHECK(window.play("expect item open/small.recut\ntype s\nkey Tab\n") == "");
  CHECK(window.typed() == "graphs/small");
  CHECK(window.play("type er\nkey Tab\n") == "");
  CHECK(window.typed() == "graphs/smaller.recut");
  CHECK(window.play("key Enter\nwait idle\n") == "");
  CHECK(window.state("document") == "mlp");
  CHECK(window.app.document()->path == "/graphs/smaller.recut");
}

TEST_CASE("picker: what Recut doesn't read is counted and hidden", "[gui][open]") {
  PickerWindow window;
  CHECK(window.play("type /graphs/\nexpect item open/small.recut\nexpect item open/deep\n"
                    "expect no item open/picture.png\nexpect text \"3 files\"\nclick open/all\n"
                    "expect item open/picture.png\n") == "");
}

TEST_CASE("picker: a name that names nothing opens nothing, and says what is near", "[gui][open]") {
  PickerWindow window;
  CHECK(window.play("type /graphs/smalll\nkey Enter\nexpect state overlay open\n"
                    "expect value open/fault contains \"did you mean small.recut\"\n") == "");
  CHECK(window.state("documents") == "0");
  CHECK(window.play("key Escape\ncommand file.open\ntype /nowhere/x\n"
                    "expect value open/fault contains \"/nowhere\"\nkey Enter\n") == "");
  CHECK(window.state("documents") == "0");
}

TEST_CASE("paths: what a browser made of a name is the same file", "[gui][open]") {
  for (const char* name : {"net.json.gz", "/data/net.json.gz", "net.json", "net.json (1).gz",
                           "net.json(12).gz", "net (1).json.gz"})
    CHECK(is_same_file(name, "net.json.gz"));
  for (const char* name : {"net2.json.gz", "other.json.gz", "net(a).json", "net.recut", "()"})
    CHECK_FALSE(is_same_file(name, "net.json.gz"));
  CHECK(is_readable_name("a.json.gz"));
  CHECK_FALSE(is_readable_name("a.png"));
}

}  // namespace recut::gui
