// ONNX models: values as onnxruntime has them (tests/onnx/reference.mjs wrote those), what is
// refused and how, and bytes that mean harm.
#include "engine/onnx/read_onnx.h"

#include <catch2/catch_test_macros.hpp>

#include "engine/ir/printer.h"
#include "engine/ir/verifier.h"
#include "engine/support/hash.h"
#include "tests/onnx/onnx_models.h"

namespace recut::native {
namespace {

TEST_CASE("onnx: models give what onnxruntime gives", "[onnx]") {
  REQUIRE(all_onnx_models().size() >= 12);
  for (const std::string& name : all_onnx_models()) {
    INFO(name);
    const std::string tensors = onnx_tensors(name);
    const auto ran = [&](const char* passes) {
      return run(with_dimensions(
          {"eval", onnx_model(name), "--tensors", tensors, "--check", passes}, name));
    };
    const Ran plain = ran("--no-passes"),
              passed = ran("--passes=noop_removal,view_chains,dead_code");
    INFO(plain.out << plain.err << passed.out << passed.err);
    CHECK(plain.code == kDone);
    CHECK(passed.code == kDone);
  }
}

TEST_CASE("onnx: an imported model is Recut's text and its tensors", "[onnx]") {
  const TemporaryFile graph("imported.recut"), tensors("imported.safetensors");
  const Ran imported = run({"import", onnx_model("tiny_gpt"), "--no-passes", "--out", graph.path(),
                            "--tensors", tensors.path()});
  INFO(imported.err);
  REQUIRE(imported.code == kDone);
  const std::string text = graph.read();
  CHECK(text.find("%wte.weight = parameter f32[11, 8]") != std::string::npos);
  CHECK(text.find("@\"transformer.h.0.attn\"") != std::string::npos);
  CHECK(text.find("%ids = input i64[1, 6]") != std::string::npos);
  CHECK(run({"show", graph.path(), "--no-passes"}).out == text);
  CHECK(run({"eval", graph.path(), "--tensors", tensors.path(), "--seed", "1"}).code == kDone);
}

TEST_CASE("onnx: shapes that the model computes are gone, and statistics are constants", "[onnx]") {
  const Ran gpt = run({"show", onnx_model("tiny_gpt"), "--no-passes"});
  for (const char* none : {"arange", "cat(", "remainder"})
    CHECK(gpt.out.find(none) == std::string::npos);
  const Ran resnet = run({"show", onnx_model("tiny_resnet"), "--no-passes", "--dim", "batch=2"});
  CHECK(resnet.out.find("%conv1.bn.running_mean = constant f32[4]") != std::string::npos);
  CHECK(resnet.out.find("%conv1.bn.weight = parameter f32[4]") != std::string::npos);
}

TEST_CASE("onnx: open dimensions are named, and fixed by name", "[onnx]") {
  const Ran open = run({"show", onnx_model("tiny_bert"), "--dim", "batch=2"});
  CHECK(open.code == kBadInput);
  CHECK(open.err.find("input 'hidden': dimension 1 ('tokens') is not fixed: static shapes only, "
                      "expected --dim tokens=N to fix it") != std::string::npos);
  CHECK(run({"show", onnx_model("tiny_bert"), "--dim", "batch=2,tokens=5"}).code == kDone);
  for (const char* wrong : {"batch", "batch=", "batch=two", "=3", "batch=-1", "nobody=3"}) {
    INFO(wrong);
    CHECK(run({"show", onnx_model("tiny_resnet"), "--dim", wrong}).code == kBadInput);
  }
  CHECK(run({"show", sample("mlp.json.gz"), "--dim", "batch=2"}).code == kBadInput);
  CHECK(run({"plan", onnx_model("tiny_gpt")}).code == kDone);
}

TEST_CASE("onnx: a frozen model gives what onnxruntime gives", "[onnx]") {
  for (const std::string& name : all_onnx_models()) {
    INFO(name);
    const TemporaryFile graph("frozen.recut"), tensors("frozen.safetensors");
    const Ran frozen =
        run(with_dimensions({"opt", onnx_model(name), "--freeze", "--tensors", onnx_tensors(name),
                             "--out", graph.path(), "--out-tensors", tensors.path()},
                            name));
    INFO(frozen.err);
    REQUIRE(frozen.code == kDone);
    const Ran checked =
        run({"eval", graph.path(), "--tensors", tensors.path(), "--check", "--no-passes"});
    INFO(checked.out << checked.err);
    CHECK(checked.code == kDone);
    CHECK(graph.read().find("batch_norm") == std::string::npos);
  }
  CHECK(run({"opt", sample("mlp.json.gz"), "--freeze"}).code == kBadInput);
  CHECK(run({"opt", onnx_model("tiny_gpt"), "--tensors", "x"}).code == kBadInput);
}

// A model of one node in the format's own bytes: fields are a number and a length, all short here.
std::string field(int number, const std::string& bytes) {
  return std::string(1, static_cast<char>(number * 8 + 2)) +
         std::string(1, static_cast<char>(bytes.size())) + bytes;
}
std::string one_node(const std::string& op, const std::string& domain, int opset) {
  const std::string node = field(2, "y") + field(3, "the node") + field(4, op) + field(7, domain);
  const std::string graph = field(1, node) + field(12, field(1, "y"));
  return field(7, graph) + field(8, std::string{16, static_cast<char>(opset)});
}

std::string refusal(std::string_view bytes) {
  const auto file = onnx::read_onnx(bytes, "m.onnx");
  REQUIRE_FALSE(file.ok());
  CHECK(file.diagnostics().front().file == "m.onnx");
  return file.diagnostics().front().message;
}

TEST_CASE("onnx: what isn't supported is named", "[onnx]") {
  CHECK(refusal(one_node("NonMaxSuppression", "", 13)) ==
        "unsupported operator 'NonMaxSuppression' (opset 13): node 'the node' (1 of 1) uses it");
  CHECK(refusal(one_node("Relu", "com.microsoft", 15)) ==
        "unsupported operator 'com.microsoft::Relu' (opset 15): node 'the node' (1 of 1) uses it");
  CHECK(refusal(one_node("", "", 13)) ==
        "unsupported operator '' (opset 13): node 'the node' (1 of 1) uses it");
  CHECK(refusal(one_node("Relu", "", 6)) == "opset 6, expected 7 or later");
  CHECK(refusal(one_node("Relu", "", 13)) == "node 'the node' (Relu, 1 of 1): input 0 is missing");
  CHECK(refusal("") == "no ONNX model: the bytes are no protobuf message with a graph");
  CHECK(refusal("graph \"g\" {\n}") ==
        "no ONNX model: the bytes are no protobuf message with a graph");
}

std::string refusal_within(const std::string& name, const onnx::Options& options) {
  const auto file = onnx::read_onnx(bytes_of_file(onnx_model(name)), name, options);
  return file ? "" : file.diagnostics().front().message;
}

TEST_CASE("onnx: what takes too much is refused, or not computed beforehand", "[onnx]") {
  onnx::Options options;
  options.max_nodes = 20;
  CHECK(refusal_within("tiny_gpt", options) == "the model has 106 nodes, at most 20 are read");
  CHECK(refusal_within("tiny_lstm", options)
            .find("(LSTM, 1 of 1): with it the graph has more than 20 nodes") != std::string::npos);
  options.max_nodes = 1000;
  CHECK(refusal_within("tiny_gpt", options).empty());
  options.folded_bytes = 10;
  CHECK(refusal_within("tiny_gpt", options).find("depend on values that only a run shows") !=
        std::string::npos);
  options.folded_bytes = 1 << 20;
  options.folding_work = 10;
  CHECK(refusal_within("tiny_gpt", options).find("depend on values that only a run shows") !=
        std::string::npos);
}

void expect_sound(const std::string& bytes) {
  onnx::Options options;
  options.dimensions = {{"batch", 2}, {"tokens", 5}};
  const auto file = onnx::read_onnx(bytes, "m.onnx", options);
  if (file.ok())
    CHECK(verify(file->graph).empty());
  else
    CHECK_FALSE(file.diagnostics().empty());
}

TEST_CASE("onnx: models cut off or changed at any byte are read or refused", "[onnx]") {
  for (const std::string& name : all_onnx_models()) {
    INFO(name);
    const std::string whole = bytes_of_file(onnx_model(name));
    for (std::size_t size = 0; size < whole.size(); size += 1 + whole.size() / 200)
      expect_sound(whole.substr(0, size));
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
      std::string changed = whole;
      for (std::uint64_t i = 0; i < 1 + seed % 3; ++i) {
        const std::uint64_t bits = hash_mix(seed, i);
        changed[bits % changed.size()] = static_cast<char>(bits >> 40);
      }
      INFO(seed);
      expect_sound(changed);
    }
  }
}

}  // namespace
}  // namespace recut::native
