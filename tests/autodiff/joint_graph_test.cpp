// The form of a joint graph: inputs, tangents, results, gradients, and forward and backward
// partners.
#include <catch2/catch_test_macros.hpp>

#include "engine/autodiff/differentiate.h"
#include "engine/input/graph_file_reader.h"
#include "engine/ir/builder.h"
#include "engine/ir/printer.h"
#include "engine/ir/verifier.h"
#include "tests/input/parse.h"
#include "tests/paths.h"

namespace recut {
namespace {

Graph joint_of(const Graph& forward, const GradOptions& options = {}) {
  auto joint = differentiate(forward, options);
  INFO((joint ? std::string() : format(joint.diagnostics())));
  REQUIRE(joint.ok());
  CHECK(verify(*joint).empty());
  return std::move(*joint);
}

std::vector<std::string> tangents(const Graph& graph) {
  std::vector<std::string> names;
  for (const NodeId id : graph.inputs())
    if (graph.input_kind(id) == InputKind::tangent) names.push_back(graph.node_name(id));
  return names;
}

TEST_CASE("joint graph: unused and integer inputs have no gradient; a parameter used twice one sum",
          "[autodiff]") {
  const Graph joint = joint_of(parse(R"(graph "uses" {
  %w = parameter f32[3]
  %unused = parameter f32[2]
  %i = input i64[3]
  %x = input f32[3]
  %a = mul.Tensor(%w, %x)
  %b = mul.Tensor(%a, %w)
  results %b, %i
}
)"));
  CHECK(tangents(joint) == std::vector<std::string>{"tangents_1"});
  REQUIRE(joint.gradients.size() == 4);
  CHECK(joint.gradients[0].valid());
  CHECK(joint.op(joint.gradients[0]).op == Op::add_Tensor);
  CHECK_FALSE(joint.gradients[1].valid());
  CHECK_FALSE(joint.gradients[2].valid());
  CHECK_FALSE(joint.gradients[3].valid());
  CHECK(joint.results.size() == 2);
}

TEST_CASE("joint graph: every step names its rule and its new nodes", "[autodiff]") {
  const Graph forward = parse(R"(graph "steps" {
  %w = parameter f32[3, 2]
  %x = input f32[2, 3]
  %y = mm(%x, %w) : f32[2, 2]
  %z = relu(%y) : f32[2, 2]
  %s = add.Tensor(%z, %y) : f32[2, 2]
  results %s
}
)");
  std::vector<DerivativeStep> steps;
  const auto joint = differentiate(forward, {}, &steps);
  REQUIRE(joint.ok());
  std::vector<std::string> rules;
  for (const DerivativeStep& step : steps) {
    rules.emplace_back(step.rule);
    INFO(step.text);
    CHECK(forward.contains(step.call));
    CHECK(step.text.starts_with(print_node(*joint, step.call)));
    for (const NodeId made : step.new_nodes) {
      CHECK(joint->contains(made));
      CHECK_FALSE(forward.contains(made));
      CHECK(joint->origin(made).seq_nr == joint->origin(step.call).seq_nr);
      CHECK(step.text.find(print_node(*joint, made)) != std::string::npos);
    }
  }
  // From the results back; a sum hands its gradient on, and what relu gives is added to it.
  CHECK(rules == std::vector<std::string>{"add.Tensor", "relu", "mm"});
  CHECK(steps[0].new_nodes.empty());
  CHECK(steps[0].text.ends_with("gradient of %z: %tangents_1; gradient of %y: %tangents_1"));
  CHECK(joint->op(steps[1].new_nodes.back()).op == Op::add_Tensor);
  CHECK(steps[2].new_nodes.back() == joint->gradients[0]);

  // Nothing that backward is made of stands outside of the steps.
  std::size_t made = 0;
  for (const DerivativeStep& step : steps) made += step.new_nodes.size();
  CHECK(joint->order().size() == forward.order().size() + 1 + made);

