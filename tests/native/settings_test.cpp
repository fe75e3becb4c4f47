// Options by key: --set and --settings (native/commands/settings.h).
#include "native/commands/settings.h"

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "tests/native/run_command.h"

namespace recut::native {
namespace {

using Words = std::vector<std::string>;
using Json = nlohmann::json;

// A command with one option of each kind.
struct Sample {
  CLI::App app;
  std::string budget, with, skip, out;
  Words save, torch;
  bool freeze = false;

  Sample() : app("", "sample") {
    app.add_option("--budget", budget);
    app.add_option("--with", with);
    app.add_option("--skip", skip);
    app.add_option("-o,--out", out);
    app.add_option("--save", save);
    app.add_option("--torch", torch)->type_name("NAME=VALUE");
    app.add_flag("--freeze", freeze);
    add_settings(app);
  }
  Words expanded(const Words& line) const {
    const auto words = with_settings(app, line);
    if (!words) FAIL(format(words.diagnostics()));
    return *words;
  }
  std::string fault(const Words& line) const {
    const auto words = with_settings(app, line);
    return words ? "none" : format(words.diagnostics());
  }
};

TEST_CASE("settings: by key on the line", "[native]") {
  const Sample sample;
  CHECK(sample.expanded({"FILE", "--freeze"}) == Words{"FILE", "--freeze"});
  CHECK(sample.expanded({"--set", "budget=40%", "torch.solver=dp", "FILE"}) ==
        Words{"FILE", "--budget=40%", "--torch=solver=dp"});
  CHECK(sample.expanded({"--set=freeze=true", "FILE", "--set", "save=a", "save=b"}) ==
        Words{"FILE", "--freeze", "--save=a", "--save=b"});
  CHECK(sample.expanded({"FILE", "--set", "freeze=off"}) == Words{"FILE"});
  CHECK(sample.expanded({"--set", "passes.attention=off", "passes.pad_mm=on",
                         "passes.rules=off"}) == Words{"--with=pad_mm", "--skip=attention,rules"});
  CHECK(sample.expanded({"--skip", "a", "--set", "passes.b=off"}) == Words{"--skip", "a,b"});
  CHECK(sample.expanded({"--skip=a", "--set", "passes.b=off"}) == Words{"--skip=a,b"});
  // A path with a '=' is a file.
  CHECK(sample.expanded({"--set", "budget=1", "samples/a=b.recut"}) ==
        Words{"samples/a=b.recut", "--budget=1"});
}

TEST_CASE("settings: of a file, then of --set, then of the line", "[native]") {
  const Sample sample;
  const TemporaryFile first("first.json"), second("second.json");
  first.write(R"({"budget": "40%", "out": null, "freeze": true, "save": ["a", "b"],
    "passes": {"attention": false}, "torch": {"solver": "ilp", "limit": 2.5, "n": 3}})");
  const Words all{"--budget=40%",       "--freeze",          "--save=a",    "--save=b",
                  "--torch=solver=ilp", "--torch=limit=2.5", "--torch=n=3", "--skip=attention"};
  CHECK(sample.expanded({"--settings", first.path()}) == all);
  second.write(R"({"budget": 1000, "passes": {"attention": true}})");
  const Words both{"--freeze",          "--save=a",    "--save=b",      "--torch=solver=ilp",
                   "--torch=limit=2.5", "--torch=n=3", "--budget=1000", "--with=attention"};
  CHECK(sample.expanded({"--settings", first.path(), "--settings=" + second.path()}) == both);
  CHECK(sample.expanded({"--settings", second.path(), "--set", "budget=2", "out=x"}) ==
        Words{"--budget=2", "--out=x", "--with=attention"});
  CHECK(sample.expanded({"-o", "y", "--budget=3", "--settings", second.path(), "--set", "out=x"}) ==
        Words{"-o", "y", "--budget=3", "--with=attention"});
}

TEST_CASE("settings: faults say where and what to do", "[native]") {
  const Sample sample;
  CHECK(sample.fault({"--set", "budgett=1"}) ==
        "error: 'budgett': recut sample has no such option; did you mean 'budget'?\n");
  CHECK(sample.fault({"--set", "budget"}) ==
        "error: --set: expected KEY=VALUE, such as budget=40%\n");
  CHECK(sample.fault({"--set", "budget=1", "budget=2"}) ==
        "error: 'budget': found 2 values, expected 1\n");
  CHECK(sample.fault({"--set", "freeze=perhaps"}) ==
        "error: 'freeze': a switch, expected true or false\n");
  CHECK(sample.fault({"--set", "passes.a=2"}) == "error: 'passes.a': a pass, expected on or off\n");
  CHECK(sample.fault({"--set", "budget.a=2"}) ==
        "error: 'budget.a': --budget has no names, expected 'budget'=VALUE\n");
  CHECK(sample.fault({"--set", "settings=2"}).find("no such option") != std::string::npos);
  CHECK(sample.fault({"--settings"}) == "error: --settings: expected a file\n");
  CHECK(sample.fault({"--settings", "nowhere.json"}).find("nowhere.json") != std::string::npos);
  const TemporaryFile file("faults.json");
  const auto of_file = [&](const std::string& text) {
    file.write(text);
    const std::string fault = sample.fault({"--settings", file.path()});
    REQUIRE(fault.starts_with(file.path()));
    return fault.substr(file.path().size());
  };
  CHECK(of_file("{\n  \"budgett\": 1}") ==
        ":2:14: error: 'budgett': recut sample has no such option; did you mean 'budget'?\n");
  CHECK(of_file("[]") == ":1:1: error: settings are an object, found a list\n");
  CHECK(of_file("{\"save\": [[1]]}") ==
        ":1:11: error: found a list, expected a number, a text or a truth value\n");
  CHECK(of_file("{\"save\": ").find(":1:") == 0);
}

TEST_CASE("settings: commands take them", "[native]") {
  const TemporaryFile file("plan.json");
  file.write(R"({"budget": "75%", "passes": {"attention": "off"}, "target": "loop"})");
  const std::string graph = RECUT_SOURCE_DIR "/samples/recompute.recut";
  const Ran by_file = run({"emit", graph, "--settings", file.path()});
  INFO(by_file.err);
  REQUIRE(by_file.code == kDone);
  const Words line{"emit", graph, "--budget", "75%", "--skip", "attention", "--target", "loop"};
  CHECK(by_file.out == run(line).out);
  CHECK(by_file.out != run({"emit", graph, "--target", "loop"}).out);
  const Ran unknown = run({"plan", graph, "--set", "buget=1"});
  CHECK(unknown.code == kBadInput);
  CHECK(unknown.err.find("did you mean 'budget'?") != std::string::npos);
  // Operators' arguments are no options.
  CHECK(run({"compile-op", "--help"}).out.find("--settings") == std::string::npos);
}

}  // namespace
}  // namespace recut::native
