// ONNX models differentiated: gradients as PyTorch has them (tests/onnx/gradients.py wrote those),
// and against differences of the model itself.
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <map>

#include "engine/autodiff/differentiate.h"
#include "engine/eval/evaluator.h"
#include "engine/eval/inputs.h"
#include "engine/input/text.h"
#include "engine/ir/printer.h"
#include "engine/onnx/read_onnx.h"
#include "tests/onnx/onnx_models.h"

namespace recut::native {
namespace {

TEST_CASE("onnx: gradients are PyTorch's", "[onnx]") {
  for (const std::string& name : onnx_models()) {
    INFO(name);
    const TemporaryFile joint("joint.recut"), weights("weights.safetensors");
    const Ran made = run(with_dimensions({"grad", onnx_model(name), "--wrt", "*", "--out",
                                          joint.path(), "--out-tensors", weights.path()},
                                         name));
    INFO(made.err);
    REQUIRE(made.code == kDone);
    for (const char* passes :
         {"--no-passes", "--passes=noop_removal,view_chains,batch_of_one,dead_code"}) {
      const Ran checked = run({"eval", joint.path(), "--tensors", onnx_tensors(name), "--tensors",
                               weights.path(), "--check", passes});
      INFO(checked.out << checked.err);
      CHECK(checked.code == kDone);
      CHECK(checked.out.find("gradient") != std::string::npos);
    }
  }
}

TEST_CASE("onnx: a gradient that differs is found, one that isn't there is refused", "[onnx]") {
  const TemporaryFile joint("joint.recut"), weights("weights.safetensors");
  const auto make = [&](const char* wanted) {
    return run({"grad", onnx_model("tiny_lstm"), "--wrt", wanted, "--out", joint.path(),
                "--out-tensors", weights.path()});
  };
  const auto check = [&] {
    return run({"eval", joint.path(), "--tensors", onnx_tensors("tiny_lstm"), "--tensors",
                weights.path(), "--check"});
  };
  REQUIRE(make("bias").code == kDone);
  const Ran lacking = check();
  CHECK(lacking.code == kBadInput);
  CHECK(lacking.err.find("tensor 'grad.x' is an output that the graph lacks") != std::string::npos);
  REQUIRE(make("*").code == kDone);
  std::string text = joint.read();
  const std::size_t at = text.find("sigmoid_backward(");
  REQUIRE(at != std::string::npos);
  joint.write(text.replace(at, 17, "tanh_backward("));
  CHECK(check().code == kCheckFailed);
}

// ---------------------------------------------------------------------------------------------
// Differences, in f64

using Values = std::map<std::string, std::vector<double>>;

// The graph with f64 in the place of f32, in its types and in what converts.
Graph in_f64(const Graph& graph) {
  std::string text = print(graph);
  for (std::size_t at = 0; (at = text.find("f32", at)) != std::string::npos;)
    text.replace(at, 3, "f64");
  auto parsed = parse_graph_text(text, "f64");
  INFO((parsed ? std::string() : format(parsed.diagnostics())));
  REQUIRE(parsed.ok());
  return std::move(*parsed);
}

void add_values(Values& values, const std::vector<NamedTensor>& tensors) {
  for (const NamedTensor& tensor : tensors) {
    if (!tensor.name.starts_with("in.")) continue;
    const auto type = make_type(tensor.dtype, tensor.shape);
    values[tensor.name.substr(3)] = unpack<double>(tensor_from_bytes(type, tensor.bytes)).data;
  }
}

std::vector<std::vector<double>> outputs_of(const Graph& graph, const Values& values) {
  Inputs inputs;
  for (const NodeId id : graph.order()) {
    if (!graph.op(id).is(kInput)) continue;
    Reals dense(graph.type(id).shape);
    dense.data = values.at(graph.node_name(id));
    inputs[id] = allocate(graph.type(id), nullptr);
    pack(dense, inputs[id]);
  }
  const auto evaluation = evaluate(graph, inputs);
  INFO((evaluation ? std::string() : format(evaluation.diagnostics())));
  REQUIRE(evaluation.ok());
  std::vector<std::vector<double>> outputs;
  for (const Tensor& tensor : evaluation->outputs)
    outputs.push_back(tensor.exists() ? unpack<double>(tensor).data : std::vector<double>{});
  return outputs;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

std::vector<double> drawn(const TensorType& type, std::uint64_t seed, const std::string& name) {
  const TensorType f64 = make_type(DType::f64, type.shape);
  return unpack<double>(random_tensor(f64, seed, name)).data;
}

// A model in f64 with values for all that it takes, and its joint graph with a tangent for every
// real result.
struct Subject {
  explicit Subject(const std::string& name) {
    onnx::Options options;
    options.dimensions = {{"batch", 2}, {"tokens", 5}};
    if (name != "tiny_bert") options.dimensions.erase("tokens");
    if (name != "tiny_bert" && name != "tiny_resnet") options.dimensions.clear();
    const auto file = onnx::read_onnx(bytes_of_file(onnx_model(name)), name, options);
    INFO((file ? std::string() : format(file.diagnostics())));
    REQUIRE(file.ok());
    forward = in_f64(file->graph);
    add_values(values, file->tensors);
    const std::string bytes = bytes_of_file(onnx_tensors(name));
    const auto given = parse_safetensors(bytes, name);
    REQUIRE(given.ok());
    add_values(values, *given);
    differentiate_all();
  }

  void differentiate_all() {
    GradOptions options{std::vector<std::size_t>{}, std::vector<std::string>{}};
    for (std::size_t i = 0; i < forward.results.size(); ++i)
      if (is_floating(forward.type(forward.results[i]).dtype)) options.differentiable->push_back(i);
    for (const NodeId id : forward.inputs())
      if (is_floating(forward.type(id).dtype))
        options.requires_grad->push_back(forward.node_name(id));
    results = *options.differentiable;
    auto made = differentiate(forward, options);
    INFO((made ? std::string() : format(made.diagnostics())));
    REQUIRE(made.ok());
    joint = std::move(*made);
    for (const NodeId id : joint.inputs())
      if (joint.input_kind(id) == InputKind::tangent) {
        tangents.push_back(drawn(joint.type(id), 5, joint.node_name(id)));
        values[joint.node_name(id)] = tangents.back();
      }
    REQUIRE(tangents.size() == results.size());
  }

  // The results' dot product with the tangents.
  double loss() const {
    const auto outputs = outputs_of(forward, values);
    double sum = 0;
    for (std::size_t i = 0; i < results.size(); ++i) sum += dot(tangents[i], outputs[results[i]]);
    return sum;
  }

  // Along a direction that one input is moved in.
  double difference(const std::string& input, const std::vector<double>& direction, double step) {
    const std::vector<double> middle = values[input];
    const auto at = [&](double t) {
      for (std::size_t i = 0; i < middle.size(); ++i)
        values[input][i] = middle[i] + t * direction[i];
      return loss();
    };
    const double above = at(step), below = at(-step);
    values[input] = middle;
    return (above - below) / (2 * step);
  }

  Graph forward, joint;
  Values values;
  std::vector<std::size_t> results;
  std::vector<std::vector<double>> tangents;
};

TEST_CASE("onnx: gradients are the model's differences, in f64", "[onnx]") {
  for (const std::string& name : onnx_models()) {
    INFO(name);
    Subject subject(name);
    const auto outputs = outputs_of(subject.joint, subject.values);
    std::size_t gradient = subject.joint.results.size(), checked = 0;
    for (const NodeId id : subject.joint.inputs()) {
      if (subject.joint.input_kind(id) == InputKind::tangent) continue;
      const std::size_t position = gradient++;
      if (!subject.joint.gradients[position - subject.joint.results.size()].valid()) continue;
      const std::string& input = subject.joint.node_name(id);
      INFO(input);
      const auto direction = drawn(subject.joint.type(id), 9, input);
      const double expected = subject.difference(input, direction, 1e-6);
      const double found = dot(outputs[position], direction);
      INFO("found " << found << ", expected " << expected);
      CHECK(std::abs(found - expected) <= 1e-6 * std::max(1.0, std::abs(expected)));
      ++checked;
    }
    CHECK(checked >= 5);
  }
}

}  // namespace
}  // namespace recut::native