  // The log changes nothing, and there is none where there is no joint graph.
  const auto again = differentiate(forward);
  REQUIRE(again.ok());
  CHECK(print(*again) == print(*joint));
}

TEST_CASE("joint graph: broadcasting is summed away, dtypes are converted back", "[autodiff]") {
  const Graph joint = joint_of(parse(R"(graph "broadcast" {
  %w = parameter bf16[4, 1]
  %x = input f32[2, 4, 3]
  %c = prims.convert_element_type(%w, f32)
  %y = mul.Tensor(%x, %c)
  results %y
}
)"));
  CHECK(format(joint.type(joint.gradients[0])) == "bf16[4, 1]");
}

TEST_CASE("joint graph: each loss has a tangent; what reaches no parameter is not differentiated",
          "[autodiff]") {
  const Graph joint = joint_of(parse(R"(graph "losses" {
  %w = parameter f32[3]
  %x = input f32[3]
  %s = sin(%x)
  %a = mul.Tensor(%w, %s)
  %first = sum(%a)
  %second = amax(%a)
  %d = detach(%a)
  %apart = sum(%d)
  results %first, %second, %apart
}
)"));
  CHECK(tangents(joint) == std::vector<std::string>{"tangents_1", "tangents_2"});
  for (const NodeId id : joint.order()) CHECK(joint.op(id).op != Op::cos);
}

TEST_CASE("joint graph: updated buffers go out as results, without a tangent", "[autodiff]") {
  const Graph joint = joint_of(parse(R"(graph "batch_norm" {
  %w = parameter f32[3]
  %b = parameter f32[3]
  %mean = input f32[3]
  %var = input f32[3]
  %x = parameter f32[4, 3]
  %n = _native_batch_norm_legit_functional(%x, %w, %b, %mean, %var, true, 0.1, 1e-05)
  %y = getitem(%n, 0)
  %new_mean = getitem(%n, 3)
  %m = mean.dim(%x, [0])
  %part = mul.Tensor(%m, 0.1)
  %rest = mul.Tensor(%mean, 0.9)
  %moved = add.Tensor(%part, %rest)
  results %new_mean, %moved, %y
}
)"));
  CHECK(tangents(joint).size() == 1);
  CHECK(joint.results.size() == 3);
  CHECK_FALSE(joint.gradients[2].valid());
  CHECK(joint.gradients[4].valid());
}

TEST_CASE("joint graph: backward nodes carry their partner's module and sequence number",
          "[autodiff]") {
  Builder b("partners");
  const Value w = b.parameter("w", DType::f32, {3, 2}), x = b.input("x", DType::f32, {4, 3});
  Value h;
  {
    const auto scope = b.scope({"net.0", 7});
    h = b.mm(x, w);
  }
  b.result(b.sum(b("tanh", {h})));
  const auto forward = b.finish();
  REQUIRE(forward.ok());
  const Graph joint = joint_of(*forward);
  const Origin& product = joint.origin(joint.gradients[0]);
  CHECK(product.module == "net.0");
  CHECK(product.seq_nr == 7);
  const NodeId tanh = joint.find("tanh"), back = joint.find("tanh_backward");
  REQUIRE(tanh.valid());
  REQUIRE(back.valid());
  CHECK(joint.origin(tanh).seq_nr > 7);
  CHECK(joint.origin(tanh).seq_nr == joint.origin(back).seq_nr);
}

TEST_CASE("joint graph: what can't be differentiated is said by name", "[autodiff]") {
  const auto diagnostics_of = [](const Graph& graph, const GradOptions& options = {}) {
    const auto joint = differentiate(graph, options);
    return joint.ok() ? "" : format(joint.diagnostics());
  };
  const Graph random = parse(R"(graph "no_rule" {
  %q = parameter f32[1, 2, 3, 4]
  %y = scaled_dot_product_attention(%q, %q, %q, none, 0.5)
  results %y
}
)");
  CHECK(diagnostics_of(random) ==
        "error: the derivative of %y (scaled_dot_product_attention): with dropout it has no "
        "derivative rule\n");
  const Graph plain = parse(
      "graph \"g\" {\n  %x = parameter f32[2]\n  %i = input i64[2]\n"
      "  %y = exp(%x)\n  results %y, %i\n}\n");
  CHECK(diagnostics_of(plain, {std::nullopt, std::vector<std::string>{"z"}}).find("no input z") !=
        std::string::npos);
  CHECK(diagnostics_of(plain, {std::nullopt, std::vector<std::string>{"i"}})
            .find("only real and complex inputs") != std::string::npos);
  CHECK(diagnostics_of(plain, {std::vector<std::size_t>{1}, std::nullopt})
            .find("neither real nor complex") != std::string::npos);
  CHECK(diagnostics_of(plain, {std::vector<std::size_t>{9}, std::nullopt}).find("is not there") !=
        std::string::npos);
  CHECK(diagnostics_of(joint_of(plain)).find("joint graph already") != std::string::npos);
}

