// Outputs of a step against the graph in f64: what passes, by which bound, and what doesn't.
#include "engine/eval/accuracy.h"

#include <cmath>
#include <limits>

#include "tests/eval/run_text.h"

namespace recut {
namespace {

using test::input_tensor;
using test::InputValues;

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();
constexpr double kEndless = std::numeric_limits<double>::infinity();

// A graph on values, and outputs that stand for a step's: first the interpreter's own.
class Judged {
 public:
  explicit Judged(const std::string& lines, const InputValues& given = {}) {
    auto graph = parse_graph_text("graph \"test\" {\n" + lines + "\n}", "test");
    INFO((graph ? std::string() : format(graph.diagnostics())));
    REQUIRE(graph.ok());
    graph_ = std::move(*graph);
    for (const NodeId id : graph_.inputs()) {
      const auto values = given.find(graph_.node_name(id));
      inputs_[id] = values == given.end() ? random_tensor(graph_.type(id), 1, graph_.node_name(id))
                                          : input_tensor(graph_.type(id), &values->second);
    }
    auto evaluation = evaluate(graph_, inputs_);
    REQUIRE(evaluation.ok());
    found = std::move(evaluation->outputs);
  }

  void set(std::size_t output, std::int64_t element, double value) {
    Reals values = unpack<double>(found[output]);
    values[element] = value;
    found[output] = allocate(make_type(found[output].dtype, found[output].shape), nullptr);
    pack(values, found[output]);
  }
  double get(std::size_t output, std::int64_t element) const {
    return unpack<double>(found[output])[element];
  }

  Accuracy judge(double allowed = 0) const {
    auto accuracy = judge_outputs(graph_, inputs_, {}, found, allowed);
    REQUIRE(accuracy.ok());
    return std::move(*accuracy);
  }
  ErrorBound bound(std::size_t output = 0) const { return judge().outputs[output].bound; }

