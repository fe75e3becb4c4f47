// Tensors of a model: dtypes and values.
#pragma once

#include <onnx/onnx.pb.h>

#include <cstdint>
#include <string>
#include <vector>

#include "engine/eval/tensor.h"
#include "engine/ir/dtype.h"

namespace recut::onnx {

// The reason why a model can't be imported. Thrown inside engine/onnx and caught in the importer,
// which knows the node.
struct ImportError {
  std::string message;
};

// Throws for unsupported dtypes. `what` begins the message.
DType dtype_of(std::int32_t data_type, const std::string& what);

// Throws if the number of values does not match the shape, and for external data.
Tensor tensor_of(const ::onnx::TensorProto& proto);

Tensor integers_tensor(const std::vector<std::int64_t>& values);
Tensor reals_tensor(const std::vector<double>& values, Shape shape, DType dtype);
Tensor integer_tensor(std::int64_t value);  // of no dimensions

// Values as integers or reals, whatever the dtype.
std::vector<std::int64_t> as_integers(const Tensor& tensor);
std::vector<double> as_reals(const Tensor& tensor);

}  // namespace recut::onnx