// Rules make calls of their own, which the reader hasn't written.
TEST_CASE("joint graph: what a rule can't do is said of the call that it is for", "[autodiff]") {
  const auto diagnostics_of = [](const std::string& lines) {
    const Graph graph = parse("graph \"g\" {\n" + lines + "\n}\n");
    const auto reverse = differentiate(graph, {});
    const auto forward = jvp(graph, {});
    std::string text;
    if (!reverse) text += format(reverse.diagnostics());
    if (!forward) text += format(forward.diagnostics());
    return text;
  };
  const auto count = [](const std::string& text, const std::string& part) {
    int found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
      ++found;
    return found;
  };
  // In reverse mode alone.
  const std::pair<const char*, const char*> kCalls[] = {
      {"%a = linalg_qr(%x, \"r\")\n %y = getitem(%a, 1)", "linalg_qr"},
      {"%a = linalg_qr(%x, \"complete\")\n %y = getitem(%a, 1)", "linalg_qr"},
      {"%n = constant f32[3, 2]\n %a = rrelu_with_noise(%x, %n, 0.1, 0.3, true)\n %y = exp(%a)",
       "rrelu_with_noise"},
      {"%q = constant f32[3, 2]\n %a = special_zeta(%x, %q)\n %y = exp(%a)", "special_zeta"},
  };
  for (const auto& [lines, op] : kCalls) {
    const std::string text =
        diagnostics_of("%x = parameter f32[3, 2]\n " + std::string(lines) + "\n results %y");
    INFO(text);
    const int errors = count(text, "error: ");
    CHECK(errors >= 1);
    CHECK(count(text, "the derivative of %a (") == errors);
    CHECK(count(text, op) == errors);
    CHECK(count(text, "call ") == 0);
  }
}

TEST_CASE("joint graph: its forward graph has its results and no tangents, and gives as many back",
          "[autodiff]") {
  for (const std::string name : {"mlp", "resnet50", "gpt2", "unet", "tiny_ops"}) {
    INFO(name);
    const auto file = read_graph_file(RECUT_SOURCE_DIR "/samples/joint/" + name + ".json.gz");
    REQUIRE(file.ok());
    const auto forward = extract_forward_graph(file->graph);
    REQUIRE(forward.ok());
    CHECK(verify(forward->graph).empty());
    CHECK(tangents(forward->graph).empty());
    CHECK(forward->graph.results == file->graph.results);
    const Graph joint = joint_of(forward->graph, {forward->differentiable, std::nullopt});
    CHECK(tangents(joint).size() == tangents(file->graph).size());
    // The default rule finds the same results: updates of batch-norm's buffers are none of them.
    CHECK(tangents(joint_of(forward->graph)).size() == tangents(file->graph).size());
    REQUIRE(joint.gradients.size() == file->graph.gradients.size());
    for (std::size_t i = 0; i < joint.gradients.size(); ++i)
      CHECK(joint.gradients[i].valid() == file->graph.gradients[i].valid());
  }
}

TEST_CASE("derivative rules: each constant operator says why", "[autodiff]") {
  for (const Operator& op : all_operators()) {
    INFO(op.name);
    const bool constant = differentiability(op.op) == Differentiability::constant;
    CHECK(constant == !reason_without_derivative(op.op).empty());
  }
}

}  // namespace
}  // namespace recut
