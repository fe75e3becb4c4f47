#include "native/cpu/step_bytes.h"

#include "native/cache/bytes.h"

namespace recut::cpu {
namespace {

struct Fields {
  template <class Bytes>
  static void of(Bytes& bytes, NodeId& id) {
    bytes(id.index);
  }
  template <class Bytes>
  static void of(Bytes& bytes, TensorType& type) {
    bytes(type.dtype, type.shape, type.strides, type.device);
  }
  template <class Bytes>
  static void of(Bytes& bytes, Layout& layout) {
    bytes(layout.shape, layout.strides, layout.offset, layout.copied);
  }
  template <class Bytes>
  static void of(Bytes& bytes, Place& place) {
    bytes(place.input, place.offset);
  }
  template <class Bytes>
  static void of(Bytes& bytes, Launch& launch) {
    bytes(launch.kernel, launch.library, launch.scheduled, launch.buffers);
  }
  template <class Bytes>
  static void of(Bytes& bytes, ProgramOutput& output) {
    bytes(output.node, output.type, output.place, output.layouts);
  }
  template <class Bytes>
  static void of(Bytes& bytes, loop::Buffer& buffer) {
    bytes(buffer.name, buffer.dtype, buffer.elements, buffer.access);
  }
  template <class Bytes>
  static void of(Bytes& bytes, loop::Kernel& kernel) {
    bytes(kernel.name, kernel.notes, kernel.buffers);
  }
  template <class Bytes>
  static void of(Bytes& bytes, library::Operand& operand) {
    bytes(operand.buffer, operand.layout);
  }
  template <class Bytes>
  static void of(Bytes& bytes, library::MatrixProduct& product) {
    bytes(product.left, product.right, product.out, product.bias);
  }
  template <class Bytes>
  static void of(Bytes& bytes, library::Convolution& c) {
    bytes(c.way, c.transposed, c.groups, c.stride, c.padding, c.dilation, c.input, c.weight,
          c.output, c.bias);
  }
  template <class Bytes>
  static void of(Bytes& bytes, library::Kernel& kernel) {
    bytes(kernel.name, kernel.notes, kernel.buffers, kernel.calls);
  }
  template <class Bytes>
  static void of(Bytes& bytes, Program& program) {
    bytes(program.kernels, program.library, program.launches, program.outputs, program.inputs,
          program.arena_bytes);
  }
  template <class Bytes>
  static void of(Bytes& bytes, llvm_ir::Stage& stage) {
    bytes(stage.symbol, stage.extent, stage.grain, stage.parallel);
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
  for (ProgramOutput& output : program.outputs)
    if (output.node.valid()) output.node = change(output.node);
}

}  // namespace

// Ids depend on what else the graph's pool has been used for; positions don't.
std::string bytes_of(const Graph& graph, KeptStep step) {
  change_nodes(step.program, [&](NodeId id) { return NodeId(graph.position(id)); });
  cache::ByteWriter<Fields> writer;
  writer(step);
  return writer.bytes();
}

std::optional<KeptStep> step_of(const Graph& graph, std::string_view bytes) {
  KeptStep step;
  cache::ByteReader<Fields> reader(bytes);
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
