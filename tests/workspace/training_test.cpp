// A training step's loss, initial values and data.
#include "engine/workspace/training.h"

#include <catch2/catch_test_macros.hpp>
#include <set>
#include <tuple>

#include "engine/eval/inputs.h"
#include "engine/input/graph_file_reader.h"
#include "engine/ir/printer.h"
#include "engine/workspace/document.h"
#include "engine/workspace/gradients.h"
#include "engine/workspace/index_bound.h"
#include "engine/workspace/open_document.h"
#include "engine/workspace/training_data.h"
#include "tests/input/parse.h"
#include "tests/paths.h"

namespace recut {
namespace {

Graph step_of(const std::string& file) {
  const auto read = read_graph_file(RECUT_SOURCE_DIR "/samples/" + file);
  REQUIRE(read.ok());
  auto step = make_training_step(read->graph, Sgd{});
  if (!step) FAIL(format(step.diagnostics()));
  return std::move(step->graph);
}

Tensor batch_of(const Graph& step, const TrainingData& data, std::size_t input,
                std::int64_t batch) {
  Tensor tensor = allocate(step.type(data.inputs()[input].id), nullptr);
  data.write(data.inputs()[input], batch, tensor);
  return tensor;
}

constexpr const char* kForward = R"(graph "square" {
  %w = parameter f32[3]
  %x = input f32[3]
  %y = mul.Tensor(%w, %x)
  %square = mul.Tensor(%y, %y)
  %loss = sum(%square)
  results %y, %loss
}
)";

TEST_CASE("training: the loss of a forward graph is its only real number", "[workspace][train]") {
  const Graph forward = parse(kForward);
  const auto step = make_training_step(forward, Adam{});
  REQUIRE(step.ok());
  CHECK(step->loss == 1);
  CHECK(step->graph.gradients.front().valid());
}

constexpr const char* kTwoLosses = R"(graph "two" {
  %w = parameter f32[3]
  %v = parameter f32[3]
  %x = input f32[3]
  %y = mul.Tensor(%w, %x)
  %z = mul.Tensor(%v, %y)
  %near = sum(%y)
  %far = sum(%z)
  results %near, %far
}
)";

TEST_CASE("training: of several losses one is named", "[workspace][train]") {
  const Graph forward = parse(kTwoLosses);
  const auto unnamed = make_training_step(forward, Sgd{});
  REQUIRE_FALSE(unnamed.ok());
  CHECK(format(unnamed.diagnostics()).find("%near is f32[], %far is f32[]") != std::string::npos);
  for (const auto& [name, place, both] :
       {std::tuple("near", 0u, false), std::tuple("far", 1u, true)}) {
    const auto step = make_training_step(forward, Sgd{}, name);
    REQUIRE(step.ok());
    CHECK(step->loss == place);
    CHECK(step->graph.gradients[0].valid());
    CHECK(step->graph.gradients[1].valid() == both);  // %near doesn't need %v
  }
  for (const char* name : {"y", "nobody"}) {
    const auto refused = make_training_step(forward, Sgd{}, name);
    REQUIRE_FALSE(refused.ok());
    CHECK(format(refused.diagnostics()).find("training needs one result '" + std::string(name)) !=
          std::string::npos);
  }
}

TEST_CASE("training: a joint graph of one loss is differentiated anew for another",
          "[workspace][train]") {
  GradRequest request;
  request.options.differentiable = std::vector<std::size_t>{0};
  const auto near = make_gradients(parse(kTwoLosses), request);
  REQUIRE(near.ok());
  const auto own = make_training_step(near->graph, Sgd{});
  const auto other = make_training_step(near->graph, Sgd{}, "far");
  REQUIRE(own.ok());
  REQUIRE(other.ok());
  CHECK(own->loss == 0);
  CHECK(other->loss == 1);
  CHECK(print(make_training_step(near->graph, Sgd{}, "near")->graph) == print(own->graph));
  CHECK(print(other->graph) != print(own->graph));
}

