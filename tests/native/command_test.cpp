// The command as scripts see it: what it prints, where, and its exit codes.
#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "gui/theme.h"
#include "tests/native/run_command.h"

namespace recut::native {
namespace {

TEST_CASE("command: help teaches, and is no failure", "[native]") {
  const Ran help = run({"--help"});
  CHECK(help.code == kDone);
  CHECK(help.out.find("recut plan") != std::string::npos);
  CHECK(run({"plan", "--help"}).out.find("--strategy") != std::string::npos);
  CHECK(run({"--version"}).code == kDone);
}

TEST_CASE("command: bad arguments and missing files are exit code 2", "[native]") {
  CHECK(run({}).code == kBadInput);
  CHECK(run({"nonsense"}).code == kBadInput);
  CHECK(run({"show"}).code == kBadInput);
  CHECK(run({"show", sample("mlp.json.gz"), "--format", "pdf"}).code == kBadInput);
  CHECK(run({"show", sample("mlp.json.gz"), "--passes", "no_such_pass"}).code == kBadInput);
  const Ran missing = run({"show", "no/such/file.recut"});
  CHECK(missing.code == kBadInput);
  CHECK(missing.out.empty());
  CHECK(missing.err.find("no/such/file.recut") != std::string::npos);
  const Ran key = run({"show", sample("mlp.json.gz"), "--graph", "nonsense"});
  CHECK(key.code == kBadInput);
  CHECK(key.err.find("joint_after_passes") != std::string::npos);
}

TEST_CASE("command: a graph in text that breaks a promise is refused with a message", "[native]") {
  const auto refused = [](const std::string& gradients) {
    const TemporaryFile file("broken.recut");
    std::ofstream(file.path()) << R"(graph "broken" {
  %x = parameter f32[3, 2]
  %w = parameter f32[2, 4]
  %t = tangent f32[3, 4]
  %p = mm(%x, %w)
  %g = mul.Tensor(%t, %p)
  results %p
  gradients )" << gradients << "\n}\n";
    const Ran ran = run({"plan", file.path()});
    CHECK(ran.code == kBadInput);
    CHECK(ran.out.empty());
    CHECK(ran.err.find(file.path() + ": error: ") == 0);
    CHECK(ran.err.find("internal") == std::string::npos);
    return ran.err;
  };
  CHECK(refused("%g").find("1 gradients for 2 placeholders that are no tangents, expected one") !=
        std::string::npos);
  CHECK(refused("%g, none").find("the gradient of %x has shape [3, 4], expected [3, 2]") !=
        std::string::npos);
}

TEST_CASE("command: budgets that no strategy takes are refused with a message", "[native]") {
  for (const char* budget : {"-1", "nan", "1.5", "5XB", "3GiB", "40%", "0x1", "1e-1"}) {
    INFO(budget);
    const Ran ran = run(
        {"plan", sample("mlp.json.gz"), "--strategy", "torch", "--budget=" + std::string(budget)});
    CHECK(ran.code == kBadInput);
    CHECK(ran.err.find("fraction") != std::string::npos);
  }
  CHECK(run({"plan", sample("mlp.json.gz"), "--strategy", "default", "--budget", "1MiB"}).code ==
        kBadInput);
  CHECK(run({"plan", sample("mlp.json.gz"), "--strategy", "nonsense"}).code == kBadInput);
}

TEST_CASE("command: no text is no budget, and not none either", "[native]") {
  const std::string mlp = sample("mlp.json.gz");
  const std::vector<std::vector<std::string>> commands = {
      {"plan", mlp}, {"plan", mlp, "--strategy", "torch"}, {"schedule", mlp}, {"run", mlp},
      {"eval", mlp}, {"emit", mlp, "--target", "loop"},    {"train", mlp},    {"report", mlp}};
  for (std::vector<std::string> words : commands) {
    INFO(words.front());
    words.push_back("--budget=");
    const Ran joined = run(words);
    words.back() = "--budget";
    words.emplace_back();
    const Ran apart = run(words);
    for (const Ran& ran : {joined, apart}) {
      CHECK(ran.code == kBadInput);
      CHECK(ran.out.empty());
      CHECK(ran.err.find("budget") != std::string::npos);
    }
  }
  const Ran compared = run({"report", mlp, "--compare", "", "--out", "never.html"});
  CHECK(compared.code == kBadInput);
  CHECK(compared.err.find("budget ''") != std::string::npos);
  CHECK(run({"plan", mlp, "--budget", "none"}).code == kDone);
}

