// Inference by the command: models of ONNX, programs of torch.export and forward graphs in text are
// run, emitted and compiled, at budgets of their own.
#include <dlfcn.h>
#include <fmt/core.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/eval/evaluator.h"
#include "engine/eval/inputs.h"
#include "engine/input/safetensors.h"
#include "engine/workspace/open_document.h"
#include "tests/effort.h"
#include "tests/native/cache_at.h"
#include "tests/native/run_command.h"
#include "tests/native/temporary_folder.h"
#include "tests/onnx/onnx_models.h"
#include "tests/paths.h"

namespace recut::native {
namespace {

using Json = nlohmann::json;
using Arguments = std::vector<std::string>;

const std::string kTests = RECUT_SOURCE_DIR "/tests/";

struct Model {
  std::string file;
  Arguments options;
};

// Every model of the repository that is computed here, with its weights in the file.
std::vector<Model> inference_models() {
  std::vector<Model> models;
  for (const std::string& name : all_onnx_models())
    models.push_back({onnx_model(name), with_dimensions({}, name)});
  for (const char* name : {"buffers_mutated", "cond", "conv_bn_train", "mlp_batch"})
    models.push_back({fmt::format("{}input/exported/{}.pt2", kTests, name), {}});
  return models;
}

const Model& tiny_resnet() {
  static const Model model{onnx_model("tiny_resnet"), {"--dim", "batch=2"}};
  return model;
}

Ran run_with(Arguments arguments, const Model& model, const Arguments& more) {
  arguments.push_back(model.file);
  arguments.insert(arguments.end(), model.options.begin(), model.options.end());
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run(arguments);
}

Json checked_run(const Model& model, Arguments more) {
  for (const char* option : {"--check", "--json", "--no-cache"}) more.emplace_back(option);
  more.insert(more.end(), {"--steps", "1", "--threads", "2"});
  const Ran ran = run_with({"run"}, model, more);
  INFO(model.file << ": " << ran.err << ran.out);
  REQUIRE(ran.code == kDone);
  Json json = Json::parse(ran.out);
  CHECK(json["ok"] == true);
  CHECK(json["measured_peak_bytes"] == json["planned_peak_bytes"]);
  return json;
}

TEST_CASE("inference: models run as eval computes them, within their budgets", "[native][cpu]") {
  for (const Model& model : test::tried(inference_models())) {
    INFO(model.file);
    checked_run(model, {"--no-library"});
    const Ran swept = run_with({"sweep"}, model, {"--points", "3", "--json", "--model", "fused"});
    REQUIRE(swept.code == kDone);
    const Json curve = Json::parse(swept.out);
    CHECK(curve["inference"] == true);
    const std::int64_t least = curve["least_peak_bytes"];
    const std::int64_t most = curve["points"].back()["peak_bytes"];
    CHECK(least <= most);
    // The arena holds the budget, too, which alignment may make a little dearer.
    const std::int64_t budget = (least + most) / 2 + 4096;
    const Json held = checked_run(model, {"--budget", std::to_string(budget)});
    CHECK(held["planned_peak_bytes"] <= budget);
  }
}

TEST_CASE("inference: given inputs make the expected outputs", "[native][cpu]") {
  const std::string file = kTests + "input/exported/mlp_batch";
  const TemporaryFile outputs("outputs.safetensors");
  const Ran ran = run({"run", file + ".pt2", "--tensors", file + ".safetensors", "--out-tensors",
                       outputs.path(), "--steps", "1", "--check"});
  INFO(ran.err << ran.out);
  CHECK(ran.code == kDone);
  CHECK_FALSE(outputs.read().empty());
  const Ran eval = run(
      {"eval", file + ".pt2", "--tensors", file + ".safetensors", "--budget", "100%", "--check"});
  INFO(eval.err);
  CHECK(eval.code == kDone);
}

// Results that are inputs, views of inputs and of each other, and one value twice.
constexpr const char* kAliases = R"(graph "aliases" {
  %w = parameter f32[4, 4]
  %x = input f32[4, 4]
  %n = input i64[3]
  %turned = permute(%x, [1, 0])
  %part = slice.Tensor(%w, 0, 1, 3)
  %y = mm(%turned, %w)
  %flat = view(%y, [16])
  %z = exp(%y)
  results %x, %n, %turned, %part, %y, %flat, %y, %z
}
)";

