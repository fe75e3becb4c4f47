#include "tests/random/random_graph.h"

#include <fmt/core.h>

#include <algorithm>

#include "tests/random/random_calls.h"
#include "tests/random/random_motifs.h"

namespace recut::test {
namespace {

constexpr std::int64_t kMaxElements = 512;
constexpr int kMaxRefusals = 200;  // of one call; no graph needs that many

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {
    graph_.name = fmt::format("seed {}", seed);
  }

  Graph run() {
    const bool joint = random_.one_in(2);
    const bool motif = random_.one_in(3);
    for (std::int64_t n = random_.between(1, 4); n > 0; --n) {
      // One draw per statement: compilers differ in the order in which they evaluate
      // arguments.
      const InputKind kind = random_.one_in(2) ? InputKind::parameter : InputKind::input;
      const DType dtype = random_dtype(random_);
      add_input(kind, make_type(dtype, random_shape(random_)));
    }
    add_calls(random_.between(2, 18));
    if (motif) add_motif();
    choose_results();
    if (joint) {
      add_tangents();
      add_calls(random_.between(2, 12));
      choose_gradients();
    }
    return std::move(graph_);
  }

 private:
  void add_input(InputKind kind, TensorType type) {
    const std::string name = fmt::format("{}{}", name_of(kind), graph_.inputs().size());
    values_.push_back(graph_.add_input(kind, std::move(type), {name, {}, -1}));
  }

  void add_calls(std::int64_t count) {
    while (count > 0 && refusals_ < kMaxRefusals) {
      if (add_call()) {
        --count;
        refusals_ = 0;
      } else {
        ++refusals_;
      }
    }
  }

  // Some of a motif's values become results, as the newest values; later calls read others.
  void add_motif() {
    Graph attempt = graph_;
    MotifWriter writer(attempt, [&](TensorType type) {
      const std::string name = fmt::format("input{}", attempt.inputs().size());
      return attempt.add_input(InputKind::input, std::move(type), {name, {}, -1});
    });
    Draw draw{random_, attempt, values_};
    random_.of(motifs_)(draw, writer);
    if (!writer.sound() || writer.made.empty()) return;
    const std::size_t inputs = graph_.inputs().size();
    graph_ = std::move(attempt);
    for (const NodeId id : graph_.inputs().subspan(inputs)) values_.push_back(id);
    // Values that nothing in the motif reads are its outputs; the rest is mostly left alone.
    const Users users(graph_);
    for (const NodeId id : writer.made)
      if (users.of(id).empty()) graph_.results.push_back(id);
    const NodeId read = random_.one_in(6) ? random_.of(writer.made) : writer.made.back();
    if (graph_[read].outputs.size() == 1) values_.push_back(read);
  }

  bool add_call() {
    const RandomCall& row = random_.of(calls_);
    const Operator* op = find_operator_by_name(row.op);
    Draw draw{random_, graph_, values_};
    const auto drawn = row.arguments(draw);
    if (op == nullptr || !drawn) return false;
    std::vector<Argument> arguments(op->parameters.size());
    for (const auto& [name, argument] : *drawn) {
      const auto* id = argument.get<NodeId>();
      const auto parameter = op->parameter(name);
      if ((id != nullptr && !id->valid()) || !parameter) return false;
      arguments[*parameter] = argument;
    }
    return accept(op->op, std::move(arguments));
  }

  // Tries the call on a copy, which is cheap: a graph of this size need not be undone.
  bool accept(Op op, std::vector<Argument> arguments) {
    for (const Argument& a : arguments)
      if (const auto* list = a.get<ArgumentList>())
        for (const Argument& item : *list)
          if (const auto* id = item.get<NodeId>(); id != nullptr && !id->valid()) return false;
    Graph attempt = graph_;
    const auto node = attempt.make(op, std::move(arguments));
    if (!node || attempt[*node].outputs.size() != 1) return false;
    if (element_count(attempt.type(*node).shape) > kMaxElements) return false;
    graph_ = std::move(attempt);
    values_.push_back(*node);
    // The newest value counts twice, so that graphs grow deep rather than wide.
    if (random_.one_in(2)) values_.push_back(*node);
    return true;
  }

  void choose_results() {
    graph_.results.push_back(values_.back());
    while (random_.one_in(2)) graph_.results.push_back(random_.of(values_));
  }

  void add_tangents() {
    const std::vector<NodeId> results = graph_.results;
    for (const NodeId id : results)
      if (is_floating(graph_.type(id).dtype))
        add_input(InputKind::tangent, make_type(graph_.type(id).dtype, graph_.type(id).shape));
  }

  void choose_gradients() {
    std::reverse(values_.begin(), values_.end());  // the newest of the right shape
    for (const NodeId input : graph_.inputs()) {
      if (graph_.input_kind(input) == InputKind::tangent) continue;
      const auto it = std::find_if(values_.begin(), values_.end(), [&](NodeId id) {
        return graph_.type(id).shape == graph_.type(input).shape;
      });
      graph_.gradients.push_back(random_.one_in(5) ? NodeId() : *it);
    }
  }

  Random random_;
  Graph graph_;
  std::vector<NodeId> values_;
  int refusals_ = 0;
  const std::span<const RandomCall> calls_ = random_calls();
  const std::span<const Motif> motifs_ = random_motifs();
};

}  // namespace

Graph random_graph(std::uint64_t seed) { return Generator(seed).run(); }

}  // namespace recut::test
