// Models of older opsets: attributes that are inputs since, and meanings that changed. The values of
// whole models of opsets 7 to 12 are onnxruntime's (onnx_test.cpp).
#include <catch2/catch_test_macros.hpp>

#include "engine/ir/printer.h"
#include "engine/onnx/read_onnx.h"
#include "tests/onnx/onnx_writer.h"

namespace recut::test {
namespace {

using Ints = std::vector<std::int64_t>;

std::string refused_in(const OnnxNode& node, int opset) {
  const auto file = onnx::read_onnx(node.model(opset), "m.onnx");
  REQUIRE_FALSE(file.ok());
  return file.diagnostics().front().message;
}

std::string text_in(const OnnxNode& node, int opset) {
  const auto file = onnx::read_onnx(node.model(opset), "m.onnx");
  INFO((file ? std::string() : format(file.diagnostics())));
  REQUIRE(file.ok());
  return print(file->graph);
}

TEST_CASE("onnx: an attribute that became an input has one place in each opset", "[onnx]") {
  OnnxNode attribute("Squeeze", {1, 2, 1});
  attribute.with("axes", Ints{2});
  CHECK(text_in(attribute, 7).find("[1, 2]") != std::string::npos);
  CHECK(refused_in(attribute, 13)
            .find("(Squeeze, 1 of 1): attribute 'axes' is an input since opset 13, "
                  "and the model is of opset 13") != std::string::npos);
  OnnxNode input("Squeeze", {1, 2, 1});
  input.integers({2});
  CHECK(text_in(input, 13).find("[1, 2]") != std::string::npos);
  CHECK(refused_in(input, 12).find("input 1 is an attribute before opset 13, and the model is of "
                                   "opset 12") != std::string::npos);
}

TEST_CASE("onnx: a moved attribute of another kind is refused", "[onnx]") {
  OnnxNode node("Slice", {4});
  node.with("starts", Ints{0}).with("ends", "end");
  CHECK(refused_in(node, 9).find("attribute 'ends' is of another type than the operator's") !=
        std::string::npos);
}

TEST_CASE("onnx: Upsample and Scatter end where other operators replace them", "[onnx]") {
  for (const auto& [name, last] : {std::pair("Upsample", 9), std::pair("Scatter", 10)}) {
    const OnnxNode node(name, {1, 1, 2, 2});
    CHECK(refused_in(node, last).find("unsupported") == std::string::npos);
    CHECK(refused_in(node, last + 1).find("unsupported operator") == 0);
  }
}

TEST_CASE("onnx: statistics of every element are refused", "[onnx]") {
  OnnxNode node("BatchNormalization", {1, 2, 3});
  for (int i = 0; i < 4; ++i) node.reals({2}, {1, 1});
  node.with("spatial", std::int64_t{0});
  CHECK(refused_in(node, 7).find("statistics of every element, expected one a channel") !=
        std::string::npos);
}

}  // namespace
}  // namespace recut::test
