#include "engine/input/safetensors.h"

#include <catch2/catch_test_macros.hpp>
#include <string>

namespace recut {
namespace {

std::string with_header(std::string header, std::string_view values) {
  std::string bytes;
  for (int i = 0; i < 8; ++i)
    bytes += static_cast<char>(static_cast<std::uint64_t>(header.size()) >> (8 * i) & 0xff);
  return bytes + header + std::string(values);
}

TEST_CASE("safetensors: what is written is read back, sorted and aligned") {
  const std::string four("\0\0\x80\x3f", 4);
  const NamedTensor tensors[] = {{"in.b", DType::f32, {1}, four},
                                 {"a \"quoted\" name", DType::boolean, {2, 2}, four},
                                 {"empty", DType::i64, {0, 7}, ""},
                                 {"in.a", DType::bf16, {}, std::string_view(four).substr(2)}};
  const std::string bytes = write_safetensors(tensors);
  const auto read = parse_safetensors(bytes, "t");
  REQUIRE(read);
  REQUIRE(read->size() == 4);
  CHECK((*read)[0].name == "a \"quoted\" name");
  CHECK((*read)[0].shape == Shape{2, 2});
  CHECK((*read)[1].shape == Shape{0, 7});
  CHECK((*read)[2].name == "in.a");
  CHECK((*read)[2].dtype == DType::bf16);
  CHECK((*read)[2].bytes == std::string_view("\x80\x3f"));
  CHECK((*read)[3].bytes == four);
  CHECK((static_cast<unsigned char>(bytes[0]) + 8) % 8 == 0);
  CHECK(write_safetensors(*read) == bytes);
}

TEST_CASE("safetensors: complex numbers and 8-bit reals have their formats' names") {
  const std::string eight("12345678");
  const NamedTensor tensors[] = {{"a", DType::c64, {1}, eight},
                                 {"b", DType::f8e4m3fn, {8}, eight},
                                 {"c", DType::f8e5m2, {2, 4}, eight}};
  const std::string bytes = write_safetensors(tensors);
  for (const char* name : {"\"C64\"", "\"F8_E4M3\"", "\"F8_E5M2\""})
    CHECK(bytes.find(name) != std::string::npos);
  const auto read = parse_safetensors(bytes, "t");
  REQUIRE(read);
  for (std::size_t i = 0; i < 3; ++i) CHECK((*read)[i].dtype == tensors[i].dtype);
}

TEST_CASE("safetensors: every fault has its diagnostic") {
  const auto tensor = [](std::string_view fields) {
    return with_header("{\"x\":{" + std::string(fields) + "}}", "12345678");
  };
  const std::string good = R"("dtype":"F32","shape":[2],"data_offsets":[0,8])";
  REQUIRE(parse_safetensors(tensor(good), "t"));

  struct Fault {
    std::string bytes;
    std::string_view message;
  };
  const Fault faults[] = {
      {"1234", "safetensors: 4 bytes, expected the header's length in the first 8"},
      {std::string("\xff\0\0\0\0\0\0\0{}", 10),
       "safetensors: a header of 255 bytes is announced, 2 bytes follow"},
      {std::string(8, '\xff') + "{}",
       "safetensors: a header of 18446744073709551615 bytes is announced, 2 bytes follow"},
      {with_header("[]", ""), "safetensors: the header is a list, expected an object"},
      {with_header("{\"x\":1}", ""), "tensor 'x' is an int, expected an object"},
      {tensor(R"("shape":[2],"data_offsets":[0,8])"),
       "tensor 'x': 'dtype' is missing, expected a string"},
      {tensor(R"("dtype":"F4","shape":[1],"data_offsets":[0,8])"),
       "tensor 'x': dtype 'F4' is none that Recut knows"},
      {tensor(R"("dtype":"F32","shape":[-2],"data_offsets":[0,8])"),
       "tensor 'x': 'shape' is no list of up to 64 counts"},
      {tensor(R"("dtype":"F32","shape":[2.0],"data_offsets":[0,8])"),
       "tensor 'x': 'shape' is no list of up to 64 counts"},
      {tensor(R"("dtype":"F32","shape":[3],"data_offsets":[0,8])"),
       "tensor 'x': 8 bytes for f32[3], expected 12"},
      {tensor(R"("dtype":"F32","shape":[2],"data_offsets":[4,12])"),
       "tensor 'x': 'data_offsets' is [4, 12], expected [begin, end] within 8 bytes"},
      {tensor(R"("dtype":"F32","shape":[2],"data_offsets":[8,0])"),
       "tensor 'x': 'data_offsets' is [8, 0], expected [begin, end] within 8 bytes"},
      {tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0])"),
       "tensor 'x': 'data_offsets' is [0], expected [begin, end] within 8 bytes"},
      {with_header("{\"x\":{" + good + "},\"x\":{" + good + "}}", "12345678"),
       "tensor 'x' stands there twice"},
      {with_header("{\"x\":{" + good + R"(},"y":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}})",
                   "12345678"),
       "the bytes of tensors 'x' and 'y' overlap"},
  };
  for (const Fault& fault : faults) {
    const auto read = parse_safetensors(fault.bytes, "t");
    INFO(fault.message);
    REQUIRE_FALSE(read);
    CHECK(read.diagnostics().front().message == fault.message);
    CHECK(read.diagnostics().front().file == "t");
  }
  const auto huge = parse_safetensors(
      tensor(R"("dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8])"), "t");
  REQUIRE_FALSE(huge);
  CHECK(huge.diagnostics().front().message.find("larger than") != std::string::npos);
}

TEST_CASE("safetensors: metadata is passed over, damaged JSON has a place") {
  CHECK(parse_safetensors(with_header("{\"__metadata__\":{\"a\":\"b\"}}", ""), "t")->empty());
  const auto cut = parse_safetensors(with_header("{\"x\":", ""), "t");
  REQUIRE_FALSE(cut);
  CHECK(cut.diagnostics().front().line == 1);
}

}  // namespace
}  // namespace recut