TEST_CASE("training: what has no loss is refused with what it has", "[workspace][train]") {
  const std::pair<const char*, const char*> kRefused[] = {
      {"attention.recut", "of the tangents %y_grad is f32[64, 16]"},
      {"blocks/softmax.recut", "of the results %y is f32[4, 10]"},
      {"blocks/lstm_cell.recut", "%next_hidden is f32[4, 16], %next_cell is f32[4, 16]"}};
  for (const auto& [file, words] : kRefused) {
    const auto read = read_graph_file(RECUT_SOURCE_DIR "/samples/" + std::string(file));
    REQUIRE(read.ok());
    const auto step = make_training_step(read->graph, Sgd{});
    REQUIRE_FALSE(step.ok());
    CHECK(format(step.diagnostics()).find(words) != std::string::npos);
  }
}

TEST_CASE("training: indices are bounded by who reads them", "[workspace][train]") {
  const Graph graph = parse(R"(graph "bounds" {
  %table = parameter f32[50, 4]
  %scores = input f32[6, 7]
  %tokens = input i64[2, 3]
  %labels = input i64[6]
  %other = input i64[6]
  %rows = view(%tokens, [6])
  %words = embedding(%table, %rows)
  %picked = unsqueeze(%labels, 1)
  %gathered = gather(%scores, 1, %picked)
  %sum = add.Tensor(%other, 1)
  results %words, %gathered, %sum
}
)");
  CHECK(index_bound(graph, graph.find("tokens")) == 50);
  CHECK(index_bound(graph, graph.find("labels")) == 7);
  CHECK_FALSE(index_bound(graph, graph.find("other")));
}

TEST_CASE("training: vectors begin at ones where they scale, else at zeros, weights within bounds",
          "[workspace][train]") {
  const auto read = read_graph_file(RECUT_SOURCE_DIR "/samples/blocks/layer_norm.recut");
  REQUIRE(read.ok());
  const Graph& norm = read->graph;
  CHECK(unpack<double>(initial_value(norm, norm.find("weight"), 0)).data ==
        std::vector<double>(16, 1.0));
  CHECK(unpack<double>(initial_value(norm, norm.find("bias"), 0)).data ==
        std::vector<double>(16, 0.0));
  const Graph mlp = step_of("mlp.recut");
  const Reals first = unpack<double>(initial_value(mlp, mlp.find("w1"), 0));  // 16 summands
  const auto [least, most] = std::minmax_element(first.data.begin(), first.data.end());
  CHECK(*least >= -0.25);
  CHECK(*least < -0.2);
  CHECK(*most <= 0.25);
  CHECK(*most > 0.2);
  CHECK(bytes_of(initial_value(mlp, mlp.find("w1"), 1)) !=
        bytes_of(initial_value(mlp, mlp.find("w1"), 0)));
}

TEST_CASE("training data: by seed and batch, the same again", "[workspace][train]") {
  const Graph step = step_of("mlp.recut");
  const TrainingData data(step, 1), same(step, 1), other(step, 2);
  REQUIRE(data.inputs().size() == 2);
  for (const std::size_t input : {0, 1}) {
    const std::string values = bytes_of(batch_of(step, data, input, 3));
    CHECK(values == bytes_of(batch_of(step, same, input, 3)));
    CHECK(values != bytes_of(batch_of(step, data, input, 4)));
    CHECK(values != bytes_of(batch_of(step, other, input, 3)));
  }
}

TEST_CASE("training data: classes and text fit the model, with more than one of each",
          "[workspace][train]") {
  const std::pair<const char*, DataInput::Kind> kInputs[] = {
      {"joint/tiny_mlp.json.gz", DataInput::Kind::classes},
      {"joint/tiny_lm.json.gz", DataInput::Kind::text},
      {"joint/tiny_lstm.json.gz", DataInput::Kind::text}};
  for (const auto& [file, kind] : kInputs) {
    INFO(file);
    const Graph step = step_of(file);
    const TrainingData data(step, 0);
    const std::size_t last = data.inputs().size() - 1;
    const DataInput& input = data.inputs()[last];
    CHECK(input.kind == kind);
    CHECK(input.bound > 2);
    std::set<std::int64_t> found;
    for (std::int64_t batch = 0; batch < 4; ++batch)
      for (const std::int64_t value : unpack<std::int64_t>(batch_of(step, data, last, batch)).data)
        found.insert(value);
    CHECK(*found.begin() >= 0);
    CHECK(*found.rbegin() < input.bound);
    CHECK(found.size() > 2);
  }
}

