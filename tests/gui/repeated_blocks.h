// A joint graph of equal residual blocks, as large as wanted.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/ir/graph.h"

namespace recut::test {

// Each block is 11 forward and 13 backward nodes, two parameters: x + fc2(gelu-like(fc1(norm(x)))).
class RepeatedBlocks {
 public:
  static Graph make(std::int64_t blocks) { return RepeatedBlocks(blocks).run(); }

 private:
  struct Block {
    NodeId in, normal, scaled, first, hidden, gate, w1, w2;
  };

  explicit RepeatedBlocks(std::int64_t blocks) : blocks_(blocks) { graph_.name = "blocks"; }

  Graph run() {
    const TensorType rows = make_type(DType::f32, {64, 32}),
                     square = make_type(DType::f32, {32, 32});
    std::vector<std::pair<NodeId, NodeId>> weights;
    for (std::int64_t b = 0; b < blocks_; ++b) {
      const NodeId w1 = graph_.add_input(InputKind::parameter, square, {fmt::format("w1_{}", b)});
      const NodeId w2 = graph_.add_input(InputKind::parameter, square, {fmt::format("w2_{}", b)});
      weights.emplace_back(w1, w2);
    }
    NodeId x = graph_.add_input(InputKind::input, rows, {"x"});
    const NodeId t = graph_.add_input(InputKind::tangent, rows, {"t"});
    std::vector<Block> made;
    for (std::int64_t b = 0; b < blocks_; ++b)
      x = forward(b, x, weights[static_cast<std::size_t>(b)], made);
    graph_.results = {x};
    std::vector<NodeId> gradients(static_cast<std::size_t>(2 * blocks_) + 1);
    NodeId g = t;
    for (std::int64_t b = blocks_; b-- > 0;)
      g = backward(b, g, made[static_cast<std::size_t>(b)], gradients);
    gradients.back() = g;
    graph_.gradients = gradients;
    return std::move(graph_);
  }

  NodeId call(Op op, std::vector<Argument> arguments, std::string_view module,
              std::int64_t number) {
    Origin origin;
    origin.name = graph_.unused_name(operator_of(op).packet);
    origin.module = std::string(module);
    origin.seq_nr = number;
    const std::size_t parameters = operator_of(op).parameters.size();
    while (arguments.size() < parameters) arguments.emplace_back(Absent{});
    auto made = graph_.make(op, std::move(arguments), std::move(origin));
    return made.ok() ? *made : NodeId();
  }

  NodeId forward(std::int64_t b, NodeId x, std::pair<NodeId, NodeId> w, std::vector<Block>& made) {
    const std::string block = fmt::format("m.layers.{}", b), norm = block + ".norm",
                      fc1 = block + ".fc1", act = block + ".act", fc2 = block + ".fc2";
    const std::int64_t s = b * 10;
    Block f{x, {}, {}, {}, {}, {}, w.first, w.second};
    f.normal = call(Op::tanh, {x}, norm, s);
    f.scaled = call(Op::mul_Tensor, {f.normal, f.normal}, norm, s);
    const NodeId shifted = call(Op::add_Tensor, {f.scaled, f.normal}, norm, s);
    f.first = call(Op::mm, {shifted, w.first}, fc1, s + 1);
    f.gate = call(Op::sigmoid, {f.first}, act, s + 2);
    f.hidden = call(Op::mul_Tensor, {f.first, f.gate}, act, s + 2);
    const NodeId cubed = call(Op::mul_Tensor, {f.hidden, f.hidden}, act, s + 3);
    const NodeId bent = call(Op::add_Tensor, {f.hidden, cubed}, act, s + 3);
    const NodeId out = call(Op::mm, {bent, w.second}, fc2, s + 4);
    const NodeId sum = call(Op::add_Tensor, {out, x}, block, s + 5);
    made.push_back(f);
    return sum;
  }

  NodeId backward(std::int64_t b, NodeId g, const Block& f, std::vector<NodeId>& gradients) {
    const std::string block = fmt::format("m.layers.{}", b), norm = block + ".norm",
                      fc1 = block + ".fc1", act = block + ".act", fc2 = block + ".fc2";
    const std::int64_t s = b * 10;
    const Argument turned(std::vector<std::int64_t>{1, 0});
    const NodeId w2t = call(Op::permute, {f.w2, turned}, fc2, s + 4);
    const NodeId gb = call(Op::mm, {g, w2t}, fc2, s + 4);
    const NodeId ht = call(Op::permute, {f.hidden, turned}, fc2, s + 4);
    gradients[static_cast<std::size_t>(2 * b) + 1] = call(Op::mm, {ht, g}, fc2, s + 4);
    const NodeId gh = call(Op::mul_Tensor, {gb, f.hidden}, act, s + 3);
    const NodeId gg = call(Op::mul_Tensor, {gh, f.gate}, act, s + 2);
    const NodeId gf = call(Op::mul_Tensor, {gg, f.first}, act, s + 2);
    const NodeId w1t = call(Op::permute, {f.w1, turned}, fc1, s + 1);
    const NodeId gs = call(Op::mm, {gf, w1t}, fc1, s + 1);
    const NodeId st = call(Op::permute, {f.scaled, turned}, fc1, s + 1);
    gradients[static_cast<std::size_t>(2 * b)] = call(Op::mm, {st, gf}, fc1, s + 1);
    const NodeId gx = call(Op::mul_Tensor, {gs, f.normal}, norm, s);
    return call(Op::add_Tensor, {g, gx}, "", blocks_ * 10);
  }

  std::int64_t blocks_;
  Graph graph_;
};

}  // namespace recut::test