TEST_CASE("command: report writes one file, and none where a budget can't be held", "[native]") {
  const std::filesystem::path file = std::filesystem::temp_directory_path() / "recut_report.html";
  std::filesystem::remove(file);
  const Ran refused = run({"report", sample("mlp.json.gz"), "--budget", "1B", "--out", file});
  CHECK(refused.code == kCheckFailed);
  CHECK_FALSE(std::filesystem::exists(file));
  const Ran ran = run(
      {"report", sample("mlp.json.gz"), "--budget", "100%", "--compare", "none", "--out", file});
  INFO(ran.err);
  CHECK(ran.code == kDone);
  const std::string page = bytes_of(file.string());
  CHECK(page.size() > 10'000);
  for (const char* words : {"--budget 100% --compare none --out", "<dt>Recut</dt><dd>",
                            "<dt>digest of the graph</dt>", "<p id=\"finding\">At "})
    CHECK(page.find(words) != std::string::npos);
  std::filesystem::remove(file);
}

TEST_CASE("command: pictures are light, carry their fonts, and fit a column", "[native]") {
  const auto drawn = [](const std::vector<std::string>& more) {
    const TemporaryFile picture("column.svg");
    std::vector<std::string> words{"plan",  sample("mlp.json.gz"), "--budget", "none",
                                   "--svg", picture.path()};
    words.insert(words.end(), more.begin(), more.end());
    const Ran ran = run(words);
    INFO(ran.err);
    REQUIRE(ran.code == kDone);
    return picture.read();
  };
  const std::string usual = drawn({}), dark = drawn({"--dark"});
  CHECK(usual.find("@font-face") != std::string::npos);
  CHECK(usual.find(gui::css(gui::kLight.panel)) != std::string::npos);
  CHECK(dark.find(gui::css(gui::kDark.panel)) != std::string::npos);
  CHECK(usual.find(">Memory<") != std::string::npos);
  CHECK(drawn({"--no-title"}).find(">Memory<") == std::string::npos);
  CHECK(drawn({"--no-fonts"}).find("@font-face") == std::string::npos);
  const std::string column = drawn({"--width", "84mm"});
  CHECK(column.find("width=\"84mm\"") != std::string::npos);
  CHECK(column.find(">Memory<") == std::string::npos);
  CHECK(drawn({"--width", "8.4cm"}) == column);
  for (const char* width : {"", "84", "mm", "-84mm", "1mm", "9km", "nanmm"})
    CHECK(run({"plan", sample("mlp.json.gz"), "--width", width}).code == kBadInput);
}

TEST_CASE("command: a graph in a column says how wide it has to be", "[native]") {
  const std::vector<std::string> words{"show", sample("tiny_conv.json.gz"), "--format", "svg",
                                       "--width"};
  const auto at = [&](const std::string& width) {
    std::vector<std::string> all = words;
    all.push_back(width);
    return run(all);
  };
  const Ran refused = at("40mm");
  CHECK(refused.code == kBadInput);
  const std::size_t least = refused.err.find("--width ");
  REQUIRE(least != std::string::npos);
  const std::size_t number = least + std::string("--width ").size();
  const Ran held = at(refused.err.substr(number, refused.err.find(' ', number) - number));
  CHECK(held.code == kDone);
  CHECK(held.out.find("<svg") == 0);
}

TEST_CASE("command: plan --device prices by a profile, and says so", "[native]") {
  const auto figures = [](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"plan", sample("mlp.json.gz"), "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ran ran = run(arguments);
    INFO(ran.err);
    REQUIRE(ran.code == kDone);
    return nlohmann::json::parse(ran.out);
  };
  const auto plain = figures({});
  CHECK(plain["device"] == "reference");
  CHECK(figures({"--device", "reference"})["step_us"] == plain["step_us"]);
  const auto slow = figures({"--device", "cpu8"});
  CHECK(slow["device"] == "cpu8");
  CHECK(slow["step_us"] > plain["step_us"]);
  CHECK(slow["step_us_without_recomputation"] > plain["step_us_without_recomputation"]);
  CHECK(figures({"--device", RECUT_SOURCE_DIR "/samples/devices/cpu8.json"})["step_us"] ==
        slow["step_us"]);
  CHECK(run({"plan", sample("mlp.json.gz"), "--device", "cpu8"}).out.find("times of cpu8: ") !=
        std::string::npos);

  const TemporaryFile broken("device.json");
  std::ofstream(broken.path()) << "{\"name\": 3}";
  const Ran refused = run({"plan", sample("mlp.json.gz"), "--device", broken.path()});
  CHECK(refused.code == kBadInput);
  CHECK(refused.err.find(broken.path() + ":1:10: error: ") != std::string::npos);
  CHECK(run({"plan", sample("mlp.json.gz"), "--device", "nonsense"}).code == kBadInput);
  CHECK(run({"eval", sample("tiny_mlp.json.gz"), "--seed", "1", "--device", "nonsense"}).code ==
        kBadInput);
}

TEST_CASE("command: plan --model fused says so, and what its calls take one by one", "[native]") {
  const auto figures = [](const std::string& model) {
    const Ran ran = run({"plan", sample("unet.json.gz"), "--model", model, "--json"});
    INFO(ran.err);
    REQUIRE(ran.code == kDone);
    return nlohmann::json::parse(ran.out);
  };
  const auto eager = figures("eager"), fused = figures("fused");
  CHECK(eager["cost_model"] == "eager");
  CHECK_FALSE(eager.contains("eager_peak_bytes"));
  CHECK(fused["cost_model"] == "fused");
  CHECK(fused["step_us"] < eager["step_us"]);
  CHECK(fused["eager_peak_bytes"] > 0);
  CHECK_FALSE(eager.contains("inlined_calls"));
  CHECK(fused["inlined_calls"] > 0);
  CHECK(fused["recomputed_runs"] == 0);
  const std::string words = run({"plan", sample("unet.json.gz"), "--model", "fused"}).out;
  CHECK(words.find("model fused by rows: ") != std::string::npos);
  CHECK(words.find(" calls that their readers' kernels make for themselves") != std::string::npos);
  const Ran nonsense = run({"plan", sample("unet.json.gz"), "--model", "nonsense"});
  CHECK(nonsense.code == kBadInput);
  CHECK(nonsense.err.find("expected eager or fused") != std::string::npos);
  CHECK(run({"plan", sample("mlp.json.gz"), "--strategy", "default", "--model", "fused"}).code ==
        kBadInput);
}

TEST_CASE("command: eval runs plans of the fused model", "[native]") {
  for (const char* name : {"tiny_mlp", "tiny_conv", "tiny_lm", "tiny_lstm", "tiny_ops"}) {
    INFO(name);
    const Ran ran = run({"eval", sample(std::string(name) + ".json.gz"), "--tensors",
                         sample(std::string(name) + ".safetensors"), "--check", "--model", "fused",
                         "--budget", "100%"});
    INFO(ran.err << ran.out);
    CHECK(ran.code == kDone);
    CHECK(ran.out.find(", as planned") != std::string::npos);
  }
}

TEST_CASE("command: plan --json is one JSON value with the contract's keys", "[native]") {
  const Ran ran =
      run({"plan", sample("unet.json.gz"), "--strategy", "torch", "--budget", "0.4", "--json"});
  REQUIRE(ran.code == kDone);
  const auto json = nlohmann::json::parse(ran.out);
  for (const char* key : {"peak_bytes", "saved_bytes", "step_us", "recompute_us", "solve_ms"})
    CHECK(json.contains(key));
  CHECK(json["peak_bytes"] < json["peak_bytes_without_recomputation"]);
  CHECK(ran.err.empty());
}

TEST_CASE("command: plan writes the plan in the file's names, and a picture", "[native]") {
  const TemporaryFile plan("plan.json"), picture("plan.svg");
  const Ran ran =
      run({"plan", sample("mlp.json.gz"), "--graph", "joint_after_passes", "--no-passes",
           "--budget", "none", "--out", plan.path(), "--svg", picture.path()});
  REQUIRE(ran.code == kDone);
  const auto json = nlohmann::json::parse(plan.read());
  CHECK(json["forward"].size() > 10);
  CHECK(json["backward"].size() > 10);
  CHECK(json["peak_bytes"] > 0);
  CHECK(picture.read().find("<svg") == 0);
  CHECK(ran.out.find("peak without recomputation") != std::string::npos);
}

TEST_CASE("command: a peak that can't be held comes with the least that can", "[native]") {
  const std::vector<std::string> words = {"plan", sample("mlp.json.gz"), "--json", "--budget"};
  const auto at = [&](const std::string& budget) {
    std::vector<std::string> all = words;
    all.push_back(budget);
    return run(all);
  };
  const Ran refused = at("1");
  CHECK(refused.code == kCheckFailed);
  CHECK(refused.err.find("can't be held: the least that Recut can plan is") != std::string::npos);
  const auto json = nlohmann::json::parse(refused.out);
  const std::int64_t least = json["least_peak_bytes"];
  CHECK(json["peak_bound_bytes"] <= least);
  const Ran held = at(std::to_string(least));
  CHECK(held.code == kDone);
  CHECK(nlohmann::json::parse(held.out)["peak_bytes"] <= least);
  for (const char* nonsense : {"-1", "nan", "0", "5XB", "1e400", "0%", "", "%"})
    CHECK(at(nonsense).code == kBadInput);
}

TEST_CASE("command: sweep writes the curve for scripts and for eyes", "[native]") {
  const TemporaryFile csv("curve.csv"), picture("curve.svg");
  const Ran ran = run({"sweep", sample("tiny_conv.json.gz"), "--points", "7", "--json", "--csv",
                       csv.path(), "--svg", picture.path(), "--dark"});
  REQUIRE(ran.code == kDone);
  const auto json = nlohmann::json::parse(ran.out);
  CHECK(json["points"].size() == 7);
  CHECK(json["least_peak_bytes"] == json["points"][0]["peak_bytes"]);
  CHECK(csv.read().find("budget_bytes,peak_bytes,step_us,recompute_us,solve_ms") == 0);
  CHECK(picture.read().find("<svg") == 0);
  CHECK(run({"sweep", sample("mlp.json.gz"), "--points", "2"}).out.find("least peak") !=
        std::string::npos);
  for (const char* points : {"0", "1", "-3", "many", "1000000000"})
    CHECK(run({"sweep", sample("mlp.json.gz"), "--points", points}).code == kBadInput);
}

TEST_CASE("command: what can't be written is said", "[native]") {
  const Ran ran = run({"plan", sample("mlp.json.gz"), "--svg", "/dev/full/x.svg"});
  CHECK(ran.code == kBadInput);
  CHECK(ran.err.find("can't write") != std::string::npos);
}

TEST_CASE("command: eval checks outputs, by a plan too", "[native]") {
  for (const char* name : {"tiny_mlp", "tiny_conv", "tiny_ops"}) {
    INFO(name);
    const std::vector<std::string> plain = {"eval", sample(std::string(name) + ".json.gz"),
                                            "--tensors", sample(std::string(name) + ".safetensors"),
                                            "--check"};
    CHECK(run(plain).code == kDone);
    std::vector<std::string> planned = plain;
    planned.insert(planned.end(), {"--strategy", "torch", "--budget", "0.4", "--json"});
    const Ran ran = run(planned);
    REQUIRE(ran.code == kDone);
    const auto json = nlohmann::json::parse(ran.out);
    CHECK(json["ok"] == true);
    CHECK(json["planned_peak_bytes"] == json["measured_peak_bytes"]);
  }
}

TEST_CASE("command: choices by hand keep every value, and are named", "[native]") {
  const std::vector<std::string> conv = {
      sample("tiny_conv.json.gz"), "--budget", "none", "--recompute", "L*", "--json"};
  std::vector<std::string> plan = {"plan"}, eval = {"eval"};
  plan.insert(plan.end(), conv.begin(), conv.end());
  eval.insert(eval.end(), conv.begin(), conv.end());
  eval.insert(eval.end(), {"--tensors", sample("tiny_conv.safetensors"), "--check"});
  const Ran planned = run(plan);
  REQUIRE(planned.code == kDone);
  const auto json = nlohmann::json::parse(planned.out);
  CHECK(json["choices"] == nlohmann::json({"--recompute L*"}));
  CHECK(json["recomputed_runs"] > 0);
  const Ran checked = run(eval);
  REQUIRE(checked.code == kDone);
  CHECK(nlohmann::json::parse(checked.out)["planned_peak_bytes"] == json["peak_bytes"]);
  const Ran unknown = run({"plan", sample("tiny_mlp.json.gz"), "--save", "relu_x"});
  CHECK(unknown.code == kBadInput);
  CHECK(unknown.err.find("the nearest name is 'relu_1'") != std::string::npos);
}

TEST_CASE("command: eval says when there is nothing to check, or values are missing", "[native]") {
  CHECK(run({"eval", sample("tiny_mlp.json.gz"), "--seed", "1", "--check"}).code == kBadInput);
  const Ran missing = run({"eval", sample("tiny_mlp.json.gz")});
  CHECK(missing.code == kBadInput);
  CHECK(missing.err.find("primals_1") != std::string::npos);
}

TEST_CASE("command: eval with wrong expectations is exit code 1", "[native]") {
  const TemporaryFile outputs("out.safetensors");
  REQUIRE(run({"eval", sample("tiny_mlp.json.gz"), "--seed", "1", "--out", outputs.path()}).code ==
          kDone);
  CHECK(run({"eval", sample("tiny_mlp.json.gz"), "--seed", "1", "--tensors", outputs.path(),
             "--check"})
            .code == kDone);
  CHECK(run({"eval", sample("tiny_mlp.json.gz"), "--seed", "2", "--tensors", outputs.path(),
             "--check"})
            .code == kCheckFailed);
}

TEST_CASE("command: show lists the graphs of a file", "[native]") {
  const Ran text = run({"show", sample("mlp.json.gz"), "--graphs"});
  REQUIRE(text.code == kDone);
  CHECK(text.out.find("joint_after_passes") != std::string::npos);
  const auto rows =
      nlohmann::json::parse(run({"show", sample("mlp.json.gz"), "--graphs", "--json"}).out);
  REQUIRE(rows.size() == 2);
  CHECK((rows[0]["key"] == "joint" && rows[0]["opens_first"] == true));
  CHECK(rows[0]["nodes"] > 0);
  CHECK(!rows[0].contains("fault"));
  CHECK(run({"show", "no/such/file", "--graphs"}).code == kBadInput);
}

TEST_CASE("command: plan gives what PyTorch saves, where the file has it", "[native]") {
  const Ran ran = run({"plan", sample("mlp.json.gz"), "--graph", "joint_after_passes", "--json"});
  REQUIRE(ran.code == kDone);
  const auto json = nlohmann::json::parse(ran.out);
  REQUIRE(json.contains("torch_saved"));
  CHECK(json["torch_saved"]["bytes"] > 0);
  CHECK(json["torch_saved"]["peak_bytes"] >= json["torch_saved"]["bytes"]);
  CHECK(run({"plan", sample("mlp.json.gz"), "--graph", "joint_after_passes"})
            .out.find("saved by PyTorch") != std::string::npos);
}

TEST_CASE("command: show writes every format", "[native]") {
  CHECK(run({"show", sample("mlp.json.gz")}).out.find("graph \"mlp\"") == 0);
  CHECK(nlohmann::json::parse(run({"show", sample("mlp.json.gz"), "--json"}).out)["nodes"].size() >
        10);
  CHECK(run({"show", sample("mlp.json.gz"), "--format", "dot"}).out.find("digraph") == 0);
  CHECK(run({"show", sample("mlp.json.gz"), "--format", "svg"}).out.find("<svg") == 0);
}

}  // namespace
}  // namespace recut::native
