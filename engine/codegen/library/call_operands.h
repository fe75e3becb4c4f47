// A call of a graph with its operands as a kernel's buffers: the input of the matchers in
// library_call.cpp and attention_call.cpp.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "engine/codegen/library/library_kernel.h"
#include "engine/codegen/lower/view_map.h"
#include "engine/ir/call.h"
#include "engine/ir/graph.h"
#include "engine/ir/storage_model.h"

namespace recut::library {

class CallOperands {
 public:
  CallOperands(const Graph& graph, const StorageModel& storages, NodeId id);

  const recut::Call& call() const { return call_; }
  Op op() const { return graph_[id_].op; }
  const std::vector<TensorType>& outputs() const { return graph_[id_].outputs; }

  // A parameter as an operand. Nothing where it is empty, or where no single layout maps it to its
  // base.
  std::optional<Operand> read(std::string_view parameter);
  Operand written(std::size_t output);
  bool is_requested(std::size_t output) const;

  // The buffers of all operands so far, by Operand::buffer.
  const std::vector<loop::Buffer>& buffers() const { return kernel_.buffers; }
  DType dtype_of(const Operand& operand) const { return kernel_.buffers[operand.buffer].dtype; }

  // The finished kernel with these calls.
  Kernel kernel(std::vector<Call> calls) &&;

 private:
  std::size_t buffer(const loop::ValueRef& ref, loop::Access access);

  const Graph& graph_;
  const StorageModel& storages_;
  const NodeId id_;
  const recut::Call::TypesOf types_of_;
  const recut::Call call_;
  Kernel kernel_;
};

}  // namespace recut::library
