#include "engine/eval/inputs.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstring>

#include "engine/input/text.h"

namespace recut {
namespace {

std::string raw(const std::vector<float>& values) {
  std::string bytes(values.size() * sizeof(float), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

TEST_CASE("bytes become a tensor of the recorded layout, and come back") {
  const std::string bytes = raw({1, 2, 3, 4, 5, 6});
  for (const Strides& strides :
       {Strides{3, 1}, Strides{1, 2}, Strides{6, 2}, Strides{0, 1}, Strides{1, 1}}) {
    const Tensor tensor = tensor_from_bytes({DType::f32, {2, 3}, strides, ""}, bytes);
    CHECK(unpack<double>(tensor).data == std::vector<double>{1, 2, 3, 4, 5, 6});
    CHECK(bytes_of(tensor) == bytes);
    const bool overlapping = strides == Strides{0, 1} || strides == Strides{1, 1};
    CHECK(tensor.strides == (overlapping ? Strides{3, 1} : strides));
  }
  const Tensor expanded =
      tensor_from_bytes({DType::f32, {2, 3}, {0, 1}, ""}, raw({1, 2, 3, 1, 2, 3}));
  CHECK(expanded.strides == Strides{0, 1});
  CHECK(expanded.storage->size() == 12);
  CHECK(tensor_from_bytes(make_type(DType::f32, {0, 3}), "").count() == 0);
}

TEST_CASE("random tensors are the same everywhere") {
  const TensorType reals = make_type(DType::f64, {3});
  const auto values = unpack<double>(random_tensor(reals, 7, "w")).data;
  CHECK(values == unpack<double>(random_tensor(reals, 7, "w")).data);
  CHECK(values != unpack<double>(random_tensor(reals, 8, "w")).data);
  CHECK(values != unpack<double>(random_tensor(reals, 7, "v")).data);
  for (const double x : values) CHECK((x >= -1 && x < 1));
  const auto ints = unpack<std::int64_t>(random_tensor(make_type(DType::i64, {64}), 7, "i")).data;
  std::int64_t sum = 0;
  for (const std::int64_t i : ints) {
    CHECK((i == 0 || i == 1));
    sum += i;
  }
  CHECK((sum > 16 && sum < 48));
}

TEST_CASE("inputs and outputs come from a file by name and position") {
  const auto graph = parse_graph_text(R"(graph "g" {
  %x = parameter f32[2]
  %c = constant f32[2]
  %t = tangent f32[2, 1]
  %y = permute(%x, [0]) : f32[2]
  results %y, %c
  gradients none
})",
                                      "g");
  REQUIRE(graph.ok());
  const std::string two = raw({1, 2});
  const NamedTensor x{"in.x", DType::f32, {2}, two};
  const NamedTensor c{"in.c", DType::f32, {2}, two};
  const NamedTensor t{"in.t", DType::f32, {2, 1}, two};
  const auto input_faults = [&](std::vector<NamedTensor> tensors) {
    const auto inputs = inputs_from(*graph, tensors);
    return inputs ? "" : format(inputs.diagnostics());
  };
  CHECK(input_faults({x, c, t}).empty());
  CHECK(input_faults({x, c, t, {"in.other", DType::f32, {2}, two}}).empty());
  CHECK(input_faults({x, t}) == "error: tensor 'in.c' is missing, expected f32[2]\n");
  CHECK(input_faults({x, c, {"in.t", DType::f32, {2}, two}}) ==
        "error: tensor 'in.t' is f32[2], the graph has f32[2, 1]\n");
  CHECK(input_faults({x, {"in.c", DType::i32, {2}, two}, t}) ==
        "error: tensor 'in.c' is i32[2], the graph has f32[2]\n");
  CHECK(inputs_from(*graph, {}, 3)->size() == 3);

  const auto output_faults = [&](const NamedTensor& tensor) {
    const auto expected = expected_outputs(*graph, std::vector{tensor});
    return expected ? "" : format(expected.diagnostics());
  };
  const auto expected =
      expected_outputs(*graph, std::vector<NamedTensor>{{"out.1", DType::f32, {2}, two}, x});
  REQUIRE(expected.ok());
  CHECK_FALSE((*expected)[0].has_value());
  CHECK((*expected)[1].has_value());
  CHECK(output_faults({"out.0", DType::f32, {1}, two.substr(4)}) ==
        "error: tensor 'out.0' is f32[1], the graph has f32[2]\n");
  CHECK(output_faults({"out.2", DType::f32, {2}, two}) ==
        "error: tensor 'out.2' is an output that the graph lacks\n");
  CHECK(output_faults({"out.3", DType::f32, {2}, two}) ==
        "error: tensor 'out.3' is no output of the graph, which has 3\n");
  CHECK(output_faults({"out.1x", DType::f32, {2}, two}) ==
        "error: tensor 'out.1x' is no output of the graph, which has 3\n");
}

TEST_CASE("numbered inputs are the caller's, in order") {
  const auto graph = parse_graph_text(R"(graph "g" {
  %w = parameter f32[2]
  %count = input f32[2]  @"m.count"
  %x = input f32[2]
  %named = input f32[2]
  %y = input f32[2]
  %s = add.Tensor(%x, %y) : f32[2]
  results %s, %w, %count, %named
})",
                                      "g");
  REQUIRE(graph.ok());
  const std::string one = raw({1, 1}), two = raw({2, 2}), three = raw({3, 3});
  const std::vector<NamedTensor> tensors{{"in.w", DType::f32, {2}, one},
                                         {"in.count", DType::f32, {2}, one},
                                         {"in.named", DType::f32, {2}, one},
                                         {"in.10", DType::f32, {2}, three},
                                         {"in.2", DType::f32, {2}, two}};
  const auto inputs = inputs_from(*graph, tensors);
  REQUIRE(inputs.ok());
  CHECK(bytes_of(inputs->at(graph->find("x"))) == two);
  CHECK(bytes_of(inputs->at(graph->find("y"))) == three);
  const auto faults = inputs_from(*graph, std::span(tensors).first(4));
  REQUIRE_FALSE(faults.ok());
  CHECK(format(faults.diagnostics()) == "error: tensor 'in.y' is missing, expected f32[2]\n");
}

