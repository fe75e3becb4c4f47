// Single operators of ONNX, with values by hand: what its text says of sizes, axes and ranges.
#include "tests/onnx/one_node.h"

namespace recut::test::onnx_node {
namespace {

// Transposed convolutions
// ------------------------------------------------------------------------------------------------

struct Taps {
  Numbers taps;
  std::int64_t stride = 1, dilation = 1;
};

// Elements `before` … `before + size` of all that the kernel reaches; zeros behind the last.
Made part_of_whole(const Numbers& x, const Taps& kernel, std::size_t before, std::size_t size,
                   double bias = 0) {
  Numbers whole(100, 0);
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t k = 0; k < kernel.taps.size(); ++k)
      whole[i * static_cast<std::size_t>(kernel.stride) +
            k * static_cast<std::size_t>(kernel.dilation)] += x[i] * kernel.taps[k];
  Made part{{1, 1, static_cast<std::int64_t>(size)}, {}};
  for (std::size_t i = 0; i < size; ++i) part.values.push_back(whole[before + i] + bias);
  return part;
}

OnnxNode transposed(const Numbers& x, const Taps& kernel) {
  OnnxNode node("ConvTranspose", {1, 1, static_cast<std::int64_t>(x.size())});
  node.reals({1, 1, static_cast<std::int64_t>(kernel.taps.size())},
             std::vector<float>(kernel.taps.begin(), kernel.taps.end()));
  node.with("strides", Ints{kernel.stride}).with("dilations", Ints{kernel.dilation});
  return node;
}

TEST_CASE("onnx: a transposed convolution of SAME is its stride times as long", "[onnx]") {
  struct Case {
    std::size_t inputs;
    Taps kernel;
    std::int64_t added;
    std::size_t upper, lower, size;  // elements before what stays, by auto_pad
  };
  const std::vector<Case> cases = {
      {4, {{1, 2, 3}, 2}, 0, 0, 1, 8},        // one element too many
      {3, {{1, 2, 3, 4, 5}, 2}, 0, 1, 2, 6},  // three
      {2, {{1, 2, 3, 4}, 4}, 0, 0, 0, 8},     // none
      {5, {{1, 2}, 2}, 0, 0, 0, 10},
      {3, {{1, 2, 3}, 2}, 1, 1, 1, 6},     // output_padding is taken off again
      {3, {{1, 2, 3}, 1, 2}, 0, 2, 2, 3},  // dilated
      {2, {{1, 2}, 3}, 0, 0, 0, 5},        // kernels reach no further: nothing is added
      {1, {{1, 2, 3}, 5}, 0, 0, 0, 3},
  };
  for (const Case& c : cases) {
    Numbers x;
    for (std::size_t i = 0; i < c.inputs; ++i) x.push_back(static_cast<double>(i) + 1);
    for (const bool upper : {true, false}) {
      INFO(c.inputs << " inputs, " << c.kernel.taps.size() << " taps, stride " << c.kernel.stride);
      OnnxNode node = transposed(x, c.kernel);
      node.with("auto_pad", upper ? "SAME_UPPER" : "SAME_LOWER");
      node.with("output_padding", Ints{c.added});
      CHECK(gives(node, x) == part_of_whole(x, c.kernel, upper ? c.upper : c.lower, c.size));
    }
  }
}

TEST_CASE("onnx: a transposed convolution takes any pads and output_shape", "[onnx]") {
  const Numbers x = {1, 2, 3};
  const Taps kernel{{1, 2, 3}, 2};  // reaches seven elements
  const auto padded = [&](Ints pads, std::int64_t added) {
    return gives(transposed(x, kernel).with("pads", pads).with("output_padding", Ints{added}), x);
  };
  CHECK(padded({0, 1}, 0) == part_of_whole(x, kernel, 0, 6));
  CHECK(padded({1, 0}, 0) == part_of_whole(x, kernel, 1, 6));
  CHECK(padded({3, 0}, 0) == part_of_whole(x, kernel, 3, 4));
  CHECK(padded({0, 3}, 0) == part_of_whole(x, kernel, 0, 4));
  CHECK(padded({1, 1}, 1) == part_of_whole(x, kernel, 1, 6));
  CHECK(padded({2, 0}, 1) == part_of_whole(x, kernel, 2, 6));
  const auto sized = [&](std::int64_t size, const char* mode) {
    return gives(transposed(x, kernel).with("output_shape", Ints{size}).with("auto_pad", mode), x);
  };
  CHECK(sized(6, "NOTSET") == part_of_whole(x, kernel, 1, 6));
  CHECK(sized(6, "SAME_UPPER") == part_of_whole(x, kernel, 0, 6));
  CHECK(sized(4, "SAME_UPPER") == part_of_whole(x, kernel, 1, 4));
  CHECK(sized(4, "SAME_LOWER") == part_of_whole(x, kernel, 2, 4));
  CHECK(sized(8, "NOTSET") == part_of_whole(x, kernel, 0, 8));
  CHECK(sized(11, "SAME_LOWER") == part_of_whole(x, kernel, 0, 11));
  // The bias is added where no kernel reaches, too.
  OnnxNode biased = transposed(x, kernel);
  biased.reals({1}, {0.5F}).with("output_shape", Ints{12});
  CHECK(gives(biased, x) == part_of_whole(x, kernel, 0, 12, 0.5));
}

TEST_CASE("onnx: a transposed convolution pads each dimension and group by itself", "[onnx]") {
  OnnxNode square("ConvTranspose", {1, 1, 2, 2});
  square.reals({1, 1, 3, 3}, {2, 3, 4, 5, 6, 7, 8, 9, 10}).with("auto_pad", "SAME_UPPER");
  CHECK(gives(square, {2, 3, 4, 5}) == Made{{1, 1, 2, 2}, {49, 63, 91, 105}});
  OnnxNode wide("ConvTranspose", {1, 2, 1, 2});
  wide.reals({2, 1, 2, 3}, {1, 2, 3, 4, 5, 6, 10, 20, 30, 40, 50, 60});
  wide.with("strides", Ints{2, 2}).with("group", std::int64_t{2}).with("auto_pad", "SAME_LOWER");
  CHECK(gives(wide, {1, 1, 1, 1}) ==
        Made{{1, 2, 2, 4}, {2, 4, 2, 3, 5, 10, 5, 6, 20, 40, 20, 30, 50, 100, 50, 60}});
  CHECK(refused(
            OnnxNode("ConvTranspose", {1, 1, 2}).reals({1, 1, 2}, {1, 2}).with("pads", Ints{2, 2}))
            .find("pads that leave no output") != std::string::npos);
}

// Indices
// ------------------------------------------------------------------------------------------------

TEST_CASE("onnx: indices beyond the depth have no place in OneHot", "[onnx]") {
  const Numbers indices = {2, -1, 3, -3, -4, 1e12};
  OnnxNode last("OneHot", {6}, OnnxNode::kInteger);
  last.integer(3).reals({2}, {5, 7});
  CHECK(gives(last, indices) ==
        Made{{6, 3}, {5, 5, 7, 5, 5, 7, 5, 5, 5, 7, 5, 5, 5, 5, 5, 5, 5, 5}});
  OnnxNode first("OneHot", {3});
  first.integers({2}).reals({2}, {0, 1}).with("axis", std::int64_t{0});
  CHECK(gives(first, {1, 2, -2}) == Made{{2, 3}, {0, 0, 1, 1, 0, 0}});
  CHECK(refused(OnnxNode("OneHot", {3}).integers({}).reals({2}, {0, 1})).find("its depth") !=
        std::string::npos);
}

TEST_CASE("onnx: elements beyond both ends are refused, not wrapped", "[onnx]") {
  const auto gathered = [](std::int64_t index) {
    OnnxNode node("GatherElements", {3});
    node.integers({index});
    return node;
  };
  CHECK(gives(gathered(-3), {4, 5, 6}) == Made{{1}, {4}});
  CHECK(refused(gathered(3)).find('3') != std::string::npos);
  CHECK(refused(gathered(-4)).find("-1") != std::string::npos);
  OnnxNode scattered("ScatterElements", {3});
  scattered.integers({5}).reals({1}, {9});
  CHECK(refused(scattered).find('5') != std::string::npos);
}

// Resizing
// ------------------------------------------------------------------------------------------------

OnnxNode resized(const Ints& shape, const Ints& sizes, const char* mode, const char* coordinates) {
  OnnxNode node("Resize", shape);
  node.none().none().integers(sizes);
  node.with("mode", mode).with("coordinate_transformation_mode", coordinates);
  return node;
}

TEST_CASE("onnx: one element that remains is the first by pytorch_half_pixel", "[onnx]") {
  const char* coordinates = "pytorch_half_pixel";
  for (const char* mode : {"linear", "nearest"}) {
    INFO(mode);
    CHECK(gives(resized({3}, {1}, mode, coordinates)) == Made{{1}, {0}});
    CHECK(gives(resized({1, 1, 5}, {1, 1, 1}, mode, coordinates)) == Made{{1, 1, 1}, {0}});
    CHECK(gives(resized({1, 1, 3, 2}, {1, 1, 1, 2}, mode, coordinates)) ==
          Made{{1, 1, 1, 2}, {0, 1}});
    CHECK(gives(resized({1, 1, 2, 3, 2}, {1, 1, 2, 1, 1}, mode, coordinates)) ==
          Made{{1, 1, 2, 1, 1}, {0, 6}});
  }
  // Other axes are resized as ever, of batch and channels as well.
  CHECK(gives(resized({1, 1, 3, 2}, {1, 1, 1, 4}, "linear", coordinates)) ==
        Made{{1, 1, 1, 4}, {0, 0.25, 0.75, 1}});
  CHECK(gives(resized({2, 3}, {4, 1}, "linear", coordinates)) == Made{{4, 1}, {0, 0.75, 2.25, 3}});
  CHECK(gives(resized({1, 1, 3}, {1, 1, 1}, "linear", "half_pixel")) == Made{{1, 1, 1}, {1}});
  CHECK(gives(resized({1, 1, 3}, {1, 1, 1}, "linear", "align_corners")) == Made{{1, 1, 1}, {0}});
}

TEST_CASE("onnx: linear interpolation knows every place of a centre", "[onnx]") {
  CHECK(gives(resized({1, 1, 2}, {1, 1, 4}, "linear", "asymmetric")) ==
        Made{{1, 1, 4}, {0, 0.5, 1, 1}});
  CHECK(gives(resized({1, 1, 2}, {1, 1, 4}, "linear", "half_pixel_symmetric")) ==
        Made{{1, 1, 4}, {0, 0.25, 0.75, 1}});
  // 2.5 elements of which two are kept: a quarter is left over at both ends.
  OnnxNode broken("Resize", {1, 1, 5});
  broken.none().reals({3}, {1, 1, 0.5F}).with("mode", "linear");
  broken.with("coordinate_transformation_mode", "half_pixel_symmetric");
  CHECK(gives(broken) == Made{{1, 1, 2}, {1, 3}});
  CHECK(refused(resized({1, 1, 2}, {1, 1, 4}, "linear", "tf_crop_and_resize"))
            .find("'tf_crop_and_resize'") != std::string::npos);
  CHECK(refused(resized({1, 1, 2}, {1, 1, 4}, "linear", "half_pixel")
                    .with("keep_aspect_ratio_policy", "not_larger"))
            .find("keep_aspect_ratio_policy") != std::string::npos);
}

// Reductions and padding
// ------------------------------------------------------------------------------------------------

TEST_CASE("onnx: without axes all is reduced, or each element by itself", "[onnx]") {
  const auto reduced = [](const char* op, bool noop) {
    OnnxNode node(op, {2, 2});
    node.integers({})
        .with("noop_with_empty_axes", std::int64_t{noop})
        .with("keepdims", std::int64_t{0});
    return gives(node, {1, -2, 3, 4});
  };
  const auto alone = [](Numbers values) { return Made{{2, 2}, std::move(values)}; };
  CHECK(reduced("ReduceMean", false) == Made{{}, {1.5}});
  CHECK(reduced("ReduceSumSquare", false) == Made{{}, {30}});
  for (const char* op : {"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd"}) {
    INFO(op);
    CHECK(reduced(op, true) == alone({1, -2, 3, 4}));
  }
  CHECK(reduced("ReduceL1", true) == alone({1, 2, 3, 4}));
  CHECK(reduced("ReduceL2", true) == alone({1, 2, 3, 4}));
  CHECK(reduced("ReduceSumSquare", true) == alone({1, 4, 9, 16}));
  CHECK(reduced("ReduceLogSumExp", true) == alone({1, -2, 3, 4}));
  OnnxNode logarithms("ReduceLogSum", {2});
  logarithms.with("noop_with_empty_axes", std::int64_t{1});
  CHECK(gives(logarithms, {1, 1}) == Made{{2}, {0, 0}});
  CHECK(gives(OnnxNode("ReduceSumSquare", {}), {3}) == Made{{}, {9}});
}

OnnxNode padding(const Ints& shape, const Ints& pads, const char* mode, const Ints* axes) {
  OnnxNode node("Pad", shape);
  node.integers(pads);
  if (axes != nullptr) node.none().integers(*axes);
  node.with("mode", mode);
  return node;
}

TEST_CASE("onnx: pads have any axes, signs and modes", "[onnx]") {
  const auto along = [](const Ints& pads, const char* mode) {
    return gives(padding({4}, pads, mode, nullptr));
  };
  CHECK(along({1, 2}, "constant").values == Numbers{0, 0, 1, 2, 3, 0, 0});
  CHECK(along({-1, 1}, "constant").values == Numbers{1, 2, 3, 0});
  CHECK(along({1, 2}, "edge").values == Numbers{0, 0, 1, 2, 3, 3, 3});
  CHECK(along({2, 1}, "reflect").values == Numbers{2, 1, 0, 1, 2, 3, 2});
  CHECK(along({0, 7}, "reflect").values == Numbers{0, 1, 2, 3, 2, 1, 0, 1, 2, 3, 2});
  CHECK(along({5, 1}, "wrap").values == Numbers{3, 0, 1, 2, 3, 0, 1, 2, 3, 0});
  CHECK(along({-1, 1}, "edge").values == Numbers{1, 2, 3, 3});
  CHECK(along({-2, 1}, "reflect").values == Numbers{2, 3, 2});
  CHECK(along({-1, -1}, "wrap").values == Numbers{1, 2});
  CHECK(along({0, 0}, "edge").values == Numbers{0, 1, 2, 3});
  const Ints axes = {-2};
  CHECK(gives(padding({2, 2}, {1, 0}, "constant", &axes)) == Made{{3, 2}, {0, 0, 0, 1, 2, 3}});
  CHECK(gives(padding({2, 2}, {1, 0}, "reflect", &axes)) == Made{{3, 2}, {2, 3, 0, 1, 2, 3}});
  CHECK(gives(padding({1, 1, 1, 2}, {0, 0, 0, 1, 0, 0, 0, 0}, "edge", nullptr)) ==
        Made{{1, 1, 1, 3}, {0, 0, 1}});
  CHECK(refused(padding({4}, {-2, -2}, "edge", nullptr)).find("pads of -2 and -2") !=
        std::string::npos);
  CHECK(refused(padding({4}, {INT64_MIN, 1}, "reflect", nullptr)).find("pads of") !=
        std::string::npos);
  CHECK(refused(padding({4}, {1, 1}, "mirror", nullptr)).find("'mirror'") != std::string::npos);
}

// Einsum
// ------------------------------------------------------------------------------------------------

TEST_CASE("onnx: einsum takes an ellipsis of any rank, and refuses what no equation says",
          "[onnx]") {
  const auto contracted = [](const Ints& shape, const char* equation) {
    OnnxNode node("Einsum", shape);
    return node.reals({3, 2}, {1, 2, 3, 4, 5, 6}).with("equation", equation);
  };
  const Made product{{2, 2}, {13, 16, 40, 52}};
  CHECK(gives(contracted({2, 3}, "ij,jk->ik")) == product);
  CHECK(gives(contracted({2, 3}, " i j , j k ")) == product);
  CHECK(gives(contracted({2, 3}, "...j,jk->...k")) == product);
  CHECK(gives(contracted({2, 3}, "ij,...k->ik")) == Made{{2, 2}, {27, 36, 108, 144}});
  CHECK(gives(contracted({3}, "...j,jk->...k")) == Made{{2}, {13, 16}});
  for (const auto& [equation, why] :
       {std::pair("ij,jk,kl->il", "more terms"), std::pair("ij->ji", "fewer terms"),
        std::pair("ij,jk->iz", "is in no term"), std::pair("ij,jk->ii", "stands twice"),
        std::pair("ij,ik->jk", "a dimension of 2 and 3 elements"),
        std::pair("i,jk->ijk", "term 'i' for 2 dimensions"),
        std::pair("i+,jk->ik", "other characters"), std::pair("ij,jk->...i...", "one '...' a term"),
        std::pair("ijk,jk->i", "for 2 dimensions")}) {
    INFO(equation);
    CHECK(refused(contracted({2, 3}, equation)).find(why) != std::string::npos);
  }
}

// Recurrent operators
// ------------------------------------------------------------------------------------------------

constexpr std::int64_t kSteps = 3, kBatch = 2, kInputs = 2, kHidden = 2;

OnnxNode recurrent(const std::string& op, std::int64_t gates, bool batch_first) {
  const auto weights = [](std::int64_t count) {
    std::vector<float> values;
    for (std::int64_t i = 0; i < count; ++i)
      values.push_back(static_cast<float>(i * 7 % 11) / 8 - 0.5F);
    return values;
  };
  OnnxNode node(op, batch_first ? Ints{kBatch, kSteps, kInputs} : Ints{kSteps, kBatch, kInputs});
  node.reals({2, gates * kHidden, kInputs}, weights(2 * gates * kHidden * kInputs));
  node.reals({2, gates * kHidden, kHidden}, weights(2 * gates * kHidden * kHidden));
  node.with("direction", "bidirectional").with("hidden_size", kHidden);
  if (batch_first) node.with("layout", std::int64_t{1});
  return node;
}

TEST_CASE("onnx: recurrent operators take the batch first", "[onnx]") {
  Numbers steps_first, batch_first(kSteps * kBatch * kInputs);
  for (std::size_t i = 0; i < batch_first.size(); ++i)
    steps_first.push_back(static_cast<double>(i * 5 % 7) / 4);
  for (std::size_t t = 0; t < kSteps; ++t)
    for (std::size_t b = 0; b < kBatch; ++b)
      for (std::size_t i = 0; i < kInputs; ++i)
        batch_first[(b * kSteps + t) * kInputs + i] = steps_first[(t * kBatch + b) * kInputs + i];
  for (const auto& [op, gates] : {std::pair("RNN", 1), std::pair("GRU", 3), std::pair("LSTM", 4)}) {
    INFO(op);
    const Made expected = gives(recurrent(op, gates, false), steps_first);  // [t, 2, b, h]
    const Made found = gives(recurrent(op, gates, true), batch_first);      // [b, t, 2, h]
    CHECK(expected.shape == Shape{kSteps, 2, kBatch, kHidden});
    REQUIRE(found.shape == Shape{kBatch, kSteps, 2, kHidden});
    for (std::size_t t = 0; t < kSteps; ++t)
      for (std::size_t d = 0; d < 2; ++d)
        for (std::size_t b = 0; b < kBatch; ++b)
          for (std::size_t h = 0; h < kHidden; ++h)
            CHECK(found.values[((b * kSteps + t) * 2 + d) * kHidden + h] ==
                  expected.values[((t * 2 + d) * kBatch + b) * kHidden + h]);
  }
}

TEST_CASE("onnx: recurrent operators refuse settings that they don't compute", "[onnx]") {
  const auto refused_with = [](const char* name, const char* value) {
    OnnxNode node = recurrent("GRU", 3, false);
    return refused(node.with(name, value));
  };
  CHECK(refused_with("clip", "1").find("attribute 'clip'") != std::string::npos);
  CHECK(refused_with("activations", "Tanh").find("another type") != std::string::npos);
  OnnxNode lengths = recurrent("RNN", 1, false);
  CHECK(refused(lengths.none().integers({0, 3})).find("a length beyond 1 to 3") !=
        std::string::npos);
}

}  // namespace
}  // namespace recut::test::onnx_node
