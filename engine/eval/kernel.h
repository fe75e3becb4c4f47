// A kernel: the meaning of one operator, over dense arrays. Plain and obviously right before fast;
// sums accumulate in double. Kernels stand in engine/eval/kernels/, by the same families as the
// operator table.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/eval/tensor.h"
#include "engine/ir/call.h"
#include "engine/ir/graph.h"
#include "engine/ir/operator_map.h"
#include "engine/support/result.h"

namespace recut {

// What a kernel sees: the call with its arguments, its operands' values, and where its outputs go.
// Output shapes and dtypes are the node's recorded ones, and the shape rule's for outputs that are
// recorded as absent; a kernel only computes values.
class KernelContext {
 public:
  using ValuesOf = std::function<std::span<const Tensor>(NodeId)>;

  KernelContext(const Call& call, std::span<const TensorType> output_types,
                std::span<Tensor> outputs, const ValuesOf& values_of, std::uint64_t seed)
      : call(call),
        output_types(output_types),
        outputs(outputs),
        seed(seed),
        values_of_(values_of) {}

  const Call& call;
  std::span<const TensorType> output_types;
  std::span<Tensor> outputs;  // allocated, zero; those of views are not
  std::uint64_t seed;         // of the step's random numbers

  const Tensor& tensor(NodeId id) const { return values_of_(id).front(); }
  const Tensor& tensor(std::string_view parameter) const { return tensor(call.node(parameter)); }
  std::span<const Tensor> tensors(NodeId id) const {
    return values_of_(id);
  }  // all outputs of a node

  // Whether the graph has this output; what no one asked for need not be computed.
  bool wanted(std::size_t index) const { return outputs[index].exists(); }

  // Operands as dense arrays. A number given for a tensor reads as a zero-dimensional array.
  Reals reals(std::string_view parameter) const { return read<double>(parameter); }
  Integers integers(std::string_view parameter) const { return read<std::int64_t>(parameter); }
  template <class T>
  Dense<T> read(std::string_view parameter) const;

  // Writes output `index`, rounded to its dtype; does nothing where that output is absent.
  template <class T>
  void write(const Dense<T>& values, std::size_t index = 0);

 private:
  const ValuesOf& values_of_;
};

// Types of data-dependent operators are taken from the file unchecked. This holds those that have a
// rule all the same to it: the call, and the first output.
Result<Done> check_by_rule(const KernelContext& context);

// An error is the user's data at fault (an index out of range), never a shape: those were checked
// when the graph was read.
using Kernel = Result<Done> (*)(KernelContext& context);

// A view's meaning: the operand's storage under another shape, strides and offset. Views never
// copy, save where the operand's layout can't be viewed (a `view` of an incompatible layout), and
// then they say so by returning a fresh tensor. `index` says which output is asked for, of views
// that have several (split, unbind); `output` is that output's type.
using ViewKernel = Result<Tensor> (*)(const Call& call, const Tensor& self,
                                      const TensorType& output, std::size_t index);

// Kernels by operator; null where an operator has none yet.
struct KernelTable {
  OperatorMap<Kernel> kernels;
  OperatorMap<ViewKernel> views;

  // Each operator has one at most.
  void add(Op op, Kernel kernel);
  void add_view(Op op, ViewKernel view);
  Kernel kernel(Op op) const { return kernels[op]; }
  ViewKernel view(Op op) const { return views[op]; }
  bool has_one(Op op) const { return kernel(op) != nullptr || view(op) != nullptr; }
  bool supports(Op op) const { return has_one(op) || op == Op::getitem; }
};
// Those of every file in kernels/: the build lists them (engine/CMakeLists.txt).
void add_all_kernels(KernelTable& table);
const KernelTable& kernel_table();

}  // namespace recut