TEST_CASE("expected gradients come by their input's name, where the graph has any") {
  const auto faults = [](const char* outputs, const std::string& tensor) {
    const auto graph =
        parse_graph_text(std::string("graph \"g\" {\n  %x = input f32[2]\n  %w = parameter f32[2]\n"
                                     "  %t = tangent f32[2]\n  %g = mul.Tensor(%t, %x)\n") +
                             outputs + "\n}",
                         "g");
    REQUIRE(graph.ok());
    const auto expected =
        expected_outputs(*graph, std::vector<NamedTensor>{{tensor, DType::f32, {2}, raw({1, 2})}});
    if (!expected) return expected.diagnostics().front().message;
    std::string positions;
    for (std::size_t i = 0; i < expected->size(); ++i)
      if ((*expected)[i]) positions += std::to_string(i);
    return positions;
  };
  const char* joint = "  results %x\n  gradients none, %g";
  CHECK(faults(joint, "grad.w") == "2");
  CHECK(faults(joint, "grad.x") == "tensor 'grad.x' is an output that the graph lacks");
  CHECK(faults(joint, "grad.t") == "tensor 'grad.t' is of no input of the graph");
  CHECK(faults("  results %x", "grad.w").empty());
}

TEST_CASE("random indices into one element are 0") {
  const auto graph = parse_graph_text(R"(graph "g" {
  %ids = input i64[64]
  %types = input i64[1, 64]
  %rows = input i64[64]
  %columns = input i64[64]
  %at = input i32[64]
  %words = input f32[9, 4]
  %one = input f32[1, 4]
  %flat = view(%types, [64]) : i64[64]
  %wide = prims.convert_element_type(%at, i64) : i64[64]
  %a = embedding(%words, %ids) : f32[64, 4]
  %b = embedding(%one, %flat) : f32[64, 4]
  %c = index.Tensor(%one, [%rows, %columns]) : f32[64]
  %d = index_select(%one, -2, %wide) : f32[64, 4]
  results %a, %b, %c, %d
})",
                                      "g");
  REQUIRE(graph.ok());
  const auto inputs = inputs_from(*graph, {}, 1);
  REQUIRE(inputs.ok());
  const auto has_one = [&](std::string_view name) {
    const auto values = unpack<std::int64_t>(inputs->at(graph->find(name))).data;
    return std::any_of(values.begin(), values.end(), [](std::int64_t v) { return v == 1; });
  };
  CHECK(has_one("ids"));
  CHECK(has_one("columns"));
  for (const std::string_view name : {"types", "rows", "at"}) CHECK_FALSE(has_one(name));
}

TEST_CASE("random inputs that no memory could hold are refused by name") {
  const auto graph = parse_graph_text(R"(graph "g" {
  %x = input f32[2]
  %y = input f32[65536, 65536, 4]
  results %x
})",
                                      "g");
  REQUIRE(graph.ok());
  const auto inputs = inputs_from(*graph, {}, 1);
  REQUIRE_FALSE(inputs.ok());
  REQUIRE(inputs.diagnostics().size() == 1);
  CHECK(inputs.diagnostics().front().message.find("tensor 'in.y' is missing, and random") == 0);
}

}  // namespace
}  // namespace recut
