// Fourier transforms, windows and mel filters of ONNX, with values by hand and by definition.
#include <cmath>
#include <complex>

#include "tests/onnx/one_node.h"

namespace recut::test::onnx_node {
namespace {

using Signal = std::vector<std::complex<double>>;

void check_near(const Made& found, const Shape& shape, const Numbers& expected) {
  CHECK(found.shape == shape);
  REQUIRE(found.values.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO("element " << i);
    CHECK(std::abs(found.values[i] - expected[i]) < 1e-5);
  }
}

// By the definition, each number as its two parts; the first `count` frequencies.
Numbers spectrum_of(const Signal& signal, std::size_t count, bool inverse = false) {
  const double turn = 2 * std::acos(-1.0) / static_cast<double>(signal.size());
  Numbers parts;
  for (std::size_t f = 0; f < count; ++f) {
    std::complex<double> sum = 0;
    for (std::size_t i = 0; i < signal.size(); ++i)
      sum += signal[i] * std::polar(1.0, (inverse ? turn : -turn) * static_cast<double>(f * i));
    if (inverse) sum /= static_cast<double>(signal.size());
    parts.insert(parts.end(), {sum.real(), sum.imag()});
  }
  return parts;
}

TEST_CASE("onnx: DFT has an axis by attribute, then by input", "[onnx]") {
  const Numbers x = {1, 2, 3, 4};
  const Numbers all = {10, 0, -2, 2, -2, 0, -2, -2};
  check_near(gives(OnnxNode("DFT", {1, 4, 1}), x, 17), {1, 4, 2}, all);
  check_near(gives(OnnxNode("DFT", {1, 4, 1}), x, 20), {1, 4, 2}, all);
  OnnxNode attribute("DFT", {2, 2, 1});
  attribute.with("axis", std::int64_t{0});
  check_near(gives(attribute, x, 19), {2, 2, 2}, {4, 0, 6, 0, -2, 0, -2, 0});
  OnnxNode input("DFT", {2, 2, 1});
  input.none().integer(0);
  check_near(gives(input, x, 20), {2, 2, 2}, {4, 0, 6, 0, -2, 0, -2, 0});
  CHECK(refused(attribute, x, 20).find("'axis' is an input since opset 20") != std::string::npos);
  OnnxNode parts("DFT", {1, 4, 1});
  parts.none().integer(-1);
  CHECK(refused(parts, x, 20).find("along the parts of a number") != std::string::npos);
  // The default axis is 1 before opset 20, then the last one of the signal.
  const Numbers four = {1, 2, 3, 4, 5, 6, 7, 8};
  CHECK(gives(OnnxNode("DFT", {1, 2, 4, 1}), four, 17).values !=
        gives(OnnxNode("DFT", {1, 2, 4, 1}), four, 20).values);
}

TEST_CASE("onnx: DFT cuts and pads, and keeps half or inverts", "[onnx]") {
  const Numbers x = {1, -2, 0.5, 4, 3};
  OnnxNode longer("DFT", {1, 5, 1});
  longer.integer(8);
  check_near(gives(longer, x, 17), {1, 8, 2}, spectrum_of({1, -2, 0.5, 4, 3, 0, 0, 0}, 8));
  OnnxNode shorter("DFT", {1, 5, 1});
  shorter.integer(3).with("onesided", std::int64_t{1});
  check_near(gives(shorter, x, 20), {1, 2, 2}, spectrum_of({1, -2, 0.5}, 2));
  OnnxNode inverse("DFT", {1, 5, 1});
  inverse.with("inverse", std::int64_t{1});
  check_near(gives(inverse, x, 17), {1, 5, 2}, spectrum_of({1, -2, 0.5, 4, 3}, 5, true));
  const Numbers z = {1, 2, 3, -4, 0.5, 0.25};
  const Signal complex = {{1, 2}, {3, -4}, {0.5, 0.25}};
  check_near(gives(OnnxNode("DFT", {1, 3, 2}), z, 17), {1, 3, 2}, spectrum_of(complex, 3));
  OnnxNode back("DFT", {1, 3, 2});
  back.with("inverse", std::int64_t{1});
  check_near(gives(back, z, 20), {1, 3, 2}, spectrum_of(complex, 3, true));
  OnnxNode half("DFT", {1, 3, 2});
  half.with("onesided", std::int64_t{1});
  CHECK(refused(half, z, 20).find("a onesided spectrum of a complex signal") != std::string::npos);
  CHECK(refused(OnnxNode("DFT", {1, 1, 6}), z, 20).find("a signal of 6 parts") !=
        std::string::npos);
  OnnxNode none("DFT", {1, 5, 1});
  none.integer(0);
  CHECK(refused(none, x, 17).find("dft_length is 0, expected 1 to") != std::string::npos);
}

TEST_CASE("onnx: STFT transforms each frame under its window", "[onnx]") {
  const Numbers x = {1, 2, 3, 4, 5, 6, 7};
  OnnxNode node("STFT", {1, 7, 1});
  node.integer(2).reals({4}, {0.5, 1, 1, 0.25});
  Numbers expected = spectrum_of({0.5, 2, 3, 1}, 3);
  const Numbers second = spectrum_of({1.5, 4, 5, 1.5}, 3);
  expected.insert(expected.end(), second.begin(), second.end());
  check_near(gives(node, x, 17), {1, 2, 3, 2}, expected);
  OnnxNode plain("STFT", {1, 7, 1});
  plain.integer(4).none().integer(3).with("onesided", std::int64_t{0});
  expected = spectrum_of({1, 2, 3}, 3);
  const Numbers last = spectrum_of({5, 6, 7}, 3);
  expected.insert(expected.end(), last.begin(), last.end());
  check_near(gives(plain, x, 17), {1, 2, 3, 2}, expected);
  OnnxNode complex("STFT", {1, 2, 2});
  complex.integer(1).none().integer(2).with("onesided", std::int64_t{0});
  check_near(gives(complex, {1, 2, 3, -4}, 17), {1, 1, 2, 2}, spectrum_of({{1, 2}, {3, -4}}, 2));
  OnnxNode wide("STFT", {1, 7, 1});
  wide.integer(1).none().integer(8);
  CHECK(refused(wide, x, 17).find("frames of 8 elements of a signal of 7") != std::string::npos);
}

TEST_CASE("onnx: windows of signals", "[onnx]") {
  const auto window = [](const char* name, std::int64_t size, std::int64_t periodic) {
    OnnxNode node = OnnxNode::of_known(name);
    node.integer(size).with("periodic", periodic);
    return node;
  };
  check_near(gives(window("HannWindow", 4, 1)), {4}, {0, 0.5, 1, 0.5});
  check_near(gives(window("HannWindow", 5, 0)), {5}, {0, 0.5, 1, 0.5, 0});
  check_near(gives(window("HammingWindow", 4, 1)), {4}, {4.0 / 46, 25.0 / 46, 1, 25.0 / 46});
  check_near(gives(window("BlackmanWindow", 5, 0)), {5}, {0, 0.34, 1, 0.34, 0});
  check_near(gives(window("BlackmanWindow", 1, 1)), {1}, {0});
  CHECK(refused(window("HannWindow", 1, 0)).find("a symmetric window of one sample") !=
        std::string::npos);
  CHECK(refused(window("HannWindow", -3, 1)).find("size is -3") != std::string::npos);
  OnnxNode wide = OnnxNode::of_known("HannWindow");
  wide.integer(3).with("output_datatype", std::int64_t{11});
  CHECK(std::abs(gives(wide).values[1] - 0.75) < 1e-15);
}

// Eight filters of nine bins, as in ONNX's own tests; and four whose sides are slopes.
TEST_CASE("onnx: mel filters", "[onnx]") {
  const auto filters = [](std::int64_t count, float low, float high) {
    OnnxNode node = OnnxNode::of_known("MelWeightMatrix");
    node.integer(count).integer(16).integer(8192).reals({}, {low}).reals({}, {high});
    return node;
  };
  const Made found = gives(filters(8, 0, 4096), {}, 17);
  CHECK(found.shape == Shape{9, 8});
  check_near(found, {9, 8},
             {1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0,
              0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1,
              0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  OnnxNode sloped = OnnxNode::of_known("MelWeightMatrix");
  sloped.integer(4).integer(64).integer(16000).reals({}, {100}).reals({}, {7000});
  const Made slopes = gives(sloped, {}, 17);
  REQUIRE(slopes.shape == Shape{33, 4});
  const auto filter = [&](std::size_t column, std::size_t first, std::size_t count) {
    Numbers values;
    for (std::size_t row = first; row < first + count; ++row)
      values.push_back(slopes.values[row * 4 + column]);
    return Made{{static_cast<std::int64_t>(count)}, values};
  };
  const double third = 1.0 / 3;
  check_near(filter(0, 0, 5), {5}, {0, 1, 2 * third, third, 0});
  check_near(filter(1, 1, 7), {7}, {0, third, 2 * third, 1, 2 * third, third, 0});
  check_near(filter(2, 4, 8), {8}, {0, third, 2 * third, 1, 0.75, 0.5, 0.25, 0});
  check_near(filter(3, 7, 6), {6}, {0, 0.25, 0.5, 0.75, 1, 6.0 / 7});
  CHECK(refused(filters(8, 0, 400000), {}, 17).find("edges that aren't frequencies") !=
        std::string::npos);
}

}  // namespace
}  // namespace recut::test::onnx_node
