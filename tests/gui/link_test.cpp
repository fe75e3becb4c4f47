// A document's state as a link: there and back, what is damaged, what it does to a window.
#include "gui/app/link.h"

#include <catch2/catch_test_macros.hpp>

#include "tests/gui/window.h"

namespace recut::gui {
namespace {

LinkState full_state() {
  LinkState state;
  state.sample = "gpt2";
  state.plan_settings.budget_bytes = 4563402752;
  state.plan_settings.device = "h100";
  state.plan_settings.cost_model = "fused";
  state.plan_settings.overrides = {{"relu", "a&b=c%"}, {"h.*.mlp", "größer 1"}};
  state.selected = "add_33";
  state.pass = 3;
  state.view.camera = SavedView::Camera{-12.5, 340, 0.75};
  state.view.open = {0x9c3f, 0xb02, ~std::uint64_t{0}};
  state.theme = "light";
  return state;
}

std::string link_fault_of(std::string_view fragment) {
  const auto state = read_link(fragment);
  return state ? "" : state.diagnostics().front().message;
}

// The camera's place is the window's; that there is one is all that can be said.
std::string link_without_camera(const App& app) {
  LinkState state = link_of(app);
  if (app.document() != nullptr && app.document()->is_ready()) CHECK(state.view.camera.has_value());
  state.view = {};
  return write_link(state);
}

// A window that was opened with a link, at rest.
struct Linked : Window {
  explicit Linked(const std::string& link) : Window(options(link)) { settle(); }
  static AppOptions options(const std::string& link) {
    AppOptions options = bare_options();
    options.link = link;
    options.welcome = true;
    return options;
  }
};

}  // namespace

TEST_CASE("a link says what it was written from", "[link]") {
  const LinkState state = full_state();
  const auto read = read_link(write_link(state));
  REQUIRE(read.ok());
  CHECK(*read == state);

  LinkState own;
  own.file = "my model.json.gz";
  CHECK(write_link(own) == "v=1&file=my%20model.json.gz&budget=none");
  CHECK(*read_link(write_link(own)) == own);
  CHECK(*read_link(write_link({})) == LinkState{});
}

TEST_CASE("a damaged link is refused in words", "[link]") {
  CHECK(link_fault_of("") != "");
  CHECK(link_fault_of("sample=gpt2") == "This link is damaged: it doesn't begin with v=");
  CHECK(link_fault_of("v=2&sample=gpt2") != "");
  CHECK(link_fault_of("v=1&camera=1,2") ==
        "This link is damaged: the camera is '1,2', expected x,y,zoom");
  CHECK(link_fault_of("v=1&camera=1,nan,2") != "");
  CHECK(link_fault_of("v=1&camera=") != "");
  CHECK(link_fault_of("v=1&open=12,xyz") != "");
  CHECK(link_fault_of("v=1&open=11112222333344445") != "");
  CHECK(link_fault_of("v=1&sample=%zz") != "");
  CHECK(link_fault_of("v=1&sample=%4") != "");
  CHECK(link_fault_of("v=1&sample=%") != "");
  CHECK(link_fault_of("v=1&select=%ff%fe") != "");
  CHECK(link_fault_of("v=1&select=a%00b") != "");
  CHECK(link_fault_of("v=1&budget=-1") != "");
  CHECK(link_fault_of("v=1&budget=99999999999999999999") != "");
  CHECK(link_fault_of("v=1&budget=1e9") != "");
  CHECK(link_fault_of("v=1&budget=") != "");
  CHECK(link_fault_of("v=1&budget=0") != "");
  CHECK(link_fault_of("v=1&budget=40%25") ==
        "This link is damaged: the budget is '40%', expected bytes or none");
  CHECK(link_fault_of("v=1&pass=x") != "");
  CHECK(link_fault_of("v=1&theme=pink") != "");
  CHECK(link_fault_of("v=1&unheard=of") != "");
  CHECK(link_fault_of("v=1&sample") != "");
  CHECK(link_fault_of("v=1&select=" + std::string(100'000, 'a')) != "");
  // Every cut and every changed byte of a good one: read or refused, never worse.
  const std::string good = write_link(full_state());
  for (std::size_t i = 0; i < good.size(); ++i) {
    (void)read_link(std::string_view(good).substr(0, i));
    for (const char c : {'%', '&', '=', '\0', '\xff'}) {
      std::string bad = good;
      bad[i] = c;
      (void)read_link(bad);
    }
  }
}

TEST_CASE("a window begins with a link's state", "[link]") {
  Linked window("v=1&sample=tiny_conv&budget=90000&select=relu&pass=3&theme=light&again=relu");
  CHECK(window.state("document") == "tiny_conv");
  CHECK(window.state("budget") == "90000");
  CHECK(window.state("selection") == "relu");
  CHECK(window.state("pass") == "3");
  CHECK(window.state("theme") == "light");
  CHECK(window.state("pins") == "recompute relu");
  CHECK(link_without_camera(window.app) ==
        "v=1&sample=tiny_conv&budget=90000&again=relu&select=relu&pass=3&theme=light");
}

TEST_CASE("a budget of none is a setting, too", "[link]") {
  Linked window("v=1&sample=tiny_conv&budget=none");
  CHECK(window.state("budget") == "none");
}

TEST_CASE("an empty text sets no budget", "[link]") {
  Linked window("v=1&sample=tiny_conv&budget=90000");
  for (const auto& [command, text] :
       {std::pair("budget.set", ""), std::pair("budget.set", " "), std::pair("budget.set", "0"),
        std::pair("baseline.pin", "torch "), std::pair("compare.with", "torch "),
        std::pair("compare.with", "torch 1.5")}) {
    INFO(command << " '" << text << "'");
    CHECK_FALSE(window.app.run(command, text).ok());
  }
  CHECK(window.state("budget") == "90000");
  REQUIRE(window.app.run("budget.set", "none").ok());
  CHECK(window.state("budget") == "none");
}

TEST_CASE("a link that can't be followed says so, opens no other graph and stays", "[link]") {
  for (const char* link : {"v=1&sample=nothing&budget=90000&select=relu", "tampered",
                           "v=1&sample=tiny_conv&device=abacus"}) {
    CAPTURE(link);
    Linked window(link);
    CHECK(window.state("documents") == "1");
    CHECK(window.state("moment") == "stuck");
    CHECK(window.state("fault") != "");
    CHECK(window.app.notices.empty());
    CHECK(address_of(window.app) == link);
  }
  Linked lacking("v=1&sample=tiny_cnov&budget=90000");
  CHECK(lacking.state("fault").find("did you mean 'tiny_conv'?") != std::string::npos);
  CHECK(lacking.app.items.find("fault/setting budget")->value == "87.9 KiB");
  CHECK(lacking.play("click \"fault/sample tiny_conv\"\nwait idle\n") == "");
  CHECK(lacking.app.has_ready());
  Linked window("v=1&sample=tiny_conv&select=nobody");
  CHECK(window.state("notice") == "This graph has no node 'nobody'");
  CHECK(window.app.has_ready());
}

TEST_CASE("a link to an own file waits until one of its name is opened", "[link]") {
  const std::string link = "v=1&file=tiny_ops.json.gz&budget=20000";
  Linked window(link);
  CHECK(window.state("documents") == "1");
  CHECK(window.state("moment") == "stuck");
  CHECK(window.state("notice") == "");
  CHECK(window.app.items.find("fault/drop")->value == "tiny_ops.json.gz");
  CHECK(window.app.items.find("fault/setting budget")->value == "19.5 KiB");
  CHECK(address_of(window.app) == link);  // the address keeps it

  // Another file is opened by itself.
  window.app.open("samples/mlp.recut");
  window.settle();
  CHECK(window.state("documents") == "2");
  CHECK(window.state("document") == "mlp");

  const auto bytes = window.backend.read("sample:tiny_ops");
  window.app.open("tiny_ops.json.gz", std::make_shared<const std::string>(*bytes));
  window.settle();
  CHECK(window.state("documents") == "2");
  CHECK(window.state("budget") == "20000");
  CHECK(link_without_camera(window.app) == link);

  // The next link to it takes its bytes as they are.
  REQUIRE(follow_link(window.app, "v=1&file=tiny_ops.json.gz&budget=30000").ok());
  window.settle();
  CHECK(window.state("documents") == "2");
  CHECK(window.state("document") == "tiny_ops");
  CHECK(window.state("budget") == "30000");
}

TEST_CASE("a page that has no file by its name waits for it after a reload", "[link]") {
  NullBackend backend = Window::sample_backend();
  const std::string bytes = backend.files.at("samples/joint/tiny_mlp.json.gz");
  backend.by_name = false;
  backend.stored["workspace"] =
      R"({"version": 1, "documents": [{"path": "tiny_mlp.json.gz", "budget_bytes": 3000}]})";
  Window window({}, backend);
  window.settle();
  CHECK(window.state("moment") == "stuck");
  CHECK(window.app.items.find("fault/drop")->value == "tiny_mlp.json.gz");
  window.backend.give(FileGiven{"tiny_mlp.json (1).gz", bytes});
  window.settle();
  CHECK(window.state("documents") == "1");
  CHECK(window.state("document") == "tiny_mlp");
  CHECK(window.state("budget") == "3000");
}

TEST_CASE("a link that is followed later takes the place of what it is about", "[link]") {
  Linked window("v=1&sample=tiny_conv&budget=90000");
  REQUIRE(follow_link(window.app, "v=1&sample=tiny_conv&budget=80000&select=relu").ok());
  window.settle();
  CHECK(window.state("documents") == "1");
  CHECK(window.state("budget") == "80000");
  CHECK(window.state("selection") == "relu");
  CHECK_FALSE(follow_link(window.app, "v=1&sample=%").ok());
  CHECK(window.state("budget") == "80000");
}

}  // namespace recut::gui
