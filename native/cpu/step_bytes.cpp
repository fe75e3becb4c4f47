#include "native/cpu/step_bytes.h"

#include "native/cache/bytes.h"
#include "native/cache/call_fields.h"

namespace recut::cpu {
namespace {

// Names all fields of a kept step, so that the compiler finds a new one.
struct StepBytesFields : cache::CallFields {
  using CallFields::of;

  template <class Bytes>
  static void of(Bytes& bytes, NodeId& id) {
    bytes(id.index);
  }
  template <class Bytes>
  static void of(Bytes& bytes, TensorType& type) {
    auto& [dtype, shape, strides, device] = type;
    bytes(dtype, shape, strides, device);
  }
  template <class Bytes>
  static void of(Bytes& bytes, BufferAddress& location) {
    auto& [input, offset] = location;
    bytes(input, offset);
  }
  template <class Bytes>
  static void of(Bytes& bytes, ArenaSpan& span) {
    auto& [offset, size] = span;
    bytes(offset, size);
  }
  template <class Bytes>
  static void of(Bytes& bytes, Launch& launch) {
    auto& [kernel, library, scheduled, calls, buffers, free, predicted_us] = launch;
    bytes(kernel, library, scheduled, calls, buffers, free, predicted_us);
  }
  template <class Bytes>
  static void of(Bytes& bytes, ProgramOutput& output) {
    auto& [node, type, location, layouts] = output;
    bytes(node, type, location, layouts);
  }
  template <class Bytes>
  static void of(Bytes& bytes, CollectiveStep& step) {
    auto& [node, before, scheduled, started, inputs, outputs, predicted_us] = step;
    bytes(node, before, scheduled, started, inputs, outputs, predicted_us);
  }
  template <class Bytes>
  static void of(Bytes& bytes, loop::Buffer& buffer) {
    auto& [name, dtype, elements, access] = buffer;
    bytes(name, dtype, elements, access);
  }
  template <class Bytes>
  static void of(Bytes& bytes, loop::Kernel& kernel) {
    bytes(kernel.name, kernel.locations, kernel.buffers);
  }
  template <class Bytes>
  static void of(Bytes& bytes, library::Kernel& kernel) {
    bytes(kernel.name, kernel.locations, kernel.buffers, kernel.calls);
  }
  template <class Bytes>
  static void of(Bytes& bytes, Program& program) {
    // No code of a processor depends on the budget.
    auto& [kernels, library, launches, collectives, outputs, inputs, arena_bytes, budget] = program;
    (void)budget;
    bytes(kernels, library, launches, collectives, outputs, inputs, arena_bytes);
  }
  template <class Bytes>
  static void of(Bytes& bytes, loop::Stage& stage) {
    auto& [symbol, extent, grain, parallel, work] = stage;
    bytes(symbol, extent, grain, parallel, work);
  }
  template <class Bytes>
  static void of(Bytes& bytes, cache::Digest& digest) {
    for (std::uint8_t& byte : digest.bytes) bytes(byte);
  }
  template <class Bytes>
  static void of(Bytes& bytes, KeptStep& step) {
    bytes(step.program, step.kernels, step.faults, step.object);
  }
};

template <class Change>
void change_nodes(Program& program, Change&& change) {
  for (NodeId& id : program.inputs) id = change(id);
  for (Launch& launch : program.launches)
    for (NodeId& id : launch.calls) id = change(id);
  const auto change_values = [&](std::vector<ProgramOutput>& values) {
    for (ProgramOutput& value : values)
      if (value.node.valid()) value.node = change(value.node);
  };
  for (CollectiveStep& step : program.collectives) {
    step.node = change(step.node);
    change_values(step.inputs);
    change_values(step.outputs);
  }
  change_values(program.outputs);
}

}  // namespace

// Ids depend on the history of the graph's pool; positions don't.
std::string bytes_of(const Graph& graph, KeptStep step) {
  change_nodes(step.program, [&](NodeId id) { return NodeId(graph.position(id)); });
  cache::ByteWriter<StepBytesFields> writer;
  writer(step);
  return writer.bytes();
}

std::optional<KeptStep> step_of(const Graph& graph, std::string_view bytes) {
  KeptStep step;
  cache::ByteReader<StepBytesFields> reader(bytes);
  reader(step);
  if (!reader.done()) return std::nullopt;
  bool there = true;
  change_nodes(step.program, [&](NodeId position) {
    there = there && position.index < graph.order().size();
    return there ? graph.order()[position.index] : NodeId();
  });
  if (!there) return std::nullopt;
  return step;
}

}  // namespace recut::cpu
