// ONNX models of one node as bytes, written in the test that needs them.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace recut::test {

// The format's own bytes: a field is its number and kind, then a number or a length and so much.
class ProtoWriter {
 public:
  void number(int field, std::int64_t value) {
    varint(static_cast<std::uint64_t>(field) << 3);
    varint(static_cast<std::uint64_t>(value));
  }
  void bytes(int field, const std::string& value) {
    varint(static_cast<std::uint64_t>(field) << 3 | 2);
    varint(value.size());
    out += value;
  }
  void real(int field, float value) {
    varint(static_cast<std::uint64_t>(field) << 3 | 5);
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
  }

  std::string out;

 private:
  void varint(std::uint64_t value) {
    for (; value >= 128; value >>= 7) out += static_cast<char>((value & 127) | 128);
    out += static_cast<char>(value);
  }
};

// A ValueInfoProto: a tensor's name, dtype and fixed sizes.
inline std::string described_input(const std::string& name, int dtype,
                                   const std::vector<std::int64_t>& shape) {
  ProtoWriter sizes, tensor, type, input;
  for (const std::int64_t size : shape) {
    ProtoWriter dimension;
    dimension.number(1, size);
    sizes.bytes(1, dimension.out);
  }
  tensor.number(1, dtype);
  tensor.bytes(2, sizes.out);
  type.bytes(1, tensor.out);
  input.bytes(1, name);
  input.bytes(2, type.out);
  return input.out;
}

// A node that makes `y` of the input `x` and of what is known besides.
class OnnxNode {
 public:
  static constexpr int kFloat = 1, kInteger = 7;  // dtypes

  explicit OnnxNode(const std::string& op, std::vector<std::int64_t> shape, int dtype = kFloat) {
    node_.bytes(4, op);
    node_.bytes(2, "y");
    graph_.bytes(11, described_input("x", dtype, shape));
    node_.bytes(1, "x");
  }

  // One that reads no `x`.
  static OnnxNode of_known(const std::string& op) { return OnnxNode(op); }

  // The next input: "" where it is left out.
  OnnxNode& none() {
    node_.bytes(1, "");
    return *this;
  }
  OnnxNode& integers(const std::vector<std::int64_t>& values) {
    return known(kInteger, {static_cast<std::int64_t>(values.size())}, values.data(),
                 values.size() * sizeof(std::int64_t));
  }
  OnnxNode& integer(std::int64_t value) { return known(kInteger, {}, &value, sizeof value); }
  OnnxNode& reals(std::vector<std::int64_t> shape, const std::vector<float>& values) {
    return known(kFloat, std::move(shape), values.data(), values.size() * sizeof(float));
  }

  // Attributes.
  OnnxNode& with(const std::string& name, std::int64_t value) {
    ProtoWriter attribute = begin(name, 2);
    attribute.number(3, value);
    return add(attribute);
  }
  OnnxNode& with(const std::string& name, const char* value) {
    ProtoWriter attribute = begin(name, 3);
    attribute.bytes(4, value);
    return add(attribute);
  }
  OnnxNode& with(const std::string& name, const std::vector<std::int64_t>& values) {
    ProtoWriter attribute = begin(name, 7);
    for (const std::int64_t value : values) attribute.number(8, value);
    return add(attribute);
  }

  std::string model(int opset = 18) const {
    ProtoWriter output, graph, version, whole;
    output.bytes(1, "y");
    graph.bytes(1, node_.out);
    graph.out += graph_.out;
    graph.bytes(12, output.out);
    version.number(2, opset);
    whole.bytes(7, graph.out);
    whole.bytes(8, version.out);
    return whole.out;
  }

 private:
  explicit OnnxNode(const std::string& op) {
    node_.bytes(4, op);
    node_.bytes(2, "y");
  }
  OnnxNode& known(int dtype, std::vector<std::int64_t> shape, const void* data, std::size_t size) {
    const std::string name = "known" + std::to_string(count_++);
    ProtoWriter tensor;
    for (const std::int64_t one : shape) tensor.number(1, one);
    tensor.number(2, dtype);
    tensor.bytes(8, name);
    tensor.bytes(9, std::string(static_cast<const char*>(data), size));
    graph_.bytes(5, tensor.out);
    node_.bytes(1, name);
    return *this;
  }
  static ProtoWriter begin(const std::string& name, int kind) {
    ProtoWriter attribute;
    attribute.bytes(1, name);
    attribute.number(20, kind);
    return attribute;
  }
  OnnxNode& add(const ProtoWriter& attribute) {
    node_.bytes(5, attribute.out);
    return *this;
  }

  ProtoWriter node_, graph_;
  int count_ = 0;
};

// A graph of nodes in the making: a model's, a branch or a body.
class OnnxGraph {
 public:
  static constexpr int kFloat = 1, kInteger = 7, kBool = 9;  // dtypes

  // Fixed sizes.
  OnnxGraph& input(const std::string& name, int dtype, const std::vector<std::int64_t>& shape) {
    graph_.bytes(11, described_input(name, dtype, shape));
    return *this;
  }
  // An integer of no dimensions, or a list.
  OnnxGraph& integer(const std::string& name, std::int64_t value) {
    return integers(name, {value}, false);
  }
  OnnxGraph& integers(const std::string& name, const std::vector<std::int64_t>& values,
                      bool list = true) {
    ProtoWriter tensor;
    if (list) tensor.number(1, static_cast<std::int64_t>(values.size()));
    tensor.number(2, kInteger);
    tensor.bytes(8, name);
    tensor.bytes(9, std::string(reinterpret_cast<const char*>(values.data()), values.size() * 8));
    graph_.bytes(5, tensor.out);
    return *this;
  }
  // A list of floats: a weight.
  OnnxGraph& floats(const std::string& name, const std::vector<float>& values) {
    ProtoWriter tensor;
    tensor.number(1, static_cast<std::int64_t>(values.size()));
    tensor.number(2, kFloat);
    tensor.bytes(8, name);
    tensor.bytes(9, std::string(reinterpret_cast<const char*>(values.data()), values.size() * 4));
    graph_.bytes(5, tensor.out);
    return *this;
  }
  OnnxGraph& output(const std::string& name) {
    ProtoWriter output;
    output.bytes(1, name);
    graph_.bytes(12, output.out);
    return *this;
  }
  // With nested graphs and integers as its attributes.
  OnnxGraph& node(const std::string& op, const std::vector<std::string>& inputs,
                  const std::vector<std::string>& outputs,
                  const std::vector<std::pair<std::string, OnnxGraph>>& graphs = {},
                  const std::vector<std::pair<std::string, std::int64_t>>& integers = {}) {
    ProtoWriter node;
    for (const std::string& name : inputs) node.bytes(1, name);
    for (const std::string& name : outputs) node.bytes(2, name);
    node.bytes(4, op);
    for (const auto& [name, graph] : graphs) {
      ProtoWriter attribute;
      attribute.bytes(1, name);
      attribute.bytes(6, graph.graph_.out);
      attribute.number(20, 5);
      node.bytes(5, attribute.out);
    }
    for (const auto& [name, value] : integers) {
      ProtoWriter attribute;
      attribute.bytes(1, name);
      attribute.number(3, value);
      attribute.number(20, 2);
      node.bytes(5, attribute.out);
    }
    graph_.bytes(1, node.out);
    return *this;
  }

  std::string model(int opset = 18) const {
    ProtoWriter version, whole;
    version.number(2, opset);
    whole.bytes(7, graph_.out);
    whole.bytes(8, version.out);
    return whole.out;
  }

 private:
  ProtoWriter graph_;
};

}  // namespace recut::test
