// `recut emit --target loop` of every sample, as goldens in tests/golden/loop. RECUT_BLESS=1 writes
// them anew. A change of the lowering that claims to change nothing leaves them as they are.
#include <fmt/core.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "engine/codegen/loop/parser.h"
#include "engine/codegen/loop/verifier.h"
#include "engine/input/graph_file_reader.h"
#include "engine/ir/data_flow.h"
#include "engine/runtime/program_text.h"
#include "engine/workspace/compile.h"
#include "engine/workspace/open_document.h"
#include "engine/workspace/scheduling.h"
#include "tests/codegen/wasm_code.h"
#include "tests/effort.h"
#include "tests/golden/golden.h"
#include "tests/native/run_command.h"

namespace recut::test {
namespace {

std::string emit(const std::string& path, const std::string& model) {
  const native::Ran ran = native::run({"emit", path, "--target", "loop", "--model", model});
  INFO(ran.err);
  REQUIRE(ran.code == native::kDone);
  return ran.out;
}

bool is_forward(const std::string& path) {
  const auto file = read_graph_file(path);
  REQUIRE(file.ok());
  return !is_joint(file->graph);
}

// A forward graph's step is that of its joint graph.
std::string emit_step(const std::string& path) {
  if (!is_forward(path)) return emit(path, "fused");
  const native::TemporaryFile joint("joint.recut");
  REQUIRE(native::run({"grad", path, "--out", joint.path()}).code == native::kDone);
  return emit(joint.path(), "fused");
}

// Every graph of samples/, by path from there.
std::vector<std::string> sample_graphs() {
  const std::filesystem::path top = RECUT_SOURCE_DIR "/samples";
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(top))
    if (entry.path().extension() == ".recut" || entry.path().extension() == ".gz")
      paths.push_back(entry.path().lexically_relative(top).generic_string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

// "joint/gpt2.json.gz": "joint.gpt2.loop".
std::string golden_name(std::string path) {
  std::replace(path.begin(), path.end(), '/', '.');
  for (const std::string_view ending : {".json.gz", ".recut"})
    if (path.ends_with(ending)) path.resize(path.size() - ending.size());
  return path + ".loop";
}

void check_golden(const std::string& text, const std::string& name) {
  const auto kernels = loop::parse_kernels(text, name);
  if (!kernels) FAIL(format(kernels.diagnostics()));
  for (const loop::Kernel& kernel : *kernels) CHECK(format(loop::verify(kernel)) == "");
  const std::string path = fmt::format("{}/tests/golden/loop/{}", RECUT_SOURCE_DIR, name);
  if (blessing()) {
    std::ofstream(path) << text;
    return;
  }
  std::ifstream file(path);
  const std::string expected((std::istreambuf_iterator<char>(file)), {});
  INFO("accept it:  RECUT_BLESS=1 build/release/tests/recut_tests \"steps of the samples*\"");
  CHECK(text == expected);
}

TEST_CASE("steps of the samples as programs in loop form", "[codegen][golden]") {
  const auto graphs = sample_graphs();
  REQUIRE(graphs.size() > 18);
  for (const std::string& path : test::tried(graphs)) {
    DYNAMIC_SECTION(path) {
      check_golden(emit_step(RECUT_SOURCE_DIR "/samples/" + path), golden_name(path));
    }
  }
}

TEST_CASE("a step without fusion as a program in loop form", "[codegen][golden]") {
  check_golden(emit(RECUT_SOURCE_DIR "/samples/mlp.recut", "eager"), "mlp.eager.loop");
}

TEST_CASE("a program's launches are told with what a library runs", "[codegen]") {
  const auto document = open_document(native::sample("tiny_mlp.json.gz"), {});
  REQUIRE(document.ok());
  const auto scheduled = schedule_document(*document, {});
  REQUIRE(scheduled.ok());
  const Graph& graph = document->graph();
  const auto program = program_of(*document, *scheduled, {.library = true});
  REQUIRE(program.ok());
  const std::string text = launches_text(graph, *program);
  const auto& launch = program->launches.front();
  REQUIRE(launch.library);
  CHECK(text.find("\n; launch 0: library kernel 0 (%") != std::string::npos);
  CHECK(text.find(fmt::format("; {} launches of {} kernels, an arena of {} bytes, program {}\n",
                              program->launches.size(),
                              program->kernels.size() + program->library.size(),
                              program->arena_bytes, program_digest(*program))) == 0);
}

std::string contents_emit(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// What stands in the facts is in the module, and every buffer inside of the arena or an input.
TEST_CASE("emit writes a module and what a host has to know", "[codegen]") {
  const native::TemporaryFile module("step.wasm"), facts("step.json");
  const native::Ran ran = native::run({"emit", RECUT_SOURCE_DIR "/samples/mlp.recut", "--target",
                                       "wasm", "--relaxed", "-o", module.path()});
  INFO(ran.err);
  REQUIRE(ran.code == native::kDone);
  const std::string bytes = contents_emit(module.path());
  CHECK(bytes.substr(0, 4) == std::string("\0asm", 4));
  const auto json = nlohmann::json::parse(contents_emit(facts.path()));
  CHECK(json["relaxed"] == true);
  CHECK(json["outputs"].size() == 7);
  CHECK(json["outputs"].back().is_null());
  for (const auto& kernel : json["kernels"])
    for (const auto& stage : kernel["stages"])
      CHECK(bytes.find(stage["function"].get<std::string>()) != std::string::npos);
  for (const auto& launch : json["launches"]) {
    const auto& buffers = json["kernels"][launch["kernel"].get<std::size_t>()]["buffers"];
    REQUIRE(launch["buffers"].size() == buffers.size());
    for (const auto& place : launch["buffers"])
      if (place.contains("input"))
        CHECK(place["input"].get<std::size_t>() < json["inputs"].size());
      else
        CHECK(place["arena"].get<std::int64_t>() < json["arena_bytes"].get<std::int64_t>());
  }
}

// A host writes and reads by what the facts say, values row by row on its side.
TEST_CASE("emit says how a module's inputs lie in memory", "[codegen]") {
  const native::TemporaryFile graph("lying.recut"), module("lying.wasm"), facts("lying.json"),
      script("lying.mjs");
  graph.write(R"(graph "lying" {
  %x = input f32[2, 3]{1, 2}
  %g = input f32[2, 2]{3, 1}
  %e = input f32[2, 2]{1, 0}
  %s = input f32[]
  %n = input f32[0, 2]
  %y = mul.Tensor(%x, %s)
  %z = add.Tensor(%g, %e)
  results %y, %z, %n
  gradients none, none, none, none, none
}
)");
  const native::Ran ran =
      native::run({"emit", graph.path(), "--target", "wasm", "-o", module.path()});
  INFO(ran.err);
  REQUIRE(ran.code == native::kDone);
  const auto json = nlohmann::json::parse(contents_emit(facts.path()));
  std::map<std::string, std::vector<int>> strides;
  for (const auto& input : json["inputs"])
    strides[input["name"].get<std::string>()] = input["strides"].get<std::vector<int>>();
  CHECK(strides["x"] == std::vector<int>{1, 2});
  // What isn't dense comes row by row.
  CHECK(strides["g"] == std::vector<int>{2, 1});
  CHECK(strides["e"] == std::vector<int>{2, 1});
  CHECK(strides["s"].empty());
  if (!has_node()) SKIP("node is missing");
  script.write(R"(
import { functions } from ')" RECUT_SOURCE_DIR R"(/tests/codegen/wasm_functions.mjs';
import { layOut, readStep, writeInput } from ')" RECUT_SOURCE_DIR R"(/tests/bench/wasm_host.mjs';
const step = readStep(process.argv[2]), laid = layOut(step);
const memory = new WebAssembly.Memory({ initial: laid.pages });
const given = { x: [0, 1, 2, 3, 4, 5], g: [1, 2, 3, 4], e: [10, 10, 20, 20], s: [2], n: [] };
for (const input of laid.inputs)
  writeInput(memory, input, new Uint8Array(Float32Array.from(given[input.name]).buffer));
const view = new DataView(memory.buffer);
for (const [at, value] of laid.words) view.setInt32(at, value, true);
const { exports } = new WebAssembly.Instance(new WebAssembly.Module(step.module), { recut: { memory, ...functions } });
for (const { calls } of laid.launches) for (const [name, ...rest] of calls) exports[name](...rest);
const expected = [[0, 2, 4, 6, 8, 10], [11, 12, 23, 24]];
expected.forEach((values, o) => {
  const { place, shape, layouts: [{ strides, offset }] } = step.outputs[o];
  values.forEach((value, i) => {
    const at = offset + Math.floor(i / shape[1]) * strides[0] + (i % shape[1]) * strides[1];
    if (view.getFloat32(laid.arena + place.arena + 4 * at, true) !== value) process.exit(1);
  });
});
)");
  CHECK(std::system(("node " + script.path() + " " + module.path()).c_str()) == 0);
}

TEST_CASE("emit says what it can't do", "[codegen]") {
  const auto run = [](std::vector<std::string> words) {
    words.insert(words.begin(), {"emit", RECUT_SOURCE_DIR "/samples/mlp.recut"});
    const native::Ran ran = native::run(words);
    return std::pair(ran.code, ran.err);
  };
  CHECK(run({"--target", "loop", "--kernel", "0"}).first == native::kDone);
  const auto [code, message] = run({"--target", "loop", "--kernel", "99"});
  CHECK(code == native::kBadInput);
  CHECK(message.find("--kernel 99: the step has kernels 0 to ") != std::string::npos);
  CHECK(run({"--target", "llvm", "--relaxed"}).second.find("for --target wasm alone") !=
        std::string::npos);
  CHECK(run({"--target", "loop", "--rows", "6"}).second.find("for --target wasm alone") !=
        std::string::npos);
  CHECK(run({"--target", "wasm", "--rows", "5"}).first == native::kBadInput);
  CHECK(run({"--target", "loop", "-o", "x"}).second.find("for --target wasm alone") !=
        std::string::npos);
  CHECK(run({"--target", "wasm", "-o", "x", "--kernel", "0"}).second.find("without --kernel") !=
        std::string::npos);
  CHECK(run({"--target", "fortran"}).first == native::kBadInput);
  CHECK(run({}).first == native::kBadInput);
}

}  // namespace
}  // namespace recut::test
