// Arguments of an operator as a user writes them, for the command and the C library alike:
//
//   f32[2, 3]                      a tensor: dtype and sizes
//   f32[2, 3]{1, 2} on cpu grad    with strides, device, and "requires a gradient"
//   2  -0.5  inf  true  none       a number, a bool, None
//   bf16                           a dtype
//   "floor"  floor                 a string
//   [1, 2]  [f32[2], f32[3]]       a list
//
// It is the text form's grammar (engine/ir/printer.h), with tensors in place of names.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/ir/argument.h"
#include "engine/ir/type.h"
#include "engine/support/result.h"

namespace recut::operators {

struct TensorArgument {
  std::string name;  // "self", "tensors_0"; "" until the operator is known
  TensorType type;   // its device is never ""
  bool requires_grad = false;
};

// A node among the arguments counts `tensors`.
struct GivenArguments {
  std::vector<TensorArgument> tensors;
  std::vector<Argument> positional;
  std::vector<std::pair<std::string, Argument>> named;
};

// `positional`: a text for each; `named`: "alpha=2". Fails with the text and the column. Sizes that
// are no numbers are refused: kernels are compiled for fixed ones.
Result<GivenArguments> read_arguments(const std::vector<std::string>& positional,
                                      const std::vector<std::string>& named);

}  // namespace recut::operators