TEST_CASE("inference: results that alias inputs and each other come out right", "[native][cpu]") {
  const TemporaryFile file("aliases.recut");
  file.write(kAliases);
  checked_run({file.path(), {}}, {});
  checked_run({file.path(), {}}, {"--budget", "100%", "--no-library"});
  CHECK(run({"eval", file.path(), "--seed", "1", "--budget", "100%"}).code == kDone);
}

// Elements of bf16 are values of f32, also where there are none to read.
TEST_CASE("inference: a padded tensor without elements is its padding", "[native][cpu]") {
  const TemporaryFile file("padded.recut");
  file.write(R"(graph "padded" {
  %x = input bf16[0]
  %y = constant_pad_nd(%x, [0, 3], 1.5)
  results %y
}
)");
  checked_run({file.path(), {}}, {});
}

TEST_CASE("inference: a frozen model runs as the unfrozen one", "[native][cpu]") {
  const Model& model = tiny_resnet();
  const TemporaryFile outputs("outputs.safetensors"), frozen_outputs("frozen.safetensors");
  checked_run(model, {"--out-tensors", outputs.path()});
  checked_run(model, {"--freeze", "--out-tensors", frozen_outputs.path()});
  const std::string plain = outputs.read(), frozen = frozen_outputs.read();
  CHECK(plain.size() == frozen.size());
  const Ran planned = run_with({"plan"}, model, {"--freeze", "--json"});
  INFO(planned.err);
  REQUIRE(planned.code == kDone);
  CHECK(planned.err.find("note: frozen: ") != std::string::npos);
  const Json loose = Json::parse(run_with({"plan"}, model, {"--json"}).out);
  CHECK(Json::parse(planned.out)["nodes"] < loose["nodes"]);
  // Each weight has a fate, and what is computed of it has a name.
  const Ran opt = run_with({"opt"}, model, {"--freeze", "--json"});
  REQUIRE(opt.code == kDone);
  const Json report = Json::parse(opt.out)["frozen"];
  std::size_t folded = 0;
  for (const Json& weight : report["weights"]) {
    const std::string fate = weight["fate"];
    if (fate == "folded") {
      ++folded;
      CHECK_FALSE(weight["into"].empty());
    }
    CHECK(fate != "no value");
  }
  CHECK(folded > 0);
  CHECK_FALSE(report["constants"].empty());
  CHECK(run({"plan", sample("tiny_mlp.json.gz"), "--freeze"}).code == kBadInput);
}

TEST_CASE("inference: every target's code is emitted", "[native][codegen]") {
  const Model& model = tiny_resnet();
  for (const char* target : {"loop", "llvm", "wasm", "cuda"}) {
    const Ran ran = run_with({"emit"}, model, {"--target", target, "--budget", "100%"});
    INFO(target << ": " << ran.err);
    CHECK(ran.code == kDone);
    CHECK_FALSE(ran.out.empty());
  }
}

TEST_CASE("inference: a library for C has forward alone", "[native][aot]") {
  const TemporaryFile file("aliases.recut");
  file.write(kAliases);
  const test::TemporaryFolder folder;
  const std::string library = folder.path() + "/net.so", header = folder.path() + "/net.h";
  const Ran ran = run({"compile", file.path(), "-o", library, "--header", header});
  INFO(ran.err);
  REQUIRE(ran.code == kDone);
  CHECK(ran.out.find("gradients") == std::string::npos);
  const std::string text = bytes_of(header);
  for (const char* word : {"backward", "tangent", "gradient", "training"})
    CHECK(text.find(word) == std::string::npos);
  void* loaded = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE(loaded != nullptr);
  CHECK(dlsym(loaded, "aliases_forward") != nullptr);
  CHECK(dlsym(loaded, "aliases_backward") == nullptr);
  dlclose(loaded);
}

