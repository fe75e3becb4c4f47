// Groups of calls that rules match, with random details: single random calls hardly ever make a
// softmax.
#pragma once

#include <functional>
#include <string_view>

#include "tests/random/random_calls.h"

namespace recut::test {

// Writes a motif's calls. A call that doesn't fit, or that reads such a one, is an invalid node;
// then nothing of the motif stays.
class MotifWriter {
 public:
  using Input = std::function<NodeId(TensorType)>;

  // `input` adds one input to the graph.
  MotifWriter(Graph& graph, Input input) : graph_(graph), input_(std::move(input)) {}

  NodeId call(std::string_view op, const NamedArguments& arguments);
  NodeId input(DType dtype, Shape shape) { return input_(make_type(dtype, std::move(shape))); }
  Shape shape(NodeId id) const { return id.valid() ? graph_.type(id).shape : Shape(); }
  void copy(NodeId& of) {
    of = call("clone", {{"self", of}, {"memory_format", "contiguous_format"}});
  }

  bool sound() const { return sound_; }
  std::vector<NodeId> made;  // in order

 private:
  Graph& graph_;
  Input input_;
  bool sound_ = true;
};

using Motif = void (*)(Draw& draw, MotifWriter& writer);
std::span<const Motif> random_motifs();

}  // namespace recut::test
