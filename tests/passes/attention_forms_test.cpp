// The 28 forms in which models of PyTorch write attention (torch/_inductor/fx_passes's
// fuse_attention looks for the same), as decompositions leave them: each becomes one operator
// forward and, in training, one backward.
#include <fmt/core.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "engine/autodiff/differentiate.h"
#include "engine/eval/compare.h"
#include "engine/ir/printer.h"
#include "engine/passes/runner.h"
#include "engine/passes/stages.h"
#include "tests/random/attention_writer.h"
#include "tests/random/same_meaning.h"

namespace recut::test {
namespace {

struct Row {
  int number;
  std::string_view what;
  Scale scale = Scale::none;
  Mask mask = Mask::none;
  bool dropout = false;
  bool copied = false;
  DType dtype = DType::f32;
  bool three = false;
  bool returned = false;  // keys are a result, too
  bool wide_mask = false;
};

constexpr Scale kMul = Scale::multiplied, kDiv = Scale::divided, kNone = Scale::none;
constexpr Mask kAdded = Mask::added, kHiding = Mask::hiding, kShowing = Mask::showing;
constexpr DType f32 = DType::f32, f16 = DType::f16, bf16 = DType::bf16;

constexpr Row kRows[] = {
    {1, "divided by a number", kDiv},
    {2, "multiplied by a number", kMul},
    {3, "divided, dropout", kDiv, Mask::none, true},
    {4, "multiplied, dropout", kMul, Mask::none, true},
    {5, "divided, an added mask", kDiv, kAdded},
    {6, "divided, an added mask, dropout", kDiv, kAdded, true},
    {7, "permuted, softmax in f32, dropout", kDiv, Mask::none, true, true, f16},
    {8, "permuted, softmax in f32", kDiv, Mask::none, false, true, f16},
    {9, "scaled query, softmax in f32, dropout", kNone, Mask::none, true, true, bf16},
    {10, "scaled query, softmax in f32", kNone, Mask::none, false, true, bf16},
    {11, "permuted, divided", kDiv, Mask::none, false, true},
    {12, "permuted, divided, dropout", kDiv, Mask::none, true, true},
    {13, "three dimensions, dropout", kNone, Mask::none, true, false, f32, true},
    {14, "BertLarge: permuted, divided, an added mask", kDiv, kAdded, false, true},
    {15, "DistilBert: masked_fill", kDiv, kHiding, false, true},
    {16, "BertLarge with dropout", kDiv, kAdded, true, true},
    {17, "DistilBert with dropout", kDiv, kHiding, true, true},
    {18, "GPT2: causal where, keys returned", kDiv, kShowing, true, true, f32, false, true},
    {19, "GPT2: causal where and an added mask", kDiv, Mask::both, true, true},
    {20, "DistilBert, newer: where", kNone, kHiding, true, true},
    {21, "T5: no scale, an added mask", kNone, kAdded, false, true},
    {22, "T5, keys returned", kNone, kAdded, false, true, f32, false, true},
    {23, "T5 without a mask", kNone, Mask::none, false, true, f32, false, true},
    {24, "MBart: three dimensions, an added mask", kNone, kAdded, false, false, f32, true},
    {25, "T5 with dropout", kNone, kAdded, true, true},
    {26, "T5 with dropout, keys returned", kNone, kAdded, true, true, f32, false, true},
    {27, "T5 without a mask, with dropout", kNone, Mask::none, true, true, f32, false, true},
    {28, "Visformer: multiplied, dropout, operands not contiguous", kMul, Mask::none, true, true},
    {29, "causal by positions", kMul, Mask::causal, false, true},
    {30, "causal by positions, dropout", kMul, Mask::causal, true},
    {31, "all keys seen, by positions", kMul, Mask::all_seen, false},
    {32, "all keys seen, by positions, dropout", kMul, Mask::all_seen, true},
    {29, "29 in half, the mask in f32", kMul, Mask::causal, false, true, bf16, false, false, true},
    {29, "29 in half", kDiv, Mask::causal, false, true, f16},
    {30, "30 in half, the mask in f32", kMul, Mask::causal, true, true, bf16, false, false, true},
    {31, "31 in half", kMul, Mask::all_seen, false, false, bf16},
    {32, "32 in half", kMul, Mask::all_seen, true, false, f16},
    {5, "5 in bf16", kDiv, kAdded, false, false, bf16},
    {6, "6 in f16", kDiv, kAdded, true, false, f16},
    {16, "16 in half, the mask in f32", kDiv, kAdded, true, true, bf16, false, false, true},
    {18, "18 in half", kDiv, kShowing, true, true, f16, false, true},
    {19, "19 in half", kDiv, Mask::both, true, true, bf16},
    {21, "21 in half, the mask in f32", kNone, kAdded, false, true, bf16, false, false, true},
};

Graph written(const Row& row, bool trained, bool composite = false) {
  AttentionForm form;
  form.scale = row.scale;
  form.mask = row.mask;
  form.dropout = row.dropout;
  form.copied = row.copied;
  form.dtype = row.dtype;
  form.three = row.three;
  form.wide_mask = row.wide_mask;
  form.trained = trained;
  form.composite = composite;
  Graph graph;
  MotifWriter writer(graph, [&](TensorType type) {
    const std::string name = fmt::format("x{}", graph.inputs().size());
    return graph.add_input(InputKind::input, std::move(type), {name, {}, -1});
  });
  write_attention(writer, form);
  REQUIRE(writer.sound());
  const Users users(graph);
  for (const NodeId id : writer.made)
    if (users.of(id).empty()) graph.results.push_back(id);
  if (row.returned) {
    const Argument order(std::vector<std::int64_t>{0, 1, 3, 2});
    graph.results.push_back(*graph.make(Op::permute, {graph.inputs()[1], order}));
  }
  return graph;
}

int count(const Graph& graph, std::string_view part) {
  const auto order = graph.order();
  return static_cast<int>(std::count_if(order.begin(), order.end(), [&](NodeId id) {
    return graph.op(id).name.find(part) != std::string_view::npos;
  }));
}

// Calls of attention that see no later keys.
int count_causal(const Graph& graph) {
  const auto order = graph.order();
  return static_cast<int>(std::count_if(order.begin(), order.end(), [&](NodeId id) {
    const auto parameter = graph.op(id).parameter("is_causal");
    const auto* causal = parameter ? graph[id].arguments[*parameter].get<bool>() : nullptr;
    return causal != nullptr && *causal;
  }));
}

// No row without a key: softmax gives NaN there, and the operator 0.
Inputs inputs_with_keys(const Graph& graph, Mask mask) {
  Inputs inputs = inputs_for(graph, 1, Values::ordinary);
  for (auto& [id, tensor] : inputs) {
    const Shape& shape = graph.type(id).shape;
    if (graph.type(id).dtype != DType::boolean || shape.size() != 2) continue;
    Integers values = unpack<std::int64_t>(tensor);
    for (std::int64_t i = 0; i < values.count(); i += shape[1]) values[i] = mask == Mask::showing;
    pack(values, tensor);
  }
  return inputs;
}

void check_values(const Graph& before, const Graph& after, Mask mask) {
  const Inputs inputs = inputs_with_keys(before, mask);
  const auto expected = evaluate(before, inputs);
  const auto found = evaluate(after, inputs);
  if (!expected) FAIL(format(expected.diagnostics()));
  if (!found) FAIL(format(found.diagnostics()));
  for (std::size_t i = 0; i < expected->outputs.size(); ++i) {
    REQUIRE(found->outputs[i].exists() == expected->outputs[i].exists());
    if (!expected->outputs[i].exists()) continue;
    const Comparison c = compare(found->outputs[i], expected->outputs[i]);
    INFO("output " << i << ": " << c.error << " beyond " << c.bound << " " << c.problem);
    CHECK(c.ok);
  }
}

void check_one_operator(const Row& row, const Graph& graph, bool trained) {
  const auto report = run_passes(graph, inexact_passes());
  REQUIRE(report.ok());
  if (report->failure) FAIL(report->failure->pass + " " + report->failure->message);
  INFO("form " << row.number << ", " << row.what << (trained ? ", trained" : ""));
  INFO(print(report->graph()));
  CHECK(count(report->graph(), "_attention") == (trained ? 2 : 1));
  CHECK(count(report->graph(), "_attention_backward") == (trained ? 1 : 0));
  CHECK(count(report->graph(), "bmm") == 0);
  if (row.mask == Mask::causal || row.mask == Mask::all_seen) {
    CHECK(count(report->graph(), "where") == 0);
    CHECK(count_causal(report->graph()) == (row.mask == Mask::all_seen ? 0 : trained ? 2 : 1));
  }
  check_values(graph, report->graph(), row.mask);
}

TEST_CASE("every form of attention is one operator forward and one backward", "[passes]") {
  for (const Row& row : kRows)
    for (const bool trained : {false, true})
      check_one_operator(row, written(row, trained), trained);
}

// As exporters leave it that don't decompose; of 16 bits for inference.
TEST_CASE("every form of attention whose softmax is one operator", "[passes]") {
  for (const Row& row : kRows)
    for (const bool trained : {false, true})
      if (row.dtype == f32 || !(trained || row.wide_mask))
        check_one_operator(row, written(row, trained, true), trained);
}

// What `recut grad` makes of a layer, differentiated as it is or once it is one operator.
TEST_CASE("attention in graphs that Recut differentiates", "[passes]") {
  for (const Row& row : kRows) {
    if (row.dtype != f32 || row.returned) continue;
    for (const bool before : {false, true}) {
      Graph forward = written(row, false, true);
      if (!row.three) {  // together again, as every model has it
        const Argument size(std::vector<std::int64_t>{2, 3, 4, 3});
        forward.results = {*forward.make(Op::view, {forward.results.front(), size})};
      }
      if (before) {
        auto report = run_passes(forward, inexact_passes());
        REQUIRE(report.ok());
        forward = report->graph();
      }
      GradOptions options;
      options.requires_grad = std::vector<std::string>();
      for (const NodeId id : forward.inputs())
        if (forward.type(id).shape.size() > 2 && is_floating(forward.type(id).dtype))
          options.requires_grad->push_back(forward.node_name(id));
      const auto joint = differentiate(forward, options);
      if (!joint) FAIL(format(joint.diagnostics()));
      check_one_operator(row, *joint, true);
    }
  }
}

}  // namespace
}  // namespace recut::test