// The library's step on inputs of 0.5. `weights`: the file beside it, or "" where they are inside.
std::vector<float> run_library(const std::string& library, const std::string& weights,
                               std::size_t inputs, std::size_t outputs) {
  void* loaded = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE(loaded != nullptr);
  const auto find = [&](const char* name) { return dlsym(loaded, name); };
  const std::string bytes = weights.empty() ? "" : bytes_of(weights);
  auto* const held = static_cast<char*>(std::aligned_alloc(64, (bytes.size() + 64) / 64 * 64));
  std::copy(bytes.begin(), bytes.end(), held);
  void* const arena = std::aligned_alloc(64, 1 << 20);
  const std::vector<float> x(2 * 3 * 16 * 16, 0.5f);
  std::vector<float> y(64, 0);
  // inputs, outputs, the arena, the seed, the parallel loop and its context
  std::vector<const void*> step(inputs + outputs + 4, nullptr);
  if (weights.empty())
    reinterpret_cast<void (*)(const void**)>(find("net_set_weights"))(step.data());
  else
    reinterpret_cast<void (*)(const void**, const void*)>(find("net_set_weights"))(step.data(),
                                                                                   held);
  for (std::size_t i = 0; i < inputs; ++i)
    if (step[i] == nullptr) step[i] = x.data();
  step[inputs] = y.data();
  step[inputs + outputs] = arena;
  CHECK(reinterpret_cast<int (*)(const void**)>(find("net_forward"))(step.data()) == 0);
  CHECK(dlsym(loaded, "weights_data") == nullptr);
  dlclose(loaded);
  std::free(held);
  std::free(arena);
  return y;
}

// What eval gives for inputs of 0.5.
std::vector<float> expected_of(const Model& model) {
  const std::vector<float> x(2 * 3 * 16 * 16, 0.5f);
  const std::string_view bytes(reinterpret_cast<const char*>(x.data()), x.size() * sizeof(float));
  const TemporaryFile given("x.safetensors"), outputs("y.safetensors");
  given.write(
      write_safetensors(std::vector<NamedTensor>{{"in.x", DType::f32, {2, 3, 16, 16}, bytes}}));
  REQUIRE(run_with({"eval"}, model, {"--tensors", given.path(), "--out", outputs.path()}).code ==
          kDone);
  const std::string written = outputs.read();
  const auto tensors = parse_safetensors(written, "y");
  REQUIRE(tensors.ok());
  std::vector<float> expected(tensors->front().bytes.size() / sizeof(float));
  std::memcpy(expected.data(), tensors->front().bytes.data(), tensors->front().bytes.size());
  return expected;
}

void check_close(const std::vector<float>& found, const std::vector<float>& expected) {
  REQUIRE(expected.size() <= found.size());
  REQUIRE_FALSE(expected.empty());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO(i << ": " << found[i] << " for " << expected[i]);
    CHECK(std::abs(found[i] - expected[i]) <= 1e-4f * (1 + std::abs(expected[i])));
  }
}

TEST_CASE("inference: a model is a library with its weights beside it or inside", "[native][aot]") {
  const std::vector<float> expected = expected_of(tiny_resnet());
  for (const bool freeze : {false, true}) {
    const test::TemporaryFolder folder;
    const std::string library = folder.path() + "/net.so", weights = folder.path() + "/net.weights";
    Arguments options = {"-o", library, "--name", "net", "--json"};
    if (freeze) options.emplace_back("--freeze");
    const auto compiled = [&](const Arguments& more) {
      Arguments all = options;
      all.insert(all.end(), more.begin(), more.end());
      const Ran ran = run_with({"compile"}, tiny_resnet(), all);
      INFO(ran.err);
      REQUIRE(ran.code == kDone);
      return Json::parse(ran.out);
    };
    const Json inside = compiled({});
    CHECK(inside["weights"] == "inside");
    CHECK(inside["header"] == folder.path() + "/net.h");
    CHECK(inside["library_bytes"] > inside["weights_bytes"]);
    check_close(run_library(library, "", inside["inputs"], inside["results"]), expected);
    CHECK(bytes_of(folder.path() + "/net.h").find("net_set_weights(net_step* step);") !=
          std::string::npos);

    const Json beside = compiled({"--weights", weights});
    CHECK(beside["weights"] == weights);
    CHECK(beside["weights_bytes"] == bytes_of(weights).size());
    CHECK(beside["weights_bytes"] == inside["weights_bytes"]);
    CHECK(beside["library_bytes"] < inside["library_bytes"]);
    check_close(run_library(library, weights, beside["inputs"], beside["results"]), expected);
  }
}

