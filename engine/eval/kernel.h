// A kernel is the reference semantics of one operator over dense arrays: obviously right before
// fast; sums accumulate in double. Kernels are in engine/eval/kernels/, by the families of the
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

// Perturbs the results of calls, as coarser arithmetic would: a real that its dtype can't hold is
// changed by up to `share` of itself before it is rounded. Exact results (copies, maxima, zeros)
// stay, so that equal values remain equal. Random rounding shows the effect of rounding on outputs
// (Vignes 1993; Févotte and Lathuilière 2016).
struct RandomRounding {
  std::uint64_t seed = 0;
  double share = 0x1p-18;  // negative: the same changes with the opposite sign
};

// The interface of a kernel: the call's arguments, operand values and output tensors. Output types
// are the recorded ones, or inferred for absent outputs; a kernel only computes values.
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

  // Rounds the outputs at random from here on. `call_number` tells calls apart.
  void round_randomly(const RandomRounding& rounding, std::uint64_t call_number) {
    rounding_ = &rounding;
    call_number_ = call_number;
  }

  const Tensor& tensor(NodeId id) const { return values_of_(id).front(); }
  const Tensor& tensor(std::string_view parameter) const { return tensor(call.node(parameter)); }
  std::span<const Tensor> tensors(NodeId id) const {
    return values_of_(id);
  }  // all outputs of a node

  // True if the graph uses this output; other outputs need not be computed.
  bool requested(std::size_t index) const { return outputs[index].exists(); }

  // Operands as dense arrays. A number in place of a tensor reads as a zero-dimensional array.
  Reals reals(std::string_view parameter) const { return read<double>(parameter); }
  Integers integers(std::string_view parameter) const { return read<std::int64_t>(parameter); }
  Complexes complexes(std::string_view parameter) const { return read<Complex>(parameter); }
  template <class T>
  Dense<T> read(std::string_view parameter) const;

  // Writes output `index`, rounded to its dtype; does nothing if that output is absent.
  template <class T>
  void write(const Dense<T>& values, std::size_t index = 0);

 private:
  const ValuesOf& values_of_;
  const RandomRounding* rounding_ = nullptr;  // null: to nearest
  std::uint64_t call_number_ = 0;
};

// Types of data-dependent operators are recorded unchecked. This checks the first output of
// operators that have a shape rule all the same.
Result<Done> check_shape_rule(const KernelContext& context);

// Errors are faults of the data (an index out of range), never of shapes: those were checked when
// the graph was read.
using Kernel = Result<Done> (*)(KernelContext& context);

// A view kernel: the operand's storage under another shape, strides and offset. It copies only if
// the operand's layout can't be viewed, and then returns a tensor with a new storage. `index`
// selects an output of multi-output views (split, unbind); `output` is that output's type.
using ViewKernel = Result<Tensor> (*)(const Call& call, const Tensor& self,
                                      const TensorType& output, std::size_t index);

// Kernels by operator; null if an operator has none. A call is complex if an operand or an output
// is; views serve complex tensors as they do others.
struct KernelTable {
  OperatorMap<Kernel> kernels;
  OperatorMap<Kernel> complex_kernels;
  OperatorMap<ViewKernel> views;

  // Each operator has at most one kernel of either kind.
  void add(Op op, Kernel kernel);
  void add_complex(Op op, Kernel kernel);
  void add_view(Op op, ViewKernel view);
  // One kernel for real and for complex calls.
  void add_any(Op op, Kernel kernel) {
    add(op, kernel);
    add_complex(op, kernel);
  }
  Kernel kernel(Op op) const { return kernels[op]; }
  Kernel complex_kernel(Op op) const { return complex_kernels[op]; }
  ViewKernel view(Op op) const { return views[op]; }
  bool has_one(Op op) const { return kernel(op) != nullptr || view(op) != nullptr; }
  bool supports(Op op) const { return has_one(op) || op == Op::getitem; }
  bool supports_complex(Op op) const {
    return complex_kernel(op) != nullptr || view(op) != nullptr || op == Op::getitem;
  }
};
// Registers the kernels of every file in kernels/; generated by the build (engine/CMakeLists.txt).
void add_all_kernels(KernelTable& table);
const KernelTable& kernel_table();

}  // namespace recut