  Graph graph_;
  Inputs inputs_;
  std::vector<Tensor> found;
};

TEST_CASE("accuracy: a wrong element is found in a large output, however small its share") {
  Judged judged(
      "%x = input f32[200, 200]\n%y = input f32[200, 200]\n%z = mul.Tensor(%x, %y)\nresults %z");
  CHECK(judged.bound() == ErrorBound::dtype);
  const double right = judged.get(0, 12'345);
  judged.set(0, 12'345, right + 1e-5);
  CHECK(judged.bound() == ErrorBound::dtype);
  judged.set(0, 12'345, right + 4e-4);
  const Accuracy accuracy = judged.judge();
  const OutputComparison& output = accuracy.outputs.front();
  CHECK(output.bound == ErrorBound::none);
  CHECK_FALSE(output.ok());
  CHECK(output.comparison.error <= output.comparison.bound);  // of the norm: too little to tell
  REQUIRE(output.comparison.worst);
  CHECK(output.comparison.worst->index == 12'345);
  CHECK(output.comparison.problem.find("element 12345 is") == 0);
  CHECK(accuracy.no_f64.empty());
  CHECK(judged.judge(2e-3).outputs.front().ok());
}

TEST_CASE("accuracy: small values are judged by their own size") {
  Judged judged("%x = input f32[4]\n%y = mul.Tensor(%x, 1e-9)\nresults %y");
  CHECK(judged.bound() == ErrorBound::dtype);
  for (int i = 0; i < 4; ++i) judged.set(0, i, 0);
  CHECK(judged.bound() == ErrorBound::none);
}

// (x + 1000) - 1000 keeps the digits of x down to 2^-14 of 1.
TEST_CASE(
    "accuracy: an error that the interpreter makes in f32, too, is listed as ill-conditioned") {
  Judged judged(
      "%x = input f32[64]\n%a = add.Tensor(%x, 100000.0)\n%b = sub.Tensor(%a, 100000.0)\n"
      "%c = mul.Tensor(%x, 2.0)\nresults %b, %c");
  const Accuracy own = judged.judge();
  CHECK(own.outputs[0].bound == ErrorBound::interpreter);
  CHECK(own.outputs[0].ill_conditioned);
  CHECK(own.outputs[0].interpreter_error > 1e-3);
  CHECK(own.outputs[1].bound == ErrorBound::dtype);
  CHECK_FALSE(own.outputs[1].ill_conditioned);
  CHECK(accuracy_text(own.outputs[0]).find("result 'b': relative error ") == 0);
  judged.set(0, 5, judged.get(0, 5) + 0.01);
  CHECK(judged.bound(0) == ErrorBound::interpreter);
  judged.set(0, 5, judged.get(0, 5) + 10);
  CHECK(judged.bound(0) == ErrorBound::none);
  // What rounding does to one output is no excuse for another.
  judged.set(1, 5, judged.get(1, 5) + 0.01);
  CHECK(judged.bound(1) == ErrorBound::none);
}

const char* const kThreshold =
    "%x = input f32[2]\n%y = input f32[2]\n%z = input f32[3]\n%p = mul.Tensor(%x, %y)\n"
    "%s = sum.dim_IntList(%p, [0])\n%b = gt.Scalar(%s, 0)\n%v = where.self(%b, %z, 0.25)\n"
    "results %v, %b";

TEST_CASE("accuracy: values at a threshold may fall on its other side") {
  Judged near(kThreshold, {{"x", {0.7312345, -0.7312345}}, {"y", {0.9137131, 0.9137130}}});
  CHECK(near.bound(0) == ErrorBound::dtype);
  CHECK(near.bound(1) == ErrorBound::dtype);
  for (int i = 0; i < 3; ++i) near.set(0, i, 0.25);
  near.set(1, 0, 0);
  const Accuracy accuracy = near.judge();
  for (const OutputComparison& output : accuracy.outputs) {
    CHECK(output.bound == ErrorBound::perturbed);
    CHECK(output.ill_conditioned);
    CHECK(output.perturbed_error > 0);
  }
  near.set(0, 1, 8);
  CHECK(near.bound(0) == ErrorBound::none);
}

TEST_CASE("accuracy: a threshold that is far away excuses nothing") {
  Judged far(kThreshold, {{"x", {0.7312345, -0.7312345}}, {"y", {0.9137131, 0.8137131}}});
  for (int i = 0; i < 3; ++i) far.set(0, i, 0.25);
  far.set(1, 0, 0);
  CHECK(far.bound(0) == ErrorBound::none);
  CHECK(far.bound(1) == ErrorBound::none);
}

TEST_CASE("accuracy: integers hinge on rounding element by element") {
  // Of 8 indices one is a tie but for rounding.
  InputValues rows = {{"x", {}}, {"y", {}}};
  for (int row = 0; row < 8; ++row)
    for (const double value : {0.3712345, row == 3 ? 0.3712346 : 0.9}) {
      rows["x"].push_back(value);
      rows["y"].push_back(0.7312345);
    }
  Judged judged(
      "%x = input f32[8, 2]\n%y = input f32[8, 2]\n%p = mul.Tensor(%x, %y)\n"
      "%i = argmax(%p, 1)\nresults %i",
      rows);
  CHECK(judged.bound() == ErrorBound::dtype);
  judged.set(0, 3, 0);
  CHECK(judged.bound() == ErrorBound::perturbed);
  CHECK(judged.judge().outputs.front().ill_conditioned);
  judged.set(0, 4, 0);
  CHECK(judged.bound() == ErrorBound::none);
}

TEST_CASE("accuracy: NaN and infinities stand where f32 or f64 has them, and nowhere else") {
  const InputValues large = {{"x", {100, 1, -kEndless, kNoNumber}}};
  Judged judged("%x = input f32[4]\n%y = exp(%x)\nresults %y", large);
  CHECK(std::isinf(judged.get(0, 0)));  // 2.7e43 in f64
  CHECK(judged.bound() == ErrorBound::dtype);
  for (const double wrong : {kNoNumber, -kEndless, 0.0}) {
    Judged other("%x = input f32[4]\n%y = exp(%x)\nresults %y", large);
    other.set(0, 0, wrong);
    CHECK(other.bound() == ErrorBound::none);
  }
  judged.set(0, 1, kNoNumber);
  const Accuracy accuracy = judged.judge();
  CHECK_FALSE(accuracy.outputs.front().comparison.measurable);
  CHECK(accuracy.outputs.front().comparison.problem == "1 elements differ in NaN or infinity");
  CHECK(accuracy.outputs.front().comparison.worst->index == 1);
  CHECK_FALSE(judged.judge(2e-2).outputs.front().ok());
}

TEST_CASE("accuracy: without values of f32 the reference is the interpreter in the own dtypes") {
  Judged doubles("%x = input f64[8]\n%y = exp(%x)\nresults %y");
  CHECK(doubles.judge().no_f64 == "the graph has no values of f32");
  CHECK(doubles.bound() == ErrorBound::dtype);
  doubles.set(0, 2, 5);
  CHECK(doubles.bound() == ErrorBound::none);
  Judged integers("%x = input i64[8]\n%y = add.Tensor(%x, 1)\nresults %y");
  CHECK(integers.bound() == ErrorBound::dtype);
  integers.set(0, 2, 5);
  CHECK(integers.bound() == ErrorBound::none);
}

// In f64 nothing rounds x away, so another number of elements isn't zero than the file says.
TEST_CASE("accuracy: a graph that f64 can't follow is judged without it") {
  Judged judged(
      "%x = input f32[3]\n%a = add.Tensor(%x, 100000.0)\n%b = sub.Tensor(%a, 100000.0)\n"
      "%i = nonzero(%b) : i64[2, 1]\nresults %i",
      {{"x", {1, 1e-5, 2}}});
  const Accuracy accuracy = judged.judge();
  CHECK(accuracy.no_f64.find("nonzero") != std::string::npos);
  CHECK(accuracy.outputs.front().bound == ErrorBound::dtype);
}

TEST_CASE("accuracy: another type differs, and whoever ends it gets no report") {
  Judged judged("%x = input f32[3]\n%y = exp(%x)\nresults %y");
  for (int ended_at = 0; ended_at < 2; ++ended_at) {
    EvaluateOptions options;
    int calls = 0;
    options.progress = [&](std::size_t, std::size_t) { return calls++ != ended_at; };
    CHECK_FALSE(judge_outputs(judged.graph_, judged.inputs_, options, judged.found).ok());
  }
  judged.found[0] = allocate(make_type(DType::f32, {4}), nullptr);
  const Accuracy accuracy = judged.judge();
  CHECK_FALSE(accuracy.outputs.front().ok());
  CHECK(accuracy.outputs.front().comparison.problem == "f32[4] found, expected f32[3]");
}

TEST_CASE("random rounding changes what is rounded, by both signs, and keeps exact results") {
  const auto graph = parse_graph_text(
      "graph \"g\" {\n%x = input f32[50]\n%m = amax(%x, [0], true)\n%e = eq.Tensor(%x, %m)\n"
      "%d = mul.Tensor(%x, 2.0)\n%r = exp(%x)\nresults %e, %d, %r\n}",
      "test");
  REQUIRE(graph.ok());
  const auto inputs = inputs_from(*graph, {}, 3);
  REQUIRE(inputs.ok());
  std::vector<Evaluation> runs;
  for (const double share : {0.0, 0x1p-18, -0x1p-18}) {
    EvaluateOptions options;
    options.rounding = RandomRounding{1, share};
    auto run = evaluate(*graph, *inputs, options);
    REQUIRE(run.ok());
    runs.push_back(std::move(*run));
  }
  const auto values = [&](std::size_t run, std::size_t output) {
    return test::values_of(runs[run].outputs[output]);
  };
  for (std::size_t run = 1; run < 3; ++run)
    for (std::size_t exact = 0; exact < 2; ++exact) CHECK(values(run, exact) == values(0, exact));
  int opposite = 0;
  for (std::size_t i = 0; i < 50; ++i) {
    const double right = values(0, 2)[i];
    const double up = values(1, 2)[i] - right, down = values(2, 2)[i] - right;
    CHECK(std::abs(up) <= 0x1.1p-18 * right);
    if (up * down < 0) ++opposite;
  }
  CHECK(opposite > 40);
}

}  // namespace
}  // namespace recut
