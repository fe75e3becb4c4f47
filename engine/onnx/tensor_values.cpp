#include "engine/onnx/tensor_values.h"

#include <fmt/core.h>

#include <cstring>

#include "engine/eval/inputs.h"
#include "engine/support/text.h"

namespace recut::onnx {
namespace {

using ::onnx::TensorProto;

// Packs the elements of a typed protobuf list into bytes.
template <class To, class List>
std::string packed(const List& list) {
  std::string bytes;
  bytes.reserve(static_cast<std::size_t>(list.size()) * sizeof(To));
  for (const auto item : list) {
    const To value = static_cast<To>(item);
    char raw[sizeof(To)];
    std::memcpy(raw, &value, sizeof(To));
    bytes.append(raw, sizeof(To));
  }
  return bytes;
}

std::string listed_bytes(const TensorProto& proto, DType dtype) {
  switch (dtype) {
    case DType::f32:
      return packed<float>(proto.float_data());
    case DType::f64:
      return packed<double>(proto.double_data());
    case DType::i64:
      return packed<std::int64_t>(proto.int64_data());
    case DType::i32:
      return packed<std::int32_t>(proto.int32_data());
    case DType::f16:
    case DType::bf16:
    case DType::i16:
      return packed<std::uint16_t>(proto.int32_data());
    default:
      return packed<std::uint8_t>(proto.int32_data());
  }
}

TensorType type_of(const TensorProto& proto) {
  const std::string what = fmt::format("tensor {}", quote(proto.name()));
  TensorType type = make_type(dtype_of(proto.data_type(), what), {});
  type.shape.assign(proto.dims().begin(), proto.dims().end());
  if (type.shape.size() > 64)
    throw ImportError{fmt::format("{} has {} dimensions", what, type.shape.size())};
  if (const auto sound = check_size(type); !sound)
    throw ImportError{fmt::format("{}: {}", what, sound.diagnostics().front().message)};
  type.strides = contiguous_strides(type.shape);
  return type;
}

}  // namespace

DType dtype_of(std::int32_t data_type, const std::string& what) {
  switch (data_type) {
    case TensorProto::FLOAT:
      return DType::f32;
    case TensorProto::DOUBLE:
      return DType::f64;
    case TensorProto::FLOAT16:
      return DType::f16;
    case TensorProto::BFLOAT16:
      return DType::bf16;
    case TensorProto::INT64:
      return DType::i64;
    case TensorProto::INT32:
      return DType::i32;
    case TensorProto::INT16:
      return DType::i16;
    case TensorProto::INT8:
      return DType::i8;
    case TensorProto::UINT8:
      return DType::u8;
    case TensorProto::BOOL:
      return DType::boolean;
    default:
      break;
  }
  const bool named = TensorProto::DataType_IsValid(data_type);
  throw ImportError{fmt::format(
      "{} has elements of type {}, expected floating ones, signed integers, uint8 or bool", what,
      named ? TensorProto::DataType_Name(static_cast<TensorProto::DataType>(data_type))
            : std::to_string(data_type))};
}

Tensor tensor_of(const TensorProto& proto) {
  const TensorType type = type_of(proto);
  if (proto.data_location() == TensorProto::EXTERNAL)
    throw ImportError{fmt::format(
        "the values of tensor {} stand in another file, expected one file with all of them",
        quote(proto.name()))};
  const std::string listed = proto.has_raw_data() ? "" : listed_bytes(proto, type.dtype);
  const std::string_view bytes = proto.has_raw_data() ? std::string_view(proto.raw_data()) : listed;
  if (static_cast<std::int64_t>(bytes.size()) != byte_size(type))
    throw ImportError{fmt::format("tensor {} holds {} bytes, expected {} for {}",
                                  quote(proto.name()), bytes.size(), byte_size(type),
                                  format(type))};
  return tensor_from_bytes(type, bytes);
}

Tensor integers_tensor(const std::vector<std::int64_t>& values) {
  Integers dense({static_cast<std::int64_t>(values.size())});
  dense.data = values;
  Tensor tensor = allocate(make_type(DType::i64, dense.shape), nullptr);
  pack(dense, tensor);
  return tensor;
}

Tensor reals_tensor(const std::vector<double>& values, Shape shape, DType dtype) {
  Reals dense(std::move(shape));
  dense.data = values;
  Tensor tensor = allocate(make_type(dtype, dense.shape), nullptr);
  pack(dense, tensor);
  return tensor;
}

Tensor integer_tensor(std::int64_t value) {
  Tensor tensor = allocate(make_type(DType::i64, {}), nullptr);
  pack(Integers({}, value), tensor);
  return tensor;
}

std::vector<std::int64_t> as_integers(const Tensor& tensor) {
  if (!is_floating(tensor.dtype)) return unpack<std::int64_t>(tensor).data;
  std::vector<std::int64_t> values;
  for (const double x : unpack<double>(tensor).data) {
    if (!(x >= -9e18 && x <= 9e18)) throw ImportError{"a real number that is no integer"};
    values.push_back(static_cast<std::int64_t>(x));
  }
  return values;
}

std::vector<double> as_reals(const Tensor& tensor) {
  if (is_floating(tensor.dtype)) return unpack<double>(tensor).data;
  const auto integers = unpack<std::int64_t>(tensor).data;
  return {integers.begin(), integers.end()};
}

}  // namespace recut::onnx