TEST_CASE("training data: a second text is the first one token later", "[workspace][train]") {
  const Graph graph = parse(R"(graph "shifted" {
  %table = parameter f32[20, 4]
  %w = parameter f32[4, 20]
  %tokens = input i64[2, 5]
  %next = input i64[2, 5]
  %places = input i64[1, 5]
  %words = embedding(%table, %tokens)
  %scores = matmul(%words, %w)
  %at = unsqueeze(%next, 2)
  %picked = gather(%scores, 2, %at)
  %sum = sum(%picked)
  %count = sum(%places)
  %loss = mul.Tensor(%sum, %count)
  results %loss
}
)");
  const auto step = make_training_step(graph, Sgd{});
  if (!step) FAIL(format(step.diagnostics()));
  const TrainingData data(step->graph, 5);
  const Integers tokens = unpack<std::int64_t>(batch_of(step->graph, data, 0, 1));
  const Integers next = unpack<std::int64_t>(batch_of(step->graph, data, 1, 1));
  for (const std::int64_t row : {0, 1})
    for (std::int64_t i = 0; i < 4; ++i) CHECK(next[5 * row + i] == tokens[5 * row + i + 1]);
  CHECK(data.inputs()[2].kind == DataInput::Kind::counting);
  CHECK(unpack<std::int64_t>(batch_of(step->graph, data, 2, 0)).data ==
        std::vector<std::int64_t>{0, 1, 0, 1, 0});
}

TEST_CASE("training: as a pass its changes are the updates", "[workspace][train]") {
  OpenOptions options;
  options.passes = std::vector<std::string>();
  options.training = TrainingOptions{Sgd{0.1, 0, 0}, {}};
  const auto document = open_document_bytes(kForward, "square.recut", options);
  REQUIRE(document.ok());
  REQUIRE(document->loss.has_value());
  REQUIRE(document->passes.passes.size() == 2);
  const PassReport& grad = document->passes.passes[0];
  const PassReport& optimizer = document->passes.passes[1];
  CHECK(grad.name == kGradPass);
  CHECK(optimizer.name == kOptimizerPass);
  CHECK(&document->reference_graph() == &optimizer.graph);
  std::size_t parameters = 0;
  for (const NodeId id : grad.graph.inputs())
    parameters += grad.graph.input_kind(id) == InputKind::parameter ? 1 : 0;
  REQUIRE(optimizer.changes.size() == parameters);
  for (const Change& change : optimizer.changes) {
    CHECK(change.rule == "sgd");
    REQUIRE(change.after.size() == 1);
    const std::string name = optimizer.graph.node_name(change.after.front());
    CHECK(name.find("_next") != std::string::npos);
  }

  // The same step as the one that is made of the joint graph directly.
  const auto step = make_training_step(grad.graph, Sgd{0.1, 0, 0});
  REQUIRE(step.ok());
  CHECK(print(step->graph) == print(document->graph()));
  CHECK(step->loss == *document->loss);

  options.training->loss = "nothing";
  const auto refused = open_document_bytes(kForward, "square.recut", options);
  REQUIRE_FALSE(refused.ok());
  CHECK(format(refused.diagnostics()).find("square.recut") != std::string::npos);
}

TEST_CASE("training: optimisers have names", "[workspace][train]") {
  for (const char* name : {"sgd", "adam", "adamw"}) {
    auto optimizer = find_optimizer(name);
    REQUIRE(optimizer.has_value());
    set_learning_rate(*optimizer, 0.25);
    CHECK(description_of(*optimizer).rfind(std::string(name) + ", learning rate 0.25", 0) == 0);
  }
  CHECK_FALSE(find_optimizer("rmsprop").has_value());
}

}  // namespace
}  // namespace recut