TEST_CASE("inference: weights may be the caller's, and have to exist", "[native][aot]") {
  const test::TemporaryFolder folder;
  const Arguments options = {"-o", folder.path() + "/net.so", "--name", "net", "--json"};
  const auto with = [&](Arguments more, const Model& model = tiny_resnet()) {
    more.insert(more.begin(), options.begin(), options.end());
    return run_with({"compile"}, model, more);
  };
  const Ran none = with({"--weights", "none"});
  REQUIRE(none.code == kDone);
  CHECK(Json::parse(none.out)["weights_bytes"] == 0);
  CHECK(bytes_of(folder.path() + "/net.h").find("set_weights") == std::string::npos);
  CHECK(with({"--weights", "none", "--freeze"}).code == kBadInput);
  const Model mlp{RECUT_SOURCE_DIR "/samples/mlp.recut", {}};
  CHECK(with({"--weights", "inside"}, mlp).err.find("no values") != std::string::npos);
  CHECK(Json::parse(with({}, mlp).out)["weights"] == "none");
}

// A program in C with nothing of Recut, of a program of torch.export: its weights are inside.
TEST_CASE("inference: a C program calls a compiled model", "[native][aot]") {
  const test::TemporaryFolder folder;
  const std::string model = kTests + "input/exported/conv_bn_train.pt2";
  const Ran ran = run({"compile", model, "-o", folder.path() + "/net.so", "--name", "net"});
  INFO(ran.err);
  REQUIRE(ran.code == kDone);
  const std::string build =
      "cd " + folder.path() + " && cc -std=c11 -Wall -Wextra -pedantic -Werror -I. " +
      RECUT_SOURCE_DIR "/samples/aot/infer.c ./net.so -o infer && ./infer > values";
  REQUIRE(std::system(build.c_str()) == 0);
  std::ifstream values(folder.path() + "/values");
  std::vector<float> found;
  for (float value = 0; values >> value;) found.push_back(value);

  const auto document = open_document(model, {});
  REQUIRE(document.ok());
  const Graph& graph = document->graph();
  auto inputs = inputs_from(graph, document->file.tensors, 0);
  REQUIRE(inputs.ok());
  for (const NodeId id : graph.inputs()) {
    if (graph.input_kind(id) != InputKind::input) continue;
    const auto held =
        std::any_of(document->file.tensors.begin(), document->file.tensors.end(),
                    [&](const auto& t) { return t.name == "in." + graph.node_name(id); });
    if (held) continue;
    Reals halves(graph.type(id).shape, 0.5);
    pack(halves, inputs->at(id));
  }
  const auto evaluated = evaluate(graph, *inputs, {});
  REQUIRE(evaluated.ok());
  std::vector<float> expected;
  for (const Tensor& output : evaluated->outputs)
    if (output.dtype == DType::f32)
      for (const double value : unpack<double>(output).data)
        expected.push_back(static_cast<float>(value));
  CHECK(found.size() == expected.size());
  check_close(found, expected);
}

TEST_CASE("compile: without a path, equal contents have one", "[native][aot][cache]") {
  const test::TemporaryFolder folder;
  const test::CacheAt at(folder.path());
  const auto path_of = [](const Arguments& more) {
    Arguments arguments = {"compile", RECUT_SOURCE_DIR "/samples/mlp.recut", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ran ran = run(arguments);
    INFO(ran.err);
    REQUIRE(ran.code == kDone);
    const Json json = Json::parse(ran.out);
    CHECK(std::filesystem::exists(json["library"].get<std::string>()));
    CHECK(std::filesystem::exists(json["header"].get<std::string>()));
    return json["library"].get<std::string>();
  };
  const std::string first = path_of({});
  CHECK(first.starts_with(folder.path() + "/libraries/"));
  CHECK(first.ends_with("/mlp.so"));
  CHECK(path_of({}) == first);
  CHECK(path_of({"--cpu", "x86-64"}) != first);
  CHECK(path_of({"--header", folder.path() + "/own.h"}) == first);
  CHECK(std::filesystem::exists(folder.path() + "/own.h"));
  void* const loaded = dlopen(first.c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE(loaded != nullptr);
  CHECK(dlsym(loaded, "mlp_backward") != nullptr);
  dlclose(loaded);
  CHECK(run({"cache", "list"}).out.find("libraries") != std::string::npos);
  CHECK(run({"cache", "clear"}).out.find("removed 2 entries") == 0);
  CHECK_FALSE(std::filesystem::exists(first));
}

}  // namespace
}  // namespace recut::native
