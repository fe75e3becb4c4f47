// Tensors with values: strided views of storages, and the dense arrays that kernels compute on.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "engine/eval/storage.h"
#include "engine/ir/type.h"

namespace recut {

// A view of a storage. Views of one storage share it, as ATen's do.
struct Tensor {
  DType dtype = DType::none;
  Shape shape;
  Strides strides;          // in elements
  std::int64_t offset = 0;  // in elements
  std::shared_ptr<Storage> storage;

  std::int64_t count() const { return element_count(shape); }
  bool exists() const { return dtype != DType::none; }
};

// A new tensor of zeros. Its layout is the type's if that is dense (a permutation of contiguous
// strides), else contiguous. The storage has element_count * item_bytes bytes, as in the memory
// model.
Tensor allocate(const TensorType& type, const std::shared_ptr<MemoryMeter>& meter);

using Complex = std::complex<double>;

// Values in row-major order, whatever the layout of the tensor: the operands of kernels. T is
// double for floating dtypes, std::int64_t for integers and bool (0 or 1), and Complex.
template <class T>
struct Dense {
  static_assert(std::is_same_v<T, double> || std::is_same_v<T, std::int64_t> ||
                std::is_same_v<T, Complex>);

  Shape shape;
  std::vector<T> data;

  Dense() = default;
  explicit Dense(Shape s, T fill = T{})
      : shape(std::move(s)), data(static_cast<std::size_t>(element_count(shape)), fill) {}

  std::int64_t rank() const { return static_cast<std::int64_t>(shape.size()); }
  std::int64_t count() const { return static_cast<std::int64_t>(data.size()); }
  T& operator[](std::int64_t i) { return data[static_cast<std::size_t>(i)]; }
  T operator[](std::int64_t i) const { return data[static_cast<std::size_t>(i)]; }
};
using Reals = Dense<double>;
using Integers = Dense<std::int64_t>;
using Complexes = Dense<Complex>;

// Reads any tensor as reals, integers or complex numbers. Floats are truncated towards zero (NaN and
// values out of range as on x86-64). A complex number read as real loses its imaginary part.
template <class T>
Dense<T> unpack(const Tensor& tensor);

// Writes into a tensor of the same shape, rounded to its dtype: nearest-even for floats, wrapped
// for integers, != 0 for bool.
template <class T>
void pack(const Dense<T>& values, Tensor& tensor);

// Copies the values into a tensor of the same dtype and shape.
void copy_tensor(const Tensor& from, Tensor& to);

// The real and the imaginary parts of a complex tensor as a new last dimension of its storage.
Tensor parts_of(const Tensor& tensor);

// Rounds or wraps one number to `dtype`: nearest-even for f32 and narrower reals.
double round_to(DType dtype, double value);
std::int64_t wrap_to(DType dtype, std::int64_t value);

}  // namespace recut
